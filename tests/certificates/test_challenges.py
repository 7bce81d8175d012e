"""Certificates of ridge studies with challenges: honest ones are proved, by another road, and forgeries are not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.arrays import Array
from superlevel.certificates import check
from superlevel.study import Result, Study
from superlevel.study.storage import Memory
from tests.certificates.forgeries import Document, rechained
from tests.certificates.studies import NOISE, TRUTH, begun, measured

pytestmark = pytest.mark.filterwarnings("ignore::superlevel.errors.AssumptionWarning")


def answer(document: Document, head: str = "") -> tuple[bool, str]:
    return check.check(json.dumps(document), head)


def challenged(made: Study) -> Any:
    state: Any = made.knowledge.state
    return state.belief.challenges.tests


@pytest.fixture(scope="module")
def honest() -> Document:
    made = measured(begun())
    assert challenged(made)
    assert "challenges" in (made.knowledge.state.belief.sources or ())
    return made.certificate()


def recomputed(document: Document) -> tuple[Array, Array]:
    """The intervals of the second verifier."""
    found = check.Proof(document["entries"])
    everything = np.arange(found.n)
    found.kernel = check.kernel_of(found.points, found.created.get("kernel"))
    found.diagonal = np.asarray(found.kernel(everything, everything), dtype=float)
    return found.by_ridge(document["statements"][0], np.zeros((2, found.n)))


# ---------------------------------------------------------------------------------------------------- honest


STUDIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "small batches": {"batch": 40},
    "misspecification": {"misspecification": 0.01},
    "norm and bound": {"bound": 1.5},
    "a sigma for each point": {"noise": (NOISE * np.linspace(0.9, 1.2, 30)).tolist()},
    "a rough kernel": {"kernel": Matern(0.4, nu=2.5)},
    "several levels": {"goal": sl.Levels([-0.3, 0.3])},
    "shares": {"confidence": sl.Ridge(shares=(0.3, 0.6))},
    "challenges only": {"confidence": sl.Ridge(shares=(0.0, 1.0)), "kernel": RBF(0.3)},
    "a fraction of the maximum": {"goal": sl.FractionOfMax(0.4)},
}


@pytest.mark.parametrize("name", STUDIES)
def test_both_roads_lead_to_the_same_intervals(name: str) -> None:
    made = measured(begun(**STUDIES[name]), steps=9)
    _same(made)
    assert challenged(made), "no challenge began, and nothing of them was compared"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_both_roads_lead_to_the_same_intervals_in_many_studies(seed: int) -> None:
    names = list(STUDIES)
    _same(measured(begun(**STUDIES[names[seed % len(names)]]), seed=seed, steps=3 + seed % 4))


def _same(made: Study) -> None:
    belief: Any = made.knowledge.state.belief
    if belief.contradicted or not made.labels.any():
        return
    document = made.certificate()
    lower, upper = recomputed(document)
    found = belief.bounds()
    scale = max(np.abs(lower).max(), np.abs(upper).max())
    np.testing.assert_allclose(lower, found.lower, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(upper, found.upper, rtol=0, atol=1e-6 * scale)
    accepted, sentence = answer(document, document["head"]["digest"])
    assert accepted, sentence


def test_linear_features_with_a_norm_or_a_bound() -> None:
    """Points of twelve coordinates that span eight: shares and pis are those of eight features."""
    rng = np.random.default_rng(2)
    turned = np.linalg.qr(rng.standard_normal((12, 12)))[0][:8]
    places = rng.standard_normal((40, 8))
    places /= np.linalg.norm(places, axis=1)[:, None]
    truth = places @ np.full(8, 0.4)
    limits: tuple[dict[str, Any], ...] = ({"norm": 1.5}, {"bound": 1.5})
    for given in limits:
        domain = sl.Domain(places @ turned)
        problem = sl.Problem(domain, goal=sl.Threshold(0.1), noise=NOISE, delta=0.1, tolerance=0.02, **given)
        made = Study.create(Memory(), "sea", problem, method="melk", confidence="ridge", batch=200)
        _same(measured(made, truth=truth, steps=9))
        assert made.knowledge.state.belief.shares[1] == pytest.approx(64 / 320)  # type: ignore[attr-defined]
        assert challenged(made)


def test_measurements_that_nobody_planned_feed_no_challenge() -> None:
    made = measured(begun(), steps=3)
    made.tell([Result(point=k, value=float(TRUTH[k]), noise=0.2) for k in (4, 20)])
    tickets = made.ask()
    made.tell(tickets.measured(TRUTH[tickets.indices].tolist())[:5])
    measured(made, steps=2)
    _same(made)


def test_without_a_plan_the_ellipsoids_have_all_of_delta() -> None:
    made = begun()
    made.tell([Result(point=k, value=float(TRUTH[k])) for k in range(0, 30, 3) for _ in range(9)], replicates=True)
    _same(measured(made, steps=2))
    assert not challenged(made)


@pytest.mark.parametrize("q", [0.0, 0.3, 40.0, 1e5])
@pytest.mark.parametrize("g", [0.05, 1.0, 7.0])
def test_the_evidence_is_a_mean_over_slopes(q: float, g: float) -> None:
    x = g * q + 2.0 * np.sqrt(q) + 0.3 / g
    centre = (x + g / (0.25 * g**2)) / (q + 1 / (0.25 * g**2))
    wide = (q + 1 / (0.25 * g**2)) ** -0.5
    offset = centre * x - centre**2 * q / 2
    value, _ = quad(
        lambda mu: norm.pdf(mu, g, g / 2) / norm.sf(0, g, g / 2) * np.exp(mu * x - mu**2 * q / 2 - offset),
        max(0.0, centre - 12 * wide),
        centre + 12 * wide,
        points=[centre],
    )
    found = check.log_evidence(np.array([x]), np.array([q]), np.array([g]))
    assert found[0] == pytest.approx(np.log(value) + offset, rel=1e-7, abs=1e-7)


# -------------------------------------------------------------------------------------------------- forgeries


def _place(document: Document) -> int:
    """The entry whose plan brings the first challenge."""
    return next(
        k
        for k, entry in enumerate(document["entries"])
        if entry["kind"] == "asked" and json.loads(entry["payload"]).get("challenge")
    )


def forged(honest: Document, change: Callable[[Document], Any], *, again: bool) -> Document:
    """With another challenge, and all digests computed anew if ``again``."""
    document = copy.deepcopy(honest)
    entry = document["entries"][_place(document)]
    said = json.loads(entry["payload"])
    change(said["challenge"])
    entry["payload"] = json.dumps(said, separators=(",", ":"))
    return rechained(document) if again else document


def _flip(said: Document) -> None:
    said["signs"] = said["signs"].translate(str.maketrans("+-", "-+"))


def _scale(name: str, times: float) -> Callable[[Document], None]:
    def change(said: Document) -> None:
        said[name] = [times * each for each in said[name]]

    return change


CHANGES: dict[str, Callable[[Document], Any]] = {
    "deltas raised a little": _scale("deltas", 1.2),
    "deltas raised beyond the budget": _scale("deltas", 50.0),
    "gaps": _scale("gaps", 0.5),
    "signs": _flip,
    "points": lambda said: said.update(points=[(x + 7) % 30 for x in said["points"]]),
    "pairs": lambda said: said.update(others=[0] * len(said["points"])),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_challenge_does_not_prove_the_intervals(honest: Document, name: str) -> None:
    document = forged(honest, CHANGES[name], again=False)
    assert answer(document) == (False, f"entry {_place(honest) + 1} was changed")
    changed = forged(honest, CHANGES[name], again=True)
    assert answer(changed) == (False, "a stated interval does not follow from the log")
    accepted, sentence = answer(changed, honest["head"]["digest"])
    assert not accepted
    assert "another log" in sentence


REFUSED: dict[str, tuple[Callable[[Document], Any], str]] = {
    "no gap": (lambda said: said["gaps"].__setitem__(0, 0.0), "a gap or a share of delta that is not above zero"),
    "a share below zero": (lambda said: said["deltas"].__setitem__(0, -1e-3), "that is not above zero"),
    "one delta less": (lambda said: said["deltas"].pop(), "more or fewer numbers than directions"),
    "nothing": (lambda said: said.update(points=[], signs="", gaps=[], deltas=[]), "more or fewer numbers"),
    "nowhere": (lambda said: said["points"].__setitem__(0, 30), "a point that is not there"),
    "no side": (lambda said: said.update(signs="?" + said["signs"][1:]), "neither + nor -"),
    "more": (lambda said: said.update(power=2.0), "fields that this verifier does not know: power"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_challenge_that_is_none_is_refused_in_a_sentence(honest: Document, name: str) -> None:
    change, words = REFUSED[name]
    accepted, sentence = answer(forged(honest, change, again=True))
    assert not accepted
    assert words in sentence


def test_a_challenge_that_moves_to_another_plan_is_another_challenge(honest: Document) -> None:
    """One that is written down after its noise was seen would be worthless."""
    place = _place(honest)
    plans = [k for k, entry in enumerate(honest["entries"]) if entry["kind"] == "asked" and k != place]
    for other in plans:
        document = copy.deepcopy(honest)
        one, two = (json.loads(document["entries"][k]["payload"]) for k in (place, other))
        one["challenge"], two["challenge"] = two.get("challenge"), one["challenge"]
        for k, said in ((place, one), (other, two)):
            document["entries"][k]["payload"] = json.dumps(said, separators=(",", ":"))
        changed = rechained(document)
        assert not answer(changed)[0]
        assert not answer(changed, honest["head"]["digest"])[0]


def test_all_challenges_together_have_one_share(honest: Document) -> None:
    """The same challenge with every plan does not begin more often than its deltas fit."""
    document = copy.deepcopy(honest)
    challenge = json.loads(document["entries"][_place(honest)]["payload"])["challenge"]
    for entry in document["entries"]:
        if entry["kind"] == "asked":
            said = json.loads(entry["payload"]) | {"challenge": challenge}
            entry["payload"] = json.dumps(said, separators=(",", ":"))
    found = check.Proof(rechained(document)["entries"])
    fed = [(found.summary(at, 1e-3), found.plans[place][1]) for at, place, whole in found.batches() if whole]
    share = 1.5 * sum(challenge["deltas"])
    begun_ = found.challenges(np.ones((30, 1)), np.zeros(30), fed, share)
    assert len(fed) > 1
    assert len(begun_) == 1


def test_formats_and_shares_of_older_logs_are_read(honest: Document) -> None:
    document = copy.deepcopy(honest)
    first = json.loads(document["entries"][0]["payload"])
    assert first["format"] >= 7
    for number, known in ((2, False), (3, True), (6, True), (7, True), (8, False)):
        document["entries"][0]["payload"] = json.dumps(first | {"format": number})
        assert answer(rechained(document)) == (
            (True, answer(honest)[1].split(" [")[0] + sentence_end(document))
            if known
            else (False, "the log has another format")
        )
    first["confidence"] = {"name": "ridge", "growth": 1.2, "shares": [0.5, 0.5]}
    document["entries"][0]["payload"] = json.dumps(first)
    assert answer(rechained(document)) == (False, "a stated interval does not follow from the log")


def sentence_end(document: Document) -> str:
    return f" [{answer(document)[1].split(' [')[1]}"


def test_pivots_that_somebody_chose_are_refused(honest: Document) -> None:
    """Pivots are not in the log: if they could be chosen after the noise, so could the weights of all tests."""
    document = copy.deepcopy(honest)
    stated = document["statements"][0]
    pivots = stated["pivots"]
    few, others = "leave out too much of the kernel", [k for k in range(30) if k not in pivots]
    for chosen, words in (
        (pivots[:-3], few),
        ([0], few),
        ([*pivots, others[0]], "not where those before it leave out much"),
        ([*pivots, *others], "a stated pivot"),
        (sorted(pivots), "not where those before it leave out much"),
        ([*pivots, pivots[0]], "a stated pivot"),
    ):
        stated["pivots"] = chosen
        accepted, sentence = answer(document)
        assert not accepted
        assert words in sentence


# ---------------------------------------------------------------------------------------- what is a whole plan


def as_entries(made: Study) -> list[Document]:
    return [
        {"seq": each.seq, "kind": each.kind, "at": each.at, "payload": each.payload, "digest": each.digest}
        for each in made.log()
    ]


def wholes(made: Study) -> list[tuple[int, int]]:
    """Plan and number of measurements of each batch that was told as a whole, by the second verifier."""
    entries = as_entries(made)
    return [(place, len(at)) for at, place, whole in check.Proof(entries).batches() if whole]


def test_a_ticket_that_failed_and_is_told_later_leaves_its_plan_whole() -> None:
    """A challenge that began with the plan has been looked at: its delta is spent."""
    made = begun(batch=12)
    tickets = made.ask()
    made.tell([tickets[0].failed("ice"), *(each.measured(float(TRUTH[each.point])) for each in tickets[1:])])
    count = len(tickets) - 1
    assert wholes(made) == [(0, count)]
    made.ask()
    made.tell([tickets[0].measured(0.1)])
    assert wholes(made) == [(0, count)]


def test_a_plan_that_ends_after_another_was_made_never_becomes_whole() -> None:
    """It would be put before plans that were looked at without it."""
    made = begun(batch=12)
    tickets = made.ask()
    made.tell([each.measured(float(TRUTH[each.point])) for each in tickets[:-1]])
    later = [each for each in made.ask(20) if each.number not in {ticket.number for ticket in tickets}]
    made.tell([each.measured(float(TRUTH[each.point])) for each in later])
    before = wholes(made)
    assert [place for place, _ in before] == [1]
    made.tell([tickets[-1].failed("ice")])
    assert wholes(made) == before


def test_a_plan_whose_measurements_are_withdrawn_stays_a_plan() -> None:
    made = begun(batch=12)
    tickets = made.ask()
    made.tell(tickets.measured(TRUTH[tickets.indices].tolist()))
    made.withdraw([each.number for each in tickets], reason="wet sensor")
    assert wholes(made) == [(0, 0)]


def test_who_plans_first_shares_delta_whatever_comes_while_the_plan_is_out() -> None:
    """Otherwise the ellipsoids would have all of delta for a while, and the challenges their share afterwards."""
    made, alone = begun(), begun(confidence=sl.Ridge(shares=(256 / (256 + 17**2), 0.0)))
    made.ask()
    for each in (made, alone):
        each.tell([Result(point=3, value=float(TRUTH[3]))])
    belief: Any = alone.knowledge.state.belief
    lower, upper = recomputed({"entries": as_entries(made), "statements": [dict(belief.hints)]})
    np.testing.assert_allclose(lower, belief.bounds().lower, atol=1e-5)
    np.testing.assert_allclose(upper, belief.bounds().upper, atol=1e-5)
