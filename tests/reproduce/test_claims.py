"""Verdicts: every test by a second road, and what is too little or too equal to test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from superlevel.arrays import Array
from superlevel.reproduce.claims import FEWEST, LEVEL, Above, Alike, Claim, Statistics, Verdict, holm, judge
from tests.reproduce.small import normal, told

CONFIRMED, REFUTED, UNDECIDED = Verdict
DRAWN = st.builds(
    normal, st.integers(0, 10**6), st.integers(6, 30), mean=st.floats(-1, 1), deviation=st.sampled_from([0.1, 1.0])
)
P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0])), min_size=1, max_size=6)


def judged(test: Above | Alike, *differences: Array | Sequence[float]) -> Claim:
    given = {f"setting {k}": np.asarray(d, dtype=np.float64) for k, d in enumerate(differences)}
    return judge("name", "It is so.", given, test, measure="x")


def only(test: Above | Alike, differences: Array | Sequence[float]) -> Statistics:
    claim = judged(test, differences)
    (found,) = claim.evidence
    assert found.verdict is claim.verdict
    return found


def interval(differences: Array, confidence: float) -> tuple[float, float]:
    low, high = stats.t.interval(
        confidence, len(differences) - 1, loc=np.mean(differences), scale=stats.sem(differences)
    )
    return float(low), float(high)


# ------------------------------------------------------------------------------------------ tests


@given(DRAWN, st.floats(-1, 1))
@settings(max_examples=25)
def test_above_is_the_paired_t_test_of_two_columns(differences: Array, margin: float) -> None:
    second = normal(1, len(differences), deviation=3.0)
    above, below = (
        stats.ttest_rel(second + differences, second + margin, alternative=side).pvalue for side in ("greater", "less")
    )
    assert Above(margin)(differences) == pytest.approx((above, below), rel=1e-6, abs=1e-12)


@given(DRAWN, st.floats(-1, 1))
@settings(max_examples=25)
def test_above_is_decided_by_the_ninety_per_cent_interval(differences: Array, margin: float) -> None:
    low, high = interval(differences, 0.9)
    expected = CONFIRMED if low > margin else REFUTED if high < margin else UNDECIDED
    assert only(Above(margin), differences).verdict is expected


@given(DRAWN, st.floats(0.01, 1))
@settings(max_examples=25)
def test_alike_is_the_ninety_per_cent_interval_within_the_margin(differences: Array, margin: float) -> None:
    low, high = interval(differences, 0.9)
    farther = interval(differences, 0.95)
    within = -margin < low and high < margin
    outside = farther[0] > margin or farther[1] < -margin
    expected = CONFIRMED if within else REFUTED if outside else UNDECIDED
    assert only(Alike(margin), differences).verdict is expected


def test_alike_by_its_two_tests() -> None:
    differences = normal(3, 12, mean=0.02, deviation=0.1)
    shifted = [
        stats.ttest_1samp(differences, -0.05, alternative="greater").pvalue,
        stats.ttest_1samp(differences, 0.05, alternative="less").pvalue,
    ]
    beyond = [
        stats.ttest_1samp(differences, 0.05, alternative="greater").pvalue,
        stats.ttest_1samp(differences, -0.05, alternative="less").pvalue,
    ]
    assert Alike(0.05)(differences) == pytest.approx((max(shifted), min(1.0, 2 * min(beyond))))


@given(DRAWN, st.floats(0.01, 1))
@settings(max_examples=25)
def test_alike_does_not_mind_the_sign_and_above_turns_with_it(differences: Array, margin: float) -> None:
    assert Alike(margin)(-differences) == pytest.approx(Alike(margin)(differences))
    assert Above(-margin)(-differences) == pytest.approx(Above(margin)(differences)[::-1])


@given(DRAWN, st.floats(-1, 1))
@settings(max_examples=25)
def test_nothing_is_both_confirmed_and_refuted(differences: Array, margin: float) -> None:
    assert sum(Above(margin)(differences)) == pytest.approx(1)
    assert max(Alike(abs(margin) + 0.01)(differences)) > LEVEL


def test_the_signed_rank_test_is_the_one_over_all_signs() -> None:
    differences = normal(5, 9, mean=0.6)
    ranks = stats.rankdata(np.abs(differences))
    seen = abs(float(np.sign(differences) @ ranks))
    sums = [abs(float(np.array(signs) @ ranks)) for signs in product((-1, 1), repeat=9)]
    found = only(Above(), differences).wilcoxon
    assert found == pytest.approx(np.mean([each >= seen - 1e-9 for each in sums]))
    second = normal(6, 9)
    assert found == pytest.approx(stats.wilcoxon(second + differences, second, method="exact").pvalue)


@pytest.mark.parametrize(("test", "centre"), [(Above(0.3), 0.3), (Alike(0.3), 0.0)])
def test_the_signed_ranks_are_those_of_the_distances_from_the_margin(test: Above | Alike, centre: float) -> None:
    differences, second = normal(8, 15, mean=0.4), normal(9, 15)
    expected = stats.wilcoxon(second + differences, second + centre).pvalue
    assert only(test, differences).wilcoxon == pytest.approx(expected)
    assert only(test, np.full(8, centre)).wilcoxon is None
    tied = only(test, np.full(8, centre + 0.5)).wilcoxon  # all ranks are equal: 8 signs by the normal law
    assert tied == pytest.approx(2 * stats.norm.sf(np.sqrt(8)))


def test_mean_error_and_interval_are_those_of_the_differences() -> None:
    differences = normal(7, 11, mean=0.3)
    found = only(Above(0.1), differences)
    assert (found.runs, found.setting) == (11, "setting 0")
    assert found.mean == pytest.approx(float(np.mean(differences)))
    assert found.standard_error == pytest.approx(stats.sem(differences))
    assert found.interval == pytest.approx(interval(differences, 0.95))


# ------------------------------------------------------------------------------------------ Holm


def closed(p_values: Sequence[float]) -> list[float]:
    """Each hypothesis stands while any set with it is not rejected by Bonferroni: Holm's test by its definition."""
    places = range(len(p_values))
    sets = [chosen for size in range(1, len(p_values) + 1) for chosen in combinations(places, size)]
    return [max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in sets if i in s) for i in places]


