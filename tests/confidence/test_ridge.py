"""The ridge confidence: what it promises at every moment, by whatever road measurements come, and when it gives up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.confidence.ellipsoids import spectrum
from superlevel.confidence.ridge import RidgeBelief
from superlevel.confidence.ridge_setting import Setting
from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.findings import Verdict
from superlevel.goals import ABOVE, BELOW, Bounds
from superlevel.methods.loop import Method
from superlevel.oracles import Oracle
from superlevel.records import Batch, Info, State, Stop
from superlevel.reproduce.worlds import Linear
from tests.worlds import at

N = 40
POINTS = np.linspace(0, 1, N)[:, None]
KERNEL = RBF(0.15)
DELTA = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A problem and its truth."""

    problem: sl.Problem
    truth: Array

    @property
    def method(self) -> Method:
        return sl.methods.make("melk", self.problem, confidence=sl.Ridge(growth=1.4))

    @property
    def oracle(self) -> Oracle:
        return sl.oracles.Gaussian(self.truth, noise=self.problem.known_noise)

    def wrong(self, state: State) -> bool:
        """Whether a label is, beyond what the tolerance allows."""
        goal, room = self.problem.goal, self.problem.tolerance
        levels = np.array(goal.levels or (level_of(goal, self.truth),))[:, None]
        labels = np.atleast_2d(state.labels)
        missed = (labels == BELOW) & (self.truth > levels + room)
        false = (labels == ABOVE) & (self.truth < levels - room)
        return bool(missed.any() or false.any())


def level_of(goal: sl.Goal, truth: Array) -> float:
    """The level of a function: given, or a part of its maximum."""
    if isinstance(goal, sl.FractionOfMax):
        return goal.level(truth)
    (level,) = goal.levels
    return level


def drawn(seed: int, *, norm: float = 3.0) -> Array:
    """(n,) a function of exactly that norm."""
    rng = np.random.default_rng([seed, 1])
    places, weights = rng.choice(N, 6, replace=False), rng.normal(size=6)
    gram = KERNEL(POINTS[places])
    return np.asarray(KERNEL(POINTS, POINTS[places]) @ weights * norm / np.sqrt(weights @ gram @ weights))


def smooth(seed: int, **options: Any) -> World:
    """A function of known norm, with the level in a gap of its values."""
    truth = drawn(seed)
    ordered = np.sort(truth)
    fields = {
        "goal": sl.Threshold(float(ordered[26:28].mean())),
        "noise": 0.5,
        "norm": 3.0,
        "tolerance": 0.15,
        "delta": DELTA,
        **options,
    }
    return World(problem=sl.Problem(sl.Domain(POINTS, KERNEL), **fields), truth=truth)


def linear(seed: int, *, implicit: bool = False) -> World:
    world = Linear(arms=30, dimension=4, implicit=implicit, noise=1.0, ridge=1e-7)(seed)
    return World(problem=world.problem, truth=world.values)


WORLDS: dict[str, Callable[[int], World]] = {
    "linear": linear,
    "linear pairs": lambda seed: linear(seed, implicit=True),
    "smooth": smooth,
    "smooth pairs": lambda seed: smooth(seed, goal=sl.FractionOfMax(0.4), tolerance=0.3),
    "bound only": lambda seed: smooth(seed, norm=None, bound=float(np.abs(drawn(seed)).max()), misspecification=1e-3),
    "unequal noise": lambda seed: smooth(seed, noise=np.where(np.arange(N) % 5, np.linspace(0.1, 1.0, N), 0.0)),
}


def belief(state: State) -> RidgeBelief:
    assert isinstance(state.belief, RidgeBelief)
    return state.belief


def setting(method: Method) -> Setting:
    assert isinstance(method.prior, RidgeBelief)
    return method.prior.setting


def intervals(state: State) -> Bounds:
    return state.intervals


def told(method: Method, state: State, oracle: Oracle, seed: int = 0) -> tuple[State, Info]:
    plan = method.ask(state)
    return method.tell(state, plan, oracle.measure(plan.indices, np.random.default_rng([seed, state.phase])))


