"""Every rule against its formula: the same scores, the same points, whatever form the posterior has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.goals import Bounds, FractionOfMax, Threshold
from superlevel.rules import variance
from superlevel.rules.ambiguity import Ambiguity, Straddle
from superlevel.rules.chance import Chance
from superlevel.rules.lookahead import CERTAIN, Rmile
from superlevel.rules.sequential import Score, Sequential
from superlevel.rules.variance import (
    Doubtful,
    LargestVariance,
    Mislabelled,
    Undecided,
    Undeclared,
    VarianceReduction,
    Widest,
    sampled,
)
from superlevel.sizes import Growing
from tests.rules import oracle
from tests.rules.oracle import LEVEL, WIDTH, Slow, World, counted, in_sequence, knowing, posing, world

N = 40
RULES: dict[str, tuple[Score, Slow]] = {
    "lse": (Ambiguity(), oracle.ambiguity),
    "straddle": (Straddle(), oracle.straddle),
    "lse-imp": (Widest(), oracle.widest),
    "max-variance": (LargestVariance(), oracle.largest_variance),
    "truvar": (VarianceReduction(weights=Undecided()), oracle.truvar),
    "rmile": (Rmile(), oracle.rmile),
    "greedy": (VarianceReduction(weights=Mislabelled()), oracle.mislabelled),
    "label": (VarianceReduction(weights=Doubtful()), oracle.doubtful),
    "declare": (VarianceReduction(weights=Undeclared()), oracle.undeclared),
}
CASES = [
    pytest.param(name, kind, seed, seed == 2, id=f"{name}-{kind}-{seed}")
    for name in RULES
    for kind in oracle.KINDS
    for seed in range(3)
]


def same(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert np.argmax(found) == np.argmax(expected)


# --- one measurement


@pytest.mark.parametrize(("name", "kind", "seed", "unequal"), CASES)
def test_the_scores_are_those_of_the_formula(name: str, kind: str, seed: int, unequal: bool) -> None:
    score, slow = RULES[name]
    here = world(kind, seed, unequal=unequal)
    same(score.begin(here.view).scores(here.posterior), slow(here.dense, here))


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_truvar_looks_ahead_as_if_it_really_conditioned_on_each_candidate(kind: str, seed: int) -> None:
    here = world(kind, seed, unequal=True)
    scores = VarianceReduction(weights=Undecided()).begin(here.view).scores(here.posterior)
    drops = [here.posterior.variance - here.posterior.planned([x]).after.variance for x in range(N)]
    same(scores, np.array([drop[here.view.undecided].sum() for drop in drops]))


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("x", [0, 13, 29])
def test_rmile_s_gain_is_the_expected_growth_over_all_values_that_a_measurement_may_have(kind: str, x: int) -> None:
    """By the midpoint rule over a million quantiles of the value at x, each told to the posterior's own formula."""
    here = world(kind, 0, unequal=True)
    posterior = here.posterior
    sure = posterior.mean - WIDTH * posterior.deviation > LEVEL
    after = posterior.told([x], [posterior.mean[x]])
    per_unit = (posterior.told([x], [posterior.mean[x] + 1.0]).mean - posterior.mean)[:, None]
    steps = norm.ppf((np.arange(40_000) + 0.5) / 40_000) * np.sqrt(posterior.variance[x] + posterior.noise[x])
    reached = posterior.mean[:, None] + per_unit * steps - WIDTH * after.deviation[:, None] > LEVEL
    gain = float(reached.mean(axis=1).sum() - sure.sum())
    scores = Rmile().begin(here.view).scores(posterior)
    assert scores[x] == pytest.approx(max(gain, 1e-6 * posterior.deviation[x] / posterior.deviation.max()), abs=1e-3)


def test_rmile_explores_the_least_known_point_where_nothing_is_to_be_gained() -> None:
    here = world("matrix", 1)
    for level in (-1e3, 1e3):
        scores = Rmile().begin(posing(here.view, goal=Threshold(level))).scores(here.posterior)
        np.testing.assert_allclose(scores, 1e-6 * here.posterior.deviation / here.posterior.deviation.max())


