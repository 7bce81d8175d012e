"""The design aimed at the gaps: it is the lower bound's where gaps are known, and measurements follow it in total."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import bounds, design
from superlevel.arrays import Array, Indices, Mask
from superlevel.goals import Bounds
from superlevel.records import Choice, LinearModel, Outlook, View
from superlevel.reproduce.worlds import Linear
from superlevel.rules.gap_weighted import CLOSEST, RADIUS, TOGETHER, WIDTH, GapWeighted, _wanted, followed
from superlevel.sizes import Growing
from tests.worlds import proof

N = 16
POINTS = np.linspace(0, 1, N)[:, None]
TRUTH = np.sin(6 * POINTS[:, 0])
LEVEL = 0.23
EXPLICIT = sl.Threshold(LEVEL)


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """A belief that knows as much of the directions as a test says."""

    problem: sl.Problem
    linear: LinearModel
    counts: Indices
    estimated: Array
    half: float | Array
    missing: float = math.inf

    def values(self, _goal: sl.Goal, /) -> Array:
        return self.estimated

    def bounds(self, _share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        return Bounds(lower=self.estimated - self.half, upper=self.estimated + self.half)

    def outlook(self, _view: View, weights: Array, /) -> Outlook:
        """As much is missing as a test says, if measurements follow the shares of the design."""
        np.testing.assert_allclose(weights.sum(), 1.0)
        return Outlook(missing=self.missing)


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """The rule on a problem of its own."""

    rule: GapWeighted
    problem: sl.Problem
    linear: LinearModel

    @property
    def arms(self) -> Array:
        return self.linear.features.array

    @property
    def reached(self) -> Mask:
        return self.linear.features.reached(self.problem.goal.share)

    def seen(
        self,
        gaps: Array,
        half: float | Array,
        *,
        undecided: Mask | None = None,
        counts: Indices | None = None,
        pending: tuple[int, ...] = (),
        total: int = 100,
        growth: float = 1.0,
        missing: float = math.inf,
    ) -> View:
        """A view of directions that are estimated to be so far from the level, with these half-widths."""
        goal, n = self.problem.goal, len(gaps)
        (level,) = goal.levels or (0.0,)
        belief: Any = Known(
            problem=self.problem,
            linear=self.linear,
            counts=np.zeros(n, dtype=np.int64) if counts is None else counts,
            estimated=level + gaps,
            half=half,
            missing=missing,
        )
        unread = goal.unread(n)
        return View(
            goal=goal,
            phase=1,
            reading=unread if undecided is None else replace(unread, undecided=undecided),
            belief=belief,
            pending=np.array(pending, dtype=np.int64),
            sizes=Growing(first=total, growth=growth),
            seed=0,
        )

    def choose(self, gaps: Array, half: float | Array, **options: Any) -> Choice:
        return self.rule.choose(self.seen(gaps, half, **options))


def rule(goal: sl.Goal = EXPLICIT, domain: sl.Domain | None = None, **options: Any) -> Made:
    given = {"noise": 0.5, "norm": 3.0, **options}
    made = GapWeighted(rtol=given.pop("rtol", 0.01))
    problem = sl.Problem(sl.Domain(POINTS, RBF(0.2)) if domain is None else domain, goal=goal, **given)
    method = sl.methods.make("melk", problem, confidence="ridge", rule=made)
    assert method.rule is made
    return Made(rule=made, problem=problem, linear=method.prior.linear)


def complexity(arms: Array, gaps: Array, weights: Array, ridge: float = 0.0) -> float:
    """max ||phi(x)||^2 / gap(x)^2 in the norm of A(weights)^-1, directly."""
    matrix = (arms * weights[:, None]).T @ arms + ridge * np.eye(arms.shape[1])
    squares = np.einsum("ij,ij->i", arms, np.linalg.solve(matrix, arms.T).T)
    return float((squares / gaps**2).max())


def aims(gaps: Array, half: Array, tolerance: float = 0.0) -> Array:
    """How well each is to be known where all are undecided."""
    own = np.maximum(np.abs(gaps) + tolerance, WIDTH * half)
    return np.asarray(np.maximum(np.maximum(own, TOGETHER * half.max()), CLOSEST * own.max()))


def pairwise(values: Array, share: float) -> Array:
    return np.asarray(values[:, None] - share * values)


# --- what it aims at


@pytest.mark.parametrize("seed", [0, 1])
def test_where_gaps_are_known_it_is_the_design_of_the_lower_bound(seed: int) -> None:
    world = Linear(arms=30, dimension=4, implicit=False, noise=1.0, ridge=1e-7)(seed)
    gaps = world.values - 0.5
    made = rule(sl.Threshold(0.5), world.problem.domain, noise=1.0, norm=1.0)
    chosen = made.choose(gaps, 1e-9, total=10**9)
    bound = bounds.explicit(world.problem.domain, world.values, threshold=0.5, noise=1.0, rtol=0.01)
    arms = made.arms
    ours = complexity(arms, gaps, chosen.weights, ridge=1e-9)
    assert ours == pytest.approx(complexity(arms, gaps, bound.weights, ridge=1e-9), rel=0.03)
    assert ours == pytest.approx(bound.complexity, rel=0.03)
    assert proof(chosen).value == pytest.approx(ours, rel=1e-3)


def test_where_pairs_are_known_it_is_the_design_for_the_pairs_that_decide() -> None:
    """Each point outside by its clearest pair, each point inside by all its pairs: one at a time."""
    goal = sl.FractionOfMax(0.4)
    values = 1.2 + TRUTH
    gaps = pairwise(values, 0.6)
    made = rule(goal)
    chosen = made.choose(gaps, 1e-9, total=10**7)
    rows, distances = [], []
    for x in range(N):
        inside = bool((gaps[x] > 0).all())
        for other in range(N) if inside else [int(gaps[x].argmin())]:
            rows.append(made.arms[x] - 0.6 * made.arms[other])
            distances.append(abs(gaps[x, other]))
    scaled = np.array(rows) / np.array(distances)[:, None]
    arms, ridge = made.arms, RADIUS**2 * 0.25 / 1e7
    matrix = (arms * chosen.weights[:, None]).T @ arms + ridge * np.eye(arms.shape[1])
    value = float(np.einsum("ij,ij->i", scaled, np.linalg.solve(matrix, scaled.T).T).max())
    assert proof(chosen).value == pytest.approx(value, rel=1e-2)
    alone = design.solve(made.arms, design.Rows(scaled), ridge=ridge, rtol=0.01)
    assert value <= alone.value * 1.03


@pytest.mark.parametrize("widest", [0.01, 3.0])
def test_a_gap_is_at_least_a_part_of_what_it_is_uncertain_by(widest: float) -> None:
    gaps = np.linspace(-1, 1, N)
    half = np.linspace(0.01, widest, N)
    made = rule(tolerance=0.2)
    chosen = made.choose(gaps, half)
    ridge = RADIUS**2 * 0.25 / 100
    expected = complexity(made.arms, aims(gaps, half, 0.2), chosen.weights, ridge=ridge)
    assert proof(chosen).value == pytest.approx(expected, rel=1e-3)


def test_what_is_decided_is_not_aimed_at() -> None:
    """All decided but one, and measurements go where they tell most of that one."""
    made = rule(domain=sl.Domain(np.eye(5)))
    only = np.arange(5) == 3
    chosen = made.choose(np.array([0.01, 0.01, 0.01, 1.0, 0.01]), 0.5, undecided=only)
    assert chosen.weights[3] == pytest.approx(1.0, abs=0.02)
    assert chosen.counts[3] >= 95  # what has any weight is measured once


def test_independent_arms_are_measured_as_their_gaps_ask_for() -> None:
    gaps = np.array([0.1, -0.2, 0.4])
    chosen = rule(domain=sl.Domain(np.eye(3)), rtol=1e-4).choose(gaps, 1e-9, total=10**8)
    expected = gaps**-2.0 / (gaps**-2.0).sum()
    np.testing.assert_allclose(chosen.weights, expected, rtol=0.02)
    np.testing.assert_allclose(chosen.counts / 1e8, chosen.weights, atol=1e-7)


@pytest.mark.parametrize("half", [0.0, 1.0])
def test_a_tie_at_the_level_is_aimed_at_as_closely_as_can_be(half: float) -> None:
    gaps = np.array([0.0, 1.0, -1.0])
    made = rule(domain=sl.Domain(np.eye(3)))
    chosen = made.choose(gaps, half)
    assert np.isfinite(proof(chosen).value)
    ridge = RADIUS**2 * 0.25 / 100
    expected = complexity(made.arms, aims(gaps, np.full(3, half)), chosen.weights, ridge=ridge)
    assert proof(chosen).value == pytest.approx(expected, rel=1e-3)
    if not half:
        assert chosen.weights[0] > 0.98


def test_where_nothing_is_uncertain_and_everything_is_at_the_level_all_count_alike() -> None:
    chosen = rule(domain=sl.Domain(np.eye(4))).choose(np.zeros(4), 0.0)
    np.testing.assert_allclose(chosen.weights, 0.25, atol=0.02)


def test_as_long_as_nothing_limits_f_all_count_alike() -> None:
    made = rule(domain=sl.Domain(np.eye(4)))
    chosen = made.choose(np.array([0.1, 0.2, 0.0, -9.0]), np.array([0.1, 0.1, 0.1, np.inf]))
    np.testing.assert_allclose(chosen.weights, 0.25, atol=0.02)


def test_points_without_features_are_not_aimed_at() -> None:
    domain = sl.Domain(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    made = rule(domain=domain)
    np.testing.assert_array_equal(made.reached, [False, True, True])
    chosen = made.choose(np.array([1e-9, 0.5, 0.5]), 0.1)
    assert chosen.weights[0] < 1e-3
    assert chosen.counts[0] <= 1
    # Where only such a point is left, a measurement elsewhere is as good as any.
    last = made.choose(np.array([1e-9, 0.5, 0.5]), 0.1, undecided=np.array([True, False, False]))
    assert last.counts.sum() == 100


# --- which pairs


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 7))
def test_a_point_that_seems_out_needs_its_clearest_pair_and_others_need_all(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(n, 3)) * (rng.random(n) > 0.2)[:, None]
    assume(arms.any())
    made = rule(sl.FractionOfMax(0.3), sl.Domain(arms))
    estimates, undecided = rng.normal(size=(n, n)), rng.random((n, n)) < 0.7
    expected = np.zeros((n, n), dtype=np.bool_)
    for x in range(n):
        open_ = [other for other in range(n) if undecided[x, other] and made.reached[x, other]]
        clearest = int(np.argmin(estimates[x]))
        if estimates[x, clearest] < 0:
            open_ = [clearest] if open_ and made.reached[x, clearest] else []
        expected[x, open_] = True
    view = made.seen(estimates, 0.5, undecided=undecided)
    wanted = _wanted(view, estimates, np.zeros(n, dtype=np.bool_))
    np.testing.assert_array_equal(wanted, expected if expected.any() else made.reached)


def test_zero_pairs_are_not_aimed_at() -> None:
    made = rule(sl.FractionOfMax(0.5), sl.Domain(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])))
    assert not made.reached[0, 1]  # 1 - 2 / 2
    assert made.reached.sum() == 8
    chosen = made.choose(np.ones((3, 3)), 0.5)
    assert np.isfinite(proof(chosen).value)


# --- noise and cost


def test_money_goes_where_information_is_cheap() -> None:
    """In the design's own terms and in measurements, information and prior written out."""
    rng = np.random.default_rng(0)
    noise, cost = rng.uniform(0.2, 1.0, N), rng.uniform(1.0, 5.0, N)
    counts = rng.integers(0, 20, N)
    made = rule(noise=noise, cost=cost)
    gaps, half = TRUTH - LEVEL, rng.uniform(0.1, 2.0, N)
    chosen = made.choose(gaps, half, counts=counts, pending=(3, 3, 8), total=50)
    begun = counts + np.bincount([3, 3, 8], minlength=N)
    money = float(begun @ cost) + 50 * float(cost.mean())
    distances = aims(gaps, half)

    def value(spent: Array) -> float:
        """Of measurements bought with shares of the money, in units of the cheapest information."""
        information = spent * money / cost / noise**2
        arms = made.arms
        matrix = (arms * information[:, None]).T @ arms + RADIUS**2 * np.eye(arms.shape[1])
        squares = np.einsum("ij,ij->i", arms, np.linalg.solve(matrix, arms.T).T)
        return float((squares / distances**2).max()) * money / float((noise**2 * cost).min())

    found = proof(chosen)
    assert found.value == pytest.approx(value(found.weights), rel=1e-3)
    for _ in range(30):
        other = found.weights * rng.gamma(2.0, size=N) + 0.01 * rng.random(N)
        assert value(other / other.sum()) >= found.lower_bound * (1 - 1e-9)
    shares = found.weights / cost
    np.testing.assert_allclose(chosen.weights, shares / shares.sum(), rtol=1e-9)


