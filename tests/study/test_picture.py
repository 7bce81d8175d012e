"""What a campaign shows of itself, by two roads."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.report.campaign import as_table, write_points
from superlevel.report.page import page
from superlevel.study import Result, Study, picture
from superlevel.study.picture import EXPLAINED, largest
from tests.study.campaigns import (
    ALL,
    ARMS,
    FITTED,
    GREEDY,
    LSE,
    MILK,
    NAME,
    NOISE,
    PAIR_ROUNDS,
    RIDGE,
    ROUNDS,
    Kind,
    N,
    X,
    each,
    reopened,
)


@each(ALL)
def test_everything_that_is_known_is_shown(kind: Kind) -> None:
    study = kind.create()
    for step in range(5 if kind is FITTED else 3):
        study.tell(kind.measure(study.ask(12 if kind is FITTED and step == 0 else None)))
    study.ask(2)
    shown, known, ledger = study.campaign(), study.knowledge, study.ledger
    assert (shown.name, shown.names) == (NAME, tuple(ledger.created.names))
    np.testing.assert_array_equal(shown.points, ledger.created.points.known)
    np.testing.assert_array_equal(shown.labels, study.labels)
    np.testing.assert_array_equal(shown.counts, ledger.counts)
    np.testing.assert_array_equal(shown.next, ledger.point[ledger.open - 1])
    assert shown.doubts == known.doubts
    assert shown.levels == known.levels
    assert shown.groups == ledger.goal.groups
    assert shown.mean is not None
    assert known.state is not None
    np.testing.assert_array_equal(shown.mean, known.state.estimate)
    if kind is PAIR_ROUNDS:  # rounds bound pairs, and no single point
        assert (shown.lower, shown.upper) == (None, None)
    elif kind.in_rounds:
        np.testing.assert_array_equal(shown.lower, known.state.belief.bounds().lower)
        np.testing.assert_array_equal(shown.upper, known.state.belief.bounds().upper)
    else:
        assert shown.lower is not None
        assert shown.upper is not None
        assert (shown.lower <= shown.upper).all()
    facts = dict(shown.facts)
    assert facts["plans"] == str(len(ledger.askings))
    assert facts["open tickets"] == str(len(ledger.open))
    assert facts["method"].startswith(kind.method)
    assert len(as_table(shown)) == ledger.n
    progress = [(item.asked.samples, item.asked.labels.count("?")) for item in ledger.askings]
    assert shown.progress == (*progress, (ledger.samples, int((study.labels == 0).sum())))


def test_intervals_are_those_that_decide() -> None:
    study = GREEDY.run(GREEDY.create(), 3)
    shown = study.campaign()
    assert shown.lower is not None
    assert shown.upper is not None
    labels = np.where(shown.lower > 0.23, 1, np.where(shown.upper < 0.23, -1, 0))
    np.testing.assert_array_equal(labels, study.labels)


def test_nothing_is_shown_of_nothing() -> None:
    shown = FITTED.create().campaign()
    assert not shown.labels.any()
    assert (shown.mean, shown.reasons, shown.progress) == (None, (), ((0, N),))
    assert np.isnan(shown.averages).all()
    assert dict(shown.facts)["kernel"] == "not estimated yet"


@each([GREEDY, MILK, LSE])
def test_reasons_are_shares_of_variance_that_a_measurement_takes_away(kind: Kind) -> None:
    study = kind.run(kind.create(), 2)
    study.ask()
    known = study.knowledge
    assert known.state is not None
    before = known.state.belief.posterior
    assert before is not None
    reasons = study.campaign().reasons
    assert [reason.ticket for reason in reasons] == study.ledger.open.tolist()
    for reason in reasons:
        after = before.told([reason.point], [0.0], noise=NOISE)
        shares = 1 - after.variance / before.variance
        shares[study.labels != 0] = -1
        assert reason.point == study.ledger.point[reason.ticket - 1]
        served = [place for place, _ in reason.serves]
        assert len(served) == min(3, int((study.labels == 0).sum()))
        assert [share for _, share in reason.serves] == pytest.approx(sorted(shares)[::-1][: len(served)], abs=1e-9)
        assert (study.labels[served] == 0).all()


def test_reasons_of_a_large_domain_are_those_of_the_posterior_near_each_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    study.ask(2)
    small = study.campaign().reasons
    monkeypatch.setattr(picture, "LARGE", 0)  # all points are in one block
    large = study.campaign().reasons
    assert [reason.ticket for reason in large] == [reason.ticket for reason in small]
    for mine, others in zip(large, small, strict=True):
        assert [place for place, _ in mine.serves] == [place for place, _ in others.serves]
        assert [share for _, share in mine.serves] == pytest.approx([share for _, share in others.serves], abs=1e-9)


@each([ROUNDS, PAIR_ROUNDS])
def test_reasons_in_rounds_are_squared_correlations_under_the_design(kind: Kind) -> None:
    """Of the round that was told last, or of all points alike before there is one."""
    study, design = kind.create(), np.full(3, 1 / 3)
    for _ in range(2):
        tickets = study.ask()
        information = ARMS.T @ (design[:, None] * ARMS) + 1e-7 * np.eye(2)
        product = ARMS @ np.linalg.solve(information, ARMS.T)
        expected = product**2 / np.outer(np.diag(product), np.diag(product))
        reasons = study.campaign().reasons
        assert len(reasons) == min(EXPLAINED, len(study.ledger.open))
        for reason in reasons:
            for place, share in reason.serves:
                assert share == pytest.approx(expected[reason.point, place], abs=1e-4)
            assert reason.serves
            assert reason.serves[0][1] == pytest.approx(expected[reason.point, study.labels == 0].max())
        weights = study.ledger.askings[-1].asked.weights
        assert weights is not None
        design = np.zeros(3)
        design[weights.at[0]] = weights.values
        study.tell(kind.measure(tickets))


def test_no_reasons_without_open_tickets_or_without_a_round() -> None:
    assert GREEDY.run(GREEDY.create(), 1).campaign().reasons == ()
    assert ROUNDS.run(ROUNDS.create(), 1).campaign().reasons == ()


def test_a_ticket_serves_only_what_is_undecided() -> None:
    study = GREEDY.create()
    study.ask()
    study.tell([Result(point=k, value=9.0, noise=0.001) for k in range(N)], replicates=True)
    study.ask(2)
    assert all(reason.serves == () for reason in study.campaign().reasons)


def test_why_it_ended_is_said() -> None:
    study = GREEDY.create()
    study.tell([Result(point=k, value=9.0, noise=0.001) for k in range(N)])
    assert dict(study.campaign().facts)["ended because"] == "every point is decided"
    assert dict(reopened(study).campaign().facts)["measurements"] == f"{N} at {N} points"


def test_points_that_are_known_for_sure_take_part_in_nothing() -> None:
    problem = GREEDY.problem(noise=0.0)
    study = GREEDY.create(problem=problem)
    study.tell([Result(point=k, value=float(np.sin(6 * X[k]))) for k in (0, 5, 9)])
    study.ask()
    shares = [share for reason in study.campaign().reasons for _, share in reason.serves]
    assert np.isfinite(shares).all()
    assert all(0 < share <= 1 + 1e-9 for share in shares)
    assert RBF(0.2) == problem.domain.kernel


def test_a_report_is_one_page_named_after_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study.create("memory:", "the <sea>/2", GREEDY.problem(), worker="ada")
    study.tell(GREEDY.measure(study.ask()))
    written = study.report()
    assert [path.name for path in tmp_path.iterdir()] == ["the-sea-2-6be839f1.html"]
    text = written.read_text(encoding="utf-8")
    assert "the &lt;sea&gt;/2" in text
    assert "<script" not in text
    assert study.verify().claim in text
    assert study.report(tmp_path / "other.html").read_text(encoding="utf-8") == text


@each([GREEDY, FITTED])
def test_every_point_has_a_likelier_side_and_a_probability(kind: Kind, tmp_path: Path) -> None:
    study = kind.run(kind.create(), 5)
    shown, belief = study.campaign(), study.knowledge.state.belief
    chance = belief.probability(0.23)
    assert chance is not None
    assert shown.chances is not None
    assert shown.likelier is not None
    assert shown.doubtful is not None
    np.testing.assert_array_equal(shown.chances, chance[None])
    np.testing.assert_array_equal(shown.likelier == 1, chance > 0.5)
    np.testing.assert_allclose(shown.doubtful, np.minimum(chance, 1.0 - chance), atol=1e-12)
    write_points(shown, tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["probability above 0.23"]) for line in lines] == chance.tolist()
    assert [line["likelier"] == "above" for line in lines] == (chance > 0.5).tolist()
    known = shown.classes >= 0
    said = dict(shown.facts)["expected to be wrong"]
    assert said.startswith(f"{shown.doubtful[known].sum():.1f} of {known.sum():,} declared points")
    frame = study.to_frame()
    assert frame["likelier"].tolist() == [line["likelier"] for line in lines]


def test_the_likelier_of_several_classes_has_the_probability_between_its_levels() -> None:
    study = GREEDY.run(GREEDY.create(problem=GREEDY.problem(goal=sl.Levels([-0.5, 0.1, 0.6]))), 2)
    shown = study.campaign()
    assert shown.chances is not None
    assert shown.likelier is not None
    assert shown.doubtful is not None
    for point, c in enumerate(shown.likelier.tolist()):
        above = [1.0, *shown.chances[:, point].tolist(), 0.0]
        assert shown.doubtful[point] == pytest.approx(1.0 - (above[c] - above[c + 1]))


@each([RIDGE, ROUNDS])
def test_without_a_model_there_are_no_probabilities(kind: Kind) -> None:
    shown = kind.run(kind.create(), 1).campaign()
    assert shown.chances is None
    assert shown.doubtful is None
    assert "expected to be wrong" not in dict(shown.facts)


def test_moments_at_which_labels_were_revised_are_marked() -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    study.ask()
    first = study.labels
    assert first.any()
    assert study.campaign().revisions == ()
    point = int(np.flatnonzero(first)[0])
    wild = [Result(point=point, value=-9.0 * float(first[point]), noise=0.01)]
    study.tell(wild)
    changed = int(((first != 0) & (study.labels != first)).sum())
    assert changed
    ((samples, undecided, count),) = study.campaign().revisions
    assert (samples, count) == (study.ledger.samples, changed)
    assert undecided == int((study.labels == 0).sum())
    assert f"{changed} after {samples}" in page(study.campaign())
    assert "Diamonds" not in page(GREEDY.run(GREEDY.create(), 2).campaign())


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 6))
def test_the_largest_are_those_of_a_stable_sort(values: list[int], count: int) -> None:
    row = np.array(values, dtype=np.float64)
    np.testing.assert_array_equal(largest(row, count), np.argsort(-row, kind="stable")[:count])