@pytest.mark.parametrize("level", [-4.0, -1.0, 2.0, 5.0])
def test_what_rmile_leaves_out_is_not_worth_a_millionth(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("features", 2)
    view = posing(here.view, goal=Threshold(level))
    short = Rmile().begin(view).scores(here.posterior)
    monkeypatch.setattr("superlevel.rules.lookahead.CERTAIN", 4 * CERTAIN)
    np.testing.assert_allclose(short, Rmile().begin(view).scores(here.posterior), atol=1e-10)


def test_a_gain_of_one_in_ten_thousand_counts() -> None:
    """Four deviations below the level, one measurement may still take a point across it."""
    domain = sl.Domain(np.eye(3))
    prior = sl.posterior.begin(domain, noise=0.01)
    view = knowing(posing(world("matrix", 0).view, goal=Threshold(4.0)), posterior=prior)
    left = np.sqrt(1 - 1 / 1.0001)
    gain = norm.cdf((-4.0 - WIDTH * left) * np.sqrt(1.0001))
    np.testing.assert_allclose(Rmile().begin(view).scores(prior), gain, rtol=1e-9)


def test_rmile_s_blocks_do_not_change_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("matrix", 0)
    whole = Rmile().begin(here.view).scores(here.posterior)
    monkeypatch.setattr("superlevel.rules.lookahead.BLOCK", 3 * N)
    np.testing.assert_allclose(Rmile().begin(here.view).scores(here.posterior), whole, rtol=1e-12)


def test_lse_s_intervals_never_grow_and_straddle_does_not_remember() -> None:
    here = world("matrix", 0)
    narrow = Bounds(lower=np.full(N, LEVEL - 0.01), upper=np.full(N, LEVEL + 0.02))
    view = knowing(here.view, narrowest=narrow)
    lse = Ambiguity().begin(view).scores(here.posterior)
    assert lse.max() == pytest.approx(0.01)
    assert np.isneginf(lse[~view.undecided]).all()
    forgetful = Straddle().begin(view).scores(here.posterior)
    np.testing.assert_array_equal(forgetful, Straddle().begin(here.view).scores(here.posterior))
    assert np.isfinite(forgetful).all()


def test_chance_takes_every_point_equally_often() -> None:
    here = world("matrix", 0, batch=40_000)
    choice = Chance().choose(here.view)
    assert choice.counts.sum() == 40_000
    chi2 = ((choice.counts - 1000.0) ** 2 / 1000.0).sum()
    assert 15 < chi2 < 80  # 39 degrees of freedom: outside with probability 1e-4
    np.testing.assert_allclose(choice.weights, 1 / N)
    goal = FractionOfMax(0.2)
    pairs = Chance().choose(replace(here.view, goal=goal, reading=goal.unread(N)))
    assert len(pairs.counts) == N


# --- a batch


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("kind", "surprise"), [("features", 1.0), ("matrix", 1.0), ("matrix", 2.5)])
def test_each_point_of_a_batch_is_the_best_given_those_before(name: str, kind: str, surprise: float) -> None:
    score, slow = RULES[name]
    count = 3 if name == "rmile" else 7
    here = world(kind, 3, batch=count, unequal=True, surprise=surprise)
    choice = Sequential(score=score).choose(here.view)
    chosen = in_sequence(slow, here, 1.0, count)
    np.testing.assert_array_equal(choice.counts, counted(chosen, N))
    np.testing.assert_allclose(choice.weights, choice.counts / count)
    assert choice.certificate is None


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("weights", [Undecided(), Mislabelled()])
def test_sums_that_are_updated_are_those_that_are_summed_again(kind: str, weights: variance.Weights) -> None:
    here = world(kind, 1, unequal=True)
    scorer: Any = VarianceReduction(weights=weights).begin(here.view)
    posterior = here.posterior
    for x in (3, 3, 17, 38, 17, 0):
        planned = posterior.planned([x])
        scorer, posterior = scorer.after(posterior, planned), planned.after
        np.testing.assert_allclose(scorer.sums, posterior.covariance.squares(scorer.weights), atol=1e-10)


def test_a_batch_asks_for_further_points_and_a_single_one_does_not_depend_on_it() -> None:
    here = world("matrix", 0)
    rule = Sequential(score=VarianceReduction(weights=Undecided()))
    counts = [rule.choose(replace(here.view, sizes=Growing(first=b))).counts for b in range(1, 6)]
    for smaller, larger in pairwise(counts):
        assert (larger >= smaller).all()
        assert larger.sum() == smaller.sum() + 1


# --- cost and noise


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("name", ["truvar", "greedy"])
def test_costs_divide_the_score(name: str, kind: str) -> None:
    score, slow = RULES[name]
    assert isinstance(score, VarianceReduction)
    here = world(kind, 4, batch=6, unequal=True)
    cost = np.random.default_rng(0).uniform(0.5, 4.0, N)
    costly = posing(here.view, cost=cost)
    same(score.begin(costly).scores(here.posterior), slow(here.dense, here) / cost)
    choice = Sequential(score=score).choose(costly)
    np.testing.assert_array_equal(choice.counts, counted(in_sequence(slow, here, cost, 6), N))
    tenfold = Sequential(score=score).choose(posing(here.view, cost=10 * cost))
    np.testing.assert_array_equal(tenfold.counts, choice.counts)


