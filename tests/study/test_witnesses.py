"""A head that was written down elsewhere shows what the digests alone cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.study import Study
from superlevel.study.heads import head_of
from superlevel.study.storage import Memory, Note
from superlevel.study.witnesses import witness
from tests.study.campaigns import GREEDY, NAME, RIDGE, Change, Kind, bare, contradicted, entries_of, forged, storage_of


@pytest.fixture
def study() -> Study:
    return GREEDY.run(GREEDY.create(), 2)


def sentence(study: Study, head: str) -> str:
    (found,) = [check.sentence for check in study.verify(witnesses=[head]).checks if "witness" in check.assumption]
    return found


def test_an_honest_log_has_every_earlier_head(study: Study) -> None:
    for entry in entries_of(study):
        for head in (f"{entry.seq} {entry.digest}", f"head: {entry.seq} {entry.digest[:8]}"):
            assert study.verify(witnesses=[head]).ok
    head = str(head_of(study.ledger))
    assert sentence(study, head) == "entry 5 has this digest, so nothing up to it changed; it is the last"
    GREEDY.run(study, 1)
    assert sentence(study, head).endswith("2 entries were added after it")
    assert "by its short form" in sentence(study, head[:10])


def test_dropped_entries_are_found_by_a_head_and_by_the_cached_labels(study: Study) -> None:
    head, note = str(head_of(study.ledger)), storage_of(study).noted(NAME)
    shorter = bare(entries_of(study)[:3])
    left = Study.open(shorter, NAME)
    assert left.verify().ok  # a log that ends earlier is a sound log
    assert contradicted(left.verify(witnesses=[head])) == {f"witness {head}"}
    assert sentence(left, head) == "it is of entry 5, and the log has 3: later entries were removed"
    assert isinstance(note, Note)
    shorter.note(NAME, Note(5, note.text))
    assert contradicted(left.verify()) == {"cached labels"}


CHANGES: dict[str, tuple[Kind, str, Change]] = {
    "value": (GREEDY, "told", lambda payload: payload["values"].__setitem__(0, payload["values"][0] + 1e-9)),
    "reason": (GREEDY, "told", lambda payload: payload.update(reasons={"5": "calm"})),
    "worker": (GREEDY, "told", lambda payload: payload.update(worker="eve")),
    "design": (RIDGE, "asked", lambda payload: payload.pop("design")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_log_that_was_chained_again_is_found_by_a_head(what: str) -> None:
    kind, entry, change = CHANGES[what]
    study = kind.run(kind.create(), 2)
    storage = forged(study, entry, change)
    found = Study.open(storage, NAME).verify(witnesses=[str(head_of(study.ledger))])
    assert any("it or one before it was changed" in check.sentence for check in found.checks)
    assert contradicted(found) >= {f"witness {head_of(study.ledger)}"}


def test_a_ridge_plan_without_its_design_is_found_without_a_head() -> None:
    study = RIDGE.run(RIDGE.create(), 2)
    found = Study.open(forged(study, "asked", lambda payload: payload.pop("design")), NAME).verify()
    assert contradicted(found) == {"designs"}
    assert any("entry 4: its design is missing" in check.sentence for check in found.checks)


def test_names_that_were_swapped_are_found_without_a_head(study: Study) -> None:
    other = Memory()
    first, *rest = entries_of(study)
    other.create("lake", first)
    with other.turn("lake", after=1) as turn:
        for entry in rest:
            turn.append(entry)
    found = Study.open(other, "lake").verify()
    assert contradicted(found) == {"log"}
    assert "it is the log of a study 'sea': names were swapped" in str(found)


def test_a_witness_is_a_file_or_a_head(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("nothing here")
    (tmp_path / "store.db").write_bytes(b"SQLite format 3\0 ...")
    (tmp_path / "wide.txt").write_text("head: 3 9f86d081", encoding="utf-16")
    assert str(witness(str(tmp_path / "wide.txt")).heads[0]) == "3 9f86d081"
    for given, words in (
        (tmp_path / "empty.txt", "which has no head in it: give a report"),
        (tmp_path / "none.txt", "which has no head in it: give a file that is there"),
        (tmp_path / "store.db", "which is a store: export its log"),
    ):
        with pytest.raises(InputError, match=words):
            witness(str(given))


def test_a_head_may_stand_in_a_text_that_is_longer_than_the_name_of_a_file(study: Study) -> None:
    note = f"{'We read this from the screen. ' * 20}head {head_of(study.ledger)}"
    assert witness(note).heads == (head_of(study.ledger),)
    assert study.verify(witnesses=[note]).ok
