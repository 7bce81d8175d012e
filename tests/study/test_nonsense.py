"""Logs whose digests are right and that say what no version would write: `verify` says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from superlevel.study import Study
from superlevel.study.events import DamagedError
from tests.study.campaigns import CERTIFIED, GREEDY, NAME, PAIRS, RIDGE, Change, Kind, contradicted, each, forged
from tests.study.damages import NONSENSE
from tests.study.test_rescue import eventful

SAYS = {
    "options": "confidence is None: choose out of posterior, ridge",
    "no goal": "goal is None",
    "huge points": "it gives numbers that are not finite on these points",
    "huge noise": "problem.noise is 1e+308",
    "negative noise": "noise is -1.0",
    "unknown field": "'colour'",
    "kernel": "kernel is {'name': 'Nothing'}",
    "method": "name is 'guess'",
    "rule": "rule is os:system",
    "batch": "batch is -1",
    "seed": "seed is -1",
    "names": "entry 1 has points with 1 coordinates for 2 names",
}
"""What the sentence names, by the change of the first entry."""


def said(kind: Kind, entry: str, change: Change) -> str:
    """What `verify` finds wrong with the log."""
    found = Study.open(forged(eventful(kind), entry, change), NAME).verify()
    assert contradicted(found) == {"log"}
    assert found.labels is None
    return str(found)


@pytest.mark.parametrize("what", SAYS)
@each([GREEDY, RIDGE])
def test_a_first_entry_that_nobody_can_have_written_is_named(kind: Kind, what: str) -> None:
    assert SAYS[what] in said(kind, "created", NONSENSE[what])


REFUSED = {
    "ragged": "entry 1, points: Value error, points with 1 and 2 coordinates",
    "no coordinates": "entry 1, points: Value error, points with 0 coordinates",
    "no points": "entry 1, points: Value error, points with no coordinates",
    "format 1": "entry 1, options: Extra inputs are not permitted",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_first_entry_that_cannot_be_read_is_refused_by_whoever_opens_it(what: str) -> None:
    with pytest.raises(DamagedError, match=REFUSED[what]):
        Study.open(forged(eventful(GREEDY), "created", NONSENSE[what]), NAME)


@pytest.mark.parametrize("part", ["weights", "dual"])
@each(CERTIFIED)
def test_a_design_that_is_larger_than_its_domain_is_named(kind: Kind, part: str) -> None:
    def enlarged(payload: dict[str, Any]) -> None:
        payload["design"][part]["shape"] = [10**12 for _ in payload["design"][part]["shape"]]

    assert f"{'a design' if part == 'weights' else 'a dual'} of shape (1000000000000," in said(kind, "asked", enlarged)


@each([GREEDY, RIDGE, PAIRS])
def test_a_value_that_nobody_can_have_told_is_named(kind: Kind) -> None:
    def enlarged(payload: dict[str, Any]) -> None:
        payload["values"][-1] = 1e308

    assert "entry 3 has a value of 1e+308 for ticket 3; `tell` takes less than 1e+100" in said(kind, "told", enlarged)
