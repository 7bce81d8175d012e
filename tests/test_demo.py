"""The opening example, on every sixth row and column of the map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import cbook

from superlevel import Domain, Problem, Threshold, demo, kernels
from superlevel.demo.scores import Record
from superlevel.demo.survey import PILOT, WORKER, Watch, campaign, pilot_of
from superlevel.errors import InputError
from superlevel.findings import Verdict
from superlevel.study import Study
from superlevel.study.storage import Memory

SEA = demo.load(stride=6)
SURVEY = demo.Survey(pings=PILOT + 30, batch=10)


def pinged(records: tuple[Record, ...]) -> list[list[int]]:
    return [record.pinged.tolist() for record in records]


@pytest.fixture(scope="module")
def surveyed() -> tuple[Memory, tuple[Record, ...]]:
    storage = Memory()
    return storage, demo.run(SEA, SURVEY, storage)


# -------------------------------------------------------------------------------------------- the sea


def test_the_whole_sea_is_every_cell_below_sea_level_of_the_file() -> None:
    sea = demo.load()
    with np.load(cbook.get_sample_data("topobathy.npz", asfileobj=False)) as file:
        height = file["topo"]
    assert sea.n == 4841 == (height < 0).sum()
    assert sorted(sea.depths) == sorted(-height[height < 0])
    assert (sea.depths == 1).sum() == 1897  # as the page says
    assert np.array_equal(np.isnan(sea.on_map(sea.roots)), height >= 0)
    assert sea.on_map(sea.roots)[sea.wet] ** 2 == pytest.approx(sea.depths)


def test_kilometres_on_the_plane_are_those_on_the_globe_to_two_per_cent() -> None:
    sea = demo.load()
    first, second = np.random.default_rng(0).integers(0, sea.n, (2, 500))
    there, here = np.radians(sea.degrees[first]), np.radians(sea.degrees[second])
    # the haversine formula
    half = np.sin((there - here) / 2) ** 2
    around = half[:, 1] + np.cos(there[:, 1]) * np.cos(here[:, 1]) * half[:, 0]
    globe = 2 * 6371 * np.arcsin(np.sqrt(around))
    plane = np.linalg.norm(sea.places[first] - sea.places[second], axis=1)
    assert plane == pytest.approx(globe, rel=0.02, abs=0.02)


def test_every_so_many_rows_and_columns_are_cells_of_the_whole() -> None:
    whole = demo.load()
    known = {tuple(place): depth for place, depth in zip(whole.degrees, whole.depths, strict=True)}
    assert 50 < SEA.n < 200
    assert [known[tuple(place)] for place in SEA.degrees] == SEA.depths.tolist()


# ----------------------------------------------------------------------------------------- the survey


def test_the_error_of_a_ping_in_metres_is_what_the_survey_says() -> None:
    survey = demo.Survey(depth=30.0, noise=2.0)
    roots = np.sqrt(120.0) + survey.deviation * np.random.default_rng(0).standard_normal(200_000)
    assert (roots**2).std() == pytest.approx(survey.error_at(120.0), rel=0.02)
    assert survey.error_at(30.0) == survey.noise


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pings": 60}, "pings is 60: give the 60 of the pilot and a multiple of the batch, 20: 80 or 100"),
        ({"pings": 395}, "pings is 395: give the 60 of the pilot and a multiple of the batch, 20: 380 or 400"),
        ({"pings": 70, "batch": 0}, "batch is 0: give a whole number >= 1"),
        ({"noise": 0.0}, "noise is 0.0: give a number > 0"),
        ({"depth": -1.0}, "depth is -1.0: give a number > 0"),
        ({"seed": -1}, "seed is -1: give a whole number >= 0"),
    ],
)
def test_a_survey_that_cannot_be_is_one_sentence(given: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        demo.Survey(**given)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


@pytest.mark.parametrize("depth", [1.0, 5000.0])
def test_a_depth_that_the_sea_has_not_is_one_sentence(depth: float) -> None:
    with pytest.raises(InputError, match=r"^depth is .*: the sea is 1 to .* m deep here: give something between$"):
        demo.run(SEA, demo.Survey(depth=depth), Memory())


def test_a_study_is_named_after_what_is_unusual() -> None:
    assert demo.Survey().name_of("MELK") == demo.Survey(pings=600).name_of("MELK") == "sea-melk"
    assert demo.Survey(seed=3, depth=30.5).name_of("uniform") == "sea-uniform-depth30.5-seed3"


# -------------------------------------------------------------------------------------- the campaigns


def test_all_campaigns_have_the_same_pilot_kernel_and_number_of_pings(
    surveyed: tuple[Memory, tuple[Record, ...]],
) -> None:
    storage, records = surveyed
    assert [record.label for record in records] == ["MELK", "LSE", "uniform"]
    made = [Study.open(storage, record.study).ledger.created for record in records]
    assert made[0].kernel == made[1].kernel == made[2].kernel
    assert [given.method for given in made] == ["melk", "lse", "uniform"]
    for record in records:
        assert sorted(record.pinged[:PILOT]) == sorted(pilot_of(SEA))
        assert [score.pings for score in record.scores] == [60, 70, 80, 90]
    assert records[0].scores[0] == records[1].scores[0] == records[2].scores[0]
    assert len({tuple(places) for places in pinged(records)}) == 3


def test_counts_are_those_of_a_posterior_that_is_solved_directly(surveyed: tuple[Memory, tuple[Record, ...]]) -> None:
    storage, records = surveyed
    deep = SEA.depths >= 20
    for record in (records[0], records[2]):  # intervals of LSE remember
        ledger = Study.open(storage, record.study).ledger
        kernel = kernels.restore(ledger.created.kernel)
        for score in record.scores:
            at, values = ledger.point[: score.pings], ledger.value[: score.pings]
            gram = kernel(SEA.places)
            solved = np.linalg.solve(gram[np.ix_(at, at)] + SURVEY.deviation**2 * np.eye(len(at)), gram[at])
            prior = np.float64(ledger.created.problem["mean"])  # type: ignore[arg-type]
            mean = prior + solved.T @ (values - prior)
            width = 3 * np.sqrt(np.maximum(np.diag(gram) - (solved * gram[at]).sum(axis=0), 0))
            far = np.abs(mean - np.sqrt(20)) > width
            wrong = (mean > np.sqrt(20)) != deep
            counted = (score.mislabelled, score.declared, score.undecided, score.wrong)
            assert counted == (wrong.sum(), far.sum(), (~far).sum(), (far & wrong).sum())


def test_the_last_score_is_what_the_study_knows_and_its_log_verifies(
    surveyed: tuple[Memory, tuple[Record, ...]],
) -> None:
    storage, records = surveyed
    for record in records:
        study = Study.open(storage, record.study)
        assert np.array_equal(record.labels, study.labels)
        assert record.scores[-1].undecided == (study.labels == 0).sum()
        known = study.knowledge
        assert known.method is not None
        assert known.state is not None
        assert np.array_equal(record.guess, known.method.guess(known.state))
        found = {check.assumption: check.verdict for check in study.verify().checks}
        assert found["log"] is found["labels"] is found["cached labels"] is Verdict.HOLDS


def test_a_second_run_measures_nothing_and_more_pings_go_on() -> None:
    store = Memory()
    first = demo.run(SEA, replace(SURVEY, pings=PILOT + 20), store)
    before = [Study.open(store, record.study).ledger.head for record in first]
    again = demo.run(SEA, replace(SURVEY, pings=PILOT + 20), store)
    assert [Study.open(store, record.study).ledger.head for record in again] == before
    assert [record.scores for record in again] == [record.scores for record in first]
    more = demo.run(SEA, SURVEY, store)
    fewer = demo.run(SEA, replace(SURVEY, pings=PILOT + 10), store)
    for one, other, least in zip(more, first, fewer, strict=True):
        assert one.scores[:3] == other.scores
        assert least.scores == other.scores[:2]
        assert np.array_equal(one.pinged[:80], other.pinged)


def _stopped_by(watch: Watch, storage: Memory) -> None:
    with pytest.raises(KeyboardInterrupt):
        demo.run(SEA, SURVEY, storage, watch=watch)


def _stop_at(where: tuple[str, int]) -> Watch:
    def watch(label: str, done: int) -> None:
        if (label, done) == where:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("where", [("MELK", 60), ("LSE", 80), ("uniform", 90)])
def test_what_was_stopped_goes_on_as_if_it_had_not_been(
    surveyed: tuple[Memory, tuple[Record, ...]], where: tuple[str, int]
) -> None:
    storage = Memory()
    _stopped_by(_stop_at(where), storage)
    label, done = where
    assert Study.open(storage, SURVEY.name_of(label)).ledger.samples == done
    # and once more, with tickets that are out
    Study.open(storage, SURVEY.name_of(label), worker=WORKER).ask()
    records = demo.run(SEA, SURVEY, storage)
    assert [record.scores for record in records] == [record.scores for record in surveyed[1]]
    assert pinged(records) == pinged(surveyed[1])


def test_watching_sees_every_batch() -> None:
    seen: list[tuple[str, int]] = []
    campaign(SEA, SURVEY, "uniform", Memory(), watch=lambda label, done: seen.append((label, done)))
    assert seen == [("uniform", done) for done in (60, 70, 80, 90)]


def test_a_campaign_that_has_decided_everything_ends_early() -> None:
    sure = demo.Survey(depth=20.0, noise=1e-3, pings=PILOT + 400, batch=100)
    (record, *_) = demo.run(SEA, sure, Memory())
    assert record.scores[-1].undecided == 0
    assert record.scores[-1].pings < sure.pings
    assert record.at(sure.pings) == record.scores[-1]
    assert record.at(PILOT + 1) == record.scores[0]


def test_a_store_with_another_study_of_that_name_is_one_sentence() -> None:
    storage = Memory()
    problem = Problem(Domain(SEA.places, kernel=None), goal=Threshold(1.0), noise=1.0)
    Study.create(storage, "sea-lse-batch10", problem, method="lse")
    with pytest.raises(InputError) as caught:
        demo.run(SEA, SURVEY, storage)
    assert str(caught.value) == "store is one with another study 'sea-lse-batch10': give another one"


def test_seeds_are_told_apart(surveyed: tuple[Memory, tuple[Record, ...]]) -> None:
    storage, records = surveyed
    others = demo.run(SEA, replace(SURVEY, seed=1), storage)
    assert {record.study for record in others}.isdisjoint(record.study for record in records)
    assert pinged(others)[2] != pinged(records)[2]


# ------------------------------------------------------------------------------------------ what is said


def test_what_is_said_has_the_numbers(surveyed: tuple[Memory, tuple[Record, ...]]) -> None:
    text = " ".join(demo.said(demo.load(), demo.Survey()))
    assert "4,841 cells" in text
    assert "off by 2.7 m where it is 20 m deep, by 8.5 m at 200 m" in text
    assert "chooses 340, 20 at a time" in text
    figure = demo.drawn(SEA, SURVEY, surveyed[1])
    words = [text.get_text() for part in figure.subfigs for sub in part.subfigs for text in sub.texts]
    assert any("Matérn" in word and "land is left out" in word for word in words)
