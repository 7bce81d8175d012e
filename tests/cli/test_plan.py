"""`superlevel plan` on small surveys."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from typer.testing import CliRunner

from superlevel.arrays import Array
from superlevel.bounds import explicit
from superlevel.cli import app
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import KINDS
from tests.worlds import paper_arms

MANY = ",".join(str(number) for number in range(1, 12))
SURVEY = "east,north,depth\n0,0,18\n0,1,21.5\n1,0,22\n1,1,\n"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    return path


def plan(*arguments: object, columns: int = 200) -> str:
    """What is printed, on a wide screen."""
    env = {"COLUMNS": str(columns)}
    ran = CliRunner().invoke(app, ["plan", *map(str, arguments)], env=env, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def cells(shown: str, head: str) -> list[list[str]]:
    """The lines of the last table below these words."""
    below = shown[shown.rindex(head) :].splitlines()
    rows = [line.strip("│┃ ") for line in below if line.startswith(("│", "┃"))]
    return [[cell.strip() for cell in re.split("[│┃]", row)] for row in rows]


def test_the_paper_s_benchmark_has_a_lower_bound_of_372(tmp_path: Path) -> None:
    arms = paper_arms()
    path, out = tmp_path / "arms.csv", tmp_path / "plan.csv"
    header = ",".join(f"x{j}" for j in range(25)) + ",f"
    np.savetxt(path, np.column_stack([arms, arms[:, 0]]), delimiter=",", header=header, comments="", fmt="%.17g")
    shown = plan(path, "--guess", "f", "--threshold", 0.5, "--noise", 1, "--bound", 1, "--out", out)
    assert "372" in shown
    assert "100 points, 99 above 0.5 by the guess" in shown
    with out.open() as file:
        rows = {row["estimate"]: float(row["measurements"]) for row in csv.DictReader(file)}
    assert rows["lower bound"] == pytest.approx(372, abs=4)
    assert rows["MELK at best"] == pytest.approx(0.75e6, rel=0.02)
    assert rows["MELK at worst"] == pytest.approx(3.1e6, rel=0.02)
    assert 372 < rows["MELK with ridge, typical"] < rows["MELK with ridge, at worst"] < 1e5


@pytest.mark.parametrize("goal", [("--threshold", 20), ("--fraction-of-max", 0.1)])
def test_a_pilot_with_blanks_is_filled_in(survey: Path, goal: tuple[str, float]) -> None:
    kernel = ("--kernel", "9 * Matern([0.5, 1.5], nu=2.5)")
    shown = plan(survey, "--guess", "depth", *goal, "--noise", 0.5, "--mean", 20, "--tolerance", 0.5, *kernel)
    assert "3 of 4 values are given; the kernel predicts the others." in shown
    assert "lower bound" in shown


def test_a_guess_exactly_at_the_level_never_ends_without_a_tolerance(survey: Path) -> None:
    survey.write_text(SURVEY.replace("1,1,", "1,1,20"))
    shown = plan(survey, "--guess", "depth", "--threshold", 20, "--noise", 1, "--mean", 20, "--kernel", "RBF(1)")
    assert "never" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--guess", "depth", "--noise", "1"],
            "--threshold is missing: give one of --threshold, --fraction-of-max and --goal",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--fraction-of-max", "0.1"],
            "--threshold is there together with --fraction-of-max: give one of",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--fraction-of-max", "0.1", "--goal", "above 20"],
            "--fraction-of-max is there together with --goal: give one of",
        ),
        (["--guess", "depth", "--noise", "1", "--goal", "deep"], "--goal is 'deep': write one of \"above 20\", "),
        (["--guess", "depth", "--noise", "1", "--goal", "above 1.2.3"], "--goal is 'above 1.2.3': write one of"),
        (["--guess", "depth", "--noise", "1", "--goal", "between 20 and 10"], "--goal is .*: give a number > 20"),
        (
            ["--guess", "depth", "--noise", "1", "--goal", "levels 20, 10"],
            "--goal is .*: give levels in ascending order",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--goal", "within 150 % of the maximum"],
            "--goal is 'within 150 % of the maximum': give a number > 0 and < 100",
        ),
        (["--guess", "height", "--noise", "1", "--threshold", "1"], "column 'height' is missing: choose out of"),
        (["--guess", "depth", "--noise", "-1", "--threshold", "1"], "noise is -1.0: give a number >= 0"),
        (["--guess", "depth", "--noise", "1", "--threshold", "1", "--delta", "2"], "delta is 2.0"),
        (
            ["--guess", "depth", "--noise", "1", "--fraction-of-max", "1.5"],
            "--fraction-of-max is 1.5: give a number > 0 and < 1",
        ),
        (["--guess", "depth", "--noise", "1", "--threshold", "1", "--out", "plan.txt"], "end it in .csv"),
        (["--guess", "depth", "--noise", "", "--threshold", "1"], "--noise is empty: give a number, or several"),
        (["--guess", "depth", "--noise", "1,", "--threshold", "1"], "--noise is '1,': give a number, or several"),
        (["--guess", "depth", "--noise", "1,two", "--threshold", "1"], "--noise is '1,two': give a number, or several"),
        (
            ["--guess", "depth", "--noise", "1", "--norm", "1,nan", "--threshold", "1"],
            "--norm is nan: give a number > 0",
        ),
        (["--guess", "depth", "--noise", "1", "--norm", "2,0", "--threshold", "1"], "--norm is 0.0: give a number > 0"),
        (["--guess", "depth", "--noise", "1", "--norm", "inf", "--threshold", "1"], "--norm is inf: give a number > 0"),
        (["--guess", "depth", "--noise", "1_0", "--threshold", "1"], "--noise is '1_0': give a number, or several"),
        (["--guess", "depth", "--noise", "1", "--tolerance", "0,-1", "--threshold", "1"], "--tolerance is -1.0"),
        (["--guess", "depth", "--noise", "1", "--delta", "0.1,1", "--threshold", "1"], "--delta is 1.0: give a number"),
        (
            ["--guess", "depth", "--noise", "1", "--bound", "30,3", "--threshold", "1"],
            "--bound is 3.0: give at least 22",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--picture", "norms.png", "--norm", "2"],
            "--picture is 'norms.png': give several norms to draw, such as --norm 1,2,4",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--picture", "norms.gif", "--norm", "2,3"],
            "end it in .png",
        ),
        (
            ["--guess", "depth", "--noise", MANY, "--norm", MANY, "--threshold", "1"],
            "--noise is one of several ranges, with 121 combinations: give fewer numbers",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--kernel", "RFB(1)"],
            "--kernel is 'RFB.1.', where RFB is no known kernel: did you mean RBF?",
        ),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--kernel", "RBF([1, 1, 1])"],
            "give a kernel for points with 2 coordinates",
        ),
    ],
)
def test_bad_input_is_one_sentence(
    survey: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(survey.parent)  # the folder of the project may be read-only
    with pytest.raises(InputError, match=sentence):
        CliRunner().invoke(app, ["plan", str(survey), *arguments], catch_exceptions=False)


def test_help_teaches() -> None:
    shown = CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "200"}).output
    assert "Example: superlevel plan harbour.csv" in shown
    assert "--norm 1,2,4,8" in shown
    words = " ".join(shown.replace("│", " ").split())
    assert all(f'"{kind.form}"' in words for kind in KINDS.values())


# ------------------------------------------------------------------------------------------- goals


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("above 20", ["--threshold", "20"]),
        ("below 20", ["--threshold", "20"]),
        ("levels 20", ["--threshold", "20"]),
        ("within 10 % of the maximum", ["--fraction-of-max", "0.1"]),
    ],
)
def test_words_are_another_way_to_write_an_option(survey: Path, text: str, options: list[str]) -> None:
    common = ("--guess", "depth", "--noise", 0.5, "--mean", 20, "--tolerance", 0.5, "--kernel", "9 * RBF([0.5, 1.5])")
    assert plan(survey, *common, "--goal", text) == plan(survey, *common, *options)


# ------------------------------------------------------------------------------------------ ranges


def hill_and_valley(places: Array) -> Array:
    """k(., 0.25) - k(., 0.75) for RBF(0.3)."""
    return np.asarray(np.exp(-((places - 0.25) ** 2) / 0.18) - np.exp(-((places - 0.75) ** 2) / 0.18))


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """The hill and the valley at nine places."""
    places = np.linspace(0, 1, 9)
    path, values = tmp_path / "line.csv", hill_and_valley(places)
    np.savetxt(path, np.column_stack([places, values]), delimiter=",", header="x,f", comments="", fmt="%.17g")
    return path


COMMON = ("--guess", "f", "--threshold", 0.5, "--kernel", "RBF(0.3)", "--tolerance", 0.2)
NORM = float(np.sqrt(2 - 2 * np.exp(-(0.5**2) / 0.18)))  # of k(., 0.25) - k(., 0.75)


def test_norms_are_side_by_side_for_every_noise(line: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "all.csv", tmp_path / "norms.png"
    ranges = ("--noise", "0.2,0.4", "--norm", "0.5,2,8")
    shown = plan(line, *COMMON, *ranges, "--out", out, "--picture", picture, columns=100)
    assert max(len(line) for line in shown.splitlines() if not line.startswith("wrote")) <= 100
    head, *rows = cells(shown, "MELK with ridge, typical")
    assert head == ["noise", "lower bound", "norm 0.5", "norm 2", "norm 8"]
    assert [row[0] for row in rows] == ["0.2", "0.4"]
    assert all(row[2] == "too small" for row in rows)
    assert f"too small: the guess itself has a norm of {NORM:.2g}" in shown
    with out.open() as file:
        written = list(csv.DictReader(file))
    first = {row["estimate"]: row for row in written if not row["estimate"].startswith("range")}
    assert first["lower bound"]["noise"] == "0.2"
    forecasts = [row for row in written if row["estimate"] == "range: MELK with ridge, typical"]
    assert [(row["noise"], row["norm"]) for row in forecasts] == [
        (noise, norm) for noise in ("0.2", "0.4") for norm in ("0.5", "2.0", "8.0")
    ]
    counts = [f"{float(row['measurements']):,.0f}" for row in forecasts if row["norm"] != "0.5"]
    assert counts == [count for row in rows for count in row[3:]]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_first_table_is_for_the_first_of_each(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.csv"
    shown = plan(line, *COMMON, "--noise", "0.4,0.2", "--norm", "2", "--out", out)
    assert "The ridge confidence has ||f - mean|| <= 2." in shown
    alone = plan(line, *COMMON, "--noise", "0.4", "--norm", "2")
    assert alone == shown[: len(alone)]
    head, *rows = cells(shown, "MELK with ridge, typical")
    assert head == ["noise", "lower bound", "measurements", "times"]
    assert [row[0] for row in rows] == ["0.2", "0.4"]  # in order, whatever the first table is for
    (typical,) = (row for row in cells(alone, "9 points") if row[0] == "MELK with ridge, typical")
    assert rows[1][2] == typical[1]


def test_more_than_two_ranges_are_one_line_each(line: Path) -> None:
    shown = plan(line, *COMMON[:-2], "--noise", "0.2,0.4", "--norm", "2,4", "--tolerance", "0.2,0.4", columns=100)
    head, *rows = cells(shown, "MELK with ridge, typical")
    assert head == ["noise", "norm", "tolerance", "lower bound", "measurements", "times"]
    assert [row[:3] for row in rows] == [[a, b, c] for a in ("0.2", "0.4") for b in ("2", "4") for c in ("0.2", "0.4")]


def test_bounds_and_deltas_may_be_ranges_too_and_numbers_count_once(line: Path) -> None:
    shown = plan(line, *COMMON, "--noise", "0.3", "--bound", "2,4,2.0", "--delta", "0.1,0.01")
    assert "1.5 times that of the guess, as the problem has no norm" in " ".join(shown.split())
    head, *rows = cells(shown, "MELK with ridge, typical")
    assert head == ["delta", "lower bound", "bound 2", "bound 4"]
    assert [row[0] for row in rows] == ["0.01", "0.1"]


def test_without_a_norm_that_of_the_guess_is_named(line: Path) -> None:
    shown = " ".join(plan(line, *COMMON, "--noise", "0.3").split())
    guessed = re.search(r"ridge confidence has \|\|f - mean\|\| <= ([\d.]+), 1.5 times that of the guess", shown)
    assert guessed is not None
    assert float(guessed[1]) == pytest.approx(1.5 * NORM, rel=0.05)
    assert shown.count("with ridge, typical") == 1


def test_ranges_of_ties_and_pilots_say_so(line: Path) -> None:
    places = np.linspace(0, 1, 9)
    noisy = np.sin(6 * places) + 0.3 * np.random.default_rng(2).normal(size=9)
    noisy[4] = 0.5
    np.savetxt(line, np.column_stack([places, noisy]), delimiter=",", header="x,f", comments="")
    shown = plan(line, *COMMON[:-2], "--noise", "0.3,0.4", "--norm", "9", columns=100)
    assert "never: a point is at the level and there is no tolerance: it never ends." in shown
    assert "All of it is for the guess as the kernel smooths it" in " ".join(shown.split())


def test_a_fraction_of_the_maximum_has_ranges_too(line: Path) -> None:
    given = ("--guess", "f", "--fraction-of-max", 0.5, "--kernel", "RBF(0.3)", "--tolerance", 0.3)
    shown = plan(line, *given, "--noise", "0.1,0.2", "--norm", "2,4")
    head, *rows = cells(shown, "MILK with ridge, typical")
    assert head == ["noise", "lower bound", "norm 2", "norm 4"]
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("text", "levels", "classes"),
    [
        ("between 0.1 and 0.6", [0.1, 0.6], "above 0.6: 3, between 0.1 and 0.6: 1, below 0.1: 5"),
        ("levels -1.5, -0.5, 0.6", [-1.5, -0.5, 0.6], "above 0.6: 3, -0.5 to 0.6: 3, -1.5 to -0.5: 3, below -1.5: 0"),
    ],
)
def test_several_levels_have_a_plan(line: Path, tmp_path: Path, text: str, levels: list[float], classes: str) -> None:
    out, places = tmp_path / "plan.csv", np.linspace(0, 1, 9)
    given = ("--guess", "f", "--noise", 0.5, "--norm", 2, "--tolerance", 0.05, "--kernel", "RBF(0.3)")
    shown = " ".join(plan(line, *given, "--goal", text, "--out", out).split())
    values = hill_and_valley(places)
    margin = np.abs(values - np.array(levels)[:, None]).min()
    assert f"9 points, {classes} by the guess, the nearest {margin:.3g} from its level" in shown
    domain = Domain(places, RBF(0.3))
    lower = explicit(domain, values, threshold=levels, noise=0.5, tolerance=0.05).samples
    with out.open() as file:
        rows = {row["estimate"]: float(row["measurements"]) for row in csv.DictReader(file)}
    assert rows["lower bound"] == pytest.approx(lower)
    assert lower < rows["MELK with ridge, typical"] < rows["MELK with ridge, at worst"]