# --- what is mislabelled


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("surprise", [0.5, 3.0])
def test_weights_fall_with_the_distance_from_the_level(kind: str, surprise: float) -> None:
    here = world(kind, 0, surprise=surprise)
    weights, rough = Mislabelled().at(here.view)
    np.testing.assert_allclose(weights, oracle.closeness(here), rtol=1e-8)
    np.testing.assert_allclose(rough, here.rough, rtol=1e-8)
    assert (rough > 0).all() == (here.posterior.roughness > 0) == (surprise > 1)


def test_a_rough_part_is_told_by_measuring_the_point_itself() -> None:
    here = world("matrix", 0, surprise=3.0)
    roughness, noise = here.posterior.roughness, float(here.posterior.noise[0])
    assert roughness > 0
    _, rough = Mislabelled().at(here.view)
    times = np.bincount(here.dense.points, minlength=N)
    np.testing.assert_allclose(rough, 1 / (1 / roughness + times / noise))
    scorer: Any = VarianceReduction(weights=Mislabelled()).begin(here.view)
    planned = here.posterior.planned([5])
    after = scorer.after(here.posterior, planned).own.rough
    assert after[5] == pytest.approx(1 / (1 / roughness + (times[5] + 1) / noise))
    np.testing.assert_array_equal(np.delete(after, 5), np.delete(rough, 5))


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_in_the_implicit_problem_what_may_be_the_maximum_matters_too(kind: str) -> None:
    here = world(kind, 2)
    weights, _ = Mislabelled().at(posing(here.view, goal=FractionOfMax(0.3)))
    mean, total = here.dense.mean, here.dense.variance + here.rough
    at_level = (1 + (mean - 0.7 * mean.max()) ** 2 / total) ** -3.0
    at_top = (1 + (mean - mean.max()) ** 2 / total) ** -3.0
    np.testing.assert_allclose(weights, np.maximum(at_level, 0.49 * at_top), rtol=1e-7)
    assert weights[np.argmax(mean)] >= 0.489


def test_what_is_known_exactly_has_no_weight() -> None:
    domain = sl.Domain(np.array([[0.0], [1.0], [2.0]]))
    here = world("matrix", 0)
    view = knowing(posing(here.view, goal=Threshold(0.5)), posterior=sl.posterior.begin(domain, noise=0.1))
    weights, rough = Mislabelled().at(view)
    np.testing.assert_allclose(weights, [0.0, (1 + 0.25) ** -3, (1 + 0.25 / 4) ** -3])
    np.testing.assert_allclose(Doubtful().at(view)[0], [0.0, (1 + 0.25) ** -3, (1 + 0.25 / 4) ** -3 / 4])
    np.testing.assert_array_equal(rough, 0.0)


@pytest.mark.parametrize("h", [0.0, 0.7, 2.0])
def test_a_small_relative_drop_lowers_the_expected_doubt_in_proportion(h: float) -> None:
    """By quadrature over the mean that a measurement leaves: the formula in the docstring of `Doubtful`."""
    drop = 1e-3
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    chances = norm.cdf((h + np.sqrt(drop) * nodes) / np.sqrt(1 - drop))
    after = weights @ (chances * (1 - chances)) / weights.sum()
    before = norm.cdf(h) * norm.cdf(-h)
    assert before - after == pytest.approx(drop * np.exp(-(h**2)) / (2 * np.pi), rel=0.01)


@pytest.mark.parametrize("weights", [Mislabelled(), Doubtful(), Undeclared()])
def test_where_nothing_is_left_to_learn_the_scores_are_numbers(weights: variance.Weights) -> None:
    domain = sl.Domain(np.zeros((3, 1)), kernel=RBF(1.0))
    posterior = sl.posterior.begin(domain, noise=0.0, form=sl.posterior.by_rows).told([0, 1, 2], [1.0, 1.0, 1.0])
    view = knowing(posing(world("matrix", 0).view, goal=Threshold(0.5)), posterior=posterior)
    scores = VarianceReduction(weights=weights).begin(view).scores(posterior)
    assert ((scores >= 0) & (scores < 10)).all()


# --- sampled sums


def sampled_scores(here: World, seed: int, weights: variance.Weights) -> Array:
    view = replace(here.view, seed=seed)
    scorer = VarianceReduction(weights=weights).begin(view)
    assert isinstance(scorer, variance._Sampled)
    return scorer.scores(here.posterior)


