"""Work that takes minutes or gigabytes says so before it begins, and columns cost what they are many."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel import costs, design
from superlevel.arrays import as_names
from superlevel.averaging import Data, average, candidates
from superlevel.costs import Cost
from superlevel.errors import CostWarning, InputError
from superlevel.features import embed
from superlevel.formats.text import parsed
from superlevel.study import sheets

LINE = np.linspace(0.0, 1.0, 1200)[:, None]
ROUGH, SMOOTH = Matern(0.01, nu=0.5), RBF(0.5)


def test_the_cost_of_features_grows_with_points_and_with_the_square_of_their_number() -> None:
    small, larger = costs.of_features(1000, 2, 1000), costs.of_features(1000, 2, 2000)
    assert 3.0 < larger.seconds / small.seconds < 4.0
    assert costs.of_features(2000, 2, 1000).seconds == pytest.approx(2 * small.seconds)
    assert costs.of_features(2000, 2, 1000).bytes == pytest.approx(2 * small.bytes)


def test_the_memory_of_features_is_that_of_their_array_where_points_are_many() -> None:
    assert costs.of_features(10**6, 2, 1000).bytes == pytest.approx(8e9, rel=0.02)


@pytest.mark.slow
def test_features_take_as_much_memory_as_is_said() -> None:
    """In a process of its own: the largest amount of memory that a process had is all that the system says."""
    pytest.importorskip("resource")
    program = """
import resource, sys
import numpy as np
from sklearn.gaussian_process.kernels import Matern
from superlevel.features import embed
points = np.random.default_rng(0).random((40_000, 2))
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = most()
embed(Matern(0.1, nu=1.5), points, tol=0, max_rank=1500)
print(most() - before)
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(made.stdout) == pytest.approx(costs.of_features(40_000, 2, 1500).bytes, rel=0.15)


def test_a_kernel_on_many_points_is_notable_and_on_few_is_not() -> None:
    assert costs.of_features(100_000, 2, 2529).notable
    assert not costs.of_features(10_000, 2, 800).notable


def test_a_cost_is_said_in_minutes_or_seconds_and_gigabytes() -> None:
    assert str(Cost(seconds=600.0, bytes=3.2e9)) == "about 10 minutes and 3.2 GB of memory"
    assert str(Cost(seconds=0.1, bytes=2e9)) == "about 1 seconds and 2.0 GB of memory"


def test_features_that_take_long_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LARGE", 1e6)
    with pytest.warns(CostWarning, match="features of the kernel on 1,200 points take about .* give fewer points"):
        embed(ROUGH, LINE, tol=0)


def test_a_smooth_kernel_needs_few_features_and_is_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LARGE", 1e7)
    assert costs.of_features(len(LINE), 1, len(LINE)).notable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert embed(SMOOTH, LINE, tol=1e-6).rank < 30


def test_what_does_not_fit_into_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LARGE", 1e6)
    monkeypatch.setattr(costs, "memory", lambda: 5e6)
    with pytest.raises(
        InputError, match=r"points is too large for this machine, which has 0\.0 GB .* give fewer points"
    ):
        embed(ROUGH, LINE, tol=0)


def test_the_intervals_of_very_many_pairs_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LARGE", 1e6)
    problem = sl.Problem(sl.Domain(LINE[::4], SMOOTH), goal=sl.FractionOfMax(0.1), noise=0.1)
    with pytest.warns(CostWarning, match="all pairs of 300 points take"):
        sl.methods.make("milk", problem)


def test_a_design_of_many_arms_with_many_features_is_notable_and_of_few_is_not() -> None:
    assert costs.of_design((100_000, 1500), (100_000,), (3000, 6000)).notable
    assert not costs.of_design((10_000, 300), (10_000,), (700, 1200)).notable


def test_a_design_for_pairs_costs_more_than_one_for_points() -> None:
    points, pairs = (costs.of_design((3000, 100), shape, (700, 700)) for shape in ((3000,), (3000, 3000)))
    assert pairs.seconds > points.seconds


@pytest.mark.parametrize("method", [design.InteriorPoint(), design.FrankWolfe(iterations=5)])
def test_a_design_that_takes_long_is_announced(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arms = np.random.default_rng(0).normal(size=(60, 4))
    quiet = design.solve(arms, ridge=0.1, method=method)
    monkeypatch.setattr(costs, "LARGE", 1e3)
    with pytest.warns(CostWarning, match="an optimal design for 60 arms with 4 features take about .* fewer arms"):
        said = design.solve(arms, ridge=0.1, method=method)
    assert said.value == quiet.value


def test_a_design_that_does_not_fit_into_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "memory", lambda: 1e3)
    with pytest.raises(InputError, match="arms is too large for this machine"):
        design.solve(np.eye(20), ridge=0.1)


