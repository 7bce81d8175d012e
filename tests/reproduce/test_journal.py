"""Rows in a file: what was written is read again, what was cut off is dropped, and one writes at a time."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.reproduce import journal
from superlevel.reproduce.settings import Row
from tests.reproduce.small import row

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.dictionaries(TEXT, st.recursive(NUMBERS | TEXT, lambda inner: st.lists(inner, max_size=3), max_leaves=5))
ROWS = st.builds(
    Row,
    setting=TEXT,
    method=TEXT,
    seed=st.integers(0, 2**70),
    digest=TEXT,
    seconds=st.floats(0, 1e6),
    values=VALUES,
)
THREE = [row("LSE", seed, f1=[0.0, 0.5, 1.0], last=None) for seed in range(3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def fill(path: Path, rows: Sequence[Row]) -> None:
    with journal.opened(path, silent) as opened:
        for each in rows:
            opened.append(each)


def rows_of(path: Path, notify: Any = None) -> list[Row]:
    with journal.opened(path, notify or silent) as opened:
        return list(opened.rows)


def silent(sentence: str) -> None:
    raise AssertionError(sentence)


@given(st.lists(ROWS, max_size=4), st.lists(ROWS, max_size=2))
@settings(max_examples=25)
def test_what_is_appended_is_there_again(first: list[Row], second: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        fill(path, first)
        fill(path, second)
        assert rows_of(path) == first + second
        assert path.read_bytes().count(b"\n") == len(first + second)


def test_a_row_is_one_line_of_json(path: Path) -> None:
    fill(path, THREE)
    lines = path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [asdict(each) for each in THREE]
    assert list(json.loads(lines[0])) == [field.name for field in fields(Row)]


def test_a_row_is_in_the_file_as_soon_as_it_is_appended(path: Path) -> None:
    with journal.opened(path, silent) as opened:
        for count, each in enumerate(THREE, start=1):
            opened.append(each)
            assert path.read_bytes().count(b"\n") == count
            assert opened.rows == THREE[:count]


def test_names_in_any_script_come_back(path: Path) -> None:
    given = row("λ* — 上 \u2028 \x85 \r \n \N{PILE OF POO}", at="cos(8πx)", note="é\u0301")
    fill(path, [given, THREE[0]])
    assert rows_of(path) == [given, THREE[0]]
    assert path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("there", [True, False])
def test_an_empty_file_and_none_have_no_rows(path: Path, there: bool) -> None:
    if there:
        path.touch()
    assert rows_of(path) == []
    assert path.read_bytes() == b""


def test_a_file_that_was_cut_anywhere_keeps_its_whole_lines_and_says_so(path: Path) -> None:
    fill(path, THREE[:2])
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(1, len(whole) + 1):
        path.write_bytes(whole[:cut])
        said: list[str] = []
        kept = (cut >= first) + (cut == len(whole))
        assert rows_of(path, said.append) == THREE[:kept]
        left = cut - (len(whole) if kept == 2 else first if kept else 0)
        expected = f"{path}: the last line was cut off ({left} bytes) and is dropped; its row is computed again"
        assert said == ([expected] if left else [])
        assert path.read_bytes() == whole[: cut - left]


def test_a_line_without_its_end_is_dropped_even_if_it_is_whole_json(path: Path) -> None:
    fill(path, THREE)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    json.loads(path.read_bytes().splitlines()[-1])
    said: list[str] = []
    assert rows_of(path, said.append) == THREE[:2]
    assert len(said) == 1


def test_writing_goes_on_where_a_line_was_cut_off(path: Path) -> None:
    fill(path, THREE)
    path.write_bytes(path.read_bytes()[:-5])
    said: list[str] = []
    with journal.opened(path, said.append) as opened:
        opened.append(THREE[2])
    assert len(said) == 1
    assert rows_of(path) == THREE


@pytest.mark.parametrize(
    "line",
    [b"", b"nonsense", b"{", b"null", b"3", b"[1, 2]", b'"text"', b"{}", b'{"setting": "s"}', b"\xff\xfe", b"\x00"],
)
def test_a_line_that_is_no_row_is_named_and_left_alone(path: Path, line: bytes) -> None:
    fill(path, THREE)
    lines = path.read_bytes().splitlines(keepends=True)
    content = b"".join([lines[0], line + b"\n", *lines[1:]])
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"rows\.jsonl:2 is .*take the line out, or give another --out$"):
        rows_of(path)
    assert path.read_bytes() == content


def test_a_field_of_another_version_is_passed_over(path: Path) -> None:
    path.write_text(json.dumps({**asdict(THREE[0]), "machine": "m"}) + "\n")
    assert rows_of(path) == [THREE[0]]


def test_rows_of_every_digest_are_kept(path: Path) -> None:
    other = Row(**{**asdict(THREE[0]), "digest": "f" * 16})
    fill(path, [THREE[0], other])
    assert [each.digest for each in rows_of(path)] == ["0" * 16, "f" * 16]
    assert THREE[0].key != other.key


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_a_second_writer_is_told_to_go_elsewhere(path: Path) -> None:
    with journal.opened(path, silent) as first:
        with (
            pytest.raises(InputError, match=r"locked: another run is writing there.* --out") as raised,
            journal.opened(path, silent),
        ):
            raise AssertionError
        assert raised.value.field == str(path)
        first.append(THREE[0])
    assert rows_of(path) == THREE[:1]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_a_second_writer_does_not_take_a_torn_line_of_the_first_away(path: Path) -> None:
    with journal.opened(path, silent):
        path.write_bytes(b"half of a li")
        with pytest.raises(InputError), journal.opened(path, silent):
            raise AssertionError
        assert path.read_bytes() == b"half of a li"


def test_the_lock_goes_when_a_run_fails(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), journal.opened(path, silent):
        raise ZeroDivisionError
    fill(path, THREE)
    assert rows_of(path) == THREE


def test_two_folders_are_written_at_once(path: Path) -> None:
    with journal.opened(path, silent) as one, journal.opened(path.with_name("other"), silent) as two:
        one.append(THREE[0])
        two.append(THREE[1])
    assert (rows_of(path), rows_of(path.with_name("other"))) == ([THREE[0]], [THREE[1]])


def test_where_there_are_no_locks_rows_are_written_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "fcntl", None)
    fill(path, THREE)
    with journal.opened(path, silent) as one, journal.opened(path, silent) as two:
        assert one.rows == two.rows == THREE


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_is_not_written(path: Path, value: float) -> None:
    fill(path, THREE[:1])
    with pytest.raises(ValueError, match="not JSON compliant"):
        fill(path, [row("LSE", 1, f1=[value])])
    assert rows_of(path) == THREE[:1]


@pytest.mark.parametrize("changed", [{"setting": []}, {"seed": None}, {"values": [1]}])
def test_fields_of_other_types_are_no_row(path: Path, changed: dict[str, Any]) -> None:
    path.write_text(json.dumps({**asdict(THREE[0]), **changed}) + "\n")
    with pytest.raises(InputError, match="not a row of superlevel"):
        rows_of(path)
