"""`superlevel plan` on small surveys."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from superlevel.cli import app
from superlevel.errors import InputError
from tests.worlds import paper_arms

SURVEY = "east,north,depth\n0,0,18\n0,1,21.5\n1,0,22\n1,1,\n"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    return path


def plan(*arguments: object) -> str:
    """What is printed, on a wide screen."""
    ran = CliRunner().invoke(app, ["plan", *map(str, arguments)], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


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
        (["--guess", "depth", "--noise", "1"], "--threshold is missing: give either --threshold or --fraction-of-max"),
        (
            ["--guess", "depth", "--noise", "1", "--threshold", "1", "--fraction-of-max", "0.1"],
            "together with --fraction-of-max",
        ),
        (["--guess", "height", "--noise", "1", "--threshold", "1"], "column 'height' is missing: choose out of"),
        (["--guess", "depth", "--noise", "-1", "--threshold", "1"], "noise is -1.0: give a number >= 0"),
        (["--guess", "depth", "--noise", "1", "--threshold", "1", "--delta", "2"], "delta is 2.0"),
        (
            ["--guess", "depth", "--noise", "1", "--fraction-of-max", "1.5"],
            "--fraction-of-max is 1.5: give a number > 0 and < 1",
        ),
        (["--guess", "depth", "--noise", "1", "--threshold", "1", "--out", "plan.txt"], "end it in .csv"),
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
def test_bad_input_is_one_sentence(survey: Path, arguments: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        CliRunner().invoke(app, ["plan", str(survey), *arguments], catch_exceptions=False)


def test_help_teaches() -> None:
    shown = CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "200"}).output
    assert "Example: superlevel plan harbour.csv" in shown
