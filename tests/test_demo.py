"""The opening example, on every 28th row and column of the elevations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from matplotlib import cbook

from superlevel import Domain, Problem, Threshold, demo
from superlevel.arrays import Labels
from superlevel.demo.survey import AUDITED, TOLERANCE, WORKER, Watch
from superlevel.errors import InputError
from superlevel.findings import Verdict
from superlevel.study import Study
from superlevel.study.auditing import audits_of
from superlevel.study.ledger import Ledger
from superlevel.study.replay import as_labels
from superlevel.study.storage import Memory

HILLS = demo.load(stride=28)
SURVEY = demo.Survey(measurements=100, batch=20)


@dataclass(frozen=True, kw_only=True)
class Surveyed:
    """A campaign that was not stopped."""

    storage: Memory
    study: Study
    record: demo.Record


@pytest.fixture(scope="module")
def surveyed() -> Surveyed:
    storage = Memory()
    study = demo.run(HILLS, SURVEY, storage)
    return Surveyed(storage=storage, study=study, record=demo.read(study, HILLS, SURVEY))


def results(ledger: Ledger) -> tuple[list[int], list[float]]:
    """Every ticket's point and value."""
    return ledger.point.tolist(), ledger.value.tolist()


def labels_at(study: Study, measurements: int) -> Labels:
    """What the log says was declared then."""
    (asked,) = (item.asked for item in study.ledger.askings if item.asked.samples == measurements)
    return as_labels(asked.labels, study.ledger)


# ------------------------------------------------------------------------------------------ the hills


def test_the_hills_are_every_seventh_cell_of_the_file_from_the_north_west() -> None:
    hills = demo.load()
    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as file:
        elevation = file["elevation"]
    assert hills.elevation.shape == (50, 58)
    assert hills.n == 2900 == len(hills.places)
    assert hills.heights.tolist() == elevation[::7, ::7].ravel().tolist()
    assert hills.places[0].tolist() == [0.0, hills.north.max()]
    assert hills.places[-1].tolist() == [hills.east.max(), 0.0]
    assert (hills.heights > demo.Survey().level).mean() == pytest.approx(0.3, abs=0.02)


def test_kilometres_on_the_plane_are_those_on_the_globe_to_one_per_cent() -> None:
    hills = demo.load()
    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as file:
        west, top, step = float(file["xmin"]), float(file["ymin"]), 7 * float(file["dx"])
    rows, columns = (part.ravel() for part in np.indices(hills.elevation.shape))
    degrees = np.radians(np.stack([west + step * columns, top - step * rows], axis=1))
    first, second = np.random.default_rng(0).integers(0, hills.n, (2, 500))
    # the haversine formula
    half = np.sin((degrees[first] - degrees[second]) / 2) ** 2
    around = half[:, 1] + np.cos(degrees[first, 1]) * np.cos(degrees[second, 1]) * half[:, 0]
    globe = 2 * 6371 * np.arcsin(np.sqrt(around))
    plane = np.linalg.norm(hills.places[first] - hills.places[second], axis=1)
    assert plane == pytest.approx(globe, rel=0.01, abs=0.01)
    assert hills.cell == pytest.approx((0.521, 0.649), abs=0.001)


def test_a_larger_stride_gives_cells_of_a_smaller_one() -> None:
    assert np.array_equal(HILLS.elevation, demo.load().elevation[::4, ::4])
    assert HILLS.cell == pytest.approx([4 * side for side in demo.load().cell], rel=0.01)


