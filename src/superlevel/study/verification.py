"""What a campaign claims, under which assumptions, and whether its own log bears that out.

Everything is computed anew from the log: every label that was written down, every design's value and bound, and
two tests of what is assumed of the noise and of the kernel:

    replicates    sum over points of (y - ybar)^2 / sigma^2                  chi^2 with N - points degrees of freedom
    predictions   |L^-1 (ybar - mean)|^2,  L L' = K + diag(sigma^2 / c)      chi^2 with as many as there are points

The first needs no kernel. The second takes the model at its word: values farther from their predictions than kernel and
noise allow mean that intervals are too narrow. The ridge confidence needs no such test: its own look for what norm,
bound and noise cannot explain, and are shown here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy.special import chdtrc

from superlevel.arrays import Labels
from superlevel.confidence.ridge import RidgeLearned
from superlevel.design import Design
from superlevel.methods import Method
from superlevel.posterior import GaussianPosterior
from superlevel.records import Stop, View, summary
from superlevel.study import designs
from superlevel.study.assumptions import assumptions, guarantee
from superlevel.study.configuration import question
from superlevel.study.events import Asked, DamagedError
from superlevel.study.replay import Knowledge, Methods, as_text, deviations, know, noisier
from superlevel.study.ledger import Asking, Ledger, fold
from superlevel.study.planning import seen
from superlevel.study.status import WAY_OUT, kept
from superlevel.study.storage.protocol import Entry, Note, Storage

UNLIKELY = 1e-3  # probability of residuals as large as those seen, below which an assumption is contradicted
ROUNDING = 1e-6  # relative, of a bound that is computed again
EXACT = float(np.finfo(float).eps)  # relative, of a value that is written down
SHOWN = 5  # places that a finding names

Watch: TypeAlias = Callable[[int, int], None]
"""Called with how many plans are checked, and how many there are."""


@runtime_checkable
class Certifying(Protocol):
    """A rule whose designs have certificates."""

    def certify(self, view: View, found: Design) -> float: ...
    def appraise(self, view: View, found: Design) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    what: str
    finding: str
    holds: bool | None
    """None where there was nothing to look at."""

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "CONTRADICTED", None: "not tested"}[self.holds]


@dataclass(frozen=True, kw_only=True, eq=False)
class Verification:
    """What is claimed, what it rests on, and what came of the checks."""

    name: str
    claim: str
    guarantee: str
    """In which sense the labels are right."""
    assumptions: tuple[tuple[str, str], ...]
    """Name and value."""
    checks: tuple[Check, ...]
    doubts: tuple[str, ...]
    labels: Labels | None
    """(n,) as the log has them; None where it cannot be read."""
    contradicted: bool = False
    """Whether the measurements contradict what is assumed, so that nothing is declared."""

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the claim."""
        return all(check.holds is not False for check in self.checks)

    @property
    def statement(self) -> tuple[tuple[str, str, str], ...]:
        """The page as rows: what, finding or value, verdict."""
        assumed = [(name, value, "assumed") for name, value in self.assumptions]
        checked = [(check.what, check.finding, check.verdict) for check in self.checks]
        return (("claim", self.claim, ""), ("guarantee", self.guarantee, ""), *assumed, *checked)

    def __str__(self) -> str:
        """One page."""
        width = max(len(row[0]) for row in self.statement)
        lines = [
            f"  {what:<{width}}  {text}" + (f"  [{verdict}]" if verdict else "")
            for what, text, verdict in self.statement
        ]
        outcome = "Nothing in the log speaks against this." if self.ok else "The log CONTRADICTS this: see above."
        lines += [*(f"  doubt: {doubt}" for doubt in self.doubts), outcome]
        return "\n".join([f"Study {self.name!r}", *lines, *[f"Next: {WAY_OUT}."] * self.contradicted])


