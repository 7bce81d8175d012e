"""The confusion matrix against published formulas, and the area against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from superlevel.arrays import Array
from superlevel.audits.confusion import Area, Confusion, Drawn, area

DELTA = 0.05


def drawn(table: list[list[int]], weights: Array | None = None) -> Drawn:
    """Draws with the counts of a table: rows are labels, columns measurements, above first."""
    cells = [(j == 0, k == 0) for j in (0, 1) for k in (0, 1) for _ in range(table[j][k])]
    labelled, measured = (np.array([cell[at] for cell in cells], dtype=bool) for at in (0, 1))
    return Drawn(labelled=labelled, measured=measured, weights=np.ones(len(cells)) if weights is None else weights)


def olofsson(table: list[list[int]], above: float) -> tuple[float, float, Array, Array, Array]:
    """Overall accuracy and its variance, user's and producer's accuracies, and the variances of the latter."""
    counts, parts = np.array(table, dtype=float), np.array([above, 1 - above])
    rows = counts.sum(axis=1)
    p = parts[:, None] * counts / rows[:, None]
    users, producers = np.diag(p) / p.sum(axis=1), np.diag(p) / p.sum(axis=0)
    overall_variance = (parts**2 * users * (1 - users) / (rows - 1)).sum()
    variances = np.empty(2)
    for j in (0, 1):
        i = 1 - j
        share = counts[i, j] / rows[i]
        first = parts[j] ** 2 * (1 - producers[j]) ** 2 * users[j] * (1 - users[j]) / (rows[j] - 1)
        second = producers[j] ** 2 * parts[i] ** 2 * share * (1 - share) / (rows[i] - 1)
        variances[j] = (first + second) / p[:, j].sum() ** 2
    return float(np.trace(p)), float(overall_variance), users, producers, variances


TABLE = [[66, 9], [3, 122]]


def test_equal_weights_give_the_published_formulas() -> None:
    found = Confusion.of(drawn(TABLE), above=0.3, delta=DELTA)
    overall, variance, users, producers, variances = olofsson(TABLE, 0.3)
    assert found.counts.tolist() == TABLE
    assert found.shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.shares.sum(axis=1), [0.3, 0.7])
    assert found.overall.estimate == pytest.approx(overall)
    assert found.overall.error == pytest.approx(np.sqrt(variance))
    np.testing.assert_allclose([each.estimate for each in found.users], users)
    np.testing.assert_allclose([each.estimate for each in found.producers], producers)
    np.testing.assert_allclose([each.error for each in found.producers], np.sqrt(variances))


def test_the_user_s_interval_is_wilson_s() -> None:
    found = Confusion.of(drawn([[10, 0], [1, 30]]), above=0.5, delta=DELTA).users[0]
    wilson = binomtest(10, 10).proportion_ci(1 - DELTA, method="wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))
    found = Confusion.of(drawn([[8, 3], [1, 30]]), above=0.5, delta=DELTA).users[0]
    z2 = 1.959964**2
    n, p = 10, 8 / 11  # the variance has n - 1
    centre, half = (p + z2 / (2 * n)) / (1 + z2 / n), np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), rel=1e-5)


@given(st.floats(0.1, 10.0))
def test_a_common_factor_of_the_weights_changes_nothing(factor: float) -> None:
    one = Confusion.of(drawn(TABLE), above=0.3, delta=DELTA)
    other = Confusion.of(drawn(TABLE, np.full(200, factor)), above=0.3, delta=DELTA)
    np.testing.assert_allclose(one.shares, other.shares)
    assert other.overall.low == pytest.approx(one.overall.low)
    assert other.producers[1].error == pytest.approx(one.producers[1].error)


CELLS = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=2)


@given(CELLS, st.sampled_from([0.0, 0.01, 0.5, 1.0]))
def test_every_share_is_in_its_interval_or_unknown(table: list[list[int]], above: float) -> None:
    for j, part in enumerate((above, 1 - above)):
        if part == 0.0:
            table[j] = [0, 0]  # nothing to draw
    found = Confusion.of(drawn(table), above=above, delta=DELTA)
    for each in (found.overall, *found.users, *found.producers):
        if np.isnan(each.estimate):
            assert (each.low, each.high) == (0.0, 1.0)
        else:
            assert 0.0 <= each.low <= each.estimate <= each.high <= 1.0
            assert each.error >= 0.0


def test_weighted_draws_estimate_the_shares_of_all_points() -> None:
    rng = np.random.default_rng(0)
    n, draws, runs = 400, 300, 300
    labelled, measured = rng.random(n) < 0.4, rng.random(n) < 0.5
    q = rng.dirichlet(np.full(n, 5.0))
    truth = np.array([[np.mean(labelled & measured), np.mean(labelled & ~measured)]])
    found, covered = [], 0
    for _ in range(runs):
        at = rng.choice(n, size=draws, p=q)
        sample = Drawn(labelled=labelled[at], measured=measured[at], weights=1 / (n * q[at]))
        made = Confusion.of(sample, above=float(labelled.mean()), delta=DELTA)
        found.append(made.shares[:1])
        covered += made.overall.low <= np.mean(labelled == measured) <= made.overall.high
    np.testing.assert_allclose(np.mean(found, axis=0), truth, atol=0.01)
    assert binomtest(covered, runs, 1 - DELTA, alternative="less").pvalue > 1e-3


def make(sample: Drawn, above: float, limits: tuple[float, float] = (1.0, 1.0), bound: float = 0.1) -> Area:
    return area(sample, above=above, limits=limits, bound=bound, delta=DELTA)


def test_the_area_is_the_labelled_share_and_a_mean_correction() -> None:
    found = make(drawn([[40, 10], [5, 45]]), 0.5)
    corrections = np.repeat([0.0, -1.0, 1.0], [85, 10, 5])
    assert found.estimate == pytest.approx(0.45)
    assert found.error == pytest.approx(corrections.std(ddof=1) / 10)
    assert found.low < 0.45 < found.high
    assert (found.labelled, found.least, found.most) == (0.5, 0.4, 0.6)


def test_agreement_everywhere_still_leaves_an_interval() -> None:
    found = make(drawn([[30, 0], [0, 30]]), 0.5)
    assert (found.estimate, found.error) == (0.5, 0.0)
    assert 0.4 < found.low < 0.45
    assert 0.55 < found.high < 0.6


def test_without_draws_the_area_is_unknown() -> None:
    found = make(drawn([[0, 0], [0, 0]]), 0.25, limits=(1.0, 1.2), bound=1.0)
    assert (found.low, found.high, found.least, found.most) == (0.0, 1.0, 0.0, 1.0)
    assert found.estimate == 0.25
    assert found.error == np.inf


def test_the_interval_of_the_area_holds_at_all_times() -> None:
    rng = np.random.default_rng(4)
    n, delta, failed, runs = 300, 0.3, 0, 150
    labelled, chance = rng.random(n) < 0.4, np.clip(rng.normal(0.4, 0.3, n), 0, 1)  # of being measured above
    q = rng.dirichlet(np.full(n, 9.0))
    weights = 1 / (n * q)
    limits = (float(weights[labelled].max()), float(weights[~labelled].max()))
    for _ in range(runs):
        at = rng.choice(n, size=100, p=q)
        measured = rng.random(100) < chance[at]
        for stop in (5, 10, 20, 35, 60, 100):
            sample = Drawn(labelled=labelled[at[:stop]], measured=measured[:stop], weights=weights[at[:stop]])
            found = area(sample, above=float(labelled.mean()), limits=limits, bound=1.0, delta=delta)
            if not found.low <= chance.mean() <= found.high:
                failed += 1
                break
    assert binomtest(failed, runs, delta, alternative="greater").pvalue > 1e-3
