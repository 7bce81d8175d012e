"""A campaign is held against its own log: honest ones pass, forged ones do not, whoever computed the digests."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.errors import InputError
from superlevel.findings import Verdict
from superlevel.study import Result, Study
from superlevel.study.status import Reading
from superlevel.study.storage import Note
from superlevel.study.verification import Verification, against, verify
from tests.study.campaigns import (
    ALL,
    AVERAGE,
    CERTIFIED,
    FITTED,
    GREEDY,
    LSE,
    MILK,
    NAME,
    NOISE,
    PAIR_RIDGE,
    PAIRS,
    RIDGE,
    RKHS,
    ROUNDS,
    TRUTH,
    WORST,
    Change,
    Kind,
    N,
    X,
    bare,
    contradicted,
    each,
    entries_of,
    forged,
    rechained,
    storage_of,
)


def check(found: Verification, what: str) -> str:
    """What was found of it."""
    (finding,) = [each.sentence for each in found.checks if each.assumption == what]
    return finding


# --- honest campaigns


@each(ALL)
def test_an_honest_campaign_is_borne_out_by_its_log(kind: Kind) -> None:
    study = kind.create()
    for step in range(3):
        tickets = study.ask(12 if kind is FITTED and step == 0 else None)
        study.tell(kind.measure(tickets)[::-1])
        assert not contradicted(study.verify())
    if not kind.in_rounds:
        study.tell([Result(point=3, value=float(TRUTH[3]), noise=0.2)])
        value = float(study.ledger.value[0])
        study.correct(1, value + 0.01, reason="typing error")
        study.withdraw(2)
        study.ask()
        study.close(reason="winter")
        study.tell([Result(point=4, value=float(TRUTH[4]))])  # late
    found = study.verify()
    assert found.ok, str(found)
    assert found.labels is not None
    np.testing.assert_array_equal(found.labels, study.labels)
    assert found.claim.endswith(f"from {study.ledger.samples:,} measurements")
    assert str(found).endswith("Nothing in the log speaks against this.")
    designs = {each.assumption: each.verdict for each in found.checks}["designs"]
    assert designs is (Verdict.HOLDS if kind in CERTIFIED else Verdict.UNTESTED)


def test_a_study_of_one_entry_claims_nothing() -> None:
    for kind in (GREEDY, FITTED, ROUNDS, RIDGE):
        found = kind.create().verify()
        assert found.ok
        assert {each.verdict for each in found.checks if each.assumption != "log"} == {Verdict.UNTESTED}


def test_plans_that_lag_behind_are_held_against_what_they_saw() -> None:
    """Two workers with plans out of order, results in between, designs for what was open then."""
    for kind in (AVERAGE, WORST, LSE, RIDGE, PAIR_RIDGE):
        study = kind.create()
        bob = Study.open(storage_of(study), NAME, worker="bob")
        mine, yours = study.ask(), bob.ask()
        bob.tell([yours[0].failed("ice"), *kind.measure(yours[2:])])
        study.ask(8)
        bob.tell(kind.measure(yours[1:2]))
        study.tell(kind.measure(mine))
        bob.ask()
        found = study.verify()
        assert found.ok, str(found)


def test_watching_counts_plans() -> None:
    study = GREEDY.run(GREEDY.create(), 3)
    seen: list[tuple[int, int]] = []
    study.verify(watch=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


# --- what anyone may do to a file


def tampered(study: Study, place: int, **changes: Any) -> Verification:
    entries = entries_of(study)
    entries[place] = replace(entries[place], **changes)
    return verify(NAME, bare(entries))


def told(kind: Kind = GREEDY) -> Study:
    return kind.run(kind.create(), 3)


def test_a_changed_removed_or_swapped_entry_is_found() -> None:
    study = told()
    entries = entries_of(study)
    payload = entries[2].payload
    value = str(json.loads(payload)["values"][0])
    assert contradicted(tampered(study, 2, payload=payload.replace(value, "0.125"))) == {"log"}
    assert contradicted(tampered(study, 3, at="2001-01-01")) == {"log"}
    labels = json.loads(entries[5].payload)["labels"]
    assert contradicted(tampered(study, 5, payload=entries[5].payload.replace(labels, "+" * N))) == {"log"}
    shorter = [*entries[:3], *(replace(entry, seq=entry.seq - 1) for entry in entries[4:])]
    assert contradicted(verify(NAME, bare(shorter))) == {"log"}
    swapped = [*entries[:2], replace(entries[3], seq=3), replace(entries[2], seq=4), *entries[4:]]
    found = verify(NAME, bare(swapped))
    assert contradicted(found) == {"log"}
    assert found.labels is None
    assert found.claim == "none: the log cannot be trusted"
    assert "rescue" in str(found)


# --- what a forger does who computes all digests anew


def flipped(payload: dict[str, Any]) -> None:
    labels = payload["labels"]
    payload["labels"] = labels.replace("?", "+", 1) if "?" in labels else labels.replace("-", "+", 1)


@each(ALL)
def test_forged_labels_are_found_by_computing_them_again(kind: Kind) -> None:
    study = kind.run(kind.create(), 3)
    for which in (0, -1):
        assert contradicted(verify(NAME, forged(study, "asked", flipped, which=which))) == {"labels"}
    study.close()
    found = verify(NAME, forged(study, "closed", flipped))
    assert contradicted(found) == {"labels"}
    assert "the closing entry: points" in check(found, "labels")


def assign(**values: Any) -> Change:
    return lambda payload: payload.update(values)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("asked", assign(samples=99)),
        ("asked", assign(labels="")),
        ("asked", assign(labels="+" * (N + 1))),
        ("asked", assign(seen=0)),
        ("asked", assign(seen=-3)),
        ("asked", assign(seen=99)),
        ("asked", assign(seen=6)),
        ("closed", assign(samples=1)),
        ("closed", assign(labels="?")),
    ],
)
def test_what_an_entry_says_of_itself_is_checked(kind: str, change: Change) -> None:
    study = told()
    study.close()
    storage = forged(study, kind, change)
    assert storage.read(NAME)[5].kind == "asked"
    assert contradicted(verify(NAME, storage)) == {"labels"}


@each([GREEDY, AVERAGE, WORST, MILK, PAIRS, LSE, RIDGE, PAIR_RIDGE])
def test_a_forged_value_does_not_go_with_the_labels_after_it(kind: Kind) -> None:
    def change(payload: dict[str, Any]) -> None:
        payload["values"][0] += 6.0

    found = verify(NAME, forged(told(kind), "told", change, which=0))
    assert "labels" in contradicted(found)


def test_a_forged_value_of_a_round_does_not_go_with_the_labels_after_it() -> None:
    def change(payload: dict[str, Any]) -> None:
        payload["values"] = [-value for value in payload["values"]]

    found = verify(NAME, forged(told(ROUNDS), "told", change, which=0))
    assert "labels" in contradicted(found)


def test_an_entry_that_was_taken_out_does_not_go_with_the_labels_after_it() -> None:
    log = [(entry.kind, entry.at, entry.payload) for entry in entries_of(told())]
    del log[2]  # the first results
    found = verify(NAME, bare(rechained(log)))
    assert "labels" in contradicted(found)


def in_design(change: Change) -> Change:
    return lambda payload: change(payload["design"])


def scale(field: str, factor: float) -> Change:
    return in_design(lambda design: design.update({field: design[field] * factor}))


def shift(design: dict[str, Any]) -> None:
    values = design["weights"]["values"]
    moved = 0.5 * max(values)
    values[values.index(max(values))] -= moved
    values[values.index(min(values))] += moved


def stretch(design: dict[str, Any]) -> None:
    design["weights"]["values"] = [2 * value for value in design["weights"]["values"]]


def negate(design: dict[str, Any]) -> None:
    values = design["weights"]["values"]
    values[0], values[1] = -values[0], values[1] + 2 * values[0]


def shrink(design: dict[str, Any]) -> None:
    design["weights"] = {"shape": [1], "at": [[0]], "values": [1.0]}


FORGERIES: dict[str, Change] = {
    "bound": scale("lower_bound", 1.01),
    "double bound": scale("lower_bound", 2.0),
    "value below bound": scale("value", 0.5),
    "value at bound": lambda payload: payload["design"].update(value=payload["design"]["lower_bound"]),
    "weights": in_design(shift),
    "no distribution": in_design(stretch),
    "negative": in_design(negate),
    "other shape": in_design(shrink),
}


@pytest.mark.parametrize("forgery", FORGERIES)
@each([AVERAGE, WORST, PAIRS, RIDGE, PAIR_RIDGE])
def test_a_forged_certificate_is_found(kind: Kind, forgery: str) -> None:
    found = verify(NAME, forged(told(kind), "asked", FORGERIES[forgery], which=0))
    assert contradicted(found) == {"designs"}, str(found)
    assert check(found, "designs").startswith("not as claimed in entry 2: ")


@pytest.mark.parametrize("forgery", ["bound", "double bound", "value below bound", "value at bound", "weights"])
def test_a_forged_certificate_of_a_round_is_found(forgery: str) -> None:
    found = verify(NAME, forged(told(ROUNDS), "asked", FORGERIES[forgery], which=-1))
    assert contradicted(found) == {"designs"}, str(found)


def test_a_round_is_of_its_design() -> None:
    """The last round's weights enter the labels of now, which no entry holds: they are to be those of the design."""

    def change(payload: dict[str, Any]) -> None:
        payload["weights"]["values"] = payload["weights"]["values"][::-1]

    study = told(ROUNDS)
    weights = json.loads(entries_of(study)[-2].payload)["weights"]["values"]
    assert weights != weights[::-1]
    assert "designs" in contradicted(verify(NAME, forged(study, "asked", change, which=-1)))