def verify(name: str, storage: Storage, *, watch: Watch | None = None) -> Verification:
    """Recompute everything from the log."""
    entries = storage.read(name)
    try:
        ledger = fold(entries)
    except DamagedError as error:
        return _damaged(name, entries, error)
    makers = Methods()
    log = Check(what="log", finding=f"{ledger.length:,} entries, each as it was written", holds=True)
    labels, bounds = _plans(entries, ledger, makers, watch)
    beside = _kept(entries, makers, storage.noted(name))
    known = know(ledger, makers)
    checks = [log, labels, *beside, bounds, *_residuals(known)]
    contradicted = known.stop is Stop.CONTRADICTED
    return Verification(
        name=name,
        claim=f"{question(ledger.created)}: {summary(known.labels)}, from {ledger.samples:,} measurements",
        guarantee=f"none: {known.stop}" if contradicted else guarantee(ledger, known.method),
        assumptions=assumptions(ledger, known),
        checks=tuple(checks),
        doubts=known.doubts,
        labels=known.labels,
        contradicted=contradicted,
    )


def against(labels: Labels, claimed: Labels, *, what: str) -> Check:
    """Labels that somebody shows, and what the log says of them."""
    differ = np.flatnonzero(labels != claimed)
    if not len(differ):
        return Check(what=what, finding=f"{len(labels):,} labels, all as the log has them", holds=True)
    return Check(what=what, finding=f"{len(differ):,} of {len(labels):,} differ: points {_some(differ)}", holds=False)


def _damaged(name: str, entries: list[Entry], error: DamagedError) -> Verification:
    log = Check(what="log", finding=f"{error} ({len(entries):,} entries there)", holds=False)
    return Verification(
        name=name,
        claim="none: the log cannot be trusted",
        guarantee="none",
        assumptions=(),
        checks=(log,),
        doubts=(),
        labels=None,
    )


# --------------------------------------------------------------------------------- labels and bounds


def _plans(entries: list[Entry], ledger: Ledger, makers: Methods, watch: Watch | None) -> tuple[Check, Check]:
    """Of every plan, the labels that were known when it was made, and its design's bound."""
    wrong: list[str] = []
    weak: list[str] = []
    gaps: list[float] = []
    then: Ledger | None = None
    for done, item in enumerate(sorted(ledger.askings, key=lambda item: item.asked.seen)):
        if not 1 <= item.asked.seen < item.seq:
            wrong.append(f"entry {item.seq}: made from {item.asked.seen:,} entries")
            continue
        begun = 0 if then is None else then.length
        then = fold(entries[begun : item.asked.seen], then)
        known = know(then, makers, fit=item.asked.fit)
        wrong += _mislabelled(known, item.asked, f"entry {item.seq}")
        gap, weakness = _bound(known, item)
        gaps += [] if gap is None else [gap]
        weak += weakness
        if watch is not None:
            watch(done + 1, len(ledger.askings))
    if ledger.closed is not None:
        wrong += _mislabelled(_closing(entries, makers), ledger.closed, "the closing entry")
    return _labels(len(ledger.askings) + (ledger.closed is not None), wrong), _bounds(ledger, gaps, weak)


def _closing(entries: list[Entry], makers: Methods) -> Knowledge:
    at = next(entry.seq for entry in entries if entry.kind == "closed")
    return know(fold(entries[: at - 1]), makers)


class _Labelled(Protocol):
    """An entry, or what is kept beside the log."""

    @property
    def samples(self) -> int: ...
    @property
    def labels(self) -> str: ...


def _mislabelled(known: Knowledge, claimed: _Labelled, where: str) -> list[str]:
    found, said = as_text(known.labels), claimed.labels
    if claimed.samples != known.ledger.samples:
        return [f"{where}: {claimed.samples:,} measurements, of {known.ledger.samples:,}"]
    if found == said:
        return []
    if len(found) != len(said):
        return [f"{where}: {len(said)} labels for {len(found)} points"]
    differ = np.array([k for k, (one, other) in enumerate(zip(found, said, strict=True)) if one != other])
    return [f"{where}: points {_some(differ)}"]


