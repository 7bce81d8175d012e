"""How many labels will be wrong after more measurements: two roads to each number, and the degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.bounds.outlook import COUNTED, FARTHEST, STEP, Outlook, outlook, wrong_after
from superlevel.records import State


@pytest.mark.parametrize("distance", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("left", [0.05, 0.4, 0.9])
def test_the_chance_of_a_wrong_label_is_that_of_drawn_functions(distance: float, left: float) -> None:
    rng = np.random.default_rng(0)
    estimate = distance + np.sqrt(1 - left) * rng.standard_normal(200_000)
    f = estimate + np.sqrt(left) * rng.standard_normal(200_000)
    drawn = float(((f > 0) != (estimate > 0)).mean())
    assert float(wrong_after(np.array([distance]), np.array([left]))[0]) == pytest.approx(drawn, abs=0.004)


@given(st.floats(0, 8), st.floats(0, 1))
def test_measurements_never_make_a_label_worse_on_average(distance: float, left: float) -> None:
    found = float(wrong_after(np.array([distance]), np.array([left]))[0])
    assert -1e-12 <= found <= float(ndtr(-distance)) + 1e-12


def test_nothing_left_is_no_mistake_and_everything_left_is_that_of_now() -> None:
    np.testing.assert_allclose(wrong_after(np.array([0.7, 0.7]), np.array([0.0, 1.0])), [0.0, ndtr(-0.7)])
    assert wrong_after(np.array([np.inf]), np.array([1.0]))[0] == 0.0


def made(noise: float = 0.3) -> tuple[sl.methods.Method, State]:
    places = np.linspace(0, 1, 40)
    problem = sl.Problem(sl.Domain(places, RBF(0.1)), goal=sl.Threshold(0.2), noise=noise)
    method = sl.methods.make("melk", problem)
    values = np.sin(9 * places)
    state, _ = method.observe(method.init(), [3, 14, 25], values[[3, 14, 25]])
    return method, state


def test_a_curve_falls_from_one_and_further_measurements_are_those_of_the_posterior() -> None:
    method, state = made()
    found = outlook(method, state, 10.0)
    assert found.parts[0] == 1.0
    assert len(found.parts) == COUNTED // STEP + 1
    assert (np.diff(found.parts) <= 1e-12).all()
    assert found.parts[-1] > 0
    quiet = outlook(*made(noise=0.01), 10.0)
    assert quiet.parts[-1] < found.parts[-1]


def test_a_confidence_without_a_model_of_f_is_a_sentence() -> None:
    problem = sl.Problem(sl.Domain(np.eye(3)), goal=sl.Threshold(0.2), noise=0.1, norm=1.0)
    method = sl.methods.make("melk", problem, confidence="ridge")
    with pytest.raises(sl.InputError):
        outlook(method, method.init(), 1.0)


def falling(wrong: float = 100.0, parts: tuple[float, ...] = (1.0, 0.5, 0.4, 0.3, 0.25), part: float = 1.0) -> Outlook:
    """``part`` of the wrong labels are expected if the widths are right."""
    return Outlook(wrong=wrong, sharp=part * wrong, samples=50, parts=np.array(parts))


def test_beyond_what_is_followed_the_curve_is_a_power_of_the_measurements() -> None:
    found = falling()
    end = STEP * 4
    power = np.log(0.4 / 0.25) / np.log((50 + end) / (50 + end // 2))
    assert found.expected(end + 90) == pytest.approx(25.0 * ((50 + end) / (50 + end + 90)) ** power)
    assert found.expected(5) == pytest.approx(75.0)
    assert falling(parts=(1.0, 0.0, 0.0)).expected(500) == 0.0


@given(st.integers(0, FARTHEST), st.floats(0.0, 1e4), st.floats(0.2, 1.0))
def test_an_interval_is_around_a_number_that_is_not_negative(more: int, wrong: float, part: float) -> None:
    found = falling(wrong, part=part)
    low, high = found.interval(more)
    assert 0.0 <= low <= high
    assert low <= found.expected(more) <= high


def test_an_estimated_model_is_surer_of_itself_later_and_its_interval_narrower() -> None:
    """The caution that few comparisons ask for is gone after very many: then the model says what sharp widths say."""
    found = falling(part=0.7)
    assert found.caution == pytest.approx(np.log(100.5 / 70.5))
    sharp = Outlook(wrong=70.0, sharp=70.0, samples=50, parts=found.parts)
    assert found.expected(0) == 100.0
    assert found.expected(100_000) == pytest.approx(sharp.expected(100_000), rel=0.01)
    assert sharp.caution == 0.0
    widths = [np.log((high + 0.5) / (low + 0.5)) for low, high in (found.interval(0), sharp.interval(0))]
    assert widths[0] > widths[1]
    few, many = (Outlook(wrong=w, sharp=w, samples=50, parts=found.parts).interval(0) for w in (3.0, 3000.0))
    assert np.log((few[1] + 0.5) / (few[0] + 0.5)) > np.log(many[1] / many[0])


@pytest.mark.parametrize("fitted", [False, True])
def test_a_given_kernel_needs_no_caution_and_an_estimated_one_does(fitted: bool) -> None:
    places, fit = np.random.default_rng(0).random((60, 2)), ("kernel", "noise", "mean")
    given = {"fit": fit} if fitted else {"noise": 0.1}
    problem = sl.Problem(sl.Domain(places, None if fitted else RBF(0.3)), goal=sl.Threshold(0.5), **given)
    method = sl.methods.make("melk", problem)
    values = np.sin(5 * places[:, 0]) * places[:, 1] + 0.1 * np.random.default_rng(1).standard_normal(60)
    state, _ = method.observe(method.init(), np.arange(0, 60, 2), values[::2])
    above = state.belief.probability(0.5)
    assert above is not None
    wrong = float(np.minimum(above, 1 - above).sum())
    found = outlook(method, state, wrong)
    if fitted:
        assert found.caution > 0.05
    else:
        assert found.sharp == pytest.approx(wrong, rel=1e-6)


def test_the_rate_is_reached_where_the_curve_is_below_it_and_the_interval_is_around_that() -> None:
    until, best, worst = falling().until(40.0)
    assert until == 2 * STEP
    assert best is not None
    assert best <= until
    assert worst is None or worst >= until
    assert falling().until(1e4) == (0, 0, 0)
    assert falling().until(-1.0) == (None, None, None)
