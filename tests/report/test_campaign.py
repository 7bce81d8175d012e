from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from superlevel.arrays import Array
from superlevel.domain import Domain, read_values
from superlevel.errors import InputError
from superlevel.goals import Threshold, summary
from superlevel.report.campaign import COLUMNS, WORDS, Campaign, Reason, as_table, headings, write_points


def example(points: Array, /, **given: Any) -> Campaign:
    """A campaign midway: f is the first coordinate plus half the others, known better near the measured points."""
    rng = np.random.default_rng(len(points))
    n, dimension = points.shape
    mean = points[:, 0] + 0.5 * points[:, 1:].sum(axis=1)
    level = float(np.median(mean)) + 1e-3
    counts = np.where(rng.random(n) < 0.3, rng.integers(1, 9, n), 0)
    half = 0.2 * (1 + rng.random(n)) / np.sqrt(1 + counts)
    labels = np.where(mean - half > level, 1, np.where(mean + half < level, -1, 0)).astype(np.int8)
    follow = np.sort(rng.integers(0, n, 6))
    fields: dict[str, Any] = {
        "name": "survey",
        "question": "above 0.5",
        "names": tuple(f"x{j}" for j in range(dimension)),
        "points": points,
        "labels": labels,
        "counts": counts,
        "averages": np.where(counts > 0, mean + 0.05, np.nan),
        "mean": mean,
        "lower": mean - half,
        "upper": mean + half,
        "levels": (level,),
        "next": follow,
        "reasons": tuple(
            Reason(ticket=at, point=int(point), serves=((int(point), 0.5), (0, 0.34), (n - 1, 0.004)))
            for at, point in enumerate(follow[:2])
        ),
        "facts": (("method", "MELK"), ("noise", "0.1")),
        "doubts": ("The noise is larger than assumed.",),
        "progress": ((0, n), (5, n // 2), (9, n // 3)),
    }
    return Campaign(**(fields | given))


def lattice(rows: int, columns: int) -> Array:
    first, second = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij")
    return np.column_stack([first.ravel(), second.ravel()])


def bare(points: Array) -> Campaign:
    """Nothing is known."""
    n = len(points)
    unknown = {"mean": None, "lower": None, "upper": None, "levels": (), "next": np.empty(0, dtype=np.int64)}
    none = {"labels": np.zeros(n, np.int8), "counts": np.zeros(n, np.int64), "averages": np.full(n, np.nan)}
    return example(points, **unknown, **none, reasons=(), facts=(), doubts=(), progress=())


def rows(campaign: Campaign) -> list[dict[str, object]]:
    """The lines of the table by the names of its columns; None where a cell is empty."""
    table = as_table(campaign)
    cells = ([None if cell == "" else cell for cell in row] for row in table.rows())
    return [dict(zip(table.header, row, strict=True)) for row in cells]


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as lines:
        head, *body = csv.reader(lines)
    return head, body


def test_a_line_has_all_that_is_known_of_its_point() -> None:
    campaign = example(lattice(5, 4))
    lines = rows(campaign)
    assert len(lines) == 20
    assert all(list(line) == ["x0", "x1", *COLUMNS] for line in lines)
    assert [[line["x0"], line["x1"]] for line in lines] == campaign.points.tolist()
    for name, values in (("mean", campaign.mean), ("lower", campaign.lower), ("upper", campaign.upper)):
        assert values is not None
        assert [line[name] for line in lines] == values.tolist()
    assert [line["measurements"] for line in lines] == campaign.counts.tolist()
    for line, count, average in zip(lines, campaign.counts, campaign.averages, strict=True):
        assert (line["average"] is None) == (count == 0)
        assert count == 0 or line["average"] == average


def test_labels_are_in_the_words_that_are_used_elsewhere() -> None:
    campaign = example(lattice(9, 9))
    told = [line["label"] for line in rows(campaign)]
    assert ", ".join(f"{told.count(word):,} {word}" for word in WORDS.values()) == summary(
        Threshold(0.5), campaign.labels
    )
    assert {told.count(word) for word in WORDS.values()} != {27}


def test_what_is_not_there_is_none() -> None:
    for line in rows(bare(lattice(3, 2))):
        assert [line[name] for name in COLUMNS] == ["undecided", 0, None, None, None, None]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("x", "y"), ("x", "y")),
        (("mean", "y"), ("mean (coordinate)", "y")),
        (("label", "label (coordinate)"), ("label (coordinate) (coordinate)", "label (coordinate)")),
        (("upper (coordinate)", "upper"), ("upper (coordinate)", "upper (coordinate) (coordinate)")),
    ],
)
def test_a_coordinate_that_is_called_like_a_column_hides_nothing(
    names: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    assert headings(names) == shown
    campaign = example(lattice(3, 3), names=names)
    for line, point in zip(rows(campaign), campaign.points.tolist(), strict=True):
        assert len(line) == 2 + len(COLUMNS)
        assert [line[name] for name in shown] == point


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
QUARTER = float(np.finfo(np.float64).max) / 4  # the example adds 1.5 times one coordinate to 1.5 times another
COORDINATES = st.floats(-QUARTER, QUARTER)


@settings(max_examples=25)
@given(arrays(np.float64, (6, 2), elements=COORDINATES), arrays(np.float64, (6, 3), elements=FLOATS))
@hypothesis.example(np.full((6, 2), QUARTER), np.full((6, 3), 4 * QUARTER))
@hypothesis.example(np.full((6, 2), -QUARTER), np.full((6, 3), 5e-324))
def test_a_file_has_the_very_numbers(tmp_path_factory: pytest.TempPathFactory, places: Array, values: Array) -> None:
    path = tmp_path_factory.mktemp("csv") / "points.csv"
    counts = np.array([0, 1, 2, 0, 5, 1])
    averages = np.where(counts > 0, values[:, 0], np.nan)
    campaign = example(
        lattice(3, 2) * places,
        counts=counts,
        averages=averages,
        mean=values[:, 1],
        lower=values[:, 2],
        upper=None,
        names=('the "first", so called', "zweite\nGröße"),
    )
    write_points(campaign, path)
    head, body = read(path)
    assert head == [*campaign.names, *COLUMNS]
    columns = dict(zip(head, zip(*body, strict=True), strict=True))
    for name, expected in zip(
        (*campaign.names, "mean", "lower"), (*campaign.points.T, campaign.mean, campaign.lower), strict=True
    ):
        np.testing.assert_array_equal([float(cell) for cell in columns[name]], expected)
    assert columns["upper"] == ("",) * 6
    assert [int(cell) for cell in columns["measurements"]] == counts.tolist()
    assert [None if cell == "" else float(cell) for cell in columns["average"]] == [
        value if count else None for value, count in zip(averages.tolist(), counts, strict=True)
    ]


def test_a_file_can_be_the_domain_and_the_pilot_of_another_campaign(tmp_path: Path) -> None:
    campaign = example(np.random.default_rng(0).random((30, 3)))
    write_points(campaign, tmp_path / "points.csv")
    again = Domain.read(tmp_path / "points.csv", columns=campaign.names)
    np.testing.assert_array_equal(again.points, campaign.points)
    np.testing.assert_array_equal(read_values(tmp_path / "points.csv", "average"), campaign.averages)


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "points.csv"
    write_points(example(lattice(3, 3)), path)
    before = path.read_bytes()
    broken = example(lattice(4, 4), labels=np.zeros(15, dtype=np.int8))  # one is missing
    with pytest.raises(ValueError, match="zip"):
        write_points(broken, path)
    assert path.read_bytes() == before

    def full(self: Path, target: Path) -> Path:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(InputError, match=r"^path is '.*points.csv': it cannot be written \(No space"):
            write_points(example(lattice(5, 5)), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    write_points(example(lattice(5, 5)), str(path))
    assert len(read(path)[1]) == 25
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["missing/points.csv", "file/points.csv", "folder", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder" / "full").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"^path is '.*': it cannot be written \("):
        write_points(example(lattice(2, 2)), tmp_path / place)
    assert sorted(tmp_path.rglob("*")) == before