def test_the_average_that_is_certified_is_the_one_that_was_to_be_minimised() -> None:
    """Another mixture has a larger bound, which is none for this one."""
    study = told(AVERAGE)
    known = Study.open(bare(entries_of(study)[:1]), NAME).knowledge
    assert known.method is not None
    design = study.ledger.askings[0].asked.design
    assert design is not None

    def change(payload: dict[str, Any]) -> None:
        payload["design"]["dual"] = {"shape": [N], "at": [[0]], "values": [1.0]}
        payload["design"]["lower_bound"] *= 1.02
        payload["design"]["value"] *= 1.02

    assert contradicted(verify(NAME, forged(study, "asked", change, which=0))) == {"designs"}


# --- what is kept beside the log


def test_a_note_that_was_tampered_with_is_found() -> None:
    study = told()
    assert study.labels.any()  # they are cached beside the log
    noted = storage_of(study).noted(NAME)
    assert noted is not None
    assert check(study.verify(), "cached labels") == "of 7 entries, as the log has them"
    lie = Reading.model_validate_json(noted.text).model_copy(update={"labels": "+" * N})
    storage_of(study).note(NAME, Note(noted.seq, lie.model_dump_json()))
    assert contradicted(study.verify()) == {"cached labels"}
    study.tell([Result(point=0, value=0.0)])
    assert study.status(fresh=False).above == N  # which is what is shown
    assert contradicted(study.verify()) == {"cached labels"}