def test_predictions_by_many_kernels_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).random((50, 2))
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.5), fit=("kernel", "noise", "mean"))
    at = np.arange(20)
    data = Data(points=at, values=points[at, 0], noise=np.full(20, np.nan))
    found = average(problem, data)
    monkeypatch.setattr(costs, "LARGE", 1e3)
    with pytest.warns(
        CostWarning, match=r"predictions of 50 points from 20 measured ones by \d+ estimated kernels take"
    ):
        found.predict(np.arange(50))


def test_predictions_from_many_measurements_are_notable_and_from_few_are_not() -> None:
    assert costs.of_prediction(100_000, 2, 1000, 24, kept=1000).notable
    assert not costs.of_prediction(20_000, 2, 400, 24, kept=400).notable


def test_a_round_with_many_directions_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sl.Problem(sl.Domain(LINE[::60], SMOOTH), goal=sl.FractionOfMax(0.2), noise=0.1, bound=1.0, ridge=1e-3)
    method = sl.methods.make("milk", problem, confidence="rips")
    state = method.init(seed=0)
    plan = method.ask(state)
    monkeypatch.setattr(costs, "LARGE", 1e4)
    with pytest.warns(CostWarning, match=r"robust means of \d+ directions from \d+ measured points take"):
        method.tell(state, plan, np.ones(len(plan.indices)))


def test_a_round_on_many_points_is_notable_and_on_few_is_not() -> None:
    assert costs.of_round(2000, directions=2000**2, measured=1000).notable
    assert not costs.of_round(1000, directions=1000, measured=900).notable


def test_the_machine_says_how_much_memory_it_has() -> None:
    assert costs.memory() > 1e8


def test_the_command_line_says_it_on_standard_error(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("x\n" + "\n".join(map(str, LINE[::3, 0])), encoding="utf-8")
    program = "from superlevel import costs; costs.LARGE = 1e5; from superlevel.cli import main; main()"
    typed = ["study", "create", "a", "--points", str(points), "--threshold", "0", "--noise", "0.1"]
    typed += ["--kernel", "Matern(0.01, nu=0.5)", "--store", f"sqlite:///{tmp_path / 'a.db'}"]
    made = subprocess.run([sys.executable, "-c", program, *typed], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    said = [line for line in made.stderr.splitlines() if "GB of memory" in line]
    assert len(said) == 1
    assert "features of the kernel on 400 points take about" in said[0]
    assert said[0].startswith("superlevel: ")
    assert "GB of memory" not in made.stdout


# ---------------------------------------------------------------------------------------- columns


def test_names_are_compared_once_each() -> None:
    """Each with all before it would be ten thousand million comparisons."""
    names = [f"x{j}" for j in range(100_000)]
    assert len(as_names("names", names, remedy="")) == len(names)
    with pytest.raises(InputError, match=r"names\[100000\] is 'x7' again"):
        as_names("names", [*names, "x7"], remedy="")


def test_sheets_take_very_many_coordinates() -> None:
    names = tuple(f"x{j}" for j in range(50_000))
    with pytest.raises(InputError, match=r"names\[50000\] is 'x7' again"):
        sheets.check_names([*names, "x7"])
    content = ",".join([*names, "value"]) + "\n" + ",".join(["0"] * len(names) + ["3.5"])
    points = np.zeros((1, len(names)))
    (line,) = sheets.read_sheet(parsed(content.encode(), name="sheet.csv"), points=points, names=names).lines
    assert (line.point, line.value) == (0, 3.5)


def test_very_many_coordinates_share_one_length() -> None:
    """A study whose points have thousands of coordinates estimates a kernel, and ends."""
    rng = np.random.default_rng(0)
    points = rng.random((40, candidates.MOST_LENGTHS + 2800))
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.5), fit=("kernel", "noise", "mean"))
    method = sl.methods.make("melk", problem, batch=10)
    state = method.init()
    for _ in range(3):
        plan = method.ask(state)
        state, _ = method.tell(state, plan, points[plan.indices, 0])
    assert not state.belief.pilot
    assert np.isfinite(state.estimate).all()
