"""A study that may be there already: whoever calls again goes on where it was."""

from __future__ import annotations

from typing import Any

from superlevel.errors import InputError
from superlevel.problem import Problem
from superlevel.study import configuration
from superlevel.study.events import Created
from superlevel.study.storage.protocol import Storage
from superlevel.study.study import Study

DIFFERENT = {
    "points": "other points",
    "names": "other coordinates",
    "scales": "other coordinates",
    "goal": "another goal",
    "kernel": "another kernel",
    "problem": "other assumptions",
    "transform": "another transform",
    "fit": "other assumptions",
    "method": "another method",
    "confidence": "another confidence",
    "rule": "another rule",
    "batch": "another size of batches",
    "seed": "another seed",
}
"""What is compared, and how a sentence says that it differs."""


def resumed(storage: Storage, name: str, problem: Problem, *, worker: str, **options: Any) -> Study:
    """The study of that name, or a new one where there is none; an InputError where it asks something else.

    Options are those of `Study.create`; what is not given has the same default.
    """
    if name not in _names(storage):
        try:
            return Study.create(storage, name, problem, worker=worker, **options)
        except InputError:
            if name not in _names(storage):  # otherwise another process was quicker
                raise
    study = Study.open(storage, name, worker=worker)
    usual = {"method": "melk", "confidence": None, "rule": None, "objective": None, "permanent": None, "batch": None}
    given = configuration.created(problem, **{**usual, "seed": 0, "lease": configuration.LEASE, **options})
    differing = _difference(given, study.ledger.created)
    if differing:
        got = f"{name!r}, which {storage.url} has with {differing}"
        raise InputError("name", got, "give another name, or the same question as before")
    return study


def _names(storage: Storage) -> list[str]:
    try:
        return storage.names()
    except InputError:  # nothing is stored there yet; if anything else is wrong, creating the study says so again
        return []


def _difference(given: Created, there: Created) -> str:
    """What differs first; empty where nothing does."""
    return next((words for field, words in DIFFERENT.items() if getattr(given, field) != getattr(there, field)), "")
