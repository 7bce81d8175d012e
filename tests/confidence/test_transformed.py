"""A confidence on transformed values against a user who transforms by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.errors import InputError
from superlevel.methods import Method
from superlevel.records import Batch, State
from superlevel.transforms import LOG, SQRT, Transform, box_cox

RNG = np.random.default_rng(3)
X = RNG.uniform(size=(30, 2))
TRUTH = 2.0 + np.sin(5 * X[:, 0]) + X[:, 1]  # of the transformed values
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
FITTED = ("kernel", "noise", "mean")
LINE: dict[str, Any] = {"domain": sl.Domain(X, RBF(0.4)), "truth": TRUTH, "mean": 2.0, "noise": 0.2}
CASES: dict[str, dict[str, Any]] = {
    "posterior": LINE,
    "rate": {**LINE, "confidence": sl.Posterior(error_rate=0.05)},
    "ridge": {**LINE, "norm": 5.0},
    "rkhs": {**LINE, "norm": 3.0, "confidence": "rkhs", "method": "lse", "batch": 8},
    "noise": {**LINE, "noise": None},
    "estimated": {**LINE, "noise": None, "fit": FITTED, "batch": 8},
    "rips": {
        "domain": sl.Domain(ARMS),
        "truth": ARMS @ [1.9, 1.2],
        "noise": 0.2,
        "bound": 3.0,
        "confidence": sl.Rips(schedule="tight"),
        "delta": 0.2,
    },
}
GOALS = {"threshold": [2.3], "levels": [1.6, 2.3, 2.9]}
METHOD = ("confidence", "method", "batch")


def pair(name: str, transform: Transform, levels: list[float]) -> tuple[Method, Method]:
    """The method of a problem with a transform, and that of a user who transforms levels and values."""
    given = dict(CASES[name])
    given.pop("truth")
    options = {key: given.pop(key) for key in METHOD if key in given}
    kind, domain = options.pop("method", "melk"), given.pop("domain")
    seen = [float(transform.inverse(level)) for level in levels]
    goals = [sl.Threshold(each[0]) if len(each) == 1 else sl.Levels(each) for each in (seen, levels)]
    one = sl.Problem(domain, goal=goals[0], transform=transform.name, **given)
    other = sl.Problem(domain, goal=goals[1], **given)
    return sl.methods.make(kind, one, **options), sl.methods.make(kind, other, **options)


@pytest.mark.filterwarnings("ignore::superlevel.AssumptionWarning")
@pytest.mark.parametrize("transform", [LOG, SQRT, box_cox(0.3)], ids=repr)
@pytest.mark.parametrize("name", CASES)
def test_it_decides_what_a_user_decides_who_transforms_by_hand(name: str, transform: Transform) -> None:
    levels = GOALS["levels" if name in ("posterior", "ridge") else "threshold"]
    ours, theirs = pair(name, transform, levels)
    one, other = ours.init(seed=1), theirs.init(seed=1)
    truth, noise = CASES[name]["truth"], 0.2
    for phase in range(5):
        if one.stop is not None:
            break
        plan, twin = ours.ask(one), theirs.ask(other)
        np.testing.assert_array_equal(plan.counts, twin.counts)
        values = truth[plan.indices] + noise * np.random.default_rng(phase).standard_normal(plan.total)
        values = np.maximum(values, 0.05)
        (one, _), (other, _) = ours.tell(one, plan, transform.inverse(values)), theirs.tell(other, twin, values)
        same(one, other, transform)
    assert one.samples > 0
    assert one.stop == other.stop


def same(one: State, other: State, transform: Transform) -> None:
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.undecided, other.undecided)
    np.testing.assert_allclose(one.estimate, transform.inverse(other.estimate), rtol=1e-9)
    for end in ("lower", "upper"):
        mine, yours = getattr(one.intervals, end), getattr(other.intervals, end)
        np.testing.assert_allclose(mine, transform.inverse(yours), rtol=1e-9)
    mine, yours = one.belief.averages
    weights, means = other.belief.averages
    measured = weights > 0
    np.testing.assert_allclose(mine[~measured], 0.0)
    np.testing.assert_allclose(yours[measured], transform.inverse(means[measured]), rtol=1e-9)
    level = float(transform.inverse(2.0))
    found, expected = one.belief.probability(level), other.belief.probability(2.0)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["posterior", "ridge", "estimated"])
def test_a_measurements_own_noise_is_changed_by_the_delta_method(name: str) -> None:
    ours, theirs = pair(name, LOG, [2.3])
    points = np.arange(30)
    values, own = TRUTH[points], np.where(points % 3, 0.1, np.nan)
    own = own if name == "estimated" else np.full(30, 0.1)
    one, _ = ours.update(ours.init(), batch(points, np.exp(values), np.exp(values) * own))
    other, _ = theirs.update(theirs.init(), batch(points, values, own))
    same(one, other, LOG)
    usual, _ = theirs.observe(theirs.init(), points, values)
    assert not np.allclose(usual.intervals.lower, other.intervals.lower) or name == "estimated"


def batch(points: Any, values: Any, noise: Any) -> Batch:
    return Batch(points=points, values=values, noise=noise)


@pytest.mark.parametrize("name", ["posterior", "ridge"])
def test_the_problems_noise_stands_in_for_one_that_a_measurement_lacks(name: str) -> None:
    """In the units of each: the problem's is of the logarithm, and a measurement's own is of the value."""
    ours, theirs = pair(name, LOG, [2.3])
    points = np.array([0, 1, 2])
    given = batch(points, np.exp(TRUTH[points]), np.exp(TRUTH[points]) * [0.1, np.nan, 0.3])
    one, _ = ours.update(ours.init(), given)
    other, _ = theirs.observe(theirs.init(), points, TRUTH[points], noise=[0.1, 0.2, 0.3])
    same(one, other, LOG)


@pytest.mark.parametrize("tolerance", [0.0, 10.0])
def test_tolerance_is_in_the_users_units(tolerance: float) -> None:
    """A tolerance of 10 about a level of 100: what is surely above 90 may be called above."""
    domain = sl.Domain([0.0, 1.0, 2.0], RBF(0.1))
    given: dict[str, Any] = {"noise": 0.01, "mean": 4.6, "tolerance": tolerance, "transform": "log"}
    method = sl.methods.make("melk", sl.Problem(domain, goal=sl.Threshold(100.0), **given))
    state, _ = method.observe(method.init(), [0, 1, 2], [104.0, 88.0, 96.0], noise=[3.5, 3.5, 3.5])
    lower, upper = state.intervals.lower, state.intervals.upper
    assert 90 < lower[0] < 100 < upper[0]
    assert lower[2] < 90
    assert 100 < upper[2] < 110
    assert state.labels.tolist() == ([1, -1, -1] if tolerance else [0, -1, 0])


def test_values_that_have_no_transform_are_refused() -> None:
    ours, _ = pair("posterior", LOG, [2.3])
    with pytest.raises(InputError, match="values is 0: the logarithm needs a value above 0"):
        ours.observe(ours.init(), [0, 1], [1.0, 0.0])


@pytest.mark.parametrize("name", CASES)
def test_the_guarantee_says_what_the_assumptions_are_about(name: str) -> None:
    ours, theirs = pair(name, SQRT, [2.3])
    mine = ours.confidence.guarantee(ours.problem)
    assert mine.promise.startswith(theirs.confidence.guarantee(theirs.problem).promise)
    assert "of the square root of the values" in mine.promise
    assert "of the square root of the values" in mine.assumes[-1]
    assert all("square root" in finding.sentence for finding in ours.prior.findings)


@pytest.mark.parametrize(
    ("parameter", "transform", "slope", "shift"), [(1e-9, LOG, 1.0, 0.0), (0.5, SQRT, 2.0, -2.0)], ids=str
)
@pytest.mark.parametrize("name", ["posterior", "ridge", "noise"])
def test_labels_of_box_cox_are_those_of_the_transform_that_it_is_up_to_units(
    name: str, parameter: float, transform: Transform, slope: float, shift: float
) -> None:
    """Box-Cox of almost 0 is the logarithm, and of a half 2 (sqrt(y) - 1): kernel, noise, norm and mean follow."""
    given = {key: value for key, value in CASES[name].items() if key != "truth"}
    moved = {key: slope * value for key, value in given.items() if key in ("noise", "norm") and value is not None}
    theirs = {**given, **moved, "mean": slope * given["mean"] + shift}
    if name != "ridge":  # whose kernel is of the norm
        theirs["domain"] = sl.Domain(X, slope**2 * RBF(0.4))
    goal = sl.Threshold(float(transform.inverse(2.3)))
    one = sl.methods.make("melk", sl.Problem(goal=goal, transform=transform, **given))
    other = sl.methods.make("melk", sl.Problem(goal=goal, transform=box_cox(parameter), **theirs))
    points = np.tile(np.arange(30), 2)
    values = transform.inverse(TRUTH[points] + 0.1 * np.random.default_rng(4).standard_normal(60))
    (mine, _), (yours, _) = one.observe(one.init(), points, values), other.observe(other.init(), points, values)
    np.testing.assert_array_equal(mine.labels, yours.labels)
    assert (mine.labels != 0).mean() > 0.3
    np.testing.assert_allclose(mine.estimate, yours.estimate, rtol=1e-4)