def test_an_old_note_is_held_against_what_was_known_then() -> None:
    study = told()
    assert study.labels.any()  # they are cached beside the log
    study.tell([Result(point=k, value=-5.0) for k in range(N)])
    found = study.verify()
    assert "cached labels" not in contradicted(found)
    assert check(found, "cached labels") == "of 7 entries, as the log has them"


def test_a_note_that_nobody_is_shown_is_no_matter() -> None:
    study = told()
    storage_of(study).note(NAME, Note(study.ledger.length, '{"entries":99}'))  # of another version
    assert "cached labels" not in {each.assumption for each in study.verify().checks}


@pytest.mark.parametrize("text", ["", '{"entries":99}'])
def test_a_note_that_knows_a_longer_log_is_found(text: str) -> None:
    study = told()
    storage_of(study).note(NAME, Note(99, text))
    found = study.verify()
    assert contradicted(found) == {"cached labels"}
    assert "of 99 entries, and the log has 7: the last ones were removed" in check(found, "cached labels")


def test_labels_that_somebody_shows_are_compared() -> None:
    labels = told().labels
    assert against(labels, labels, what="page").verdict is Verdict.HOLDS
    other = labels.copy()
    other[[2, 5]] = -other[[2, 5]] + (other[[2, 5]] == 0)
    found = against(labels, other, what="page")
    assert (found.verdict, found.verdict.value) == (Verdict.CONTRADICTED, "CONTRADICTED")
    assert found.sentence == f"2 of {N} differ: points 2, 5"
    assert against(labels, np.full(N, 7, dtype=np.int8), what="page").sentence.endswith(
        "points 0, 1, 2, 3, 4 and 9 more"
    )


