"""Designs on the covariances of the points themselves: averages, and the worst case for rough kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel.arrays import Array, Mask
from superlevel.rules.covariances import AverageCase, SampledWorst
from superlevel.rules.design import WorstCase, _InFeatures
from superlevel.rules.variance import Mislabelled, Undecided
from superlevel.rules.worth import worth
from superlevel.sizes import Growing
from tests.design.oracle import Instance
from tests.rules.oracle import World, bare_view, everything, posing, world
from tests.worlds import proof


@pytest.mark.parametrize("kind", ["features", "matrix"])
@pytest.mark.parametrize("batch", [1, 10])
def test_an_average_design_leaves_the_least_weighted_variance(kind: str, batch: int) -> None:
    here = world(kind, 1, batch=batch)
    noise = here.posterior.noise
    choice = AverageCase(rtol=0.001).choose(here.view)
    weights, _ = Mislabelled().at(here.view)

    found = proof(choice)
    ridge = noise[0] / batch
    assert found.gap <= 0.001
    assert ridge * found.value == pytest.approx(left(here, choice.weights, weights), rel=1e-3)
    rng = np.random.default_rng(0)
    others = [rng.dirichlet(np.full(40, 0.2)) for _ in range(100)]
    others += [0.9 * choice.weights + 0.1 * other for other in others]
    assert min(left(here, other, weights) for other in others) >= ridge * found.lower_bound * (1 - 1e-6)
    assert choice.counts.sum() == batch


def test_an_average_over_a_sample_of_many_points_leaves_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("matrix", 1, batch=10)
    rule = AverageCase(rtol=0.001)
    weights, _ = Mislabelled().at(here.view)
    best = left(here, rule.choose(replace(here.view)).weights, weights)
    monkeypatch.setattr("superlevel.rules.covariances.CANDIDATES", 25)
    reached = []
    for seed in range(20):
        choice = rule.choose(replace(here.view, seed=seed))
        assert len(proof(choice).weights) == len(proof(choice).dual) == 40
        assert 10 <= np.count_nonzero(proof(choice).dual) <= 26
        assert (choice.counts[proof(choice).dual == 0] == 0).all()
        stands_for = proof(choice).dual * here.posterior.variance  # in proportion to how often a point was hit
        hits = stands_for[stands_for > 0] / stands_for[stands_for > 0].min()
        np.testing.assert_allclose(hits, hits.round(), rtol=1e-8)
        reached.append(left(here, choice.weights, weights))
    assert best <= min(reached) * 1.001
    assert np.mean(reached) <= 1.15 * best


def left(here: World, shares: Array, weights: Array) -> float:
    """The weighted variance that a batch shared out like this leaves."""
    assert isinstance(here.view.sizes, Growing)
    root = np.sqrt(here.view.sizes.first * shares / here.posterior.noise)
    sigma = here.dense.covariance
    gram = np.eye(len(shares)) + root[:, None] * sigma * root
    after = np.diag(sigma) - np.einsum("xi,ij,xj->x", sigma * root, np.linalg.inv(gram), sigma * root)
    return float(weights @ after / weights.sum())


@pytest.fixture
def over_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Averages over undecided points, each alike."""
    monkeypatch.setattr("superlevel.rules.covariances.Mislabelled", Undecided)


@pytest.mark.usefixtures("over_undecided")
def test_an_average_over_undecided_points_is_truvar_for_a_batch() -> None:
    here = world("matrix", 0, batch=10)
    found = proof(AverageCase().choose(here.view))
    np.testing.assert_allclose(found.dual, here.view.undecided / here.view.undecided.sum())


@pytest.mark.usefixtures("over_undecided")
def test_an_average_design_minds_noise_and_cost() -> None:
    here = world("features", 0, batch=10)
    n = len(here.posterior.mean)
    left = np.arange(n) < n // 2
    rule = AverageCase()
    unspent = rule.choose(here.view)
    before = unspent.weights[left].sum()
    costly = rule.choose(posing(here.view, noise=0.2, cost=np.where(left, 1.0, 10.0)))
    assert costly.weights[left].sum() > max(before, 0.5)
    same = rule.choose(posing(here.view, noise=np.full(n, 0.2), cost=np.full(n, 3.0)))
    np.testing.assert_array_equal(same.counts, unspent.counts)


# --- the worst case


def rough(domain: sl.Domain) -> sl.Problem:
    return sl.Problem(domain, goal=sl.Threshold(0.0), noise=0.1)


def some(places: list[int], n: int) -> Mask:
    mask = np.zeros(n, dtype=np.bool_)
    mask[places] = True
    return mask


def test_a_rough_kernel_is_measured_by_its_own_covariances() -> None:
    places = np.random.default_rng(0).uniform(size=(900, 2))
    problem = sl.Problem(sl.Domain(places, 4.0 * Matern(0.1, nu=0.5)), goal=sl.Threshold(0.0), noise=0.5)
    rule = WorstCase(rtol=0.05)
    method = sl.methods.make("melk", problem, rule=rule)
    posed = rule._posed(method.view(method.init(), phase=1))
    assert isinstance(posed, SampledWorst)
    assert posed.ridge == pytest.approx(0.4)
    later = rule._posed(method.view(method.init(), phase=4))
    assert isinstance(later, SampledWorst)
    assert later.ridge == pytest.approx(0.1)
    plan = method.ask(method.init())
    assert proof(plan).gap <= 0.05
    assert np.count_nonzero(plan.weights) <= 500
    assert plan.total == 10
    smooth = replace(problem, domain=sl.Domain(places, Matern(2.0, nu=2.5)))
    fine = sl.methods.make("melk", smooth, rule=rule)
    assert isinstance(rule._posed(fine.view(fine.init(), phase=1)), _InFeatures)


@pytest.mark.parametrize("phase", [1, 4])
def test_its_design_is_the_one_for_the_undecided_points(phase: int) -> None:
    domain = sl.Domain(np.linspace(0, 1, 30), Matern(0.1, nu=0.5))
    undecided = [3, 4, 9, 15, 16, 28]
    rule = SampledWorst(ridge=0.1 / phase, rtol=1e-4)
    found = rule.choose(bare_view(some(undecided, 30), rough(domain), phase=phase))
    assert found.certificate is not None
    assert set(np.flatnonzero(found.weights)) <= set(undecided)
    rows = np.asarray(np.linalg.cholesky(domain.gram(undecided)), dtype=np.float64)
    exact = Instance(arms=rows, rows=rows, ridge=0.1 / phase)
    weights, dual = found.weights[undecided], np.asarray(found.certificate.dual)[undecided]
    assert found.certificate.value == pytest.approx(exact.value(weights), rel=1e-3)
    assert exact.value(weights) <= (1 + 1e-3) * exact.bound(weights, dual)


def test_it_minds_noise_and_cost_and_a_sample_stands_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = sl.Domain(np.tile(np.linspace(0, 1, 20), 2), Matern(0.1, nu=0.5))
    cheap = np.arange(40) < 20
    rule = SampledWorst(ridge=0.1, rtol=0.01)
    view = bare_view(everything(40), rough(domain))
    dear = replace(rule, worth=worth(0.1, np.where(cheap, 1.0, 20.0), 40))
    assert dear.choose(view).weights[cheap].sum() > 0.95
    monkeypatch.setattr("superlevel.rules.covariances.CANDIDATES", 12)
    assert np.count_nonzero(rule.choose(view).weights) <= 12
