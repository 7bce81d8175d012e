"""The second verifier accepts honest certificates, and no forgery."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern, RationalQuadratic, WhiteKernel

import superlevel as sl
from superlevel import findings
from superlevel.certificates import check
from superlevel.errors import InputError
from superlevel.kernels import describe
from superlevel.study import Result, Study
from superlevel.study.signs import as_text
from superlevel.study.storage import Memory
from tests.certificates.forgeries import forged, rechained
from tests.certificates.studies import CONFIDENCES, begun, measure, measured, study

pytestmark = pytest.mark.filterwarnings("ignore::superlevel.errors.AssumptionWarning")
FILE = Path(check.__file__)
LINES = 640  # blank ones are not counted


def answer(document: dict[str, Any], head: str = "") -> tuple[bool, str]:
    return check.check(json.dumps(document), head)


# ---------------------------------------------------------------------------------------------------- honest


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_honest_certificates_are_proved_and_have_all_labels(confidence: str) -> None:
    _honest(confidence, range(5))


@pytest.mark.slow
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_two_hundred_honest_certificates_are_proved(confidence: str) -> None:
    _honest(confidence, range(5, 205))


def _honest(confidence: str, seeds: range) -> None:
    """Two roads to every interval: the library's arithmetic, and the verifier's."""
    proved = 0
    for seed in seeds:
        made = study(confidence, seed)
        if not made.labels.any() or findings.contradicting(made.knowledge.state.belief.findings):
            with pytest.raises(InputError, match="proves nothing yet"):
                made.certificate()
            continue
        document = made.certificate()
        accepted, sentence = answer(document, document["head"]["digest"])
        assert accepted, sentence
        stated = document["statements"][0]["labels"]
        if confidence == "rips":  # a tolerance ends rounds; what they leave open is not in the certificate
            pairs = zip(stated, as_text(made.labels), strict=True)
            assert all(one in ("?", other) for one, other in pairs)
        else:
            assert stated == as_text(made.labels)
        assert f"{stated.count('+')} above" in sentence or made.labels.ndim > 1
        proved += 1
    assert proved >= 0.9 * len(seeds)


def test_rounds_with_a_kernel_are_proved() -> None:
    places = np.linspace(0, 1, 7)
    problem = sl.Problem(sl.Domain(places, RBF(0.6)), goal=sl.Threshold(0.1), noise=0.1, bound=1.5, tolerance=0.5)
    made = Study.create(Memory(), "sea", problem, confidence=sl.Rips(schedule="tight"))
    measure(made, np.sin(6 * places), np.random.default_rng(0))
    measure(made, np.sin(6 * places), np.random.default_rng(1))
    document = made.certificate()
    accepted, sentence = answer(document)
    assert accepted, sentence
    assert "a ridge that hides less than a round resolves" in sentence
    document["statements"][0]["pivots"] = [0]
    assert answer(document) == (False, "the stated pivots leave out too much of the kernel")


@pytest.mark.parametrize("given", [{"norm": None, "bound": 2.0}, {"norm": 3.0, "bound": 2.0, "misspecification": 0.05}])
def test_ridge_with_a_bound_or_a_misspecification_is_proved(given: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    places = rng.standard_normal((12, 3))
    problem = sl.Problem(sl.Domain(places), goal=sl.Threshold(0.0), noise=0.1, **given)
    made = Study.create(Memory(), "sea", problem, confidence="ridge", batch=12)
    truth = places @ np.array([0.5, 0.3, -0.4])
    made.tell([Result(point=2, value=float(truth[2]), noise=0.05), Result(point=3, value=float(truth[3]))])
    for _ in range(3):
        measure(made, truth, rng)
    accepted, sentence = answer(made.certificate())
    assert accepted, sentence
    assert "|f - 0| <= 2" in sentence


def test_noise_of_their_own_corrections_and_withdrawals_are_read() -> None:
    for confidence in ("posterior", "ridge", "rkhs"):
        made = study(confidence, 3, steps=4)
        near = made.knowledge.state.estimate
        made.tell([Result(point=1, value=float(near[1]), noise=0.02)])
        ticket = int(made.ledger.measured[0]) + 1
        made.correct(ticket, float(made.ledger.value[ticket - 1]) + 0.01, reason="typing mistake")
        made.withdraw([int(made.ledger.measured[5]) + 1], reason="wet sensor")
        accepted, sentence = answer(made.certificate())
        assert accepted, sentence


def test_the_rkhs_widths_count_a_noise_of_its_own() -> None:
    """A precise measurement tells more than its point's noise says: the information gain is bounded with its own."""
    places = np.linspace(0, 1, 5)
    problem = sl.Problem(sl.Domain(places, RBF(0.3)), goal=sl.Threshold(0.0), noise=0.5, norm=2.0)
    made = Study.create(Memory(), "sea", problem, method="lse", confidence="rkhs")
    made.tell([Result(point=k, value=float(np.sin(3 * places[k])) + 0.4, noise=0.01) for k in range(5)])
    belief = made.knowledge.state.belief
    weights = np.full(5, 0.01**-2)
    gain = np.linalg.slogdet(np.eye(5) + np.sqrt(weights)[:, None] * RBF(0.3)(places[:, None]) * np.sqrt(weights))[1]
    half = (2.0 + np.sqrt(gain + 2 * np.log(10))) * belief.posterior.deviation
    assert (belief.bounds().upper - belief.estimate >= half * (1 - 1e-9)).all()
    assert answer(made.certificate())[0]