# --- residuals


def residuals(study: Study) -> tuple[float, float]:
    """Both statistics by the formulas, as p-values."""
    ledger, at = study.ledger, study.ledger.measured
    points, values = ledger.point[at], ledger.value[at]
    method = study.knowledge.method
    assert method is not None
    variance = np.full(len(at), np.square(method.problem.known_noise))
    variance = np.where(np.isnan(ledger.noise[at]), variance, ledger.noise[at] ** 2)
    spread, freedom, means, left = 0.0, 0, [], []
    for point in np.unique(points):
        own = points == point
        weights = 1 / variance[own]
        mean = np.average(values[own], weights=weights)
        spread += float((weights * (values[own] - mean) ** 2).sum())
        freedom += int(own.sum()) - 1
        means.append(mean)
        left.append(1 / weights.sum())
    kernel = method.problem.domain.gram(np.unique(points))
    errors = np.array(means) - method.problem.mean
    square = float(errors @ np.linalg.solve(kernel + np.diag(left), errors))
    return float(chi2.sf(spread, freedom)), float(chi2.sf(square, len(means)))


def test_residuals_are_those_of_the_formulas() -> None:
    study = told()
    study.tell([Result(point=k, value=float(TRUTH[k]) + 0.1, noise=0.3) for k in range(6)])
    study.tell([Result(point=k, value=float(TRUTH[k]) - 0.1) for k in range(6)])
    found = study.verify()
    for what, expected in zip(("noise", "kernel"), residuals(study), strict=True):
        assert float(check(found, what).rpartition("p = ")[2].rstrip(")")) == pytest.approx(expected, rel=0.06)


def campaign(seed: int, *, noise: float = NOISE, length: float = 0.2, batches: int = 5, twice: bool = False) -> Study:
    """f is drawn from RBF(0.2) with noise 0.1; the study believes what is given."""
    rng = np.random.default_rng(seed)
    covariance = RBF(0.2)(X[:, None]) + 1e-9 * np.eye(N)
    truth = np.linalg.cholesky(covariance) @ rng.standard_normal(N)
    problem = sl.Problem(sl.Domain(X, RBF(length)), goal=sl.Threshold(0.2), noise=noise)
    study = GREEDY.create(problem=problem, seed=seed)
    for _ in range(batches):
        tickets = study.ask()
        if not len(tickets):
            break
        study.tell(tickets.measured(truth[tickets.indices] + NOISE * rng.standard_normal(len(tickets))))
    if twice:
        study.tell(
            [Result(point=k % N, value=float(truth[k % N] + NOISE * rng.standard_normal())) for k in range(2 * N)]
        )
    else:
        unseen = np.flatnonzero(study.ledger.counts == 0)
        values = truth[unseen] + NOISE * rng.standard_normal(len(unseen))
        study.tell([Result(point=int(k), value=float(y)) for k, y in zip(unseen, values, strict=True)])
    return study


@pytest.mark.parametrize("seed", range(3))
def test_a_noise_ten_times_too_small_is_found_with_and_without_replicates(seed: int) -> None:
    assert "noise" in contradicted(campaign(seed, noise=NOISE / 10, twice=True).verify())
    alone = campaign(seed, noise=NOISE / 10, batches=0)
    found = alone.verify()
    assert check(found, "noise") == "no point was measured twice"
    assert contradicted(found) == {"kernel"}
    assert any("intervals are too narrow" in doubt for doubt in found.doubts)


@pytest.mark.parametrize("seed", range(3))
def test_a_length_ten_times_too_long_is_found(seed: int) -> None:
    assert "kernel" in contradicted(campaign(seed, length=2.0).verify())


def test_a_noise_twice_too_large_is_no_contradiction() -> None:
    assert not contradicted(campaign(0, noise=2 * NOISE, twice=True).verify())


def test_honest_campaigns_are_not_doubted() -> None:
    wrong = [seed for seed in range(60) if not campaign(seed, batches=3, twice=seed % 2 == 0).verify().ok]
    assert len(wrong) <= 2, wrong  # one in a thousand for each of two tests