def ever_wrong(world: World, seed: int, oracle: Oracle | None = None, limit: int = 30_000) -> tuple[bool, State]:
    """Whether a look after any batch would have shown a wrong label, and the last state."""
    method = world.method
    state, wrong = method.init(seed=seed), False
    while state.stop is None and state.samples < limit:
        state, _ = told(method, state, world.oracle if oracle is None else oracle, seed)
        wrong |= world.wrong(state)
        held = intervals(state)
        assert (held.lower <= held.upper).all()
        assert ((held.lower <= state.estimate) & (state.estimate <= held.upper)).all()
    return wrong, state


# --- the promise


def judge(make: Callable[[int], World], runs: int) -> None:
    """That labels are ever wrong in no larger share of the runs than delta, and most runs end."""
    found = [ever_wrong(make(seed), seed) for seed in range(runs)]
    failures = sum(wrong for wrong, _ in found)
    assert binomtest(failures, runs, DELTA, alternative="greater").pvalue > 0.01
    assert np.mean([state.stop in {Stop.DECIDED, Stop.EMPTY} for _, state in found]) > 0.5
    assert np.mean([state.stop is Stop.CONTRADICTED for _, state in found]) <= DELTA


@pytest.mark.parametrize("name", WORLDS)
def test_labels_are_right_whenever_one_looks(name: str) -> None:
    judge(WORLDS[name], runs=7)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_labels_are_right_whenever_one_looks_in_many_runs(name: str) -> None:
    judge(WORLDS[name], runs=200)