def _labels(count: int, wrong: list[str]) -> Check:
    if wrong:
        return Check(what="labels", finding=f"not what the log says in {'; '.join(wrong[:SHOWN])}", holds=False)
    if not count:
        return Check(what="labels", finding="none was written down yet", holds=None)
    return Check(
        what="labels",
        finding=f"of {_many(count, 'entry', 'entries')}, computed again from the log: all equal",
        holds=True,
    )


def _bound(known: Knowledge, item: Asking) -> tuple[float | None, list[str]]:
    """The gap of a plan's design, and what is wrong with its bound."""
    kept = item.asked.design
    if kept is None or known.method is None or known.state is None or not isinstance(known.method.rule, Certifying):
        return None, []
    try:
        view, found = _view(known, known.method, item.asked), designs.restored(kept)
        bound, value = known.method.rule.certify(view, found), known.method.rule.appraise(view, found)
    except (IndexError, ValueError) as error:  # also every InputError
        return None, [f"entry {item.seq}: no design for these points ({error})"]
    gap = kept.value / kept.lower_bound - 1 if kept.lower_bound > 0 else np.inf
    if bound < kept.lower_bound * (1 - ROUNDING):
        return gap, [f"entry {item.seq}: {kept.lower_bound:.6g} is claimed, {bound:.6g} is proved"]
    if kept.value < value * (1 - ROUNDING):
        return gap, [f"entry {item.seq}: a value of {kept.value:.6g} is claimed, {value:.6g} is what it is"]
    if item.asked.weights is not None and item.asked.weights != kept.weights:
        return gap, [f"entry {item.seq}: points are drawn from another distribution than the design"]
    return gap, []


def _view(known: Knowledge, method: Method, asked: Asked) -> View:
    """What the rule saw when it made the plan."""
    assert known.state is not None
    if method.confidence.rounds_only:
        return method.view(known.state, phase=asked.phase)
    return seen(method, known.state, known.ledger, phase=asked.phase, count=len(asked.points))


def _bounds(ledger: Ledger, gaps: list[float], weak: list[str]) -> Check:
    if weak:
        return Check(what="designs", finding=f"not as claimed in {'; '.join(weak[:SHOWN])}", holds=False)
    if not gaps:
        finding = "the rule makes none: it takes one point after the other" if ledger.askings else "nothing was planned"
        return Check(what="designs", finding=finding, holds=None)
    finding = f"{len(gaps):,}, each value and bound computed again; none can be beaten by more than {max(gaps):.2%}"
    return Check(what="designs", finding=finding, holds=True)


def _kept(entries: list[Entry], makers: Methods, noted: Note | None) -> list[Check]:
    """Labels that are kept beside the log, for a quick look: of now, or of an earlier moment."""
    reading = None if noted is None else kept(noted)
    if reading is None or not 1 <= reading.entries <= len(entries):  # nobody is shown those
        return []
    known = know(fold(entries[: reading.entries]), makers)
    wrong = _mislabelled(known, reading, "what is kept for a quick look")
    finding = wrong[0] if wrong else f"of {reading.entries:,} entries, as the log has them"
    return [Check(what="kept labels", finding=finding, holds=not wrong)]


# ----------------------------------------------------------------------------------------- residuals


def _residuals(known: Knowledge) -> list[Check]:
    if known.method is None or known.state is None:
        return [Check(what="noise", finding="there is no estimate yet", holds=None)]
    if isinstance(known.state.learned, RidgeLearned):
        return _assumed(known, known.method, known.state.learned)
    checks = [_noise(known, known.method)]
    if known.state.posterior is not None:
        checks.append(_predictions(known.state.posterior))
    broken = [doubt for info in known.infos for doubt in info.warnings if doubt.startswith("bound is")]
    if known.method.problem.bound is not None and known.method.confidence.rounds_only:
        checks.append(_within(known.method.problem.bound, broken, rounds=len(known.infos)))
    return checks