def test_pairs_do_not_know_costs() -> None:
    goal, estimates = sl.FractionOfMax(0.4), pairwise(1.2 + TRUTH, 0.6)
    dear, cheap = (rule(goal, cost=cost).choose(estimates, 0.2) for cost in (np.linspace(1, 1e6, N), 1.0))
    np.testing.assert_array_equal(dear.counts, cheap.counts)


# --- certificates


def case(made: Made, gaps: Array, **options: Any) -> tuple[GapWeighted, View]:
    return made.rule, made.seen(gaps, 0.5, **options)


CASES: dict[str, tuple[GapWeighted, View]] = {
    "points": case(rule(), TRUTH - LEVEL),
    "some points": case(rule(), TRUTH - LEVEL, undecided=np.arange(N) < 5, counts=np.arange(N)),
    "noise and cost": case(
        rule(noise=np.linspace(0.1, 2, N), cost=np.linspace(3, 1, N)), TRUTH - LEVEL, pending=(1, 2)
    ),
    "pairs": case(rule(sl.FractionOfMax(0.4)), pairwise(1.2 + TRUTH, 0.6)),
}
each = pytest.mark.parametrize(("made", "view"), CASES.values(), ids=CASES)


@each
def test_a_design_proves_the_same_again_without_a_solver(
    made: GapWeighted, view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = proof(made.choose(view))
    assert found.value <= (1 + 0.02) * found.lower_bound
    monkeypatch.setattr(design, "solve", None)
    value, lower_bound = made.review(view, found)
    assert lower_bound == pytest.approx(found.lower_bound, rel=1e-9)
    assert found.lower_bound <= value <= found.value * (1 + 1e-9)
    assert value + found.truncation >= found.value * (1 - 1e-9)


@each
def test_a_start_changes_no_more_than_the_gap(made: GapWeighted, view: View) -> None:
    found = proof(made.choose(view))
    again = proof(made.choose(replace(view, start=found)))
    assert again.value == pytest.approx(found.value, rel=0.02)


# --- how measurements follow


shares_ = st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda each: sum(each) > 1e-6)


