"""A file is there whole, or as it was before."""

from __future__ import annotations

from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.files import replacing


def test_a_file_is_replaced_at_the_end_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("old")
    with replacing("--out", path, force=True) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
        assert beside.suffix == ".csv"  # matplotlib goes by it
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing("--out", path, force=True) as beside:
        beside.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    path, link = tmp_path / "labels.csv", tmp_path / "latest.csv"
    path.write_text("old")
    link.symlink_to(path)
    with replacing("--out", link, force=True) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"--out is .*nowhere.*: it cannot be written"),
        replacing("--out", tmp_path / "nowhere" / "labels.csv") as beside,
    ):
        beside.write_text("new")
