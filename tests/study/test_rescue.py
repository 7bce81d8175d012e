"""What is intact of a damaged log is copied, as far as it goes, and can be worked with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from superlevel.errors import InputError
from superlevel.study import Study
from superlevel.study.events import FORMAT
from superlevel.study.rescue import check_new, rescue
from superlevel.study.storage import Memory, open_storage
from tests.study.campaigns import ALL as KINDS
from tests.study.campaigns import GREEDY, NAME, Kind, Saved, each, entries_of, forged, reopened, snapshot, storage_of


def eventful(kind: Kind) -> Study:
    study = kind.create()
    tickets = study.ask(4)
    study.tell([tickets[0].failed("ice"), *kind.measure(tickets[1:3])])
    study.withdraw(4)
    study.ask(6)
    return study


@each(KINDS)
def test_an_intact_log_is_copied_as_it_is_and_goes_on(kind: Kind) -> None:
    study = eventful(kind)
    new = Memory()
    (found,) = rescue(Saved({NAME: entries_of(study)}), new)
    assert found == (NAME, study.ledger.length, 2, "")
    assert new.read(NAME) == entries_of(study)
    assert new.leases(NAME).keys() == storage_of(study).leases(NAME).keys()
    copy = Study.open(new, NAME, worker="ada")
    assert snapshot(copy) == snapshot(study)
    assert copy.ask(3).indices.tolist() == reopened(study).ask(3).indices.tolist()


@pytest.mark.parametrize("place", range(5))
def test_a_log_is_copied_up_to_its_first_damage(place: int) -> None:
    entries = entries_of(eventful(GREEDY))
    entries[place] = replace(entries[place], at="2001")
    new = Memory()
    (found,) = rescue(Saved({NAME: entries}), new)
    assert found.entries == place
    assert f"entry {place + 1} is not as it was written" in found.lost
    assert new.names() == ([NAME] if place else [])
    if place:
        assert new.read(NAME) == entries[:place]
        assert Study.open(new, NAME).verify().ok


def test_a_closed_study_stays_closed_and_none_of_its_tickets_is_open() -> None:
    study = eventful(GREEDY)
    study.close()
    new = Memory()
    rescue(Saved({NAME: entries_of(study)}), new)
    assert new.leases(NAME) == {}
    assert Study.open(new, NAME).status().closed


def test_one_study_that_cannot_be_read_does_not_hold_up_the_others() -> None:
    sound = entries_of(eventful(GREEDY))
    newer = forged(GREEDY.create(), "created", lambda payload: payload.update(format=FORMAT + 1)).read(NAME)
    orphan = [replace(sound[1], seq=1)]
    new = Memory()
    found = {each.name: each for each in rescue(Saved({"a": [], "b": newer, "c": orphan, "d": sound}), new)}
    assert [(each.entries, each.measurements) for each in found.values()] == [(0, 0), (0, 0), (0, 0), (5, 2)]
    assert found["a"].lost == "nothing of it can be read"
    assert f"of format {FORMAT + 1}" in found["b"].lost
    assert new.names() == ["d"]


def test_what_is_rescued_to_a_file_is_the_same(tmp_path: Any) -> None:
    study = eventful(GREEDY)
    url = f"sqlite:///{tmp_path / 'new.db'}"
    rescue(Saved({NAME: entries_of(study)}), open_storage(url))
    assert snapshot(Study.open(url, NAME)) == snapshot(study)


def test_a_store_that_holds_something_is_not_written_to() -> None:
    check_new(Memory())
    with pytest.raises(InputError, match="--rescue is a store with 1 studies: name a new one"):
        check_new(storage_of(GREEDY.create()))