def test_a_fraction_of_the_maximum_is_read_from_points() -> None:
    document = study("posterior", 2, goal=sl.FractionOfMax(0.4), steps=10).certificate()
    accepted, sentence = answer(document)
    assert accepted, sentence
    assert "0.6 times the maximum" in sentence


# ----------------------------------------------------------------------------------------------------- audits


def _audited(noise: float | None = 0.1, tolerance: float | None = None) -> Study:
    """A study whose kernel is estimated, and an audit of its map."""
    rng = np.random.default_rng(7)
    places = rng.random((80, 2))
    truth = np.sin(5 * places[:, 0]) + places[:, 1]
    fit = ("kernel", "noise", "mean") if noise is None else ("kernel", "mean")
    problem = sl.Problem(sl.Domain(places), goal=sl.Levels([0.2, 0.9]), fit=fit, noise=noise)
    made = Study.create(Memory(), "sea", problem, batch=20)
    for _ in range(3):
        measure(made, truth, rng, noise=0.05)
    tickets = made.audit(90, tolerance=tolerance)
    values = [float(truth[ticket.point] + 0.05 * rng.standard_normal()) for ticket in tickets]
    made.tell([ticket.measured(value) for ticket, value in zip(tickets[:85], values[:85], strict=True)])
    return made


@pytest.mark.parametrize(("noise", "tolerance"), [(None, None), (0.1, 0.5), (0.1, 0.05)])
def test_an_audit_proves_the_map_of_an_estimated_kernel(noise: float | None, tolerance: float | None) -> None:
    made = _audited(noise, tolerance)
    document = made.certificate()
    assert [stated["kind"] for stated in document["statements"]] == ["audit", "audit"]
    accepted, sentence = answer(document)
    assert accepted, sentence
    for found in made.accuracy():
        assert f"at most {found.result.most} of the {found.result.points} labels" in sentence
        assert f"({found.result.draws} draws, {found.result.contradictions} contradictions)" in sentence


def test_draws_that_somebody_chose_prove_nothing() -> None:
    document = _audited().certificate()
    entry = next(entry for entry in document["entries"] if '"purpose":"audit"' in entry["payload"])
    said = json.loads(entry["payload"])
    said["points"][3] = (said["points"][3] + 1) % 80
    entry["payload"] = json.dumps(said)
    assert answer(rechained(document)) == (False, "the draws of the audit are not those of the seed")


def test_an_estimated_kernel_without_an_audit_proves_nothing() -> None:
    made = Study.create(Memory(), "sea", sl.Problem(sl.Domain(np.linspace(0, 1, 30)), goal=sl.Threshold(0.5)))
    with pytest.raises(InputError, match="audit the map"):
        made.certificate()
    document = _audited().certificate()
    ends = base64.b64encode(np.zeros(80).tobytes()).decode()
    document["statements"] = [{"kind": "labels", "labels": "+" * 160, "lower": ends, "upper": ends}]
    accepted, sentence = answer(document)
    assert not accepted
    assert "estimated" in sentence


# -------------------------------------------------------------------------------------------------- forgeries


def test_forged_certificates_are_not_proved() -> None:
    _forge(range(150))


@pytest.mark.slow
def test_a_thousand_forged_certificates_are_not_proved() -> None:
    _forge(range(150, 1150))


def _forge(keys: range) -> None:
    """With the head that somebody wrote down none is accepted; without it only certificates of other logs are."""
    honest = [study(name, seed).certificate() for seed in range(2) for name in CONFIDENCES]
    honest += [_audited().certificate(), _audited(0.1, 0.5).certificate(), measured(begun()).certificate()]
    elsewhere = 0
    for key in keys:
        original = honest[key % len(honest)]
        kind, text = forged(original, np.random.default_rng([key, 19]))
        assert not check.check(text, original["head"]["digest"])[0], (key, kind)
        if check.check(text)[0]:
            elsewhere += 1
            assert json.loads(text)["head"]["digest"] != original["head"]["digest"], (key, kind)
    assert elsewhere < 0.1 * len(keys)


def test_a_label_that_does_not_follow_is_refused_whichever_it_is() -> None:
    """A certificate may neither say more than its intervals, nor less."""
    document = study("ridge", 1).certificate()
    stated = document["statements"][0]
    labels = stated["labels"]
    for at in range(len(labels)):
        for sign in set("+-?") - {labels[at]}:
            stated["labels"] = labels[:at] + sign + labels[at + 1 :]
            assert answer(document) == (False, "the stated labels do not follow from the intervals")


