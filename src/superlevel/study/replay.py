"""What a log lets one say: the method of a campaign, its state, and the labels.

The state is a function of (what was given, seed, entries), and of nothing else:

- where labels depend on the measurements alone, all of them are observed at once, in canonical order, so that neither
  the order in which results came nor who looked in between makes a difference;
- where intervals or labels remember, results are observed in the portions between two plans;
- rounds are told one after the other, each as a whole.

No plan is ever made anew: plans, designs and estimates are read from the log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from superlevel import kernels, methods
from superlevel.arrays import Array, Indices, Labels
from superlevel.design import Design
from superlevel.errors import InputError
from superlevel.goals import ABOVE, BELOW, UNDECIDED
from superlevel.methods import Method
from superlevel.problem import Problem
from superlevel.records import Info, State, Stop
from superlevel.study import designs, rounds
from superlevel.study.configuration import problem_of
from superlevel.study.events import Created, Fit
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.rounds import Round

SIGNS = {ABOVE: "+", UNDECIDED: "?", BELOW: "-"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge:
    """What is known after some entries."""

    ledger: Ledger
    fit: Fit | None
    """What is estimated instead of given."""
    method: Method | None
    """None until there is an estimate of what is not given."""
    state: State | None
    infos: tuple[Info, ...]
    """What each step showed."""
    over: int = 0
    """Rounds that are told, or passed over."""

    @property
    def labels(self) -> Labels:
        """(n,) nothing is decided before there is a method."""
        return np.zeros(self.ledger.n, dtype=np.int8) if self.state is None else self.state.labels

    @property
    def stop(self) -> Stop | None:
        return None if self.state is None else self.state.stop

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the assumptions, each once."""
        said = [doubt for info in self.infos for doubt in info.warnings]
        if self.method is not None and self.method.confidence.rounds_only:
            said += noisier(self.method, self.ledger)
        return tuple(dict.fromkeys([*(self.fit.doubts if self.fit else ()), *said]))

    @property
    def mean(self) -> Array | None:
        """(n,) what f is thought to be."""
        return None if self.state is None else self.state.estimate

    @property
    def level(self) -> float | None:
        """Where the level is, or is thought to be."""
        if self.ledger.created.threshold is not None:
            return self.ledger.created.threshold
        return None if self.mean is None or self.method is None else self.method.problem.goal.level(self.mean)

    @property
    def round(self) -> Round | None:
        """The round that is not told as a whole yet."""
        if self.method is None or not self.method.confidence.rounds_only:
            return None
        return next(iter(rounds.rounds(self.ledger)[self.over :]), None)


class _Observed(NamedTuple):
    """How far portions of the measurements were observed."""

    method: Method
    keys: tuple[bytes, ...]
    """Everything that each of them held."""
    state: State
    infos: tuple[Info, ...]


class Methods:
    """Makes the method of a campaign, and keeps what takes a while: the last one, and the state that it began with."""

    def __init__(self) -> None:
        self._kept: tuple[Created, Fit | None, Method] | None = None
        self.observed: _Observed | None = None

    def of(self, created: Created, fit: Fit | None) -> Method | None:
        """With the present estimate; None where one is needed and not there yet."""
        if created.fit and fit is None:
            return None
        if self._kept is None or self._kept[:2] != (created, fit):
            self._kept = (created, fit, make(created, fit))
        return self._kept[2]


def make(created: Created, fit: Fit | None) -> Method:
    """The method, as it was given."""
    batch = None if created.options["confidence"] == "rips" else created.batch
    return methods.make(created.method, problem_of(created, fit), batch=batch, **created.options)


def know(ledger: Ledger, makers: Methods, *, fit: Fit | None = None) -> Knowledge:
    """Everything that follows from the entries, and from an estimate that is newer than theirs."""
    fit = ledger.fit if fit is None else fit
    method = makers.of(ledger.created, fit)
    if method is None:
        return nothing(ledger)
    begin = method.init(seed=ledger.created.seed)
    if method.confidence.rounds_only:
        state, infos, over = rounds.told(method, begin, ledger)
        return Knowledge(ledger=ledger, fit=fit, method=method, state=state, infos=infos, over=over)
    portions = [ledger.measured] if method.memoryless else _portions(ledger)
    state, infos = _observed(method, begin, ledger, portions, makers)
    state = replace(state, design=_last_design(ledger))
    return Knowledge(ledger=ledger, fit=fit, method=method, state=state, infos=infos)