# ----------------------------------------------------------------------------------------- the survey


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"batch": 0}, "batch is 0: give a whole number >= 1"),
        ({"measurements": 0}, "measurements is 0: give a whole number >= 1"),
        ({"noise": 0.0}, "noise is 0.0: give a number > 0"),
        ({"level": np.nan}, "level is nan: give a finite number"),
        ({"seed": -1}, "seed is -1: give a whole number >= 0"),
    ],
)
def test_a_survey_that_cannot_be_is_one_sentence(given: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        demo.Survey(**given)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"level": 100.0}, "level is 100.0: the ground is 269 to 973 m high here: give a number between"),
        ({"level": 973.0}, "level is 973.0: the ground is 269 to 973 m high here: give a number between"),
        (
            {"measurements": 20},
            "measurements is 20: give the 20 of the pilot and a multiple of the batch, 10: 30 or 40",
        ),
        (
            {"measurements": 295},
            "measurements is 295: give the 20 of the pilot and a multiple of the batch, 10: 290 or 300",
        ),
    ],
)
def test_a_survey_that_does_not_fit_the_hills_is_one_sentence(given: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        demo.run(HILLS, demo.Survey(**given), Memory())  # type: ignore[arg-type]
    assert str(caught.value) == sentence


def test_a_study_is_named_after_what_is_unusual() -> None:
    assert demo.Survey().name == "hills"
    assert demo.Survey(seed=3, level=500.5, measurements=400).name == "hills-level500.5-measurements400-seed3"


# --------------------------------------------------------------------------------------- the campaign


def test_the_study_is_given_places_and_a_level_and_nothing_else(surveyed: Surveyed) -> None:
    made = surveyed.study.ledger.created
    np.testing.assert_array_equal(made.points.known, HILLS.places)
    assert made.names == ["east_km", "north_km"]
    assert surveyed.study.ledger.goal == Threshold(600.0)
    assert sorted(made.fit) == ["kernel", "mean", "noise"]
    assert made.kernel is None
    assert (made.method, made.rule, made.batch, made.seed) == ("melk", None, 20, 0)


def test_measurements_have_the_error_of_the_instrument(surveyed: Surveyed) -> None:
    ledger = surveyed.study.ledger
    errors = ledger.value - HILLS.heights[ledger.point]
    assert len(errors) == 100 + AUDITED
    assert len(set(errors.tolist())) == len(errors)
    assert np.abs(errors.mean()) < 4 * 8 / np.sqrt(len(errors))
    assert errors.std() == pytest.approx(8.0, rel=0.2)


def test_the_map_is_the_one_that_was_audited(surveyed: Surveyed) -> None:
    record, ledger = surveyed.record, surveyed.study.ledger
    assert np.array_equal(record.labels, labels_at(surveyed.study, 100))
    assert sorted(record.measured) == sorted(ledger.point[:100])
    (audit,) = audits_of(ledger)
    assert audit.asked.audit is not None
    guess = as_labels(audit.asked.audit.guess, ledger)
    assert np.array_equal(guess > 0, record.chance > 0.5)
    assert record.last.mislabelled == ((guess > 0) != (HILLS.heights > 600)).sum()


def test_scores_are_those_of_the_labels_that_the_log_has(surveyed: Surveyed) -> None:
    # Measured by other hills, about half of the labels are wrong.
    other = replace(HILLS, elevation=HILLS.elevation[::-1, ::-1])
    above = other.heights > 600
    record = demo.read(surveyed.study, other, SURVEY)
    assert [score.measurements for score in record.scores] == [20, 40, 60, 80, 100]
    for score in record.scores:
        labels = labels_at(surveyed.study, score.measurements)
        wrong = ((labels > 0) & ~above) | ((labels < 0) & above)
        assert (score.declared, score.wrong) == ((labels != 0).sum(), wrong.sum())
    assert record.scores[0].declared == 0
    assert 0 < record.last.wrong < record.last.declared < other.n
    assert record.beyond == (wrong & ((other.heights > 610) | (other.heights < 590))).sum()
    assert record.last.mislabelled == ((record.chance > 0.5) != above).sum()


def test_the_audit_is_of_the_declared_cells_and_bounds_the_truth(surveyed: Surveyed) -> None:
    record = surveyed.record
    assert record.accuracy is not None
    assert record.accuracy.declared
    assert record.accuracy.samples == 100
    result = record.accuracy.result
    assert (result.draws, result.points, result.tolerance) == (AUDITED, record.last.declared, TOLERANCE)
    assert record.beyond / record.last.declared <= result.bound < 0.5
    drawn = surveyed.study.ledger.point[100:]
    assert (record.labels[drawn] != 0).all()


def test_the_log_verifies(surveyed: Surveyed) -> None:
    found = surveyed.study.verify()
    assert found.ok
    verdicts = {check.assumption: check.verdict for check in found.checks}
    assert all(verdicts[name] is Verdict.HOLDS for name in ("log", "labels", "cached labels", "audit 1"))
    assert str(surveyed.record.accuracy) in {check.sentence for check in found.checks}


def test_more_noise_declares_less_and_seeds_are_told_apart(surveyed: Surveyed) -> None:
    noisy, other = replace(SURVEY, noise=80.0), replace(SURVEY, seed=1)
    record = demo.read(demo.run(HILLS, noisy, surveyed.storage), HILLS, noisy)
    assert record.last.declared < surveyed.record.last.declared
    second = demo.run(HILLS, other, surveyed.storage)
    assert results(second.ledger) != results(surveyed.study.ledger)
    assert sorted(surveyed.storage.names()) == sorted(survey.name for survey in (SURVEY, noisy, other))


# ------------------------------------------------------------------------------------- stop and go on


def test_a_second_run_writes_nothing(surveyed: Surveyed) -> None:
    again = demo.run(HILLS, SURVEY, surveyed.storage)
    assert again.ledger.head == surveyed.study.ledger.head
    record = demo.read(again, HILLS, SURVEY)
    assert record.scores == surveyed.record.scores
    assert np.array_equal(record.chance, surveyed.record.chance)


def test_results_that_come_after_the_audit_change_nothing_in_the_demonstration(surveyed: Surveyed) -> None:
    storage = Memory()
    study = demo.run(HILLS, SURVEY, storage)
    study.tell(study.ask().measured(np.full(20, 300.0)))
    record = demo.read(demo.run(HILLS, SURVEY, storage), HILLS, SURVEY)
    assert record.scores == surveyed.record.scores
    assert np.array_equal(record.measured, surveyed.record.measured)


def _stop_at(count: int) -> Watch:
    def watch(done: int) -> None:
        if done == count:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("count", [0, 40, 100])
def test_what_was_stopped_goes_on_as_if_it_had_not_been(surveyed: Surveyed, count: int) -> None:
    storage = Memory()
    with pytest.raises(KeyboardInterrupt):
        demo.run(HILLS, SURVEY, storage, watch=_stop_at(count))
    study = Study.open(storage, SURVEY.name, worker=WORKER)
    assert study.ledger.samples == count
    if count < 100:  # and once more, with tickets that are out
        study.ask()
    assert results(demo.run(HILLS, SURVEY, storage).ledger) == results(surveyed.study.ledger)


def test_an_audit_that_was_begun_is_completed(surveyed: Surveyed) -> None:
    storage = Memory()
    with pytest.raises(KeyboardInterrupt):
        demo.run(HILLS, SURVEY, storage, watch=_stop_at(100))
    study = Study.open(storage, SURVEY.name)
    study.audit(AUDITED, declared=True, tolerance=TOLERANCE)
    assert len(study.ledger.open) == AUDITED
    assert results(demo.run(HILLS, SURVEY, storage).ledger) == results(surveyed.study.ledger)


def test_watching_sees_every_batch() -> None:
    seen: list[int] = []
    demo.run(HILLS, replace(SURVEY, measurements=60), Memory(), watch=seen.append)
    assert seen == [0, 20, 40, 60]


def test_a_store_with_another_study_of_that_name_is_one_sentence() -> None:
    storage = Memory()
    Study.create(storage, SURVEY.name, Problem(Domain(HILLS.places, kernel=None), goal=Threshold(1.0), noise=1.0))
    with pytest.raises(InputError) as caught:
        demo.run(HILLS, SURVEY, storage)
    assert str(caught.value) == f"store is one with another study {SURVEY.name!r}: give another one"


# ------------------------------------------------------------------------------------ words and picture


def test_what_is_said_before_has_the_numbers() -> None:
    text = " ".join(demo.said(demo.load(), demo.Survey()))
    assert "above 600 m? 2,900 cells of 0.52 by 0.65 km" in text
    assert "elevations of 251 to 1,028 m" in text
    assert "300 measurements in batches of 10" in text
    assert "a normal error of 8 m" in text
    assert "at most 1 % of the declared cells are wrong on average, as far as" in text
    assert "Then 100 measurements at random places" in text


def test_what_is_said_afterwards_has_the_bound_and_the_truth(surveyed: Surveyed) -> None:
    record = replace(surveyed.record, beyond=2)
    assert record.accuracy is not None
    last, proved = record.last, record.accuracy.result.sentence(noun="declared cells", unit="m")
    audit, truth = demo.found(record)
    assert audit == f"Audit of 100 random draws: {proved}"
    assert f"of the {last.declared:,} declared cells are wrong by more than 10 m, whatever the kernel" in audit
    share = 100 * last.wrong / last.declared
    assert truth == (
        f"Truth: 2 ({200 / last.declared:.1f} %) are wrong by more than 10 m, and {last.wrong:,} ({share:.1f} %) are "
        "wrong at all."
    )


def test_the_picture_is_that_of_the_record(surveyed: Surveyed) -> None:
    record = surveyed.record
    figure = demo.drawn(HILLS, SURVEY, record)
    last = record.last
    assert figure.get_suptitle() == (
        f"Where is the ground above 600 m? 100 noisy measurements declare {100 * last.declared / HILLS.n:.0f} % of the "
        f"map, and {100 * last.wrong / last.declared:.1f} % of that is wrong"
    )
    by_title = {axes.get_title() or axes.get_title("left"): axes for axes in figure.axes}
    chances = by_title["Probability of being above 600 m"].collections[0].get_array()
    assert np.asarray(chances).ravel().tolist() == record.chance.tolist()
    (places,) = by_title["Probability of being above 600 m"].lines
    assert np.array_equal(np.column_stack(places.get_data()), HILLS.places[record.measured])
    assert record.accuracy is not None
    bars = {
        heading: [bar.get_width() for bar in by_title[heading].patches]  # type: ignore[attr-defined]
        for heading in ("Wrong among the declared cells", "Wrong by more than 10 m")
    }
    assert bars == {
        "Wrong among the declared cells": [0.01, last.wrong / last.declared],
        "Wrong by more than 10 m": [record.accuracy.result.most / last.declared, record.beyond / last.declared],
    }


def test_if_nothing_is_declared_there_is_no_audit_and_the_picture_says_so() -> None:
    survey = replace(SURVEY, measurements=30, batch=10)
    study = demo.run(HILLS, survey, Memory())
    assert study.ledger.samples == 30
    record = demo.read(study, HILLS, survey)
    assert record.accuracy is None
    assert demo.found(record) == ["Nothing is declared yet, so there is nothing to audit: give more measurements."]
    figure = demo.drawn(HILLS, survey, record)
    assert figure.get_suptitle() == "Where is the ground above 600 m? 30 measurements declare nothing yet"
    assert "Wrong by more than 10 m" not in {axes.get_title("left") for axes in figure.axes}
