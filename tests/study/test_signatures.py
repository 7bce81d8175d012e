"""Signed entries: only who holds the key can write them, and old studies need none."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.study import Study
from superlevel.study.events import parted
from superlevel.study.signatures import as_public, make_key, read_key
from superlevel.study.storage import Memory
from tests.study.campaigns import GREEDY, NAME, bare, contradicted, entries_of, rechained, storage_of


@pytest.fixture
def key(tmp_path: Path) -> Path:
    make_key(tmp_path / "own.key")
    return tmp_path / "own.key"


@pytest.fixture
def signed(key: Path) -> Study:
    return GREEDY.run(GREEDY.create(sign=key), 2)


def test_a_key_is_for_its_owner_and_is_not_overwritten(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="is there already: name a new one"):
        make_key(key)
    assert as_public(read_key(key).public) == read_key(key).public
    assert as_public(read_key(key).public.removeprefix("ed25519:").upper()) == read_key(key).public


def test_every_entry_of_a_signed_study_is_signed(signed: Study, key: Path) -> None:
    assert all(parted(entry.payload)[1] for entry in entries_of(signed))
    found = signed.verify(key=read_key(key).public)
    assert found.ok
    assert "5 entries, each signed with the given key" in str(found)
    again = Study.open(storage_of(signed), NAME, sign=key)
    again.correct(1, 0.2, reason="slip")
    assert again.verify().ok


def test_a_signed_study_is_read_without_a_key_and_written_with_its_own_only(
    signed: Study, key: Path, tmp_path: Path
) -> None:
    reader = Study.open(storage_of(signed), NAME)
    assert reader.labels.size
    with pytest.raises(InputError, match=r"sign is missing: every entry of this study is signed: give its key"):
        reader.correct(1, 0.2)
    assert len(entries_of(signed)) == 5
    make_key(tmp_path / "other.key")
    with pytest.raises(InputError, match="this study is signed with ed25519:"):
        Study.open(storage_of(signed), NAME, sign=tmp_path / "other.key")
    with pytest.raises(InputError, match="a key for a study without one"):
        Study.open(storage_of(GREEDY.create()), NAME, sign=key)


def test_changed_added_and_unsigned_entries_are_found(signed: Study, key: Path) -> None:
    public = read_key(key).public
    lines = [(entry.kind, entry.at, entry.payload) for entry in entries_of(signed)]
    unsigned = [*lines[:-1], (*lines[-1][:2], parted(lines[-1][2])[0])]
    later = [*lines[:-1], (lines[-1][0], "2020-01-01T00:00:00.000+00:00", lines[-1][2])]
    added = [*lines, ("corrected", lines[-1][1], '{"ticket":1,"value":0.5}')]
    for forgery, words in (
        (unsigned, "entry 5 is not signed"),
        (later, "entry 5 is signed with another key, or was changed"),
        (added, "entry 6 is not signed"),
    ):
        found = Study.open(bare(rechained(forgery)), NAME).verify(key=public)
        assert "signatures" in contradicted(found)
        assert words in str(found)


def test_a_log_that_was_signed_anew_is_found_by_who_knows_the_key(key: Path, tmp_path: Path) -> None:
    make_key(tmp_path / "other.key")
    forger = GREEDY.run(GREEDY.create(sign=tmp_path / "other.key"), 2)
    assert forger.verify().ok
    assert contradicted(forger.verify(key=read_key(key).public)) == {"signatures"}
    assert contradicted(GREEDY.create().verify(key=read_key(key).public)) == {"signatures"}


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.key").write_bytes(content)
    with pytest.raises(InputError, match="which is no key: give a file that `superlevel study key FILE` wrote"):
        read_key(tmp_path / "bad.key")
    with pytest.raises(InputError, match="give a file that `superlevel study key FILE` wrote"):
        read_key(tmp_path / "none.key")
    with pytest.raises(InputError, match="give the public key as `superlevel study key` prints it"):
        as_public("ed25519:12")
    with pytest.raises(InputError, match="give the public key as `superlevel study key` prints it"):
        as_public("a" * 5000)  # longer than the name of a file can be


def test_without_the_package_there_is_a_sentence_and_signed_studies_open(
    signed: Study, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*sys.modules]:
        if name.split(".")[0] == "cryptography":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(InputError, match=r"without the package cryptography: install it with `pip install 'superlevel"):
        Study.create(Memory(), NAME, GREEDY.problem(), sign=key)
    found = Study.open(storage_of(signed), NAME).verify()
    assert found.ok
    assert "not checked, because cryptography is missing" in str(found)