def nothing(ledger: Ledger) -> Knowledge:
    """Before the first estimate."""
    return Knowledge(ledger=ledger, fit=None, method=None, state=None, infos=())


def as_text(labels: Labels) -> str:
    """A sign for each point."""
    return "".join(SIGNS[int(label)] for label in labels)


def deviations(method: Method, ledger: Ledger, at: Indices) -> Array | None:
    """(N,) of measurements, where one of them has its own."""
    own = ledger.noise[at]
    if np.isnan(own).all():
        return None
    given = np.broadcast_to(method.problem.noise, ledger.n)[ledger.point[at]]
    return np.where(np.isnan(own), given, own)


def noisier(method: Method, ledger: Ledger) -> list[str]:
    """What rounds cannot take into account: measurements that are noisier, by their own account, than is assumed."""
    at = np.flatnonzero((ledger.fate == Fate.MEASURED) & (ledger.asking >= 0))
    at = at[ledger.noise[at] > np.broadcast_to(method.problem.noise, ledger.n)[ledger.point[at]]]
    if not len(at):
        return []
    largest = ledger.noise[at].max()
    return [
        f"{len(at):,} measurement{'s' * (len(at) != 1)} with a noise of up to {largest:.4g} by their own account, "
        "above what is assumed: rounds weigh all alike, so withdraw them and measure again"
    ]


def _observed(
    method: Method, state: State, ledger: Ledger, portions: list[Indices], makers: Methods
) -> tuple[State, tuple[Info, ...]]:
    """One portion after the other; all but the last were observed before, if nothing in them was corrected."""
    filled = [at for at in portions if len(at)]
    keys = tuple(b"".join(array[at].tobytes() for array in (ledger.point, ledger.value, ledger.noise)) for at in filled)
    infos: tuple[Info, ...] = ()
    before = makers.observed
    if before is not None and before.method is method and before.keys == keys[: len(before.keys)]:
        state, infos = before.state, before.infos
    for k in range(len(infos), len(filled)):
        if k and k == len(filled) - 1:  # the last one may still grow
            makers.observed = _Observed(method, keys[:k], state, infos)
        at = filled[k]
        noise = deviations(method, ledger, at)
        state, info = method.observe(state, ledger.point[at], ledger.value[at], noise=noise)
        infos = (*infos, info)
    return state, infos


def _portions(ledger: Ledger) -> list[Indices]:
    """What was told before the first plan, between two, and after the last."""
    plans = np.array([item.seq for item in ledger.askings], dtype=np.int64)
    portion = np.searchsorted(plans, ledger.told[ledger.measured])
    return [ledger.measured[portion == k] for k in range(len(plans) + 1)]


def _last_design(ledger: Ledger) -> Design | None:
    """From which the next one starts."""
    last = ledger.askings[-1].asked.design if ledger.askings else None
    return None if last is None else designs.restored(last)


def continued(known: Knowledge, ledger: Ledger) -> Knowledge:
    """The same, after entries that changed no label."""
    if known.state is None or known.method is None:
        return replace(known, ledger=ledger)
    design = known.state.design if known.method.confidence.rounds_only else _last_design(ledger)
    return replace(known, ledger=ledger, state=replace(known.state, design=design))


def tried(problem: Problem, created: Created) -> None:
    """That the method takes the problem, whatever kernel is found for it later: one of a few features stands in."""
    if created.options["confidence"] in ("rips", "ridge"):
        raise InputError("fit", repr(created.fit), "a guarantee needs kernel, noise and mean to be given")
    extent = float(np.ptp(problem.domain.points, axis=0).max()) or 1.0
    make(created, Fit(kernel=kernels.describe(RBF(extent)), noise=1.0, mean=0.0, samples=0))