@pytest.mark.parametrize(("targets", "error"), [(8, 0.8), (20, 0.4), (N, 1e-12)])
@pytest.mark.parametrize("weights", [Undecided(), Mislabelled()])
def test_sampled_sums_are_close(
    targets: int, error: float, weights: variance.Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world("matrix", 0, unequal=True)
    exact = VarianceReduction(weights=weights).begin(here.view).scores(here.posterior)
    monkeypatch.setattr(variance, "EXACT", 0)
    monkeypatch.setattr(variance, "TARGETS", targets)
    scores = np.array([sampled_scores(here, seed, weights) for seed in range(100)])
    assert np.abs(scores - exact).max() <= error * exact.max()


def test_a_sample_stands_for_all_in_rmile_too(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("matrix", 0)
    exact = Rmile().begin(here.view).scores(here.posterior)
    monkeypatch.setattr("superlevel.rules.lookahead.PAIRS", 0)
    monkeypatch.setattr("superlevel.rules.lookahead.SAMPLED", 30 * N)
    scorers = [Rmile().begin(replace(here.view, seed=seed)) for seed in range(1000)]
    assert all(0 < np.count_nonzero(scorer.factors) <= 30 for scorer in scorers)
    scores = np.array([scorer.scores(here.posterior) for scorer in scorers])
    clear = exact > 0.3 * exact.max()  # elsewhere a sample's loss may count as no gain
    np.testing.assert_allclose(scores.mean(axis=0)[clear], exact[clear], rtol=0.1)


def test_a_sampled_batch_follows_its_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("matrix", 0, batch=5)
    exact = Sequential(score=VarianceReduction(weights=Undecided())).choose(here.view)
    monkeypatch.setattr(variance, "EXACT", 0)
    monkeypatch.setattr(variance, "TARGETS", N)
    scorer: Any = VarianceReduction(weights=Undecided()).begin(here.view)
    posterior = here.posterior
    for x in (4, 4, 21):
        planned = posterior.planned([x])
        scorer, posterior = scorer.after(posterior, planned), planned.after
        np.testing.assert_allclose(scorer.columns, posterior.covariance.columns(scorer.targets), atol=1e-12)
    choice = Sequential(score=VarianceReduction(weights=Undecided())).choose(here.view)
    np.testing.assert_array_equal(choice.counts, exact.counts)


@dataclass(frozen=True)
class Offset:
    """Stands for a random generator: systematic sampling draws one number."""

    value: float

    def uniform(self) -> float:
        return self.value


def test_a_systematic_sample_is_right_on_average() -> None:
    sizes = np.random.default_rng(0).uniform(0.1, 1.0, 40)
    total, steps = np.zeros(40), 10_000
    for offset in (np.arange(steps) + 0.5) / steps:
        chosen, factors = sampled(sizes, 10, Offset(offset))  # type: ignore[arg-type]
        total[chosen] += factors
    np.testing.assert_allclose(total / steps, 1.0, atol=1 / (steps * 10 * sizes.min() / sizes.sum()))


SIZES = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30).filter(lambda x: sum(x) > 1e-3)


@given(SIZES, st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_a_systematic_sample_hits_everything_as_often_as_expected_give_or_take_one(
    sizes: list[float], count: int, seed: int
) -> None:
    given_sizes = np.array(sizes)
    chosen, factors = sampled(given_sizes, count, np.random.default_rng(seed))
    if np.count_nonzero(given_sizes) <= count:  # all of them are the sample
        np.testing.assert_array_equal(chosen, np.flatnonzero(given_sizes))
        np.testing.assert_array_equal(factors, 1.0)
        return
    expected = given_sizes / given_sizes.sum() * count
    hits = np.zeros(len(sizes))
    hits[chosen] = factors * expected[chosen]
    np.testing.assert_allclose(hits, hits.round(), atol=1e-6)
    assert (np.abs(hits - expected) <= 1 + 1e-6).all()
    assert abs(hits.sum() - count) <= 1 + 1e-6
    assert (given_sizes[chosen] > 0).all()
    assert (np.diff(chosen) > 0).all()


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 20), st.integers(0, 2**16))
def test_a_systematic_sample_has_the_sum_for_its_mean(n: int, count: int, seed: int) -> None:
    """Over all starts u; a midpoint rule with 200 of them is off by at most one step for each jump."""
    rng = np.random.default_rng(seed)
    sizes, values = rng.uniform(0.1, 1, n), rng.uniform(0, 1, n)

    class Start:
        u = 0.0

        def uniform(self) -> float:
            return self.u

    totals = []
    for u in (np.arange(200) + 0.5) / 200:
        start: Any = Start()
        start.u = u
        chosen, factors = sampled(sizes, count, start)
        totals.append(factors @ values[chosen])
    chances = sizes / sizes.sum() * count
    assert np.mean(totals) == pytest.approx(values.sum(), abs=2 * (values / chances).sum() / 200)