def at_the_level(delta: float) -> World:
    """A linear function that is exactly at the level at every point: every label is a mistake."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    arms = np.stack([np.full(12, 0.5), np.cos(angles), np.sin(angles)], axis=1)
    problem = sl.Problem(sl.Domain(arms), goal=sl.Threshold(0.5), noise=0.5, norm=1.0, delta=delta)
    return World(problem=problem, truth=np.full(12, 0.5))


def ever_decided(world: World, runs: int, *, part: float = 1.0) -> int:
    """In how many runs a look after any batch would have shown an interval on one side of the level.

    ``part`` of each interval counts, around its estimate.
    """
    found, method, (level,) = 0, world.method, world.problem.goal.levels
    for seed in range(runs):
        state, decided = method.init(seed=seed), False
        while not decided and state.stop is None and state.samples < 3_000:
            state, _ = told(method, state, world.oracle, seed)
            held, centre = intervals(state), state.estimate
            lower, upper = centre - part * (centre - held.lower), centre + part * (held.upper - centre)
            decided = bool(((lower > level) | (upper < level)).any())
            assert part < 1.0 or decided == state.labels.any()
        found += decided
    return found


@pytest.mark.parametrize("delta", [DELTA, pytest.param(0.5, marks=pytest.mark.slow)])
def test_where_the_truth_is_at_the_level_labels_are_as_rare_as_promised(delta: float) -> None:
    runs = 60 if delta == DELTA else 300
    found = ever_decided(at_the_level(delta), runs)
    assert binomtest(found, runs, delta, alternative="greater").pvalue > 0.01


def test_intervals_that_are_too_short_are_found_out_at_the_level() -> None:
    found = ever_decided(at_the_level(DELTA), 30, part=0.5)
    assert binomtest(found, 30, DELTA, alternative="greater").pvalue < 0.01


@pytest.mark.parametrize("goal", ["points", "pairs"])
@pytest.mark.parametrize("seed", range(3))
def test_with_an_adversary_in_the_misspecification_the_containments_hold(goal: str, seed: int) -> None:
    """All that is above the level by the tolerance is found, and nothing below it by as much."""
    h, room = 0.05, 0.6
    plain = smooth(seed).truth
    level = float(np.sort(plain)[26:28].mean())
    truth = plain - h * np.sign(plain - level)  # towards the level
    wanted = sl.Threshold(level) if goal == "points" else sl.FractionOfMax(0.4)
    world = replace(smooth(seed, goal=wanted, tolerance=room, misspecification=h), truth=truth)
    wrong, state = ever_wrong(world, seed)
    assert not wrong
    assert state.stop is Stop.DECIDED
    exact = level_of(wanted, truth)
    assert state.not_below[truth > exact + room].all()
    assert not state.not_below[truth < exact - room].any()
    # The same with labels from intervals that hold a constant error of either sign.
    assert ((intervals(state).lower <= truth) & (truth <= intervals(state).upper)).all()


def test_plans_may_be_told_in_any_order() -> None:
    """Two plans out at any time, and chance says which of them comes back first."""
    world = smooth(4)
    method, rng = world.method, np.random.default_rng(0)
    state = method.init()
    out = [method.ask(state)]
    while state.stop is None:
        out.append(method.ask(state, pending=out))
        plan = out.pop(int(rng.integers(len(out))))
        state, _ = method.tell(state, plan, world.oracle.measure(plan.indices, rng))
        assert not world.wrong(state)
        assert ((intervals(state).lower <= world.truth) & (world.truth <= intervals(state).upper)).all()
    assert state.stop is Stop.DECIDED


def test_the_order_of_plans_changes_nothing_while_no_challenge_began() -> None:
    world = smooth(5)
    method, start = world.method, world.method.init()
    first = method.ask(start)
    second = method.ask(start, pending=[first])
    values = {plan.origin: world.oracle.measure(plan.indices, np.random.default_rng(7)) for plan in (first, second)}
    ends = []
    for order in ((first, second), (second, first)):
        state = start
        for plan in order:
            state, _ = method.tell(state, plan, values[plan.origin])
        ends.append(state)
    one, other = ends
    np.testing.assert_array_equal(belief(one).statistics.counts, belief(other).statistics.counts)
    np.testing.assert_allclose(belief(one).statistics.means, belief(other).statistics.means, atol=1e-12)
    information = [belief(each).challenges.information for each in (one, other)]
    np.testing.assert_allclose(information[0], information[1], rtol=1e-12)
    assert information[0].any()


# --- what is known


def sample(world: World, size: int, seed: int = 0) -> tuple[Indices, Array]:
    rng = np.random.default_rng([seed, 9])
    points = rng.integers(len(world.truth), size=size)
    return points, world.oracle.measure(points, rng)


@pytest.mark.parametrize("goal", [sl.Threshold(0.4), sl.FractionOfMax(0.4)], ids=["points", "pairs"])
@pytest.mark.parametrize("portions", [2, 60])
def test_observations_say_the_same_in_any_order_and_portions(goal: sl.Goal, portions: int) -> None:
    world = smooth(1, goal=goal)
    method = world.method
    points, values = sample(world, 60)
    noise = np.random.default_rng(3).uniform(0.3, 0.8, 60)
    whole, info = method.observe(method.init(), points, values, noise=noise)
    state = method.init()
    for part in np.array_split(np.random.default_rng(portions).permutation(60), portions):
        state, last = method.observe(state, points[part], values[part], noise=noise[part])
    np.testing.assert_array_equal(state.labels, whole.labels)
    np.testing.assert_allclose(intervals(state).lower, intervals(whole).lower, atol=1e-9)
    np.testing.assert_allclose(intervals(state).upper, intervals(whole).upper, atol=1e-9)
    np.testing.assert_allclose(last.bounds.lower, info.bounds.lower, atol=1e-9)
    np.testing.assert_allclose(state.belief.values(method.goal), whole.belief.values(method.goal), atol=1e-9)
    assert state.samples == whole.samples == 60


def test_noise_of_a_measurements_own_counts_like_noise_of_its_point() -> None:
    """Where the smallest noise of a point is the same: the gammas are in units of what that tells."""
    sigma = np.linspace(0.5, 1.0, N)
    known, usual = smooth(2, noise=sigma), smooth(2, noise=sigma[::-1].copy())
    points, values = sample(known, 80)
    one, _ = known.method.observe(known.method.init(), points, values)
    other, _ = usual.method.observe(usual.method.init(), points, values, noise=sigma[points])
    np.testing.assert_allclose(intervals(one).lower, intervals(other).lower, atol=1e-12)
    np.testing.assert_allclose(intervals(one).upper, intervals(other).upper, atol=1e-12)


def test_noise_of_a_measurements_own_is_checked_and_may_be_none() -> None:
    method = smooth(2).method
    with pytest.raises(InputError, match=r"noise\[1\] is -0\.1: give standard deviations >= 0"):
        method.observe(method.init(), [0, 1], [0.0, 0.0], noise=[0.0, -0.1])
    state, _ = method.observe(method.init(), [7], [0.5], noise=[0.0])
    assert intervals(state).lower[7] == pytest.approx(0.5, abs=1e-3)
    assert intervals(state).upper[7] == pytest.approx(0.5, abs=1e-3)


def test_only_what_is_told_as_a_whole_feeds_the_challenges() -> None:
    world = smooth(3)
    method, start = world.method, world.method.init()
    plan = method.ask(start)
    values = world.oracle.measure(plan.indices, np.random.default_rng(1))
    whole, _ = method.tell(start, plan, values)
    seen, _ = method.update(start, Batch(points=plan.indices, values=values, plan=plan))
    assert belief(whole).challenges.information.any()
    assert belief(seen).challenges is belief(start).challenges


@pytest.mark.parametrize("seed", [2, 3])
def test_the_narrower_interval_is_taken_and_named(seed: int) -> None:
    """Independent arms are for the challenges: an ellipsoid pays for all sixty dimensions."""
    truth = np.random.default_rng(seed).choice([-0.5, 0.5], 60)
    problem = sl.Problem(sl.Domain(np.eye(60)), goal=sl.Threshold(0.0), noise=1.0, norm=5.0)
    method = sl.methods.make("melk", problem, confidence="ridge", batch=600)
    state, rng = method.init(), np.random.default_rng(seed)
    while not state.stop:
        plan = method.ask(state)
        state, _ = method.tell(state, plan, sl.oracles.Gaussian(truth, noise=1.0).measure(plan.indices, rng))
    found, known = belief(state), setting(method)
    alone = spectrum(
        known.features.array, found.statistics, known.misses, known.features.residuals, single=known.single
    ).points(found.shares[0] * problem.delta)
    named = np.array(found.sources) == "challenges"
    assert found.challenges.tests
    assert named.mean() > 0.5
    narrower = (found.bounds().lower > alone.lower + 1e-12) | (found.bounds().upper < alone.upper - 1e-12)
    np.testing.assert_array_equal(narrower, named)
    np.testing.assert_array_equal(state.labels, np.sign(truth))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_bound_is_intersected_with_what_the_norm_says(seed: int) -> None:
    bound = float(np.abs(drawn(seed)).max())
    plain, both = smooth(seed, mean=0.0), smooth(seed, bound=bound)
    points, values = sample(plain, 50)
    one, _ = plain.method.observe(plain.method.init(), points, values)
    other, _ = both.method.observe(both.method.init(), points, values)
    np.testing.assert_array_equal(intervals(other).lower, np.clip(intervals(one).lower, -bound, bound))
    np.testing.assert_array_equal(intervals(other).upper, np.clip(intervals(one).upper, -bound, bound))


def test_a_known_mean_moves_everything_along() -> None:
    plain, moved = smooth(6), smooth(6, mean=50.0, goal=sl.Threshold(50.3))
    points, values = sample(plain, 50)
    one, _ = plain.method.observe(plain.method.init(), points, values)
    other, info = moved.method.observe(moved.method.init(), points, values + 50.0)
    np.testing.assert_allclose(intervals(other).lower, intervals(one).lower + 50.0)
    np.testing.assert_allclose(info.bounds.upper, intervals(one).upper + 50.0, atol=1e-9)
    np.testing.assert_allclose(other.estimate, belief(one).estimate + 50.0)


# --- pairs


@pytest.mark.parametrize("h", [0.0, 0.3])
def test_bounds_are_those_of_the_ellipsoids_with_room_for_what_is_missed(h: float) -> None:
    share = 0.6
    world = smooth(3, goal=sl.FractionOfMax(1 - share), misspecification=h, mean=1.0)
    points, values = sample(world, 60)
    state, info = world.method.observe(world.method.init(), points, values + 1.0)
    misses = setting(world.method).misses
    np.testing.assert_allclose(misses, h, atol=1e-4)
    known = setting(world.method)
    found = spectrum(
        known.features.array, belief(state).statistics, misses, known.features.residuals, single=known.single
    )
    single, double = found.points(DELTA), found.pairs(DELTA, share)  # all of delta: nobody planned the batch
    lower, upper = 1.0 + single.lower - misses, 1.0 + single.upper + misses
    np.testing.assert_allclose(intervals(state).lower, lower)
    np.testing.assert_allclose(intervals(state).upper, upper)
    missed = np.add.outer(misses, share * misses)
    alone = Bounds(lower=np.subtract.outer(lower, share * upper), upper=np.subtract.outer(upper, share * lower))
    offset = 1.0 - share
    lowest = np.maximum(alone.lower, double.lower - missed + offset)
    highest = np.minimum(alone.upper, double.upper + missed + offset)
    # A point with itself is f(x) - share f(x), and what is missed of f(x) counts once.
    np.fill_diagonal(lowest, np.maximum(np.diag(lowest), (1.0 - share) * lower))
    np.fill_diagonal(highest, np.minimum(np.diag(highest), (1.0 - share) * upper))
    np.testing.assert_allclose(info.bounds.lower, lowest, atol=1e-9)
    np.testing.assert_allclose(info.bounds.upper, highest, atol=1e-9)


def test_pairs_hold_every_function_that_the_measurements_allow() -> None:
    """Functions on the rim of all ellipsoids and the ball, found by walking: their pairs are within the bounds."""
    share, h = 0.6, 0.02
    world = smooth(7, goal=sl.FractionOfMax(1 - share), misspecification=h)
    method = world.method
    points, values = sample(world, 40)
    state, info = method.observe(method.init(), points, values)
    known = setting(method)
    found = spectrum(known.features.array, belief(state).statistics, known.misses, single=known.single)
    mixed, rng = found.mixed(DELTA), np.random.default_rng(0)

    def allowed(theta: Array) -> bool:
        inside = mixed.scales @ np.square(found.moments - found.sizes * theta) <= mixed.radii**2
        return bool(theta @ theta <= 1.0 and inside.all())

    theta, tried = np.asarray(0.95 * np.linalg.lstsq(found.arms, world.truth)[0], dtype=np.float64), 0
    assert allowed(theta)
    for _ in range(2000):
        step = theta + 0.1 * rng.normal(size=len(theta)) / np.sqrt(1 + found.sizes / 50)
        theta, tried = (step, tried + 1) if allowed(step) else (theta, tried)
        f = found.arms @ theta + h * rng.choice([-1.0, 1.0], N)
        pairs = f[:, None] - share * f
        assert (pairs >= info.bounds.lower - 1e-9).all()
        assert (pairs <= info.bounds.upper + 1e-9).all()
        held = intervals(state)
        assert ((held.lower - 1e-9 <= f) & (f <= held.upper + 1e-9)).all()
    assert tried > 50
    ends = intervals(state)
    assert (info.bounds.lower >= ends.lower[:, None] - share * ends.upper - 1e-9).all()
    assert (info.bounds.upper <= ends.upper[:, None] - share * ends.lower + 1e-9).all()
    # and tighter than points alone can say, where neighbours rise and fall together
    assert (info.bounds.lower > ends.lower[:, None] - share * ends.upper + 0.01).mean() > 0.2
    centre = state.belief.values(method.goal)
    assert ((info.bounds.lower <= centre) & (centre <= info.bounds.upper)).all()


# --- odd worlds


@pytest.mark.parametrize("goal", [sl.Threshold(9.0), sl.FractionOfMax(0.4)], ids=["points", "pairs"])
def test_a_norm_alone_decides_nothing_until_a_batch_could_have_contradicted_it(goal: sl.Goal) -> None:
    """No function of norm 3 reaches 9, and with a mean of 100 all are near the maximum."""
    method = smooth(0, goal=goal, mean=100.0 if goal.implicit else 0.0).method
    start = method.init()
    assert (start.labels == 0).all()
    assert start.undecided.all()
    state, _ = method.observe(start, [], [])
    assert np.ptp(state.labels) == 0
    assert state.stop is Stop.DECIDED


@pytest.mark.parametrize("goal", [sl.Threshold(0.5), sl.FractionOfMax(0.5)], ids=["points", "pairs"])
def test_equal_points_are_known_equally(goal: sl.Goal) -> None:
    domain = sl.Domain(np.repeat(POINTS[::8], 3, axis=0), KERNEL)
    truth = np.repeat(1.0 + np.sin(5 * POINTS[::8, 0]), 3)
    world = World(problem=sl.Problem(domain, goal=goal, noise=0.3, norm=6.0), truth=truth)
    wrong, state = ever_wrong(world, 0)
    assert not wrong
    # What the features miss of k(x, x) = 1 is known up to rounding, and enters the intervals by its square root.
    atol = 6.0 * np.sqrt(10 * np.finfo(float).eps)
    for array in (intervals(state).lower, intervals(state).upper, belief(state).estimate, state.labels):
        np.testing.assert_allclose(np.ptp(array.reshape(-1, 3), axis=1), 0.0, atol=atol)


@pytest.mark.parametrize(("value", "label"), [(1.0, 1), (0.0, -1)])
def test_one_point_is_a_normal_mean(value: float, label: int) -> None:
    problem = sl.Problem(sl.Domain([[2.0]]), goal=sl.Threshold(0.5), noise=0.5, norm=2.0)
    wrong, state = ever_wrong(World(problem=problem, truth=np.array([value])), 0)
    assert not wrong
    assert state.labels[0] == label
    assert state.samples < 200


@pytest.mark.parametrize(("level", "label"), [(-2.5, 1), (2.5, -1)])
def test_everything_may_be_on_one_side(level: float, label: int) -> None:
    world = smooth(0, goal=sl.Threshold(level))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # that the level may be wrong
        _, state = ever_wrong(replace(world, truth=np.clip(world.truth, -1.5, 1.5) / 1.5), 0)
    assert state.stop is Stop.DECIDED
    assert (state.labels == label).all()


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("far", [3, 10, 19])
def test_what_rounding_hides_is_not_claimed(noise: float, far: int) -> None:
    """A function that is zero at one point and as large as it can be elsewhere, of which nothing is measured."""
    points = np.linspace(0, 1, 20)[:, None]
    gram = RBF(0.2)(points)
    weights = np.zeros(20)
    weights[[0, far]] = -gram[0, far], 1.0
    truth = gram @ weights * 5.0 / np.sqrt(weights @ gram @ weights) * (1 - 1e-9)
    problem = sl.Problem(sl.Domain(points, RBF(0.2)), goal=sl.Threshold(0.23), noise=noise, norm=5.0)
    method = sl.methods.make("melk", problem, confidence="ridge")
    state, rng = method.init(), np.random.default_rng(0)
    for count in (10, 100, 1000):
        plan = at(method.ask(method.init()), [0, 1] * count, f"{count} of each")
        state, _ = method.tell(state, plan, truth[plan.indices] + noise * rng.standard_normal(plan.total))
        assert ((intervals(state).lower <= truth) & (truth <= intervals(state).upper)).all()


@pytest.mark.parametrize("changed", [{}, {"goal": sl.FractionOfMax(0.3)}], ids=["points", "pairs"])
def test_without_noise_one_look_decides(changed: dict[str, Any]) -> None:
    wrong, state = ever_wrong(smooth(1, noise=0.0, tolerance=1e-3, **changed), 0)
    assert not wrong
    assert state.stop is Stop.DECIDED
    assert state.samples < 300


def test_a_label_stays_where_that_is_asked_for() -> None:
    world = smooth(1)
    method = sl.methods.make("melk", world.problem, confidence="ridge", permanent=True)
    state = method.init()
    while state.stop is None:
        before = state.labels
        state, _ = told(method, state, world.oracle)
        np.testing.assert_array_equal(state.labels[before != 0], before[before != 0])
    assert not world.wrong(state)


# --- contradictions


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "noise": ({"noise": 0.05}, "noise"),
    "a little noise": ({"noise": 0.38}, "600 measurements lie farther from every function that is allowed"),
    "norm": ({"norm": 0.3}, "norm is 0.3, but what was measured needs"),
    "bound": ({"bound": 0.3}, "bound is 0.3"),
}


@pytest.mark.parametrize("permanent", [False, True])
@pytest.mark.parametrize("lie", LIES)
def test_what_contradicts_the_assumptions_ends_all_claims(lie: str, permanent: bool) -> None:
    honest = smooth(1, goal=sl.Threshold(0.0))
    changed, said = LIES[lie]
    world = smooth(1, goal=sl.Threshold(0.0), **changed)
    method = sl.methods.make("melk", world.problem, confidence="ridge", permanent=permanent)
    points, values = sample(honest, 600)
    state, info = method.observe(method.init(), points, values)
    assert state.stop is Stop.CONTRADICTED
    assert any(said in sentence for sentence in info.warnings)
    assert {finding.verdict for finding in info.findings} == {Verdict.CONTRADICTED}
    for _ in range(2):
        assert (state.labels == 0).all()
        assert np.isinf(intervals(state).lower).all()
        assert state.undecided.all()
        assert np.isfinite(state.estimate).all()
        with pytest.raises(SuperlevelError, match="contradict"):
            method.ask(state)
        state, info = method.observe(state, points[:5], values[:5])
        assert state.stop is Stop.CONTRADICTED
        assert info.warnings == ()  # said once


def test_one_outlier_is_enough_and_is_not_forgotten() -> None:
    """It is too far from what all others say; so many good ones later that their sum of squares would pass."""
    world = smooth(1)
    method = world.method
    state, info = method.observe(method.init(), *sample(world, 500))
    assert (state.stop, info.warnings) == (None, ())
    state, info = method.observe(state, [20], [world.truth[20] + 9 * 0.5])
    assert state.stop is Stop.CONTRADICTED
    assert [sentence[:28] for sentence in info.warnings] == ["a measurement at point 20 is"]
    state, _ = method.observe(state, *sample(world, 2000, seed=1))
    assert state.stop is Stop.CONTRADICTED


@pytest.mark.parametrize("goal", [sl.Threshold(0.0), sl.FractionOfMax(0.4)], ids=["points", "pairs"])
def test_a_contradiction_in_a_plan_is_warned_of_once(goal: sl.Goal) -> None:
    world = smooth(1, goal=goal)
    method, start = world.method, world.method.init()
    plan = method.ask(start)
    later = method.ask(start, pending=[plan])
    values = world.truth[plan.indices].copy()
    values[0] = 30.0
    with pytest.warns(AssumptionWarning, match="norm|noise"):
        state, info = method.tell(start, plan, values)
    assert (state.stop, bool(info.warnings)) == (Stop.CONTRADICTED, True)
    state, info = method.tell(state, later, world.truth[later.indices])  # a plan that was out: nobody is warned again
    assert (state.stop, info.warnings) == (Stop.CONTRADICTED, ())
    assert state.samples == plan.total + later.total


HEAVY: dict[str, Callable[[Array, Any], Oracle]] = {
    "student": lambda truth, noise: sl.oracles.Student(truth, noise=noise, freedom=2.5),
    "pareto": lambda truth, noise: sl.oracles.Pareto(truth, noise=noise),
    "outliers": lambda truth, noise: sl.oracles.Outliers(truth, noise=noise),
}


def silently_wrong(make: Callable[[int], World], tail: str, runs: int) -> int:
    """Runs that end with a wrong label and without a word."""
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        for seed in range(runs):
            world = make(seed)
            _, state = ever_wrong(world, seed, HEAVY[tail](world.truth, world.problem.known_noise))
            count += state.stop is not Stop.CONTRADICTED and world.wrong(state)
    return count


@pytest.mark.parametrize("tail", HEAVY)
def test_heavy_tails_are_found_out_before_they_mislead(tail: str) -> None:
    assert silently_wrong(smooth, tail, 8) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("world", ["linear", "smooth", "smooth pairs"])
@pytest.mark.parametrize("tail", HEAVY)
def test_heavy_tails_are_found_out_in_many_runs(tail: str, world: str) -> None:
    assert silently_wrong(WORLDS[world], tail, 100) <= 100 * DELTA
