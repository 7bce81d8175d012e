"""Rules that draw from a design: ridges that shrink, measurements that differ in noise and cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

import superlevel as sl
from superlevel import design
from superlevel.arrays import Array, Mask
from superlevel.features import Features, embed
from superlevel.records import View
from superlevel.rules.design import OptimalDesign, WorstCase, _features, _InFeatures
from superlevel.rules.worth import Worth, worth
from tests.design.oracle import Instance
from tests.rules.oracle import bare_view
from tests.worlds import proof

N = 24
POINTS = np.linspace(0, 1, N)[:, None]


def features(scale: float = 1.0) -> Features:
    return embed(scale * RBF(0.3), POINTS, tol=1e-9)


def half() -> Mask:
    return np.asarray(np.arange(N) < N // 2)


# --- the paper's batches


@pytest.mark.parametrize("phase", [1, 3, 10])
def test_the_ridge_of_the_i_th_design_is_a_tenth_over_i(phase: int) -> None:
    for scale in (1.0, 4.0):
        problem = sl.Problem(sl.Domain(POINTS, scale * RBF(0.3)), goal=sl.Threshold(0.0), noise=0.1)
        rule = sl.methods.make("melk", problem, rule="worst").rule
        assert isinstance(rule, WorstCase)
        found = proof(rule.choose(bare_view(half(), problem, phase=phase)))
        wanted = design.Subset(mask=half())
        used = _features(problem.domain, scale / 10 / 100, 0.01).features  # exact enough for a hundred batches
        expected = design.solve(used, wanted, ridge=scale / (10 * phase), rtol=0.01)
        np.testing.assert_array_equal(found.weights, expected.weights)
        assert found.value == expected.value
        exact = Instance(arms=features(scale).array, rows=features(scale).array[half()], ridge=scale / (10 * phase))
        assert exact.value(found.weights) == pytest.approx(found.value, rel=2e-3)


def test_a_ridge_that_is_given_stays() -> None:
    problem = sl.Problem(sl.Domain(POINTS, RBF(0.3)), goal=sl.Threshold(0.0), noise=0.1, ridge=0.03)
    rule = WorstCase()
    values = [proof(rule.choose(bare_view(half(), problem, phase=phase))).value for phase in (1, 5)]
    assert values[0] == values[1]
    posed = rule._posed(bare_view(half(), problem, phase=5))
    assert isinstance(posed, _InFeatures)
    assert posed.ridge == 0.03


def test_the_counts_are_draws_from_the_design() -> None:
    rule = OptimalDesign()

    def view(batch: int, seed: int = 0) -> View:
        return bare_view(half(), batch=batch, seed=seed, features=features(), ridge=0.01)

    one, again, other = (rule.choose(view(50, seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.counts, again.counts)
    assert (one.counts != other.counts).any()
    assert one.counts.sum() == 50
    assert (one.counts[one.weights == 0] == 0).all()
    many = rule.choose(view(100_000)).counts / 100_000
    np.testing.assert_allclose(many, one.weights, atol=0.01)


def test_points_whose_features_are_zero_are_no_targets() -> None:
    """Their value is known; a design that had to estimate it could not be computed."""
    problem = sl.Problem(sl.Domain(np.linspace(-1, 1, 5)[:, None], DotProduct(0.0)), goal=sl.Threshold(0.5), noise=0.1)
    for name in ("worst", "average"):
        method = sl.methods.make("melk", problem, rule=name)
        plan = method.ask(method.init())
        assert plan.counts[2] == 0
        state, _ = method.tell(method.init(), plan, np.linspace(-1, 1, 5)[plan.indices])
        assert state.labels[2] == -1
    alone = bare_view(np.arange(5) == 2, problem, features=embed(None, problem.domain.points), ridge=0.1)
    assert OptimalDesign().choose(alone).counts.sum() == 10


# --- noise and cost


def test_points_that_are_alike_need_no_worth() -> None:
    for noise in (0.3, np.full(N, 0.3), 0.0, np.zeros(N)):
        for cost in (1.0, 7.0, np.full(N, 2.0)):
            assert worth(noise, cost, N) is None


def differing(noise: float | Array, cost: float | Array) -> Worth:
    made = worth(noise, cost, N)
    assert made is not None
    return made


def test_the_roots_are_what_a_unit_of_cost_buys_relative_to_the_best() -> None:
    rng = np.random.default_rng(0)
    noise, cost = rng.uniform(0.1, 1, N), rng.uniform(1, 5, N)
    bought = 1 / (cost * noise**2)
    np.testing.assert_allclose(differing(noise, cost).roots ** 2, bought / bought.max())
    for scale in (1e-3, 1e3):
        np.testing.assert_allclose(differing(scale * noise, cost / scale).roots, differing(noise, cost).roots)


@pytest.mark.parametrize("noise", [0.0, np.zeros(N)])
def test_without_any_noise_the_cost_is_what_differs(noise: float | Array) -> None:
    cost = np.where(half(), 1.0, 4.0)
    np.testing.assert_allclose(differing(noise, cost).roots, np.where(half(), 1.0, 0.5))


def test_a_measurement_without_noise_is_not_worth_everything() -> None:
    made = differing(np.where(half(), 0.0, 1.0), 1.0)
    assert np.isfinite(made.roots).all()
    assert (made.roots > 0).all()
    assert (made.roots[half()] == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_design_has_the_least_variance_per_unit_of_cost(seed: int) -> None:
    """Against a cone solver on arms phi / (sigma sqrt(c)), with the targets as they are."""
    rng = np.random.default_rng(seed)
    noise, cost, arms = rng.uniform(0.2, 1, N), rng.uniform(1, 5, N), rng.standard_normal((N, 4))
    rule = _InFeatures(features=embed(None, arms), ridge=0.1, rtol=1e-3, worth=differing(noise, cost))
    choice = rule.choose(bare_view(half()))
    spent = noise * np.sqrt(cost)
    scaled = Instance(arms=arms * (spent.min() / spent)[:, None], rows=arms[half()], ridge=0.1)
    money = proof(choice).weights
    assert scaled.value(money) == pytest.approx(proof(choice).value, rel=1e-9)
    assert scaled.optimum() == pytest.approx(proof(choice).value, rel=1e-3)
    np.testing.assert_allclose(choice.weights, money / cost / (money / cost).sum())
    reached = variance_for(choice.weights, arms, noise, cost)
    others = [rng.dirichlet(np.full(N, 0.3)) for _ in range(200)]
    assert reached <= 1.001 * min(variance_for(other, arms, noise, cost) for other in others)


def variance_for(weights: Array, arms: Array, noise: Array, cost: Array) -> float:
    """The largest variance when measurements are bought in these proportions, for one unit of money in all.

    The design's ridge is relative to the information that the money could buy at the best point.
    """
    numbers = weights / (weights @ cost)
    information = (arms * (numbers / noise**2)[:, None]).T @ arms
    ridge = 0.1 * (1 / (cost * noise**2)).max()
    inverse = np.linalg.inv(information + ridge * np.eye(len(information)))
    return float(np.einsum("ij,jk,ik->i", arms[half()], inverse, arms[half()]).max())


@pytest.mark.parametrize(
    ("noise", "cost"),
    [(np.where(half(), 0.1, 0.3), 1.0), (0.3, np.where(half(), 1.0, 3.0)), (np.where(half(), 0.0, 0.3), 1.0)],
)
def test_measurements_move_to_the_cheap_and_precise_half(noise: float | Array, cost: float | Array) -> None:
    """Every place can be measured in two ways, the first half of the points and the second."""
    twice = embed(RBF(0.3), np.concatenate([POINTS[::2], POINTS[::2]]), tol=1e-9)
    plain = _InFeatures(features=twice, ridge=0.01, rtol=0.01, worth=None)
    everything = bare_view(np.ones(N, dtype=np.bool_))
    assert plain.choose(everything).weights[half()].sum() < 0.8
    moved = replace(plain, worth=differing(noise, cost)).choose(everything)
    assert moved.weights[half()].sum() > 0.95


def test_a_noisy_half_needs_more_measurements_where_nothing_else_tells_of_it() -> None:
    apart = embed(None, np.eye(N))
    plain = _InFeatures(features=apart, ridge=1e-9, rtol=1e-3, worth=None)
    noise = np.where(half(), 0.1, 0.3)
    weights = replace(plain, worth=differing(noise, 1.0)).choose(bare_view(np.ones(N, dtype=np.bool_))).weights
    np.testing.assert_allclose(weights, noise**2 / (noise**2).sum(), rtol=1e-2)


def test_one_direction_alone_is_measured_where_it_is_cheapest() -> None:
    """A constant f: all points tell the same, so that all money goes where it buys most."""
    noise, cost = np.linspace(1, 2, N), np.linspace(3, 1, N)
    noise[9] = 0.4
    problem = sl.Problem(sl.Domain(POINTS, ConstantKernel()), goal=sl.Threshold(0.1), noise=noise, cost=cost)
    best = int(np.argmin(noise**2 * cost))
    for rule in ("worst", "average"):
        method = sl.methods.make("melk", problem, rule=rule)
        assert method.ask(method.init()).weights[best] > 0.98
    for name in ("melk", "truvar"):
        method = sl.methods.make(name, problem, batch=1)
        gained = 1 / (1 + noise**2) / cost
        assert method.ask(method.init()).counts[np.argmax(gained)] == 1