def _assumed(known: Knowledge, method: Method, learned: RidgeLearned) -> list[Check]:
    """Noise, norm and bound against all measurements, as the ridge confidence has them."""
    problem, samples = method.problem, known.ledger.samples
    limits = {"norm": (problem.norm, "||theta||"), "bound": (problem.bound, "|f - mean|")}
    given = {name: f"{size} <= {limit:g}" for name, (limit, size) in limits.items() if limit is not None}
    said: dict[str, str] = {}
    for sentence in learned.contradictions:
        said.setdefault(_blamed(sentence, tuple(given)), sentence)
    louder = said.get("noise")
    checks = [_replicates(known, method) if louder is None else Check(what="noise", finding=louder, holds=False)]
    for name, words in given.items():
        finding = f"{words} explains all {samples:,} measurements" if samples else "nothing was measured yet"
        holds = name not in said if samples else None
        checks.append(Check(what=name, finding=said.get(name, finding), holds=holds))
    return checks


def _blamed(sentence: str, limits: tuple[str, ...]) -> str:
    """The assumption that a contradiction speaks of: the first limit of f where it speaks of all of them."""
    named = [name for name in limits if sentence.startswith(f"{name} is")]
    return named[0] if named else limits[0] if sentence.startswith("nothing is left") else "noise"


def _within(bound: float, broken: list[str], *, rounds: int) -> Check:
    """Every round's means against the bound on f."""
    if not rounds:
        return Check(what="bound", finding="no round is complete yet", holds=None)
    finding = broken[0] if broken else f"|f - mean| <= {bound:g} at every point measured"
    return Check(what="bound", finding=finding, holds=not broken)


def _noise(known: Knowledge, method: Method) -> Check:
    """What measurements say of their own noise, where the method counts on another, and what repeated ones show."""
    louder = noisier(method, known.ledger) if method.confidence.rounds_only else []
    return Check(what="noise", finding=louder[0], holds=False) if louder else _replicates(known, method)


def _replicates(known: Knowledge, method: Method) -> Check:
    """Repeated measurements of a point, against the noise."""
    ledger = known.ledger
    at = ledger.measured
    own = None if method.confidence.rounds_only else deviations(method, ledger, at)
    noise = np.broadcast_to(method.problem.noise, ledger.n)[ledger.point[at]] if own is None else own
    _, first, place, counts = np.unique(ledger.point[at], return_index=True, return_inverse=True, return_counts=True)
    freedom = len(at) - len(counts)
    if not freedom:
        return Check(what="noise", finding="no point was measured twice", holds=None)
    values = ledger.value[at]
    # Without noise any difference contradicts it, except for the last digit; equal values are to have none at all.
    smallest = (EXACT * float(np.abs(values).max())) ** 2 or 1.0
    weights = 1 / np.maximum(np.square(noise), smallest)
    apart = values - values[first][place]
    means = np.bincount(place, weights * apart) / np.bincount(place, weights)
    squares = float((weights * np.square(apart - means[place])).sum())
    repeated = int((counts > 1).sum())
    who = _many(repeated, "point", "points")
    finding = f"{who} measured more than once: deviations {_times(squares, freedom)} what is assumed"
    return _chi2("noise", finding, freedom, squares)


def _predictions(posterior: GaussianPosterior) -> Check:
    """Every point's mean against what kernel, noise and mean allow."""
    if not posterior.terms:
        return Check(what="kernel", finding="nothing was measured yet", holds=None)
    how = _times(posterior.squares, posterior.terms)
    finding = f"{posterior.terms:,} points: {how} as far from their predictions as kernel and noise say"
    return _chi2("kernel", finding, posterior.terms, posterior.squares)


def _chi2(what: str, finding: str, freedom: int, squares: float) -> Check:
    chance = float(chdtrc(freedom, squares))
    return Check(what=what, finding=f"{finding} (p = {chance:.2g})", holds=chance >= UNLIKELY)


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _times(squares: float, freedom: int) -> str:
    ratio = np.sqrt(squares / freedom)
    return f"{ratio:.2f} times" if ratio < 10 else f"{ratio:.3g} times"


def _some(places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    shown = ", ".join(str(int(place)) for place in places[:SHOWN])
    return shown + (f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else "")
