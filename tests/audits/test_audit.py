"""What an audit says of a map: its numbers by hand, its limits, and its sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.audits import Audit, AuditResult, Gaussian, MedianZero, SubGaussian, chances, draw, needed
from superlevel.audits.betting import upper

LEVEL = 20.0


def uniform(labels: list[int], **options: Any) -> Audit:
    made = np.array(labels, dtype=np.int8)
    return Audit(labels=made, chances=np.full(len(made), 1 / len(made)), level=LEVEL, **options)


def agreeing(audit: Audit, points: Indices) -> Array:
    """Values far on the side of the label."""
    return np.where(audit.labels[points] > 0, LEVEL + 100.0, LEVEL - 100.0)


def judged(audit: Audit, right: int, wrong: int) -> AuditResult:
    """After some draws of point 0 that agree and some that contradict."""
    points = np.zeros(right + wrong, dtype=np.int64)
    signs = np.repeat([1.0, -1.0], [right, wrong])
    return audit.judge(points, LEVEL + 100.0 * signs * audit.labels[0])


# --- contradictions


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize(("tolerance", "margin"), [(0.0, 0.0), (2.0, 0.0), (2.0, 0.5), (2.0, 2.0)])
def test_a_contradiction_is_beyond_tolerance_minus_margin(label: int, tolerance: float, margin: float) -> None:
    audit = uniform([label], tolerance=tolerance, margin=margin)
    cut = LEVEL - label * (tolerance - margin)
    assert not audit.contradicted(np.array([0]), np.array([cut]))[0]  # a tie is none
    assert audit.contradicted(np.array([0]), np.array([cut - label * 1e-6]))[0]
    assert not audit.contradicted(np.array([0]), np.array([cut + label * 1e-6]))[0]


def test_without_noise_every_wrong_label_and_no_other_is_a_contradiction() -> None:
    rng = np.random.default_rng(0)
    f = np.round(rng.normal(LEVEL, 1.0, 500), 1)  # many values equal the level or a limit
    labels = rng.choice([-1, 1], size=500).astype(np.int8)
    for tolerance in (0.0, 0.5, 1.0):
        wrong = np.where(labels > 0, LEVEL - f > tolerance, f - LEVEL > tolerance)
        for noise in (Gaussian(0.0), SubGaussian(0.0)):
            audit = Audit(labels=labels, chances=np.full(500, 1 / 500), level=LEVEL, tolerance=tolerance, noise=noise)
            assert audit.kappa == 1.0
            np.testing.assert_array_equal(audit.contradicted(np.arange(500), f), wrong)


def test_half_of_the_measurements_contradict_a_label_that_is_wrong_by_hardly_more_than_the_tolerance() -> None:
    noise = np.random.default_rng(1).exponential(size=40_000) - np.log(2.0)
    for label in (1, -1):
        audit = uniform([label], tolerance=0.5)
        values = LEVEL - label * (0.5 + 1e-9) + noise
        share = audit.contradicted(np.zeros(len(values), dtype=np.int64), values).mean()
        assert share == pytest.approx(audit.kappa, abs=0.01)


# --- the bound


def test_uniform_chances_are_the_unweighted_bound() -> None:
    audit = uniform([1, -1, 1, -1], tolerance=0.0)
    result = judged(audit, right=57, wrong=3)
    assert result.bound == pytest.approx(upper(np.repeat([0.0, 1.0], [57, 3]), top=1.0, delta=0.05) / 0.5)
    assert (result.draws, result.contradictions, result.waiting) == (60, 3, 0)
    assert result.estimate == pytest.approx(3 / 60)
    assert (audit.spread, audit.count, audit.above) == (1.0, 4, 0.5)


def test_equal_doubt_and_no_doubt_are_the_same_audit() -> None:
    labels = np.array([1, -1, 1])
    points, values = np.array([0, 1, 1, 2]), np.array([0.0, 0.0, 0.0, 0.0])
    found = [Audit(labels=labels, chances=chances(np.full(3, e)), level=1.0).judge(points, values) for e in (0.0, 0.3)]
    assert found[0].bound == pytest.approx(found[1].bound)
    assert found[0].estimate == pytest.approx(found[1].estimate)


def test_weights_make_the_estimate_unbiased() -> None:
    rng = np.random.default_rng(2)
    labels, wrong = np.ones(50, dtype=np.int8), rng.random(50) < 0.3
    audit = Audit(labels=labels, chances=rng.dirichlet(np.full(50, 3.0)), level=LEVEL, noise=Gaussian(0.0))
    points = draw(audit.chances, 50_000, rng)
    result = audit.judge(points, np.where(wrong[points], LEVEL - 1, LEVEL + 1))
    assert result.estimate == pytest.approx(wrong.mean(), abs=4 * result.error)
    exact = (audit.chances * audit.weights * wrong).sum()
    assert exact == pytest.approx(wrong.mean())
    assert result.bound >= result.estimate


@given(st.integers(0, 40), st.integers(0, 10))
def test_the_bound_falls_with_agreement_and_rises_with_contradictions(right: int, wrong: int) -> None:
    audit = uniform([1, -1])
    now = judged(audit, right, wrong).bound
    assert judged(audit, right + 1, wrong).bound <= now + 1e-12
    assert judged(audit, right, wrong + 1).bound >= now - 1e-12
    assert now >= (wrong / (right + wrong) if right + wrong else 1.0)


def test_sixty_draws_that_agree_bound_the_share_by_about_a_tenth() -> None:
    assert 0.10 < judged(uniform([1, -1]), 60, 0).bound < 0.12
    assert 0.05 < judged(uniform([1, -1], noise=Gaussian(0.0)), 60, 0).bound < 0.06


def test_the_needed_size_reaches_the_bound_with_unequal_chances() -> None:
    rng = np.random.default_rng(3)
    audit = Audit(labels=np.ones(100, dtype=np.int8), chances=chances(rng.random(100)), level=LEVEL)
    size = needed(0.08, kappa=audit.kappa, spread=audit.spread)
    points = draw(audit.chances, size, rng)
    assert audit.judge(points, agreeing(audit, points)).bound == pytest.approx(0.08, rel=0.02)


def test_no_draws_say_nothing() -> None:
    result = uniform([1, -1]).judge([], [])
    assert (result.draws, result.bound, result.most, result.contradictions) == (0, 1.0, 2, 0)
    assert np.isnan(result.estimate)
    assert np.isnan(result.confusion.overall.estimate)
    assert (result.area.low, result.area.high) == (0.0, 1.0)
    assert result.sentence() == "0 draws do not bound the share of wrong labels of the 2 points."


def test_a_map_that_is_wrong_everywhere_is_not_bounded() -> None:
    result = judged(uniform([1, 1]), 0, 80)
    assert (result.bound, result.estimate, result.contradictions) == (1.0, 1.0, 80)
    assert "do not bound" in result.sentence()


def test_one_point_is_right_once_the_bound_is_below_one() -> None:
    result = judged(uniform([-1]), 30, 0)
    assert 0.0 < result.bound < 1.0
    assert result.most == 0
    assert "at most 0 % of the 1 points" in result.sentence()


def test_points_without_a_chance_are_not_audited() -> None:
    audit = Audit(labels=np.array([1, 0, -1]), chances=np.array([0.5, 0.0, 0.5]), level=LEVEL)
    assert audit.audited.tolist() == [True, False, True]
    assert audit.weights.tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(sl.InputError, match=r"points\[1\] is 1: give points that were drawn"):
        audit.judge([0, 1], [21.0, 21.0])


# --- results that are missing


def test_results_are_read_up_to_the_first_that_is_missing() -> None:
    audit = uniform([1, 1])
    result = audit.judge([0, 1, 0, 1], [21.0, 22.0, np.nan, 19.0])
    expected = audit.judge([0, 1], [21.0, 22.0])
    assert (result.draws, result.waiting, result.contradictions) == (2, 2, 0)
    assert result.bound == expected.bound


def test_infinite_values_count_on_their_side() -> None:
    result = uniform([1, -1]).judge([0, 0, 1, 1], [np.inf, -np.inf, np.inf, -np.inf])
    assert result.contradictions == 2
    assert result.confusion.counts.tolist() == [[1, 1], [1, 1]]


# --- area, accuracy and words


def test_the_area_of_the_truth_is_within_its_limits_whenever_the_bound_holds() -> None:
    rng = np.random.default_rng(5)
    f = rng.normal(LEVEL, 2.0, 2000)
    labels = np.where(f + rng.normal(0, 0.5, 2000) > LEVEL, 1, -1).astype(np.int8)
    audit = Audit(labels=labels, chances=chances(np.exp(-np.abs(f - LEVEL))), level=LEVEL, tolerance=1.0)
    points = draw(audit.chances, 400, rng)
    result = audit.judge(points, f[points] + rng.normal(0, 0.3, 400))
    wrong = labels * (LEVEL - f) > 1.0
    assert wrong.mean() <= result.bound
    assert np.mean(f >= LEVEL - 1.0) >= result.area.least
    assert np.mean(f > LEVEL + 1.0) <= result.area.most
    assert result.area.low < np.mean(f > LEVEL) < result.area.high
    assert result.confusion.overall.low < np.mean((f > LEVEL) == (labels > 0)) < result.confusion.overall.high


def test_a_value_that_equals_the_level_is_measured_as_below() -> None:
    result = uniform([1, -1]).judge([0, 1], [LEVEL, LEVEL])
    assert result.confusion.counts.tolist() == [[0, 1], [0, 1]]
    assert result.contradictions == 0


def test_the_sentence_says_everything_that_the_bound_rests_on() -> None:
    audit = Audit(
        labels=np.ones(4841, dtype=np.int8),
        chances=chances(np.zeros(4841)),
        level=LEVEL,
        tolerance=1.0,
        noise=MedianZero(),
    )
    result = audit.judge(np.zeros(200, dtype=int), np.full(200, 30.0))
    assert result.most == int(result.bound * 4841)
    assert result.sentence(noun="cells", unit="m") == (
        "With confidence 95 %, at most 3.4 % of the 4,841 cells are wrong by more than 1 m, "
        "whatever the kernel, if the noise has median zero."
    )
    assert 0.033 < result.most / 4841 <= 0.034  # rounded up
    exact = uniform([1, -1] * 500, noise=Gaussian(0.0), delta=0.01)
    assert (
        judged(exact, 600, 0)
        .sentence()
        .startswith("With confidence 99 %, at most 0.8 % of the 1,000 points are wrong,")
    )


# --- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [1, 2]}, r"labels\[1\] is 2: give 1 above the level"),
        ({"labels": [[1, 1]]}, r"labels is of shape \(1, 2\): give one label for each point"),
        ({"labels": [], "chances": []}, r"labels is of shape \(0,\): give one label"),
        ({"labels": [1, 0]}, r"labels\[1\] is 0: give a label to every point that may be drawn"),
        ({"chances": [0.5, 0.4]}, "chances is of sum 0.9"),
        ({"chances": [1.0]}, r"chances is of shape \(1,\): give shape \(2,\)"),
        ({"level": np.nan}, "level is nan"),
        ({"tolerance": -1.0}, "tolerance is -1.0: give a number >= 0"),
        ({"delta": 0.0}, "delta is 0.0: give a number > 0 and < 1"),
        ({"margin": 2.0}, "margin is 2.0: give a number from 0 to the tolerance, 1"),
        ({"tolerance": 0.0, "noise": SubGaussian(1.0)}, "tolerance is 0: give a larger one"),
        ({"margin": 0.0, "noise": SubGaussian(1.0)}, "margin is 0: give a larger one"),
    ],
)
def test_audits_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    given_options = {"labels": [1, -1], "chances": [0.5, 0.5], "level": LEVEL, "tolerance": 1.0, **options}
    with pytest.raises(sl.InputError, match=message):
        Audit(**given_options)


def test_results_that_do_not_fit_are_refused() -> None:
    audit = uniform([1, -1])
    with pytest.raises(sl.InputError, match="give one value for each of 2 draws"):
        audit.judge([0, 1], [1.0])
    with pytest.raises(sl.InputError, match=r"points\[0\] is 7"):
        audit.judge([7], [1.0])


def test_an_audit_cannot_be_changed() -> None:
    labels = np.array([1, -1], dtype=np.int8)
    audit = Audit(labels=labels, chances=np.array([0.5, 0.5]), level=LEVEL)
    labels[0] = -1
    assert audit.labels.tolist() == [1, -1]
    with pytest.raises(ValueError, match="read-only"):
        audit.labels[0] = -1