@pytest.mark.slow
def test_honest_campaigns_with_estimates_are_hardly_ever_doubted() -> None:
    wrong = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        truth = np.linalg.cholesky(RBF(0.25)(X[:, None]) + 1e-9 * np.eye(N)) @ rng.standard_normal(N)
        study = FITTED.create(seed=seed, batch=5)
        for _ in range(8):
            tickets = study.ask()
            if not len(tickets):
                break
            study.tell(tickets.measured(truth[tickets.indices] + NOISE * rng.standard_normal(len(tickets))))
        if not study.verify().ok:
            wrong.append(seed)
    assert len(wrong) <= 5, wrong  # a noise that was estimated from few measurements may be much too small


@pytest.mark.parametrize("value", [0.1, 0.0, 1e8 + 0.1, -3.3])
@pytest.mark.parametrize("kind", [GREEDY, ROUNDS], ids=lambda kind: kind.name)
def test_equal_replicates_without_noise_are_no_contradiction(kind: Kind, value: float) -> None:
    problem = kind.problem(noise=0.0, mean=value, goal=sl.Threshold(value - 1.0))
    study = kind.create(problem=problem)
    study.tell([Result(point=k % 3, value=value) for k in range(21)])
    assert check(study.verify(), "noise").endswith("(p = 1)")
    assert "noise" not in contradicted(study.verify())
    study.tell([Result(point=0, value=value + 0.01)])
    assert "noise" in contradicted(study.verify())


def test_a_noise_far_below_the_values_is_still_tested() -> None:
    """1e-11 of the values is more than their rounding."""
    problem = GREEDY.problem(noise=1e-3, mean=1e8, goal=sl.Threshold(1e8))
    study = GREEDY.create(problem=problem)
    study.tell([Result(point=k % 3, value=1e8 + 1e-3 * (-1) ** k) for k in range(40)])
    assert "noise" not in contradicted(study.verify())
    study.tell([Result(point=k % 3, value=1e8 + 1e-2 * (-1) ** k) for k in range(40)])
    assert "noise" in contradicted(study.verify())


def test_a_bound_that_is_exceeded_is_found() -> None:
    study = ROUNDS.create()
    study.tell([Result(ticket=ticket.number, value=40.0) for ticket in study.ask()])
    found = study.verify()
    assert contradicted(found) == {"bound"}
    assert check(found, "bound").startswith("bound is 1, but the mean of")


# --- the page


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (GREEDY, "every label is 3 posterior deviations from the level"),
        (LSE, "as right as kernel and noise are"),
        (Kind(name="", options={"confidence": sl.Posterior(beta=2.0)}), "every label is 2 posterior deviations"),
        (ROUNDS, "all labels are right with probability 0.8, for any noise of that variance"),
        (RKHS, "all labels are right with probability 0.9, for Gaussian noise and a norm as given"),
        (FITTED, "at most 1 % of the declared labels are wrong on average"),
        (Kind(name="", options={"confidence": sl.Posterior(error_rate=0.05)}), "at most 5 % of the declared labels"),
    ],
)
def test_the_guarantee_is_said(kind: Kind, sentence: str) -> None:
    found = kind.create().verify()
    assert sentence in found.guarantee
    assert sentence in str(found)


def test_assumptions_say_what_was_given_and_what_was_estimated() -> None:
    study = FITTED.create()
    assert dict(study.verify().assumptions)["kernel"] == "not estimated yet"
    study.tell(FITTED.measure(study.ask(14)))
    rows = dict(study.verify().assumptions)
    assert rows["kernel"].endswith(", estimated from 14 measurements")
    assert rows["noise"].endswith(", estimated from 14 measurements")
    rows = dict(GREEDY.create(problem=GREEDY.problem(noise=np.linspace(0.1, 0.2, N))).verify().assumptions)
    assert rows["kernel"] == "RBF(0.2), given"
    assert rows["noise"] == "0.1 to 0.2, given"
    rows = dict(ROUNDS.create().verify().assumptions)
    assert (rows["bound"], rows["delta"], rows["kernel"]) == ("|f - mean| <= 1", "0.2", "linear, given")


def test_a_study_that_is_not_there_cannot_be_verified() -> None:
    with pytest.raises(InputError, match="name is 'land'"):
        verify("land", storage_of(told()))
