"""Transforms of the values: there and back, and their slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.averaging.warps import CENTRES, SCALES, Warp, candidates

SCALE = st.one_of(st.sampled_from([*SCALES, math.inf]), st.floats(1e-3, 1e3))
FAR = st.floats(-1e6, 1e6)
WARPS = st.builds(
    lambda middle, scale, unit: Warp(centre=middle * unit, scale=scale, unit=unit),
    st.floats(-1e3, 1e3),
    SCALE,
    st.floats(-150, 150).map(lambda power: 10.0**power),
)


@given(WARPS, FAR)
def test_there_and_back_is_the_same_value(warp: Warp, z: float) -> None:
    value = warp.centre + warp.unit * z
    rounding = 1e-15 * (abs(warp.centre) + abs(value))
    assert float(warp.inverse(warp(value))) == pytest.approx(value, rel=1e-12, abs=4 * rounding)


@given(WARPS, st.floats(-20.0, 20.0))
def test_back_and_there_is_the_same_transformed_value(warp: Warp, w: float) -> None:
    rounding = 1e-15 * abs(warp.centre) * float(warp.slopes(warp.inverse(w)))
    assert float(warp(warp.inverse(w))) == pytest.approx(w, rel=1e-12, abs=1e-12 + 4 * rounding)


@given(WARPS, FAR, st.floats(1e-6, 1e6))
def test_a_larger_value_has_a_larger_transform(warp: Warp, z: float, step: float) -> None:
    low, high = warp.unit * z + warp.centre, warp.unit * (z + step) + warp.centre
    assert warp(low) < warp(high)
    assert warp.inverse(warp(low)) < warp.inverse(warp(high))


@given(WARPS, st.floats(-100.0, 100.0))
def test_slopes_are_finite_differences(warp: Warp, z: float) -> None:
    value = warp.centre + warp.unit * z
    step = 1e-4 * warp.unit * math.hypot(min(warp.scale, 1.0), z)
    difference = (warp(value + step) - warp(value - step)) / (2 * step)
    # both values of the difference are rounded as numbers of the size of the centre
    rounding = 1e-15 * (abs(warp.centre) + abs(value)) / step
    assert float(warp.slopes(value)) == pytest.approx(float(difference), rel=1e-6 + 4 * rounding)


@given(WARPS, st.lists(st.floats(-100.0, 100.0), max_size=10))
def test_log_slopes_are_the_sum_of_their_logarithms(warp: Warp, z: list[float]) -> None:
    values = warp.centre + warp.unit * np.array(z)
    each = [math.log(float(warp.slopes(value))) for value in values]
    assert warp.log_slopes(values) == pytest.approx(math.fsum(each), rel=1e-9, abs=1e-9)


@given(FAR, FAR, st.floats(1e-3, 1e3))
def test_an_infinite_scale_is_affine(value: float, centre: float, unit: float) -> None:
    warp = Warp(centre=centre, scale=math.inf, unit=unit)
    assert float(warp(value)) == pytest.approx((value - centre) / unit)
    assert float(warp.slopes(value)) == pytest.approx(1 / unit)
    assert float(warp.inverse(value)) == pytest.approx(centre + unit * value)


@pytest.mark.parametrize("z", [-0.3, 0.0, 0.2, 1.0])
def test_a_large_scale_is_nearly_affine_and_a_small_one_nearly_logarithmic(z: float) -> None:
    wide = Warp(centre=5.0, scale=1e4, unit=2.0)
    assert 1e4 * float(wide(5.0 + 2.0 * z)) == pytest.approx(z, rel=1e-7)
    narrow = Warp(centre=5.0, scale=1e-6, unit=2.0)
    if z > 0:
        assert float(narrow(5.0 + 2.0 * z)) == pytest.approx(math.log(2 * z / 1e-6), rel=1e-9)
        assert float(narrow(5.0 - 2.0 * z)) == pytest.approx(-math.log(2 * z / 1e-6), rel=1e-9)


def test_candidates_are_in_units_of_the_values_around_their_quantiles() -> None:
    values = np.random.default_rng(0).exponential(7.0, 30)
    found = candidates(values)
    assert len({(warp.centre, warp.scale) for warp in found}) == len(SCALES) * len(CENTRES)
    assert {warp.centre for warp in found} == {values.min(), np.median(values), values.max()}
    assert {warp.unit for warp in found} == {values.std()}


def test_candidates_for_equal_values_change_them_by_a_finite_amount() -> None:
    values = np.full(4, 0.25)
    for warp in candidates(values):
        np.testing.assert_array_equal(warp(values), 0.0)
        assert math.isfinite(warp.log_slopes(values))
