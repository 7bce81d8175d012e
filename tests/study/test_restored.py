"""A process that has a study open while its store is put back to an earlier moment: it stores and shows nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from superlevel.errors import InputError
from superlevel.study import ReplacedError, Result, Study
from tests.study.campaigns import GREEDY, NAME, N
from tests.study.restores import SITES, InMemory, Site, made

SAID = (
    f"study is {NAME!r}, whose log was restored or replaced after entry 5 had been read from it: nothing was stored; "
    "open the study again (`study.reopen()` in Python), and tell your results since then again: those that it has "
    "already change nothing"
)

ACTS: dict[str, Callable[[Study, Path], object]] = {
    "refresh": lambda study, _: study.refresh(),
    "ask": lambda study, _: study.ask(),
    "tell": lambda study, _: study.tell([Result(point=3, value=0.5)]),
    "check": lambda study, _: study.check([Result(point=3, value=0.5)]),
    "correct": lambda study, _: study.correct(1, 0.5),
    "withdraw": lambda study, _: study.withdraw(1),
    "close": lambda study, _: study.close(),
    "audit": lambda study, _: study.audit(3),
    "status": lambda study, _: study.status(),
    "quick status": lambda study, _: study.status(fresh=False),
    "first labels": lambda study, _: study.labels,
    "view": lambda study, _: study.view(),
    "frame": lambda study, _: study.to_frame(),
    "reasons": lambda study, _: study.reasons(),
    "campaign": lambda study, _: study.campaign(),
    "accuracy": lambda study, _: study.accuracy(),
    "report": lambda study, folder: study.report(folder / "sea.html"),
    "verify": lambda study, _: study.verify(),
}


@pytest.fixture(params=SITES)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """Each kind of store."""
    server = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    return made(request.param, tmp_path, server)


def interrupted(site: Site, others: int) -> tuple[Study, tuple[Any, ...]]:
    """Two processes' study that was put back from entry 5 to entry 3; another process then appended so many entries.

    Returns the study that the outliving process has open, and the results that it told before.
    """
    ada = GREEDY.run(GREEDY.create(site.open()), 1)
    saved = site.save()  # 3 entries
    results = GREEDY.measure(ada.ask())
    ada.tell(results)
    assert ada.ledger.length == 5
    site.put_back(saved)
    bob = Study.open(site.open(), NAME, worker="bob")
    for k in range(others):
        bob.tell([Result(point=k, value=GREEDY.value(90 + k, k))])
    return Study(ada._storage, NAME, ada.ledger, "ada"), tuple(results)


def content(site: Site) -> tuple[object, ...]:
    storage = site.open()
    return storage.read(NAME), storage.leases(NAME), storage.noted(NAME)


@pytest.mark.parametrize("others", [0, 1, 2, 4])
def test_a_process_that_outlives_a_restore_is_refused_and_the_study_stays_whole(site: Site, others: int) -> None:
    ada, results = interrupted(site, others)
    before = content(site)
    with pytest.raises(ReplacedError) as refused:
        ada.tell([Result(point=3, value=0.5)])
    assert str(refused.value) == SAID
    assert content(site) == before
    bob = Study.open(site.open(), NAME, worker="bob")
    bob.tell([Result(point=5, value=GREEDY.value(99, 5))])
    assert bob.verify().ok

    told = ada.reopen().tell([Result(point=result.point, value=result.value) for result in results])
    assert (told.stored, told.repeated) == (len(results), 0)
    again = ada.tell([Result(point=result.point, value=result.value) for result in results])
    assert (again.stored, again.repeated) == (0, len(results))
    assert ada.ledger.samples == 4 + others + 1 + len(results)
    assert Study.open(site.open(), NAME).verify().ok


QUICK = ("refresh", "ask", "tell", "correct", "status", "quick status", "first labels", "accuracy")
"""Those that are tried in every kind of store, and with a log that is shorter than before."""


@pytest.mark.parametrize("act", ACTS)
def test_no_call_writes_to_a_replaced_log_or_shows_what_is_gone(act: str, tmp_path: Path) -> None:
    assert_refused(InMemory(), ACTS[act], others=3, folder=tmp_path)


@pytest.mark.parametrize("act", QUICK)
def test_no_store_lets_a_process_go_on_after_a_log_that_is_shorter_now(site: Site, act: str, tmp_path: Path) -> None:
    assert_refused(site, ACTS[act], others=0, folder=tmp_path)


def assert_refused(site: Site, act: Callable[[Study, Path], object], *, others: int, folder: Path) -> None:
    """That a call is refused and changes nothing, and that it succeeds after the study was opened again."""
    ada, _ = interrupted(site, others)
    before = content(site)
    with pytest.raises(ReplacedError) as refused:
        act(ada, folder)
    assert str(refused.value) == SAID
    assert content(site) == before
    act(ada.reopen(), folder)


def test_a_restore_that_brings_back_the_same_log_disturbs_nobody(site: Site) -> None:
    ada = GREEDY.run(GREEDY.create(site.open()), 1)
    site.put_back(site.save())
    assert GREEDY.run(ada, 1).ledger.length == 5
    assert ada.verify().ok


def test_results_with_the_tickets_of_a_lost_plan_are_not_taken_for_other_points(site: Site) -> None:
    ada, results = interrupted(site, 0)
    bob = Study.open(site.open(), NAME, worker="bob")
    bob.tell([Result(point=((result.point or 0) + 1) % N, value=0.5) for result in results])  # takes the same numbers
    with pytest.raises(ValueError, match=r"but ticket 5 is for .*restored.* without the ticket"):
        ada.reopen().tell(results)
    assert ada.refresh().ledger.length == 4


def test_a_restore_between_reading_and_asking_is_noticed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = GREEDY.run(GREEDY.create(site.open()), 1)
    saved = site.save()
    ada.ask()
    claim = ada._storage.claim

    def meanwhile(*given: Any, **more: Any) -> list[int]:
        site.put_back(saved)
        return claim(*given, **more)

    monkeypatch.setattr(ada._storage, "claim", meanwhile)
    with pytest.raises(ReplacedError, match="after entry 4"):
        ada.ask()


def test_the_error_is_one_of_input_and_passes_between_processes() -> None:
    error = ReplacedError.of("sea", 5)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ReplacedError)
    assert isinstance(again, InputError)
    assert str(again) == str(error) == SAID
