"""kappa is what it says for laws that attain it, and the default margins are sensible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import superlevel as sl
from superlevel.audits import Gaussian, MedianZero, Noise, SubGaussian

POSITIVE = st.floats(0.01, 100.0)


@given(st.floats(0.0, 100.0))
def test_median_zero_shows_half_whatever_the_margin(margin: float) -> None:
    assert MedianZero().kappa(margin) == 0.5
    assert MedianZero().margin(margin) == 0.0


@given(st.floats(0.0, 10.0), POSITIVE)
def test_gaussian_noise_shows_as_many_as_its_distribution_says(margin: float, sigma: float) -> None:
    kappa = Gaussian(sigma).kappa(margin)
    assert kappa == pytest.approx(norm.sf(-margin, scale=sigma))
    assert kappa >= SubGaussian(sigma, median_zero=True).kappa(margin) - 1e-12
    assert SubGaussian(sigma, median_zero=True).kappa(margin) >= SubGaussian(sigma).kappa(margin)


def test_the_subgaussian_kappa_holds_for_two_values_of_noise() -> None:
    """P(noise = -c) = p and mean zero; Hoeffding's lemma makes it sub-Gaussian with half of its range."""
    for p in (0.1, 0.3, 0.6):
        margin, other = 1.0, p / (1 - p)
        assert SubGaussian((margin + other) / 2).kappa(margin) <= 1 - p


@given(st.floats(0.0, 100.0))
def test_without_noise_every_wrong_label_shows(margin: float) -> None:
    assert Gaussian(0.0).kappa(margin) == SubGaussian(0.0).kappa(margin) == 1.0
    assert Gaussian(0.0).margin(margin) == SubGaussian(0.0).margin(margin) == 0.0


@pytest.mark.parametrize("noise", [MedianZero(), Gaussian(2.0), SubGaussian(2.0), SubGaussian(2.0, median_zero=True)])
def test_margins_are_between_zero_and_the_tolerance(noise: Noise) -> None:
    for tolerance in (0.0, 0.1, 1.0, 3.0, 5.0, 20.0, 1e6):
        assert 0.0 <= noise.margin(tolerance) <= min(tolerance, 6.0)


def test_a_small_tolerance_is_spent_on_kappa_where_nothing_else_helps() -> None:
    assert SubGaussian(1.0).margin(1.0) == 1.0
    assert SubGaussian(1.0).kappa(SubGaussian(1.0).margin(2.0)) == pytest.approx(0.5)
    assert SubGaussian(1.0, median_zero=True).margin(2.0) == 0.0
    assert SubGaussian(1.0).margin(4.0) == SubGaussian(1.0, median_zero=True).margin(4.0) == 2.0


@pytest.mark.parametrize("kind", [Gaussian, SubGaussian])
def test_a_deviation_is_a_number(kind: type[Gaussian] | type[SubGaussian]) -> None:
    with pytest.raises(sl.InputError, match=r"noise.sigma is -1.0: give a number >= 0"):
        kind(-1.0)
    assert "sigma" in kind(0.5).assumption or "deviation" in kind(0.5).assumption
    assert np.isfinite(kind(1e-300).kappa(1.0))
