"""What a campaign claims, under which assumptions, and whether its own log bears that out.

Everything is computed anew from the log: every label that was written down, every design's value and bound, and
two tests of what is assumed of the noise and of the kernel:

    replicates    sum over points of (y - ybar)^2 / sigma^2                  chi^2 with N - points degrees of freedom
    predictions   |L^-1 (ybar - mean)|^2,  L L' = K + diag(sigma^2 / c)      chi^2 with as many as there are points

The first needs no kernel. The second takes the model at its word: values farther from their predictions than kernel and
noise allow mean that intervals are too narrow. It is a finding of the belief, as is what norm, bound and noise cannot
explain with the ridge confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import chdtrc

from superlevel import passes
from superlevel.arrays import Labels
from superlevel.errors import NotInstalledError, SuperlevelError
from superlevel.findings import Finding, Verdict
from superlevel.goals import summary
from superlevel.methods import Method
from superlevel.records import State, Stop, View
from superlevel.study import auditing, designs, signatures, snapshots
from superlevel.study.assumptions import assumptions, guarantee
from superlevel.study.beside import Faults, faults, read_all
from superlevel.study.events import BATCH, ROUND, Asked, Created, DamagedError
from superlevel.study.heads import Head, head_of
from superlevel.study.ledger import Asking, Ledger, fold
from superlevel.study.long import unpacked
from superlevel.study.planning import seen
from superlevel.study.replay import Knowledge, Methods, know
from superlevel.study.sense import CHANGED, check_sense
from superlevel.study.signs import as_text
from superlevel.study.status import WAY_OUT, kept
from superlevel.study.storage.protocol import Beside, Entry, Note, Storage
from superlevel.study.witnesses import Witness, compared

UNLIKELY = 1e-3  # probability of residuals as large as those seen, below which an assumption is contradicted
ROUNDING = 1e-6  # relative, of a bound that is computed again
EXACT = float(np.finfo(float).eps)  # relative, of a value that is written down
SINCE = {"ridge": 7}  # the format of the log from which the intervals of a confidence are those of today
SHOWN = 5  # places that a finding names

WORDS = {verdict: verdict.value for verdict in Verdict} | {Verdict.DOUBTED: Verdict.CONTRADICTED.value}
"""How the page says a verdict: a doubt that is this unlikely contradicts the claim."""

Watch: TypeAlias = Callable[[int, int], None]
"""Called with how many plans are checked, and how many there are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Verification:
    """What is claimed, what it rests on, and what came of the checks."""

    name: str
    claim: str
    guarantee: str
    """In which sense the labels are right."""
    assumptions: tuple[tuple[str, str], ...]
    """Name and value."""
    checks: tuple[Finding, ...]
    doubts: tuple[str, ...]
    labels: Labels | None
    """(n,) as the log has them; None where it cannot be read."""
    contradicted: bool = False
    """Whether the measurements contradict what is assumed, so that nothing is declared."""
    head: Head | None = None
    """Where the log stands; None where it cannot be read."""

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the claim."""
        return not any(check.verdict.bad for check in self.checks)

    @property
    def statement(self) -> tuple[tuple[str, str, str], ...]:
        """The page as rows: what, finding or value, verdict."""
        assumed = [(name, value, "assumed") for name, value in self.assumptions]
        checked = [(check.assumption, check.sentence, WORDS[check.verdict]) for check in self.checks]
        head = [] if self.head is None else [("head", str(self.head), "")]
        return (("claim", self.claim, ""), ("guarantee", self.guarantee, ""), *head, *assumed, *checked)

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


def verify(
    name: str,
    storage: Storage,
    *,
    makers: Methods | None = None,
    watch: Watch | None = None,
    witnesses: Sequence[Witness] = (),
    key: str | None = None,
    plans: bool = True,
) -> Verification:
    """Recompute everything from the log; ``makers`` may have made the method already.

    Without ``plans``, the labels and the designs of earlier plans are left out. ``witnesses`` are heads that were
    written down earlier, and ``key`` is the public key that the entries are to be signed with.
    """
    entries, beside = read_all(storage, name)
    stored = _Stored(
        name=name, storage=storage, entries=entries, beside=beside, witnesses=witnesses, key=key, plans=plans
    )
    try:
        with np.errstate(all="ignore"):  # numbers that nobody would measure overflow, and are found below
            return _recomputed(stored, makers=Methods() if makers is None else makers, watch=watch)
    except NotInstalledError:
        raise
    except DamagedError as error:
        return _damaged(name, entries, str(error))
    except (ArithmeticError, LookupError, MemoryError, SuperlevelError, TypeError, ValueError) as error:
        # The chain of digests is sound, but no version would write what it ties together.
        return _damaged(name, entries, f"nothing follows from what it says: {_said(error)}; {CHANGED}")


@dataclass(frozen=True, kw_only=True)
class _Stored:
    """What a store has of a study, and what others have written down of it."""

    name: str
    storage: Storage
    entries: list[Entry]
    beside: Beside
    witnesses: Sequence[Witness]
    key: str | None
    plans: bool


def _recomputed(stored: _Stored, *, makers: Methods, watch: Watch | None) -> Verification:
    name, entries, beside = stored.name, stored.entries, stored.beside
    ledger = fold(entries)
    check_sense(ledger)
    strange = faults(ledger, entries, beside)
    labels, bounds = _plans(entries, ledger, makers, watch) if stored.plans else _unplanned()
    known = know(ledger, makers)
    checks = [
        _log(name, ledger, strange),
        *compared(stored.witnesses, entries),
        *_signed(entries, ledger.created, stored.key),
        *_snapshot(name, stored.storage, entries),
        labels,
        *_kept(entries, makers, beside, strange),
        _tickets(beside, strange),
        bounds,
        *_assumed(known),
        *_audited(ledger),
    ]
    contradicted, goal = known.stop is Stop.CONTRADICTED, ledger.goal
    return Verification(
        name=name,
        claim=f"{goal.question}: {summary(goal, known.labels)}, from {ledger.samples:,} measurements",
        guarantee=guarantee(known),
        assumptions=assumptions(known),
        checks=tuple(checks),
        doubts=known.doubts,
        labels=known.labels,
        contradicted=contradicted,
        head=head_of(ledger),
    )


def against(labels: Labels, claimed: Labels, *, what: str) -> Finding:
    """Labels that somebody shows, and what the log says of them."""
    differ = np.flatnonzero(np.atleast_2d(labels != claimed).any(axis=0))
    count = labels.shape[-1]
    if not len(differ):
        return _check(what, f"{count:,} labels, all as the log has them", True)
    return _check(what, f"{len(differ):,} of {count:,} differ: points {_some(differ)}", False)


def _check(what: str, sentence: str, holds: bool | None, number: float = 0.0) -> Finding:
    """One thing that was looked at; None where there was nothing to look at."""
    verdict = {True: Verdict.HOLDS, False: Verdict.CONTRADICTED, None: Verdict.UNTESTED}[holds]
    return Finding(assumption=what, verdict=verdict, number=number, sentence=sentence)


def _said(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _damaged(name: str, entries: list[Entry], why: str) -> Verification:
    log = _check("log", f"{why} ({len(entries):,} entries there)", False)
    return Verification(
        name=name,
        claim="none: the log cannot be trusted",
        guarantee="none",
        assumptions=(),
        checks=(log,),
        doubts=(),
        labels=None,
    )


# --------------------------------------------------------------------------------- the log and what is beside it


def _log(name: str, ledger: Ledger, strange: Faults) -> Finding:
    """Whether the entries are those of this study, as many as there should be."""
    called = ledger.created.study
    wrong = list(strange.length)
    if called and called != name:
        wrong.append(f"it is the log of a study {called!r}: names were swapped")
    return _check("log", "; ".join(wrong) or f"{ledger.length:,} entries, each as it was written", not wrong)


def _signed(entries: list[Entry], created: Created, key: str | None) -> list[Finding]:
    """Whether every entry is signed with the key that is given, or that the first entry names."""
    if key is not None and key != created.key:
        said = f"the log names the key {created.key}" if created.key else "the log is not signed"
        return [_check("signatures", f"{said}, and not {key}", False)]
    if not created.key:
        return []
    if not signatures.is_installed():
        return [_check("signatures", f"not checked, because cryptography is missing: {signatures.REMEDY}", None)]
    wrong = signatures.faults(entries, created.key)
    whose = "the given key" if key is not None else f"{created.key}: compare it with the one that you know"
    sentence = "; ".join(wrong[:SHOWN]) or f"{len(entries):,} entries, each signed with {whose}"
    return [_check("signatures", sentence, not wrong)]


def _tickets(beside: Beside, strange: Faults) -> Finding:
    """Whether the open tickets are those of the log."""
    count = len(beside.tickets)
    sentence = f"{_many(count, 'ticket is', 'tickets are')} open, as the log has them" if count else "none is open"
    return _check("tickets", "; ".join(strange.tickets) or sentence, False if strange.tickets else count > 0 or None)


def _kept(entries: list[Entry], makers: Methods, beside: Beside, strange: Faults) -> list[Finding]:
    """Labels that are kept beside the log, for a quick look: of now, or of an earlier moment."""
    if strange.note:
        return [_check("cached labels", strange.note[0], False)]
    reading = None if beside.note is None else kept(Note(*beside.note))  # type: ignore[arg-type]
    if reading is None:  # nobody is shown what another version noted
        return []
    known = know(fold(entries[: reading.entries]), makers)
    wrong = _mislabelled(known, reading, "the cached labels")
    if reading.outlook is not None and not reading.outlook.agrees(known.outlook):
        wrong.append("the cached forecast of wrong labels is not what the log says")
    finding = wrong[0] if wrong else f"of {reading.entries:,} entries, as the log has them"
    return [_check("cached labels", finding, not wrong)]


# --------------------------------------------------------------------------------- labels and bounds


def _plans(entries: list[Entry], ledger: Ledger, makers: Methods, watch: Watch | None) -> tuple[Finding, Finding]:
    """Of every plan, the labels that were known when it was made, and its design's bound."""
    if ledger.created.format < SINCE.get(str(ledger.created.confidence.get("name")), 0):
        left = "not computed again: an earlier version began this study, with other intervals"
        return _check("labels", left, None), _check("designs", left, None)
    wrong: list[str] = []
    weak: list[str] = []
    gaps: list[float] = []
    then: Ledger | None = None
    blocks = passes.Results()
    for done, item in enumerate(sorted(ledger.askings, key=lambda item: item.asked.seen)):
        if not 1 <= item.asked.seen < item.seq:
            wrong.append(f"entry {item.seq}: made from {item.asked.seen:,} entries")
            continue
        begun = 0 if then is None else then.length
        then = fold(entries[begun : item.asked.seen], then)
        blocks = passes.Results(blocks.used)  # of the plan before, computed just now
        with passes.remembering(blocks):
            known = know(then, makers, fit=item.asked.fit)
        wrong += _mislabelled(known, item.asked, f"entry {item.seq}")
        wrong += _misdrawn(known, item)
        gap, weakness = _bound(known, item)
        gaps += [] if gap is None else [gap]
        weak += weakness
        if watch is not None:
            watch(done + 1, len(ledger.askings))
    if ledger.closed is not None:
        wrong += _mislabelled(_closing(entries, makers), ledger.closed, "the closing entry")
    return _labels(len(ledger.askings) + (ledger.closed is not None), wrong), _bounds(ledger, gaps, weak)