@given(shares=shares_, total=st.integers(1, 10**6), data=st.data())
def test_measurements_follow_the_shares_in_total(shares: list[float], total: int, data: st.DataObject) -> None:
    n = len(shares)
    wanted = np.array(shares) / sum(shares)
    begun = np.array(data.draw(st.lists(st.integers(0, 10**6), min_size=n, max_size=n)), dtype=np.float64)
    counts = followed(wanted, begun, total)
    assert counts.sum() == total
    assert (counts >= 0).all()
    assert (counts[wanted == 0] == 0).all()
    behind = wanted * (begun.sum() + total) - begun
    assert (counts[behind < -1e-6] == 0).all()
    assert (counts <= np.maximum(behind, 0) + 1).all()  # and never past its share, but for rounding


@given(shares=shares_, data=st.data())
def test_with_many_more_the_shares_are_reached(shares: list[float], data: st.DataObject) -> None:
    n = len(shares)
    wanted = np.array(shares) / sum(shares)
    assume((wanted[wanted > 0] > 1e-4).all())
    begun = np.array(data.draw(st.lists(st.integers(0, 50), min_size=n, max_size=n)), dtype=np.float64)
    begun[wanted == 0] = 0.0
    total = 10**8
    reached = (begun + followed(wanted, begun, total)) / (begun.sum() + total)
    np.testing.assert_allclose(reached, wanted, atol=1e-6)


