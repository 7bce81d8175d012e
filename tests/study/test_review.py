"""What a sceptical reader tried: sheets that are told again, noise in rounds, estimates and what is shown of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import Threshold
from superlevel.problem import Problem
from superlevel.study.results import Result
from superlevel.study.status import Status
from superlevel.study.study import Study


def problem(**given: Any) -> Problem:
    side = np.linspace(0, 1, 4)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return Problem(Domain(points, RBF(0.5)), goal=Threshold(0.5), **{"noise": 0.1, **given})


def in_rounds() -> Study:
    given = problem(bound=2.0, tolerance=0.3)
    return Study.create("memory:", "rounds", given, confidence=sl.Rips(schedule="tight"), worker="me")


# ------------------------------------------------------------------------------------------ told again


@pytest.mark.parametrize("change", ["correct", "withdraw"])
def test_a_list_of_values_that_grows_does_not_bring_back_what_was_corrected_or_withdrawn(change: str) -> None:
    study = Study.create("memory:", "grows", problem())
    grown = [Result(point=k, value=float(k)) for k in range(4)]
    study.tell(grown)
    if change == "correct":
        study.correct(2, 7.0, reason="a typing mistake")
    else:
        study.withdraw(2, reason="the anchor had slipped")
    after = study.labels.copy()
    receipt = study.tell([*grown, Result(point=9, value=0.25)])
    assert (receipt.stored, receipt.repeated) == (1, 4)
    assert np.sort(study.ledger.value[study.ledger.fate == 1]).tolist() == sorted(
        [0.0, 2.0, 3.0, 0.25, *([7.0] if change == "correct" else [])]
    )
    fresh = Study.create("memory:", "fresh", problem())
    fresh.tell([Result(point=k, value=float(k)) for k in (0, 2, 3)])
    fresh.tell([Result(point=1, value=7.0)] if change == "correct" else [])
    assert after.tolist() == fresh.labels.tolist()


def test_a_value_that_was_withdrawn_counts_again_where_it_is_said_to_be_a_replicate() -> None:
    study = Study.create("memory:", "again", problem())
    study.tell([Result(point=3, value=1.5, noise=0.2)])
    study.withdraw(1)
    assert study.tell([Result(point=3, value=1.5, noise=0.2)]).stored == 0
    assert study.tell([Result(point=3, value=1.5)]).stored == 1  # of another noise: another measurement
    assert study.tell([Result(point=3, value=1.5, noise=0.2)], replicates=True).stored == 1


def test_what_was_replaced_is_remembered_by_whoever_reads_the_log_later() -> None:
    study = Study.create("memory:", "later", problem())
    study.tell([Result(point=3, value=1.5), Result(point=4, value=2.5)])
    study.correct(1, 1.0)
    study.withdraw([1, 2])
    again = Study.open(study._storage, "later").ledger.former
    assert [item[:2] for item in again] == [(3, 1.5), (3, 1.0), (4, 2.5)]
    assert [item[:2] for item in study.ledger.former] == [item[:2] for item in again]


# ------------------------------------------------------------------------------------------ rounds


def test_rounds_do_not_claim_their_guarantee_for_measurements_that_call_themselves_noisier() -> None:
    study = in_rounds()
    tickets = study.ask()
    values = 0.1 * np.random.default_rng(0).normal(size=len(tickets))
    study.tell(tickets.measured(values, noise=5.0))
    verified = study.verify()
    assert not verified.ok
    assert [check.assumption for check in verified.checks if check.verdict.bad] == ["noise"]
    assert any("noise of up to 5" in doubt for doubt in study.status().doubts)


def test_rounds_take_measurements_that_are_less_noisy_for_as_noisy_as_is_assumed() -> None:
    study = in_rounds()
    tickets = study.ask()
    values = 0.1 * np.random.default_rng(0).normal(size=len(tickets))
    study.tell(tickets.measured(values, noise=0.01))
    verified = study.verify()
    assert verified.ok  # with 0.01 taken at its word, repeated measurements would contradict it
    assert not study.status().doubts


def test_all_of_a_round_is_given_again_after_what_failed_of_it_was_planned_anew() -> None:
    study = in_rounds()
    tickets = study.ask()
    study.tell([tickets[k].failed("no signal") for k in range(3)])
    assert len(study.ask(len(tickets) + 1)) == len(tickets)
    assert len(study.ask()) == len(tickets)


# ------------------------------------------------------------------------------------------ estimates


def shown(status: Status) -> tuple[int, int, int]:
    return status.above, status.undecided, status.below


def test_a_quick_look_shows_the_labels_of_the_estimate_that_it_names() -> None:
    study = Study.create("memory:", "estimated", problem(fit=("kernel", "noise", "mean")))
    rng = np.random.default_rng(1)
    for _ in range(3):
        tickets = study.ask()
        quick = study.status(fresh=False)
        assert shown(quick) == shown(study.status(fresh=True))
        assert quick.fresh
        study.tell(tickets.measured(np.sin(3 * tickets.points).sum(axis=1) - 0.5 + 0.1 * rng.normal(size=len(tickets))))
        assert study.labels.shape == (16,)  # they are cached, with the estimate of before


# ------------------------------------------------------------------------------------------ limits


def test_a_lease_beyond_the_calendar_and_a_batch_that_nobody_can_plan_are_refused() -> None:
    with pytest.raises(InputError, match="lease"):
        Study.create("memory:", "long", problem(), lease=1e300)
    with pytest.raises(InputError, match=r"batch is 10,000,000: give at most 1,000,000"):
        Study.create("memory:", "large", problem(), batch=10**7)
    study = Study.create("memory:", "short", problem())
    with pytest.raises(InputError, match="lease"):
        study.ask(lease=1e12)
    assert not study.ledger.askings


def test_poor_measurements_that_say_so_do_not_spoil_the_estimate_of_the_noise() -> None:
    study = Study.create("memory:", "poor", problem(fit=("kernel", "noise", "mean")))
    rng = np.random.default_rng(2)
    truth = np.sin(3 * study.campaign().points).sum(axis=1)
    study.tell([Result(point=k, value=float(truth[k] + 0.05 * rng.normal())) for k in [*range(16), *range(16)]])
    study.tell([Result(point=k, value=5 * float(rng.normal()), noise=5.0) for k in range(16)])
    assert 0.01 < float(study.status().noise) < 0.3


@pytest.mark.parametrize("tolerance", [0.0, 0.6])
def test_the_guarantee_names_the_tolerance_that_labels_were_given_with(tolerance: float) -> None:
    study = Study.create("memory:", "tolerant", problem(tolerance=tolerance))
    tickets = study.ask()
    study.tell(tickets.measured(np.sin(3 * tickets.points).sum(axis=1) - 0.5))
    drawn = study.campaign()
    assert drawn.lower is not None
    assert drawn.upper is not None
    across = (drawn.labels != 0) & (drawn.lower < 0.5) & (drawn.upper > 0.5)
    assert across.any() == (tolerance > 0)
    assert ("from the level, give or take 0.6" in study.verify().guarantee) == (tolerance > 0)
    assert (", except within 0.3 of the level" in in_rounds().verify().guarantee) is True