def _unplanned() -> tuple[Finding, Finding]:
    """What is said of earlier plans where nobody looked at them."""
    left = "those of earlier plans were not computed again; `superlevel study verify` does that"
    return _check("labels", left, None), _check("designs", left, None)


def _misdrawn(known: Knowledge, item: Asking) -> list[str]:
    """What is wrong with the map that an audit judges, or with the places that it drew."""
    plan, asked = item.asked.audit, item.asked
    if plan is None:
        return []
    if unpacked(plan.guess) != unpacked(as_text(known.method.guess(known.state))):
        return [f"entry {item.seq}: the audited map is not what the log says"]
    places = auditing.drawn(known.ledger, plan, number=asked.phase, size=len(asked.points))
    return (
        [] if places.tolist() == asked.points else [f"entry {item.seq}: the audit's places were not drawn by its seed"]
    )


def _audited(ledger: Ledger) -> list[Finding]:
    """What each audit proves of its map."""
    return [
        _check(f"audit {found.audit}", str(found), True if found.result.draws else None, found.result.bound)
        for found in auditing.accuracy(ledger)
    ]


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
    found, said = unpacked(as_text(known.labels)), unpacked(claimed.labels)
    if claimed.samples != known.ledger.samples:
        return [f"{where}: {claimed.samples:,} measurements, of {known.ledger.samples:,}"]
    if found == said:
        return []
    if len(found) != len(said):
        return [f"{where}: {len(said)} labels for {len(found)} points"]
    differ = np.array([k for k, (one, other) in enumerate(zip(found, said, strict=True)) if one != other])
    return [f"{where}: points {_some(differ)}"]