def test_in_small_steps_the_shares_are_followed_as_well() -> None:
    shares, begun = np.array([0.5, 0.3, 0.2, 0.0]), np.zeros(4)
    for step in range(200):
        begun += followed(shares, begun, 1)
        assert np.abs(begun - shares * (step + 1)).max() < 1.0 + 1e-9


def test_what_was_measured_by_mistake_is_made_good_for() -> None:
    counts = np.array([90, 0, 0])
    made = rule(domain=sl.Domain(np.eye(3)), rtol=1e-4)
    chosen = made.choose(np.full(3, 0.3), 1e-9, counts=counts, total=10)
    np.testing.assert_allclose(chosen.weights, 1 / 3, atol=0.01)
    assert chosen.counts[0] == 0
    pending = made.choose(np.full(3, 0.3), 1e-9, counts=counts, pending=(1,) * 44, total=10)
    np.testing.assert_array_equal(pending.counts, [0, 1, 9])  # 144 / 3 = 48 of each, of which 44 are on their way


@pytest.mark.parametrize(
    ("growth", "missing", "total"),
    [(1.2, math.inf, 110), (1.2, 110.0, 110), (1.2, 40.3, 41), (1.2, 11.5, 12), (1.2, 3.0, 11), (1.0, 3.0, 100)],
)
def test_a_growing_batch_takes_no_more_than_is_missing_and_a_tenth_at_least(
    growth: float, missing: float, total: int
) -> None:
    """100, and a fifth of the 50 that were measured."""
    counts = np.full(5, 10)
    gaps = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    made = rule(domain=sl.Domain(np.eye(5)))
    assert made.choose(gaps, 0.5, counts=counts, growth=growth, missing=missing).counts.sum() == total
