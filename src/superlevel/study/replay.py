"""What a log lets one say: the method of a campaign, its state, and the labels.

The state is a function of (what was given, seed, entries), and of nothing else. The measurements go through
`Method.update`, as those of a simulation do:

- where labels depend on the measurements alone, all of them are one batch, in canonical order, so that neither the
  order in which results came nor who looked in between makes a difference;
- otherwise they come in the portions between two plans. A plan whose results all came in one portion is a batch that
  was told as a whole, as in a simulation; no later plan can have been chosen by a part of it. The rest of a portion is
  a batch that nobody planned as it came;
- rounds are told one after the other, each as a whole.

No plan is ever made anew: plans, designs and estimates are read from the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from superlevel import findings, methods, passes
from superlevel.arrays import Array, Indices, Labels, normalised
from superlevel.blocks import LARGE
from superlevel.design import Design
from superlevel.findings import Finding, Verdict
from superlevel.goals import UNDECIDED, Bounds
from superlevel.methods import Method
from superlevel.methods.make import as_confidence, restore_rule
from superlevel.problem import Problem
from superlevel.records import Batch, Choice, Info, State, Stop
from superlevel.study import challenged, designs, forecasts, rounds
from superlevel.study.configuration import problem_of
from superlevel.study.events import Asked, Created, Fit
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.long import length_of
from superlevel.study.outlook import Outlook, foreseen
from superlevel.study.rounds import Round
from superlevel.study.signs import as_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge:
    """What is known after some entries."""

    ledger: Ledger
    method: Method
    state: State
    infos: tuple[Info, ...]
    """What each step showed."""
    over: int = 0
    """Rounds that are told, or passed over."""

    @property
    def labels(self) -> Labels:
        """(n,) or (k, n)"""
        return self.state.labels

    @property
    def stop(self) -> Stop | None:
        return self.state.stop

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the assumptions, each once."""
        before = () if self.ledger.fit is None else self.ledger.fit.doubts
        return tuple(dict.fromkeys([*before, *(finding.sentence for finding in self.contradictions)]))

    @cached_property
    def contradictions(self) -> tuple[Finding, ...]:
        """What any step showed against the assumptions, in order; of each assumption what was found last."""
        now = findings.contradicting(self.state.belief.findings)
        latest: dict[str, list[Finding]] = {}
        for found in (*(info.findings for info in self.infos), now):
            latest |= {finding.assumption: [] for finding in found}
            for finding in found:
                latest[finding.assumption].append(finding)
        return tuple(finding for listed in latest.values() for finding in listed)

    @cached_property
    def outlook(self) -> Outlook | None:
        """How many labels are expected to be wrong, now and later; None without a model of f."""
        return foreseen(self)

    @property
    def estimate(self) -> Array | None:
        """(n,) the estimate of f; None before there is one."""
        return None if self.state.belief.pilot else self.state.estimate

    @property
    def levels(self) -> tuple[float, ...]:
        """Where the levels are, or are estimated to be; empty while nothing is known of them."""
        goal, state = self.ledger.goal, self.state
        return goal.levels if state.belief.pilot or not state.samples else goal.levels_at(state.estimate)

    @property
    def round(self) -> Round | None:
        """The round that is not told as a whole yet."""
        if not self.method.confidence.in_rounds:
            return None
        return next(iter(rounds.rounds(self.ledger)[self.over :]), None)


class _Step(NamedTuple):
    """A state that was reached, and the batches that led there."""

    method: Method
    keys: tuple[bytes, ...]
    """Everything that each batch held."""
    state: State
    infos: tuple[Info, ...]
    is_read: bool
    """Whether the state has labels."""


class Methods:
    """Makes the method of a campaign, and caches what takes a while: the last one, and the last states of it."""

    def __init__(self) -> None:
        self._made: tuple[tuple[Created, Fit | None, bytes, bytes], Method] | None = None
        self.reached: list[_Step] = []

    def of(self, created: Created, fit: Fit | None, *, refined: Array, elsewhere: Array) -> Method:
        """With the estimate of an earlier version, where the log has one.

        Further points (r, d) and places (m, d) beside the points come after those that were given.
        """
        key = (created, fit, refined.tobytes(), elsewhere.tobytes())
        if self._made is None or self._made[0] != key:
            self._made = (key, make(created, problem_of(created, fit, refined=refined, elsewhere=elsewhere)))
        return self._made[1]


def make(created: Created, problem: Problem) -> Method:
    """The method, as it was given."""
    confidence = as_confidence(created.confidence)
    return methods.make(
        created.method,
        problem,
        batch=None if confidence.in_rounds else created.batch,
        confidence=confidence,
        rule=None if created.rule is None else restore_rule(created.rule),
        permanent=created.permanent,
    )


