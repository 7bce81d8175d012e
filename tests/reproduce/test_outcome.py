"""Tables and files: every number is there, and every file whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Picture
from scipy import stats

from superlevel.reproduce.claims import Above, judge
from superlevel.reproduce.outcome import Outcome, as_csv, scores, standard_error, write, write_bytes
from tests.reproduce.small import normal, row, strictly

HEADER = {"figure": "f", "version": "0", "reps": 8, "seed": 0, "quick": True}


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def drawn() -> Picture:
    picture = Picture(figsize=(2, 1))
    picture.subplots().plot([0, 1], [1, 0])
    return picture


def outcome(tables: Mapping[str, Any] | None = None) -> Outcome:
    claims = [
        judge(f"claim {k}", "x > y.", {"one": normal(k, 8), "two": np.zeros(8)}, Above(), measure="x") for k in range(2)
    ]
    lines = [{"method": "LSE", "area": 0.1 + 0.2}]
    return Outcome(tables=tables or {"": lines, "-more": lines}, pictures={"": drawn}, claims=claims, shown=lines)


# ------------------------------------------------------------------------------------------ numbers


def test_scores_are_grouped_by_setting_and_method_in_the_order_of_the_rows() -> None:
    rows = [row("a", 1, f1=[0, 1]), row("b", 0, f1=[2, 3]), row("a", 0, f1=[4, 5]), row("a", 0, at="other", f1=[6, 7])]
    found = scores(rows, "f1")
    assert {key: values.tolist() for key, values in found.items()} == {
        ("small", "a"): [[0, 1], [4, 5]],
        ("small", "b"): [[2, 3]],
        ("other", "a"): [[6, 7]],
    }
    assert all(values.dtype == np.float64 for values in found.values())


def test_rows_without_a_field_are_passed_over_and_none_is_not_a_number() -> None:
    found = scores([row("a", last=None), row("a", last=30), row("bound", samples=3.0)], "last")
    assert list(found) == [("small", "a")]
    np.testing.assert_array_equal(found["small", "a"], [np.nan, 30])
    assert scores([], "last") == {}


def test_the_standard_error_is_scipys() -> None:
    values = normal(0, 24).reshape(8, 3)
    np.testing.assert_allclose(standard_error(values), stats.sem(values))
    np.testing.assert_allclose(standard_error(values[:, 0]), stats.sem(values[:, 0]))


def test_one_run_and_equal_runs_have_no_standard_error() -> None:
    assert standard_error(np.ones((1, 3))).tolist() == [0, 0, 0]
    assert float(standard_error(np.ones(1))) == 0
    assert standard_error(np.full((4, 2), 0.25)).tolist() == [0, 0]


# ------------------------------------------------------------------------------------------ tables


def test_a_table_is_read_back_to_the_last_digit() -> None:
    table = [{"method": "MELK, tight", "x": 0.1 + 0.2, "n": 3}, {"method": 'λ "*"\nline', "x": 1e-300, "n": -1}]
    found = read(as_csv(table))
    assert [(line["method"], float(line["x"]), int(line["n"])) for line in found] == [tuple(t.values()) for t in table]
    assert list(found[0]) == ["method", "x", "n"]


def test_what_is_not_there_is_an_empty_cell() -> None:
    assert read(as_csv([{"a": None, "b": 0.0}])) == [{"a": "", "b": "0.0"}]


def test_an_empty_table_has_no_lines() -> None:
    assert read(as_csv([])) == []


def test_a_line_with_a_column_that_the_first_has_not_is_not_lost_silently() -> None:
    with pytest.raises(ValueError, match="b"):
        as_csv([{"a": 1}, {"a": 1, "b": 2}])


# ------------------------------------------------------------------------------------------ files


def test_every_file_is_written_under_its_name(tmp_path: Path) -> None:
    paths = write(tmp_path, "f", outcome(), HEADER)
    assert [path.name for path in paths] == ["f.csv", "f-more.csv", "f.png", "f.pdf", "claims.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "f.pdf").read_bytes().startswith(b"%PDF")
    assert read((tmp_path / "f-more.csv").read_text()) == [{"method": "LSE", "area": repr(0.1 + 0.2)}]


def test_claims_are_strict_json_with_the_header_and_every_number(tmp_path: Path) -> None:
    made = outcome()
    write(tmp_path, "f", made, HEADER)
    told = strictly((tmp_path / "claims.json").read_bytes())
    assert {name: told[name] for name in HEADER} == HEADER
    assert [claim["name"] for claim in told["claims"]] == ["claim 0", "claim 1"]
    for claim, expected in zip(told["claims"], made.claims, strict=True):
        assert claim["verdict"] == expected.verdict.value
        assert [(e["p_for"], e["mean"]) for e in claim["evidence"]] == [(e.p_for, e.mean) for e in expected.evidence]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write(tmp_path, "f", outcome(), HEADER)]
    second = [path.read_bytes() for path in write(tmp_path, "f", outcome(), HEADER)]
    assert first == second
    assert b"CreationDate" not in first[3]


def test_a_table_in_any_script_is_utf8(tmp_path: Path) -> None:
    write(tmp_path, "f", outcome({"": [{"method": "λ*"}]}), HEADER)
    assert (tmp_path / "f.csv").read_bytes().decode("utf-8") == "method\nλ*\n"


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    assert write_bytes(path, b"long content") == path
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_stays_as_it_was_if_its_successor_is_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_bytes(tmp_path / "x.csv", b"old")

    def full(beside: Path, content: bytes) -> int:
        with beside.open("wb") as file:
            file.write(content[:1])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_file_comes_into_being_by_a_single_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_bytes(tmp_path / "x.csv", b"old")
    steps: list[tuple[bytes, bytes]] = []
    real = Path.replace

    def watched(beside: Path, target: Path) -> Path:
        steps.append((beside.read_bytes(), target.read_bytes()))
        return real(beside, target)

    monkeypatch.setattr(Path, "replace", watched)
    write_bytes(path, b"new")
    assert steps == [(b"new", b"old")]
    assert path.read_bytes() == b"new"