def test_another_head_is_another_log() -> None:
    honest = study("posterior", 0).certificate()
    document = json.loads(json.dumps(honest))
    entry = document["entries"][-1]
    said = json.loads(entry["payload"])
    said["worker"] = "nobody"
    entry["payload"] = json.dumps(said)
    changed = rechained(document)
    assert answer(changed)[0]  # the same values prove the same
    accepted, sentence = answer(changed, honest["head"]["digest"])
    assert not accepted
    assert "it is another log" in sentence
    earlier = honest["entries"][1]["digest"]
    assert answer(honest, earlier)[0]  # a head that was written down earlier


def test_a_field_that_the_verifier_does_not_know_is_named() -> None:
    document = study("posterior", 0).certificate()
    said = json.loads(document["entries"][0]["payload"])
    document["entries"][0]["payload"] = json.dumps(said | {"transform": "log"})
    accepted, sentence = answer(rechained(document))
    assert not accepted
    assert "transform" in sentence


def test_a_study_that_the_verifier_does_not_know_is_refused_with_a_sentence() -> None:
    places, goal = np.linspace(0.1, 1, 12), sl.Threshold(0.5)
    domain = sl.Domain(places, RBF(0.3))
    logarithms = Study.create(Memory(), "sea", sl.Problem(domain, goal=goal, noise=0.1, transform="log"))
    beside = Study.create(Memory(), "sea", sl.Problem(domain, goal=goal, noise=0.1))
    beside.tell([Result(at=(0.333,), value=0.4)])
    box = sl.Domain.box({"dose": sl.Log(0.01, 1.0)}, count=16, kernel=RBF(0.5))
    scaled = Study.create(Memory(), "sea", sl.Problem(box, goal=goal, noise=0.1))
    scaled.tell([Result(point=3, value=0.4)])
    bits = sl.Domain(np.eye(6) + np.eye(6)[::-1], sl.kernels.Tanimoto())
    compounds = Study.create(Memory(), "sea", sl.Problem(bits, goal=goal, noise=0.1))
    compounds.tell([Result(point=3, value=4.0)])
    cases = (
        (logarithms, "the transform 'log'"),
        (beside, "not on the list"),
        (scaled, "scaled coordinates"),
        (compounds, r"the second verifier knows the kernels linear, RBF, Matern with nu 0\.5, .*: audit the map"),
    )
    for made, words in cases:
        with pytest.raises(InputError, match=words):
            made.certificate()


def test_a_study_that_a_program_answers_is_proved_like_any_other() -> None:
    domain = sl.Domain(np.linspace(0.1, 1, 12), RBF(0.3), names=["x"])
    found = sl.find(lambda x: x, domain, sl.Threshold(0.5), budget=12, noise=0.1, batch=4)
    assert [entry.kind for entry in found.study.log()].count("program") == 1
    assert answer(found.study.certificate())[0]


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        RBF(0.3),
        2.0 * Matern(0.3, nu=0.5) + RBF([0.3]) * Matern(0.2, nu=2.5),
        Matern(0.3, nu=float("inf")),
        RationalQuadratic(),
        1.0 * RBF(0.3) + WhiteKernel(0.1),
        RBF(0.3) ** 2.0,
        Matern(0.3, nu=0.7),
        sl.kernels.On([0], RBF(0.3)),
    ],
    ids=str,
)
def test_labels_are_stated_for_the_kernels_that_the_verifier_computes_and_for_no_others(kernel: Any) -> None:
    """What the study takes for known is what the verifier knows, kernel by kernel."""
    places = np.linspace(0.1, 1, 12)[:, None]
    domain = sl.Domain(places, kernel)
    made = Study.create(Memory(), "sea", sl.Problem(domain, goal=sl.Threshold(0.5), noise=0.1))
    made.tell([Result(point=point, value=1.2 * float(places[point, 0])) for point in (0, 4, 8, 11)])
    try:
        check.kernel_of(places, describe(kernel))
    except check.NotProvedError:
        with pytest.raises(InputError, match="the second verifier knows the kernels linear, RBF"):
            made.certificate()
    else:
        assert answer(made.certificate())[0]


# --------------------------------------------------------------------------------------------------- the file


def test_the_second_verifier_imports_nothing_of_superlevel(tmp_path: Path) -> None:
    claim, blocked = tmp_path / "claim.json", tmp_path / "blocked.py"
    document = study("ridge", 0).certificate()
    claim.write_text(json.dumps(document))
    blocked.write_text(
        "import runpy, sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('superlevel', 'scipy', 'sklearn', 'pydantic'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
        f"sys.argv = ['check.py', {str(claim)!r}, {document['head']['digest']!r}]\n"
        f"runpy.run_path({str(FILE)!r}, run_name='__main__')\n"
    )
    ran = subprocess.run([sys.executable, "-I", str(blocked)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("proved: ")
    claim.write_text(claim.read_text()[:-40])
    ran = subprocess.run([sys.executable, "-I", str(FILE), str(claim)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stdout.startswith("not proved: the certificate cannot be read")
    ran = subprocess.run([sys.executable, "-I", str(FILE), "nowhere.json"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stdout.startswith("not proved: the file cannot be read")


def test_the_second_verifier_is_short() -> None:
    assert sum(bool(line.strip()) for line in FILE.read_text().splitlines()) <= LINES
