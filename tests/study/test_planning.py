"""What to measure next: pilots that are spread out, batches, rounds and the rest of a round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import superlevel as sl
from superlevel import pilots
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.goals import ABOVE, BELOW
from superlevel.pilots import spread
from superlevel.report.campaign import CHECK
from superlevel.study import Result, Study
from superlevel.study import planning as module
from superlevel.study.ledger import Fate
from tests.study.campaigns import (
    AVERAGE,
    FIT,
    FITTED,
    GREEDY,
    IN_BATCHES,
    LSE,
    MILK,
    NOISE,
    PAIR_ROUNDS,
    ROUNDS,
    TRUTH,
    WORST,
    Kind,
    N,
    X,
    contradicted,
    each,
    reopened,
    snapshot,
)

# --- pilots


def by_hand(points: Array, count: int) -> list[int]:
    """The farthest point from all before it, by the whole matrix of distances."""
    extent = np.ptp(points, axis=0)
    scaled = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    apart = cdist(scaled, scaled, "sqeuclidean")
    chosen = [int(np.argmin(cdist(scaled, np.full((1, points.shape[1]), 0.5), "sqeuclidean")))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(apart[chosen].min(axis=0))))
    return chosen


@settings(max_examples=30)
@given(st.integers(2, 30), st.integers(1, 3), st.integers(0, 5))
def test_each_place_is_as_far_as_can_be_from_those_before(n: int, dimension: int, seed: int) -> None:
    points = np.random.default_rng(seed).random((n, dimension)) * 10.0 ** np.arange(dimension)
    count = max(1, n // 2)
    none = np.empty(0, dtype=np.int64)
    found = spread(points, count, none)
    assert found.tolist() == by_hand(points, count)
    assert spread(points * 3.0 + 1.0, count, none).tolist() == found.tolist()
    both = spread(points, count, found)
    assert not set(both) & set(found) or 2 * count > n  # what is begun is not begun again


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 30), st.booleans())
def test_a_pilot_ends_with_its_repeats_whatever_the_size_of_its_batches(n: int, batch: int, known: bool) -> None:
    points = np.random.default_rng(n).random((n, 2))
    fit = ("kernel", "mean") if known else ("kernel", "noise", "mean")
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.0), noise=0.1 if known else None, fit=fit)
    size = pilots.size(n)
    begun = np.empty(0, dtype=np.int64)
    while len(begun) < size:
        count = min(batch, size - len(begun))
        places = pilots.pilot(problem, count=count, begun=begun)
        assert len(places) == count
        begun = np.concatenate([begun, places])
    repeats = size - len(np.unique(begun))
    assert repeats == max(0 if known else pilots.TWICE, size - n)
    if n >= size:
        assert np.bincount(begun).max() <= 2
        assert len(np.unique(begun[: size - repeats])) == size - repeats or batch > 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 20), st.lists(st.integers(0, 5), max_size=9))
def test_few_or_equal_points_come_again(values: list[int], count: int, begun: list[int]) -> None:
    points = np.array(values, dtype=np.float64)[:, None]
    found = spread(points, count, np.array([k % len(values) for k in begun], dtype=np.int64))
    assert len(found) == count
    times = np.bincount(np.unique(points, return_inverse=True)[1].ravel()[found])
    if not begun:
        assert times.max() - times[times > 0].min() <= 1
        assert np.count_nonzero(times) == min(count, len(set(values)))


@pytest.mark.parametrize("dimension", [1, 2, 200])
@pytest.mark.parametrize("batch", [7, 10, 50])
def test_a_pilot_has_twenty_measurements_and_comes_no_more_than_a_batch_at_a_time(dimension: int, batch: int) -> None:
    points = np.random.default_rng(0).random((60, dimension))
    for fit in (FIT, ("kernel",)):
        problem = sl.Problem(sl.Domain(points, RBF(0.5)), goal=sl.Threshold(0.0), noise=0.1, fit=fit)
        study = GREEDY.create(problem=problem, batch=batch)
        sizes = []
        while study.knowledge.state.belief.pilot:
            tickets = study.ask()
            sizes.append(len(tickets))
            study.tell(tickets.measured(points[tickets.indices, 0]))
        assert sum(sizes) == 20
        assert max(sizes) <= batch
        asked = [item.asked for item in study.ledger.askings]
        assert {one.purpose for one in asked} == {"pilot"}
        assert all(one.labels == "?" * 60 and one.forecast is None for one in asked)
        twice = np.count_nonzero(study.ledger.counts == 2)
        assert twice == (3 if "noise" in fit else 0)


def test_nothing_is_planned_while_the_pilot_is_out() -> None:
    study = FITTED.create()
    assert len(study.ask(14)) == 14
    other = reopened(study, worker="bob")
    assert len(other.ask(14)) == 14  # nobody holds a ticket of a copy
    late = Study.open(study._storage, study.name, worker="bob").ask()
    assert len(late) == 0
    assert late.stop == "14 results of the pilot are out: the kernel is estimated from them"


def test_a_pilot_whose_measurements_fail_goes_on_elsewhere() -> None:
    study = FITTED.create()
    first = study.ask(14)
    study.tell([ticket.failed("ice") for ticket in first[:4]] + FITTED.measure(first[4:]))
    more = study.ask()
    assert study.ledger.askings[-1].asked.purpose == "pilot"
    assert len(more) == 4
    study.tell(FITTED.measure(more))
    study.ask()
    assert study.ledger.askings[-1].asked.forecast is not None


@pytest.mark.parametrize("points", [[0.0, 0.5, 1.0], [0.5], [0.5] * 4], ids=["three", "one", "equal"])
def test_a_pilot_on_fewer_points_than_it_has_measurements(points: list[float]) -> None:
    truth = np.array(points) - 0.6
    problem = sl.Problem(sl.Domain(points, RBF(0.2)), goal=sl.Threshold(0.0), noise=NOISE, fit=FIT)
    study = GREEDY.create(problem=problem)
    rng = np.random.default_rng(1)
    for _ in range(4):
        tickets = study.ask(8)
        study.tell(tickets.measured(truth[tickets.indices] + NOISE * rng.standard_normal(len(tickets))))
    known = study.labels != 0
    np.testing.assert_array_equal(study.labels[known], np.where(truth > 0, ABOVE, BELOW)[known])
    assert snapshot(reopened(study)) == snapshot(study)


# --- estimates


def test_every_plan_after_the_pilot_says_what_it_expects() -> None:
    study = FITTED.create()
    FITTED.run(study, 8)
    plans = [item.asked for item in study.ledger.askings]
    assert [one.forecast is None for one in plans] == [one.purpose == "pilot" for one in plans]
    last = plans[-1]
    assert last.forecast is not None
    assert len(last.forecast.means) == len(set(last.points))
    assert min(last.forecast.deviations) > 0


def test_checks_are_in_the_log_and_say_so(tmp_path: Path) -> None:
    places = np.linspace(0, 1, 120)
    study = FITTED.create(problem=FITTED.problem(domain=sl.Domain(places)), batch=10)
    truth = np.sin(6 * places)
    while len(study.ledger.askings) < 3:
        tickets = study.ask()
        study.tell(tickets.measured(truth[tickets.indices]))
    plans = [item.asked for item in study.ledger.askings]
    assert [len(one.checks) for one in plans] == [0, 0, 1]
    assert all(set(one.checks) <= set(one.points) for one in plans)
    tickets = study.ask()
    (drawn,) = study.ledger.askings[-1].asked.checks
    checked = {reason.point for reason in study.reasons() if reason.check}
    assert checked == {drawn}
    assert [ticket.point for ticket in study.view().tickets if ticket.check] == [drawn]
    assert CHECK in study.report(tmp_path / "page.html").read_text()


def test_the_results_of_a_plan_are_compared_with_its_forecast() -> None:
    study = FITTED.create()
    study.tell(FITTED.measure(study.ask(14)))
    tickets = study.ask()
    forecast = study.ledger.askings[-1].asked.forecast
    assert forecast is not None
    results = FITTED.measure(tickets)
    study.tell(results)
    belief: Any = study.knowledge.state.belief
    places = sorted(set(tickets.indices.tolist()))
    for ticket, result, deviate in zip(tickets, results, belief.deviates, strict=True):
        at = places.index(ticket.point)
        z = (float(result.value or 0.0) - forecast.centre) / forecast.unit
        warped = z if forecast.scale is None else np.arcsinh(z / forecast.scale)
        assert deviate == pytest.approx((warped - forecast.means[at]) / forecast.deviations[at])


def test_a_correction_changes_the_estimate_at_once() -> None:
    study = FITTED.create(batch=1)
    study.tell(FITTED.measure(study.ask(14)))
    before = study.view().points.estimate
    study.correct(3, float(study.ledger.value[2]) + 0.5)
    assert study.view().points.estimate != before
    assert not contradicted(study.verify())


def test_no_estimate_is_made_from_fewer_measurements_than_a_pilot_has() -> None:
    study = FITTED.create()
    study.tell(FITTED.measure(study.ask(14)))
    study.tell(FITTED.measure(study.ask()))
    study.withdraw(list(range(2, len(study.ledger.point) + 1)))
    assert study.ledger.samples == 1
    assert study.knowledge.estimate is None
    assert not study.labels.any()
    study.ask()
    assert study.ledger.askings[-1].asked.purpose == "pilot"


def test_measurements_that_nobody_planned_are_enough_for_labels() -> None:
    study = FITTED.create()
    rng = np.random.default_rng(0)
    at = np.tile(np.arange(len(X)), 3)
    values = TRUTH[at] + NOISE * rng.standard_normal(len(at))
    study.tell([Result(point=int(p), value=float(y)) for p, y in zip(at, values, strict=True)])
    known = study.labels != 0
    assert known.sum() > len(X) // 2
    np.testing.assert_array_equal(study.labels[known], np.where(TRUTH > 0.23, ABOVE, BELOW)[known])


def test_a_noise_of_its_own_counts_in_the_estimate() -> None:
    """Poor measurements that say so change little."""
    plain, mixed = FITTED.create(), FITTED.create()
    results = FITTED.measure(plain.ask(14))
    mixed.ask(14)
    plain.tell(results)
    mixed.tell([*results, *(Result(point=k, value=5.0, noise=50.0) for k in range(3))])
    one, other = (np.array(study.view().points.estimate, dtype=np.float64) for study in (plain, mixed))
    assert np.abs(one - other).max() < 0.1


def test_a_given_noise_that_is_to_be_estimated_is_not_the_noise_of_any_measurement() -> None:
    study = FITTED.create()
    assert study.knowledge.method.problem.noise == NOISE
    study.tell([*(Result(point=k, value=float(TRUTH[k])) for k in range(N)), Result(point=0, value=5.0, noise=50.0)])
    belief: Any = study.knowledge.state.belief
    assert np.isnan(belief.data.noise).sum() == N
    assert belief.data.noise[~np.isnan(belief.data.noise)].tolist() == [50.0]


# --- batches


@each(IN_BATCHES)
def test_a_batch_has_as_many_as_are_asked_for(kind: Kind) -> None:
    for count in (1, 4, 9):
        study = kind.create()
        study.ask(count)
        (asking,) = study.ledger.askings
        assert len(asking.asked.points) == max(count, 4)
        assert (asking.asked.purpose, asking.asked.phase, asking.asked.seen) == ("batch", 1, 1)


@each([GREEDY, AVERAGE, MILK, LSE])
def test_a_batch_looks_past_what_is_out_already(kind: Kind) -> None:
    study = kind.create()
    one, both = study.ask(4).indices, study.ask(8).indices
    assert both[:4].tolist() == one.tolist()
    assert both[4:].tolist() != one.tolist()


def test_a_batch_is_what_the_method_itself_would_ask_for() -> None:
    for kind in IN_BATCHES:
        method = sl.methods.make(kind.method, kind.problem(), batch=4, **kind.options)
        study = kind.create()
        state = method.init(seed=7)
        for _ in range(2):
            plan, tickets = method.ask(state), study.ask()
            np.testing.assert_array_equal(plan.indices, tickets.indices)
            results = kind.measure(tickets)
            values = [float(result.value or 0.0) for result in results]
            state, _ = method.tell(state, plan, values)
            study.tell(results)
            np.testing.assert_array_equal(state.labels, study.labels)


@each([GREEDY, AVERAGE, LSE])
def test_a_point_that_cannot_be_measured_is_not_suggested_for_ever(kind: Kind) -> None:
    apart = sl.Problem(sl.Domain(np.arange(6.0), RBF(0.1)), goal=sl.Threshold(0.5), noise=0.3)
    study = kind.create(problem=apart, batch=1)
    truth = np.array([2.0, -2.0, 0.5, 2.0, 0.4, 0.6])
    rng = np.random.default_rng(0)
    asked = []
    for _ in range(45):
        (ticket,) = study.ask()
        asked.append(ticket.point)
        value = truth[ticket.point] + 0.3 * rng.standard_normal()
        study.tell([ticket.failed() if ticket.point == 2 else ticket.measured(value)])
    assert asked.count(2) > 1
    assert all(set(asked[k : k + 15]) - {2} for k in range(15, 45, 15))


@each([*IN_BATCHES, FITTED])
def test_a_batch_that_nobody_could_measure_is_refused_at_once(kind: Kind) -> None:
    study = kind.create()
    with pytest.raises(InputError, match="n is 1,000,000,000: ask for at most 1,000,000 at once"):
        study.ask(10**9)
    assert study.ledger.length == 1


def test_withdrawn_tickets_are_as_if_they_had_not_been_planned() -> None:
    study = GREEDY.create()
    first = study.ask()
    study.withdraw([ticket.number for ticket in first], reason="the boat is broken")
    again = study.ask()
    assert [ticket.number for ticket in again] == [5, 6, 7, 8]
    assert again.indices.tolist() == first.indices.tolist()


# --- rounds


def test_a_round_is_asked_for_as_a_whole_and_waits_for_all_of_it() -> None:
    study = ROUNDS.create()
    some = study.ask(10)
    assert len(some) == 10
    every = study.ask()
    assert len(every) == len(study.ledger.point) > 10
    study.tell(ROUNDS.measure(every[:-1]))
    assert not study.labels.any()
    other = Study.open(study._storage, study.name, worker="bob").ask()
    assert len(other) == 0
    assert other.stop == "round 1 waits for 1 results: where the next one measures depends on all"
    study.tell(ROUNDS.measure(every[-1:]))
    assert len(study.ask()) > 0
    assert [item.asked.phase for item in study.ledger.askings] == [1, 2]


@each([ROUNDS, PAIR_ROUNDS])
def test_what_is_missing_of_a_round_is_asked_for_again_and_completes_it(kind: Kind) -> None:
    study, other = kind.create(), kind.create()
    tickets = study.ask()
    results = kind.measure(tickets)
    lost = [0, 3, len(tickets) - 1]
    study.tell([tickets[k].failed("ice") if k in lost else result for k, result in enumerate(results)])
    assert study.knowledge.round is not None
    rest = study.ask()
    assert study.ledger.askings[-1].asked.purpose == "rest"
    assert sorted(rest.indices) == sorted(tickets.indices[lost])
    assert study.ask().indices.tolist() == rest.indices.tolist()
    study.tell([ticket.failed("ice") for ticket in rest[:1]] + kind.measure(rest[1:]))
    (last,) = study.ask()
    assert last.point == rest[0].point
    study.tell([last.measured(float(results[lost[0]].value or 0.0))])
    assert study.knowledge.round is None
    assert len(study.knowledge.infos) == 1

    # the same values, whichever ticket they came by
    values = study.ledger.value[study.ledger.fate == Fate.MEASURED]
    points = study.ledger.point[study.ledger.fate == Fate.MEASURED]
    other.ask()
    other.tell([Result(point=int(p), value=float(y)) for p, y in zip(points, values, strict=True)], replicates=True)
    np.testing.assert_array_equal(study.labels, other.labels)
    for end in ("lower", "upper"):
        one, another = (getattr(each.knowledge.infos[0].bounds, end) for each in (study, other))
        assert np.isfinite(one).any()
        np.testing.assert_allclose(one, another, rtol=1e-9)
    assert not contradicted(study.verify())


def test_a_round_counts_as_many_as_were_planned_whatever_comes_in_after_all() -> None:
    study = ROUNDS.create()
    tickets = study.ask()
    results = ROUNDS.measure(tickets)
    study.tell([tickets[0].failed("ice"), *results[1:]])
    study.tell(ROUNDS.measure(study.ask()))
    assert len(study.knowledge.infos) == 1
    before = study.labels
    study.tell([tickets[0].measured(float(results[0].value or 0.0))])  # nobody had asked for it any more
    (info,) = study.knowledge.infos
    assert info.samples == len(tickets) == study.ledger.samples - 1
    np.testing.assert_array_equal(study.labels, before)
    other = ROUNDS.create()
    other.ask()
    other.tell(results)  # tickets count in their order
    np.testing.assert_array_equal(info.bounds.lower, other.knowledge.infos[0].bounds.lower)
    np.testing.assert_array_equal(info.bounds.upper, other.knowledge.infos[0].bounds.upper)
    assert len(study.ask()) > 0
    assert study.ledger.askings[-1].asked.phase == 2
    assert not contradicted(study.verify())


def test_withdrawn_measurements_of_an_earlier_round_are_asked_for_again() -> None:
    study = ROUNDS.create()
    for _ in range(2):
        study.tell(ROUNDS.measure(study.ask()))
    labels, infos = study.labels, len(study.knowledge.infos)
    values = study.ledger.value[:3].tolist()
    study.withdraw([1, 2, 3])
    assert not study.labels.any()
    rest = study.ask()
    assert len(rest) == 3
    assert study.ledger.askings[-1].asked.phase == 1
    study.tell(rest.measured(values))
    assert len(study.knowledge.infos) == infos
    np.testing.assert_array_equal(study.labels, labels)
    assert not contradicted(study.verify())


def test_what_nobody_planned_is_no_part_of_a_round() -> None:
    study, other = ROUNDS.create(), ROUNDS.create()
    other.tell([Result(point=0, value=0.9), Result(point=1, value=9.0)])
    for one in (study, other):
        one.tell([Result(point=ticket.point, ticket=ticket.number, value=0.3) for ticket in one.ask()])
    np.testing.assert_array_equal(study.labels, other.labels)
    assert other.ledger.samples == study.ledger.samples + 2


def test_a_round_that_nobody_could_measure_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 50)
    study = ROUNDS.create()
    with pytest.raises(InputError, match=r"round 1 is one of [0-9]+ measurements: give a tolerance"):
        study.ask()
    assert study.ledger.length == 1


# --- degenerate campaigns


@pytest.mark.parametrize(
    ("points", "kernel", "truth", "noise"),
    [
        ([0.5], RBF(0.2), [1.0], 0.1),
        ([0.5] * 4, RBF(0.2), [1.0] * 4, 0.1),
        (X, RBF(0.2), TRUTH + 3, 0.1),
        (X, RBF(0.2), TRUTH - 3, 0.1),
        (X, RBF(0.2), TRUTH, 0.0),
        (X, ConstantKernel(1.0), np.full(len(X), 0.5), 0.1),
        (X, None, X + 0.5, 0.1),
        (np.random.default_rng(0).random((12, 5)), RBF(1.0), np.linspace(-1, 1, 12), 0.1),
    ],
    ids=["one", "equal", "all above", "none above", "no noise", "rank 1", "linear", "5-d"],
)
@each([GREEDY, AVERAGE, WORST, LSE])
def test_degenerate_campaigns_go_their_way(kind: Kind, points: Any, kernel: Any, truth: Any, noise: float) -> None:
    problem = sl.Problem(sl.Domain(points, kernel), goal=sl.Threshold(0.23), noise=noise)
    study, truth = kind.create(problem=problem), np.asarray(truth)
    rng = np.random.default_rng(3)
    for _ in range(6):
        tickets = study.ask()
        if not len(tickets):
            break
        study.tell(tickets.measured(truth[tickets.indices] + noise * rng.standard_normal(len(tickets))))
    known = study.labels != 0
    assert known.any()
    if kernel is not None and np.ndim(points) == 1:
        np.testing.assert_array_equal(study.labels[known], np.where(truth > 0.23, 1, -1)[known])
    assert contradicted(study.verify()) <= {"kernel"}
    assert len(study.campaign().labels) == len(truth)
    assert snapshot(reopened(study)) == snapshot(study)