def know(ledger: Ledger, makers: Methods, *, fit: Fit | None = None) -> Knowledge:
    """Everything that follows from the entries, and from an estimate of an earlier version that is newer than they."""
    added = {"refined": ledger.refined, "elsewhere": ledger.elsewhere}
    method = makers.of(ledger.created, ledger.fit if fit is None else fit, **added)
    begin = method.init(seed=ledger.created.seed)
    if method.confidence.in_rounds:
        state, infos, over = rounds.told(method, begin, ledger)
        return Knowledge(ledger=ledger, method=method, state=state, infos=infos, over=over)
    listed = list(_parts(ledger)) if method.ordered else [_Part(ledger.measured, None, False)]
    state, infos = _updated(method, begin, ledger, [part for part in listed if len(part.at) or part.whole], makers)
    state = replace(state, design=_last_design(ledger))
    return Knowledge(ledger=ledger, method=method, state=state, infos=infos)


def as_labels(text: str, ledger: Ledger) -> Labels:
    """The labels that `as_text` wrote, (n,) or (k, n); points that were added since are undecided."""
    shape = ledger.goal.unread(ledger.n).labels.shape
    levels = 1 if len(shape) == 1 else shape[0]
    known = as_rows(text, length_of(text) // levels).reshape(*shape[:-1], -1)
    missing = ledger.n - known.shape[-1]
    if not missing:
        return known
    return np.concatenate([known, np.full((*shape[:-1], missing), UNDECIDED, np.int8)], axis=-1)


def deviations(ledger: Ledger, at: Indices) -> Array | None:
    """(N,) of measurements, where one of them has its own; NaN for one that has none."""
    own = ledger.noise[at]
    return None if np.isnan(own).all() else own


# ------------------------------------------------------------------------------------------- batches


class _Part(NamedTuple):
    """Some measurements of a portion."""

    at: Indices
    """Positions in the ledger."""
    asking: int | None
    """Their plan, as a position in the ledger's askings; None where nobody planned them."""
    whole: bool
    """Whether they are all that the plan asked for."""


def _parts(ledger: Ledger) -> Iterator[_Part]:
    """The batches of a log, in the order in which they became complete.

    A plan ends with its last ticket. It is whole if all that was measured of it then came since the last plan before.
    What was once told as a whole stays so, whatever is told or withdrawn later: tests that began with it have spent
    their share of delta. A ticket that failed and is told later counts as one that nobody planned.
    """
    plans = np.array([item.seq for item in ledger.askings], dtype=np.int64)
    told = np.searchsorted(plans, ledger.told)  # of each ticket: how many plans there were before its result
    wholes, ends = _wholes(ledger, plans)
    among = np.isin(ledger.asking, wholes) & (ledger.first == Fate.MEASURED)
    counts = among & (ledger.fate == Fate.MEASURED)
    for k in range(len(plans) + 1):
        for place in wholes[np.searchsorted(ends, k) : np.searchsorted(ends, k, side="right")].tolist():
            item = ledger.askings[place]
            tickets = np.arange(item.first - 1, item.first - 1 + item.count)
            yield _Part(_by_ticket(ledger, tickets[counts[tickets]]), place, True)
        rest = ledger.measured[(told[ledger.measured] == k) & ~among[ledger.measured]]
        _, first = np.unique(ledger.asking[rest], return_index=True)
        for place in ledger.asking[rest[np.sort(first)]].tolist():
            yield _Part(rest[ledger.asking[rest] == place], None if place < 0 else place, False)


def _wholes(ledger: Ledger, plans: Indices) -> tuple[Indices, Indices]:
    """The whole plans (w,), as positions, in the order in which they ended; and how many plans (w,) there were then.

    A plan has ended if none of its tickets is open. It is whole if all its results came in the portion of its end.
    """
    planned, count = ledger.asking >= 0, len(plans)
    asking, ended = ledger.asking[planned], ledger.ended[planned]
    measured = ledger.first[planned] == Fate.MEASURED
    last = np.zeros(count, dtype=np.int64)
    np.maximum.at(last, asking, ended)
    apart = (ended == 0) | (measured & (np.searchsorted(plans, ended) < np.searchsorted(plans, last)[asking]))
    whole = (np.bincount(asking[measured], minlength=count) > 0) & (np.bincount(asking[apart], minlength=count) == 0)
    wholes = np.flatnonzero(whole)
    wholes = wholes[np.argsort(last[wholes], kind="stable")]
    return wholes, np.searchsorted(plans, last[wholes])


def _by_ticket(ledger: Ledger, at: Indices) -> Indices:
    """By point, and the tickets of a point in their order: the order of a plan's indices."""
    at = np.sort(at)
    return at[np.argsort(ledger.point[at], kind="stable")]


def _updated(
    method: Method, state: State, ledger: Ledger, parts: list[_Part], makers: Methods
) -> tuple[State, tuple[Info, ...]]:
    """One batch after the other, from the last state that was reached before by the same batches.

    To look at what a batch decides takes a pass over a large domain. Nobody asks for the labels of batches before the
    last, and what they showed against the assumptions is remembered.
    """
    keys = tuple(_key(ledger, part) for part in parts)
    steps = [_Step(method, (), state, (), is_read=True)]
    steps += [
        step
        for step in makers.reached
        if step.method is method
        and step.keys == keys[: len(step.keys)]
        and (step.is_read or len(step.keys) < len(parts))
    ]
    shown = _Shown(method, state.campaign, keys)
    for k, part in enumerate(parts):
        before, found = steps[-1], shown.after(k + 1)
        if k < len(before.keys):
            continue
        batch = _batch(method, before.state, ledger, part)
        if found is None or k == len(parts) - 1:
            after, info = method.update(before.state, batch)
            shown.remember(k + 1, info.findings)
            step = _Step(method, keys[: k + 1], after, (*before.infos, info), is_read=True)
        else:
            after = method.passed(before.state, batch)
            step = _Step(method, keys[: k + 1], after, (*before.infos, _unread(after, batch, found)), is_read=False)
        steps = [before, step]
    makers.reached = steps[-2:]  # the last batch may still grow, and then the state before it is needed
    return steps[-1].state, steps[-1].infos


def _unread(after: State, batch: Batch, found: tuple[Finding, ...]) -> Info:
    """Of a batch whose bounds nobody looked at."""
    shape = after.undecided.shape
    nothing = Bounds(lower=np.broadcast_to(-np.inf, shape), upper=np.broadcast_to(np.inf, shape))
    return Info(phase=after.phase - 1, samples=len(batch.points), precision=None, bounds=nothing, findings=found)


class _Shown:
    """What each batch showed against the assumptions, remembered beside the blocks of a large domain.

    Nothing is remembered where a look takes no pass, or needs the look before it.
    """

    def __init__(self, method: Method, campaign: str, batches: tuple[bytes, ...]) -> None:
        cheap = method.problem.domain.n <= LARGE or method.permanent
        self._results = None if cheap else passes.remembered()
        self._keys = [blake2b(campaign.encode(), digest_size=16).digest()]
        for batch in batches:  # the key of a batch is a digest of all up to it
            self._keys.append(blake2b(self._keys[-1] + batch, digest_size=16).digest())

    def after(self, count: int) -> tuple[Finding, ...] | None:
        """What the last of so many batches showed; None if that is not known."""
        found = None if self._results is None else self._results.get(self._keys[count])
        if self._results is None or found is None:
            return None
        self._results.used[self._keys[count]] = found
        listed = json.loads(found.astype(np.uint8).tobytes())
        return tuple(Finding(**{**fields, "verdict": Verdict(fields["verdict"])}) for fields in listed)

    def remember(self, count: int, found: tuple[Finding, ...]) -> None:
        """For the next look."""
        if self._results is not None:
            text = json.dumps([asdict(finding) for finding in found]).encode()
            self._results.used[self._keys[count]] = np.frombuffer(text, dtype=np.uint8).astype(np.float64)[None]


def _key(ledger: Ledger, part: _Part) -> bytes:
    arrays = b"".join(array[part.at].tobytes() for array in (ledger.point, ledger.value, ledger.noise))
    return arrays + f"{part.asking}{part.whole}".encode()


def _batch(method: Method, state: State, ledger: Ledger, part: _Part) -> Batch:
    points = ledger.point[part.at]
    plan = None
    if part.asking is not None:
        plan = method.planned(state, _choice(ledger, part.asking))
    return Batch(
        points=points,
        values=ledger.value[part.at],
        noise=deviations(ledger, part.at),
        plan=plan,
        whole=part.whole,
        after_plans=_after_plans(ledger),
    )


def _after_plans(ledger: Ledger) -> bool:
    """Whether there was a plan before the first result; what was withdrawn since counts, so that nothing changes it."""
    told = ledger.told[ledger.told > 0]
    return bool(ledger.askings) and ledger.askings[0].seq < int(told.min(initial=ledger.length + 1))


def _choice(ledger: Ledger, place: int) -> Choice:
    """What a plan asked for."""
    asked = ledger.askings[place].asked
    counts = np.bincount(asked.points, minlength=ledger.n).astype(np.int64)
    return Choice(
        weights=normalised(counts.astype(np.float64)),
        counts=counts,
        certificate=_design(asked, ledger),
        forecast=None if asked.forecast is None else forecasts.restored(asked.forecast, counts),
        challenge=None if asked.challenge is None else challenged.restored(asked.challenge, ledger.n),
    )


def _last_design(ledger: Ledger) -> Design | None:
    """From which the next one starts."""
    return _design(ledger.askings[-1].asked, ledger) if ledger.askings else None


def _design(asked: Asked, ledger: Ledger) -> Design | None:
    """The design of a plan; None where it has none, or points were added since."""
    found = None if asked.design is None else designs.restored(asked.design)
    return found if found is not None and len(found.weights) == ledger.n else None


def continued(known: Knowledge, ledger: Ledger) -> Knowledge:
    """The same, after entries that changed no label."""
    design = known.state.design if known.method.confidence.in_rounds else _last_design(ledger)
    return replace(known, ledger=ledger, state=replace(known.state, design=design))