@given(P_VALUES)
def test_holm_is_the_closure_of_bonferroni(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(closed(p_values))


@given(P_VALUES, st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_holm_does_not_mind_the_order_and_never_helps(p_values: list[float], random: Any) -> None:
    order = random.sample(range(len(p_values)), len(p_values))
    shuffled = holm([p_values[k] for k in order])
    adjusted = holm(p_values)
    assert shuffled == [adjusted[k] for k in order]
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))


def test_holm_of_nothing_and_of_one() -> None:
    assert holm([]) == []
    assert holm([0.3]) == [0.3]


def test_settings_are_corrected_for_their_number_for_and_against() -> None:
    given_ = [normal(k, 10, mean=mean) for k, mean in enumerate((0.7, -0.5, 0.1))]
    claim = judged(Above(), *given_)
    single = [only(Above(), d) for d in given_]
    assert [e.p_for for e in claim.evidence] == pytest.approx(closed([e.p_for for e in single]))
    assert [e.p_against for e in claim.evidence] == pytest.approx(closed([e.p_against for e in single]))
    assert [e.wilcoxon for e in claim.evidence] == [e.wilcoxon for e in single]


def test_what_holds_alone_may_not_hold_among_others() -> None:
    barely = np.arange(10.0) - 2.4
    p_value = only(Above(), barely).p_for
    assert LEVEL / 3 < p_value < LEVEL
    among = judged(Above(), barely, np.zeros(10), np.zeros(10))
    assert among.evidence[0].p_for == pytest.approx(3 * p_value)
    assert among.evidence[0].verdict is UNDECIDED


# ------------------------------------------------------------------------------------------ verdicts

MORE, LESS, NOTHING = np.full(14, 1.0), np.full(14, -1.0), np.zeros(14)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([MORE, MORE], CONFIRMED),
        ([MORE, NOTHING], UNDECIDED),
        ([NOTHING, NOTHING], UNDECIDED),
        ([MORE, LESS], REFUTED),
        ([NOTHING, LESS, MORE], REFUTED),
    ],
)
def test_a_claim_holds_in_all_settings_and_falls_in_one(differences: list[Array], expected: Verdict) -> None:
    assert judged(Above(), *differences).verdict is expected


def test_verdicts_are_counted_where_there_are_several() -> None:
    assert judged(Above(), MORE).counts == "confirmed"
    assert judged(Above(), MORE, LESS, LESS, NOTHING).counts == (
        "refuted (1 confirmed, 2 refuted, 1 undecided; on average refuted)"
    )


def test_the_average_is_tested_like_a_setting_of_its_own() -> None:
    given_ = [normal(k, 12, mean=mean) for k, mean in enumerate((0.7, -0.2, 0.5))]
    for test in (Above(), Above(0.2), Alike(0.8)):
        found = judged(test, *given_).on_average
        alone = only(test, [sum(each) / 3 for each in zip(*given_, strict=True)])
        assert found is not None
        assert [found.p_for, found.p_against, found.wilcoxon] == pytest.approx(
            [alone.p_for, alone.p_against, alone.wilcoxon]
        )
        assert found.mean == pytest.approx(alone.mean)
        assert found.interval == pytest.approx(alone.interval)
        assert (found.runs, found.verdict) == (12, alone.verdict)
    assert judged(Above(), given_[0]).on_average is None


def test_the_average_may_hold_where_a_setting_does_not() -> None:
    claim = judged(Above(), MORE, 3 * MORE, LESS)
    assert claim.verdict is REFUTED
    assert claim.on_average is not None
    assert claim.on_average.verdict is CONFIRMED