def _labels(count: int, wrong: list[str]) -> Finding:
    if wrong:
        return _check("labels", f"not what the log says in {'; '.join(wrong[:SHOWN])}", False)
    if not count:
        return _check("labels", "none was written down yet", None)
    return _check("labels", f"of {_many(count, 'entry', 'entries')}, computed again from the log: all equal", True)


def _bound(known: Knowledge, item: Asking) -> tuple[float | None, list[str]]:
    """The gap of a plan's design, and what is wrong with its value or its bound."""
    kept, method, state = item.asked.design, known.method, known.state
    if kept is None:
        lacking = method.rule.certifies and item.asked.purpose in (BATCH, ROUND)
        return None, [f"entry {item.seq}: its design is missing"] * lacking
    try:
        found = method.rule.review(_view(known, method, state, item.asked), designs.restored(kept))
    except (IndexError, ValueError) as error:  # also every InputError
        return None, [f"entry {item.seq}: no design for these points ({error})"]
    if found is None:
        return None, []
    gap = kept.value / kept.lower_bound - 1 if kept.lower_bound > 0 else np.inf
    wrong = []
    if found.lower_bound < kept.lower_bound * (1 - ROUNDING):
        wrong.append(f"entry {item.seq}: {kept.lower_bound:.6g} is claimed, {found.lower_bound:.6g} is proved")
    elif kept.value < found.value * (1 - ROUNDING):
        wrong.append(f"entry {item.seq}: a value of {kept.value:.6g} is claimed, {found.value:.6g} is what it is")
    elif item.asked.weights is not None and item.asked.weights != kept.weights:
        wrong.append(f"entry {item.seq}: points are drawn from another distribution than the design")
    return gap, wrong


