"""Widths of LSE from three bounds on the information gain, against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from superlevel.confidence.rkhs import Rkhs
from superlevel.records import Batch
from superlevel.reproduce.widths import Loose, OfRank
from superlevel.reproduce.worlds import Linear

WORLD = Linear(arms=100, dimension=25, implicit=False, noise=1.0, ridge=1e-7)


@pytest.mark.parametrize("count", [40, 3000])
@pytest.mark.parametrize("confidence", [Loose(), Rkhs(), OfRank(rank=2)], ids=repr)
def test_intervals_are_ridge_regression_with_the_formula_s_width(confidence: Rkhs, count: int) -> None:
    """mu +- (S + sqrt(2 (Gamma_t + log(1 / delta)))) sigma_t, with mu and sigma_t from the normal equations."""
    world, rng = WORLD(0), np.random.default_rng(0)
    points = rng.integers(100, size=count)
    values = world.values[points] + rng.standard_normal(count)
    belief = confidence.update(confidence.prior(world.problem), Batch(points=points, values=values))
    found = belief.bounds()

    arms = world.problem.domain.points
    inverse = np.linalg.inv(arms[points].T @ arms[points] + np.eye(25))
    mean = arms @ inverse @ arms[points].T @ values
    deviation = np.sqrt(np.einsum("ij,jk,ik->i", arms, inverse, arms))
    gains = {
        Loose(): 25 * math.log(1 + count),
        Rkhs(): 12.5 * math.log(1 + count / 25),
        OfRank(rank=2): math.log(1 + count / 2),
    }
    width = 1 + math.sqrt(2 * (gains[confidence] + math.log(10)))
    np.testing.assert_allclose(found.lower, mean - width * deviation, atol=1e-8)
    np.testing.assert_allclose(found.upper, mean + width * deviation, atol=1e-8)


def test_every_gain_is_at_least_the_true_one_and_the_one_of_rank_2_is_nearest() -> None:
    """1/2 log det(I + K_t) of random points: all three widths are valid on arms that span two dimensions."""
    world, rng = WORLD(0), np.random.default_rng(1)
    arms = world.problem.domain.points
    prior = Rkhs().prior(world.problem).posterior
    for count in (1, 5, 50, 5000):
        chosen = arms[rng.integers(2, size=count)]  # e_1 and e_2, from which most is learnt
        true = np.linalg.slogdet(np.eye(25) + chosen.T @ chosen)[1] / 2
        loose, sharp, ranked = (
            confidence.widths(world.problem, prior).information(count)
            for confidence in (Loose(), Rkhs(), OfRank(rank=2))
        )
        assert true <= ranked * (1 + 1e-9)
        assert ranked <= sharp * (1 + 1e-9)
        assert sharp < loose


def test_the_one_more_under_the_root_of_chowdhury_and_gopalan_is_a_third_of_a_per_cent() -> None:
    """Their width has Gamma + 1 + log(1 / delta); measurements are in proportion to its square."""
    world = WORLD(0)
    widths = Loose().widths(world.problem, Rkhs().prior(world.problem).posterior)
    gain = widths.information(74_336) + math.log(10)
    ratio = ((1 + math.sqrt(2 * (gain + 1))) / (1 + math.sqrt(2 * gain))) ** 2
    assert 1.002 < ratio < 1.005