def test_bounds_speak_for_one_side_only() -> None:
    assert judged(Above(may_refute=False), LESS).verdict is UNDECIDED
    assert judged(Above(may_refute=False), MORE).verdict is CONFIRMED
    assert judged(Above(may_confirm=False), MORE).verdict is UNDECIDED
    assert judged(Above(may_confirm=False), LESS).verdict is REFUTED


def test_a_claim_says_how_it_was_tested() -> None:
    alone, among = judged(Above(0.301), MORE), judged(Alike(0.05), MORE, LESS)
    assert alone.test == "one-sided t tests over the functions, of a mean above and below 0.301, at 5%"
    assert among.test.startswith(
        "two one-sided t tests over the functions, of a mean within ±0.05 (equivalence), at 5%"
    )
    assert among.test.endswith("corrected for 2 settings by Holm")


@pytest.mark.parametrize("runs", range(1, FEWEST))
def test_few_pairs_decide_nothing_however_clear(runs: int) -> None:
    for test in (Above(), Above(5.0), Alike(5.0), Alike(0.1)):
        found = only(test, np.linspace(1.0, 1.01, runs))
        assert (found.p_for, found.p_against, found.verdict) == (1.0, 1.0, UNDECIDED)


def test_fewest_is_the_number_from_which_agreement_is_rarer_than_one_in_twenty() -> None:
    assert 2 * 0.5**FEWEST < LEVEL <= 2 * 0.5 ** (FEWEST - 1)
    assert only(Above(), np.full(FEWEST, 0.5)).verdict is CONFIRMED


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        (Above(), 0.5, CONFIRMED),
        (Above(), -0.5, REFUTED),
        (Above(), 0.0, UNDECIDED),
        (Above(0.5), 0.5, UNDECIDED),
        (Above(0.25), 0.5, CONFIRMED),
        (Above(0.75), 0.5, REFUTED),
        (Alike(0.25), 0.0, CONFIRMED),
        (Alike(0.25), 0.125, CONFIRMED),
        (Alike(0.25), 0.25, UNDECIDED),
        (Alike(0.25), 0.5, REFUTED),
        (Alike(0.25), -0.5, REFUTED),
    ],
)
def test_differences_that_are_all_equal_are_decided_by_their_value(
    test: Above | Alike, value: float, expected: Verdict
) -> None:
    found = only(test, np.full(8, value))
    assert found.verdict is expected
    assert (found.mean, found.standard_error, found.interval) == (value, 0.0, (value, value))


@pytest.mark.parametrize("test", [Above(), Above(0.5), Alike(2.0), Alike(0.5)])
def test_differences_that_are_equal_up_to_rounding_are_decided_by_their_value(test: Above | Alike) -> None:
    rounded = np.array([1.0, 1.0, 1.0, np.nextafter(1.0, 0.0), 1.0, 1.0, np.nextafter(1.0, 0.0), 1.0])
    assert only(test, rounded).verdict is only(test, np.ones(8)).verdict


def test_all_zero_has_no_signed_ranks() -> None:
    found = only(Above(), NOTHING)
    assert (found.mean, found.standard_error, found.wilcoxon, found.verdict) == (0.0, 0.0, None, UNDECIDED)


def test_one_run_has_a_mean_and_nothing_else() -> None:
    found = only(Above(), [0.25])
    assert (found.runs, found.mean, found.verdict) == (1, 0.25, UNDECIDED)
    assert [found.standard_error, found.interval, found.wilcoxon] == [None, None, None]


# ------------------------------------------------------------------------------------------ JSON

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 7))
EQUALS = hnp.arrays(np.float64, SHAPES, elements=st.sampled_from([0.0, 0.25, -0.25, 1.0]))


@given(EQUALS, st.sampled_from([Above(), Above(0.25), Alike(0.25)]))
@settings(max_examples=20)
def test_every_claim_is_strict_json(differences: Array, test: Above | Alike) -> None:
    claim = judged(test, *differences)
    found = told(claim)
    assert found["verdict"] == claim.verdict.value
    assert [e["p_for"] for e in found["evidence"]] == [e.p_for for e in claim.evidence]
    assert [e["runs"] for e in found["evidence"]] == [differences.shape[1]] * len(differences)
    assert (found["on_average"] is None) is (len(differences) == 1)


def test_a_claim_carries_its_words_source_and_numbers() -> None:
    claim = judge("n", "c", {"s": MORE}, Above(), measure="m", source="here", measured={"area": {"s": 0.5}})
    found = told(claim)
    words = [found[key] for key in ("name", "claim", "measure", "source", "measured")]
    assert words == ["n", "c", "m", "here", {"area": {"s": 0.5}}]
    assert judged(Above(), MORE).source == "paper"
    assert told(judged(Above(), MORE))["measured"] == {}