def _view(known: Knowledge, method: Method, state: State, asked: Asked) -> View:
    """What the rule saw when it made the plan."""
    if method.confidence.in_rounds:
        return method.view(state, phase=asked.phase)
    return seen(method, state, known.ledger, phase=asked.phase, count=len(asked.points))


def _bounds(ledger: Ledger, gaps: list[float], weak: list[str]) -> Finding:
    if weak:
        return _check("designs", f"not as claimed in {'; '.join(weak[:SHOWN])}", False)
    if not gaps:
        finding = "the rule makes none: it takes one point after the other" if ledger.askings else "nothing was planned"
        return _check("designs", finding, None)
    finding = f"{len(gaps):,}, each value and bound computed again; none can be beaten by more than {max(gaps):.2%}"
    return _check("designs", finding, True, max(gaps))


def _snapshot(name: str, storage: Storage, entries: list[Entry]) -> list[Finding]:
    """A snapshot that those who open the study would believe, and that says something else than the log."""
    wrong = snapshots.wrong(storage, name, entries)
    return [_check("snapshot", wrong, False)] if wrong else []


# ----------------------------------------------------------------------------------------- residuals


def _assumed(known: Knowledge) -> list[Finding]:
    """What the measurements say of noise, kernel, norm and bound: the belief's findings, and repeated measurements."""
    found = list(known.state.belief.findings)
    if not any(finding.assumption == "noise" for finding in found):
        found.insert(0, _replicates(known, known.method))
    return sorted(found, key=lambda finding: finding.assumption != "noise")


def _replicates(known: Knowledge, method: Method) -> Finding:
    """Repeated measurements of a point, against the noise."""
    ledger = known.ledger
    if "noise" in method.problem.fit:
        return _check("noise", "estimated from the measurements themselves", None)
    at, scale = ledger.measured, method.problem.scale
    own = ledger.noise[at] if not method.confidence.in_rounds else np.full(len(at), np.nan)
    noise = np.where(
        np.isnan(own), method.problem.everywhere.deviations[ledger.point[at]], scale.deviations(ledger.value[at], own)
    )
    _, first, place, counts = np.unique(ledger.point[at], return_index=True, return_inverse=True, return_counts=True)
    freedom = len(at) - len(counts)
    if not freedom:
        return _check("noise", "no point was measured twice", None)
    values = scale(ledger.value[at])
    # Without noise any difference contradicts it, except for the last digit; equal values are to have none at all.
    smallest = (EXACT * float(np.abs(values).max())) ** 2 or 1.0
    weights = 1 / np.maximum(np.square(noise), smallest)
    apart = values - values[first][place]
    means = np.bincount(place, weights * apart) / np.bincount(place, weights)
    squares = float((weights * np.square(apart - means[place])).sum())
    who = _many(int((counts > 1).sum()), "point", "points")
    chance = float(chdtrc(freedom, squares))
    sentence = (
        f"{who} measured more than once: deviations {_times(squares, freedom)} what is assumed (p = {chance:.2g})"
    )
    return _check("noise", sentence, chance >= UNLIKELY, chance)


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _times(squares: float, freedom: int) -> str:
    ratio = np.sqrt(squares / freedom)
    return f"{ratio:.2f} times" if ratio < 10 else f"{ratio:.3g} times"


def _some(places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    shown = ", ".join(str(int(place)) for place in places[:SHOWN])
    return shown + (f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else "")
