"""The loop that every method is: ask where to measure, tell what was measured, read what that decides.

    state = method.init(seed=0)
    while state.stop is None:
        plan = method.ask(state)                              # where, how often, and the certificate of that choice
        state, info = method.tell(state, plan, values)        # values in the order of plan.indices

A state never changes and a plan depends on nothing but the state and the plans that are pending: asking twice gives the
same plan. Where measurements take long, ask again with the plans that are out, ``method.ask(state, pending=[plan])``,
for further points; plans may then be told in any order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, Labels, as_points, as_seed, as_vector, frozen
from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Bounds, FractionOfMax, Reader, Threshold, unread
from superlevel.problem import Problem
from superlevel.records import Beginning, Choice, Info, Knowledge, Plan, Sizes, State, Stop, View

FALSE_ALARM = 1e-3  # probability with which a round may doubt a bound that holds
SLACK = 1e-9  # relative; a mean that exceeds the bound by less does so by rounding
OUTSIDE = 3.0  # deviations of the noise that a threshold may be beyond what was measured


class Rule(Protocol):
    """Where to measure next."""

    def choose(self, view: View) -> Choice: ...


class Confidence(Protocol):
    """What is known."""

    @property
    def rounds_only(self) -> bool:
        """Whether a plan must be told before the next one is asked for."""
        ...

    def begin(self) -> Beginning:
        """Before the first measurement."""
        ...

    def width(self, state: State) -> tuple[float, float | Array]:
        """beta^1/2 for the rule, NaN where there is none, and what half-widths have on top."""
        ...

    @property
    def memoryless(self) -> bool:
        """Whether what is known depends on the measurements alone, in whatever order and portions they came."""
        ...

    def learn(self, state: State, plan: Plan, measured: Array) -> Knowledge:
        """What the measurements (N,) of a plan add."""
        ...


@runtime_checkable
class Observing(Confidence, Protocol):
    """A confidence that needs no plan."""

    def observe(self, state: State, points: Indices, measured: Array, noise: Array | None) -> Knowledge:
        """What measurements (N,) at any points (N,) add, whoever planned them."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """The rule says where, the sizes how often, the confidence what is known then, and the goal what that decides."""

    name: str
    problem: Problem
    reader: Reader
    """The problem's goal, with the directions by which it is read."""
    rule: Rule
    sizes: Sizes
    confidence: Confidence
    permanent: bool
    """Whether a label stays once it is given. Otherwise labels are read anew from all measurements each time."""
    options: tuple[object, ...]
    """What else the plans depend on, as it was given."""
    budget: int
    """Measurements of a simulation that has no other budget."""

    def init(self, *, seed: int = 0) -> State:
        """Before the first measurement."""
        known = self.confidence.begin()
        return State(
            seed=as_seed(seed),
            phase=1,
            reading=known.reading,
            samples=0,
            stop=self._stop(known.reading.labels, known.intervals, 1),
            posterior=known.posterior,
            learned=known.learned,
            intervals=known.intervals,
            campaign=self._campaign(as_seed(seed)),
        )

    def ask(self, state: State, *, pending: Iterable[Plan] = ()) -> Plan:
        """Where to measure in the phase that comes next. The same state and pending plans give the same plan.

        ``pending`` are plans that were asked for and not told yet: what they measure is taken as known where it is, and
        further points are proposed.
        """
        self._check_state(state)
        pending = self._as_pending(state, pending)
        if state.stop is not None:
            raise SuperlevelError(f"nothing is left to measure: {state.stop.value}")
        phase = state.phase + len(pending)
        out = np.concatenate([np.empty(0, dtype=np.int64), *(plan.indices for plan in pending)])
        return self.planned(state, self.rule.choose(self.view(state, phase=phase, pending=out)), pending=pending)

    def planned(self, state: State, choice: Choice, *, pending: Sequence[Plan] = ()) -> Plan:
        """The plan of a choice that was made in this state, now or earlier."""
        phase = state.phase + len(pending)
        return Plan(
            phase=phase,
            weights=choice.weights,
            counts=choice.counts,
            certificate=choice.certificate,
            precision=self.sizes.precision(phase),
            origin=self._origin(state, pending),
            campaign=self._campaign(state.seed),
        )

    def view(
        self,
        state: State,
        *,
        phase: int,
        pending: ArrayLike = (),
        failed: ArrayLike = (),
        sizes: Sizes | None = None,
    ) -> View:
        """What the rule looks at in this phase, with points (m,) that are being measured already or could not be.

        ``sizes`` stands in for the method's own, for a batch of another size.
        """
        width, margin = self.confidence.width(state)
        return View(
            phase=phase,
            undecided=state.undecided,
            posterior=state.posterior,
            learned=state.learned,
            pending=as_points("pending", pending, count=len(state.labels)),
            failed=as_points("failed", failed, count=len(state.labels)),
            intervals=state.intervals,
            width=width,
            margin=margin,
            start=state.design,
            sizes=self.sizes if sizes is None else sizes,
            seed=state.seed,
        )

    def tell(self, state: State, plan: Plan, values: ArrayLike) -> tuple[State, Info]:
        """What the measured values (plan.total,) show; they are in the order of ``plan.indices``."""
        measured = self._checked(state, plan, values)
        known = self.confidence.learn(state, plan, measured)
        told = replace(
            self._after(state, known, plan.total),
            design=None if self.confidence.rounds_only else plan.certificate,
            told=state.told if self.confidence.rounds_only else state.told | {plan.origin},
            history=_hashed(state.history, plan.origin, measured.tobytes()),
        )
        info = _info(known, plan.phase, plan.total, plan.precision, self._doubts(plan, measured) + self._outside(told))
        for doubt in info.warnings:
            warnings.warn(doubt, AssumptionWarning, stacklevel=2)
        return told, info

    @property
    def memoryless(self) -> bool:
        """Whether labels depend on the measurements alone, in whatever order and portions they came."""
        return self.confidence.memoryless and not self.permanent

    def observe(
        self, state: State, points: ArrayLike, values: ArrayLike, *, noise: ArrayLike | None = None
    ) -> tuple[State, Info]:
        """What values (N,) at any points (N,) show, whoever planned them; ``noise`` (N,) are their own deviations.

        Where a round must be told as a whole there is no such thing. What speaks against the assumptions is in the
        Info, and nothing is warned of.
        """
        self._check_state(state)
        if not isinstance(self.confidence, Observing):
            remedy = "rounds are told as a whole: give tell(state, plan, values)"
            raise InputError("points", "told without a plan", remedy)
        places = as_points("points", points, count=len(state.labels))
        measured = as_vector("values", values, length=len(places))
        deviations = None if noise is None else as_vector("noise", noise, length=len(places))
        known = self.confidence.observe(state, places, measured, deviations)
        own = b"" if deviations is None else deviations.tobytes()
        history = _hashed(state.history, places.tobytes(), measured.tobytes(), own)
        told = replace(self._after(state, known, len(places)), history=history)
        return told, _info(known, state.phase, len(places), None, self._outside(told))

    def _after(self, state: State, known: Knowledge, samples: int) -> State:
        """With what the confidence has learned, and what that decides."""
        before = state.reading
        if known.contradicted or not self.permanent:
            before = unread(self.reader, self.problem.domain.n)
        reading = before if known.contradicted else self.reader.read(before, known.deciding, known.bounds)
        stop = Stop.CONTRADICTED if known.contradicted else None
        return State(
            seed=state.seed,
            phase=state.phase + 1,
            reading=reading,
            samples=state.samples + samples,
            stop=stop or self._stop(reading.labels, known.intervals, state.phase + 1),
            posterior=known.posterior,
            learned=known.learned,
            intervals=known.intervals,
            told=state.told,
            campaign=state.campaign,
        )

    def guess(self, state: State) -> Labels:
        """(n,) what to say of every point if one must: its label, and where there is none, the likelier one.

        That is the side of the level on which the estimate is; without an estimate, above, as in the returned set.
        """
        self._check_state(state)
        estimate = state.estimate
        if estimate is None:
            return frozen(np.where(state.labels == UNDECIDED, ABOVE, state.labels).astype(np.int8))
        sides = np.where(estimate > self.problem.goal.level(estimate), ABOVE, BELOW)
        return frozen(np.where(state.labels == UNDECIDED, sides, state.labels).astype(np.int8))

    def _stop(self, labels: Labels, intervals: Bounds | None, phase: int) -> Stop | None:
        """Whether the phase that comes next is needed."""
        if (labels != UNDECIDED).all():
            nothing = isinstance(self.problem.goal, FractionOfMax) and bool((labels == BELOW).all())
            if intervals is not None:  # with a tolerance, all points may be declared below for another reason
                nothing = nothing and float(intervals.upper.max()) <= self.problem.tolerance
            return Stop.EMPTY if nothing else Stop.DECIDED
        last = self.sizes.last
        return Stop.TOLERANCE if last is not None and phase > last else None

    def __repr__(self) -> str:
        rule, confidence = type(self.rule).__name__, type(self.confidence).__name__
        where = f"{self.problem.domain.n:,} points"
        return f"Method({self.name}: {rule}, {confidence}, {self.sizes!r}, {self.problem.goal!r} on {where})"

    # ------------------------------------------------------------------------------------- fingerprints

    @cached_property
    def _fingerprint(self) -> str:
        """Of the method and the problem, as they were given: numbers that a solver computed may change with it."""
        problem = self.problem
        given = (
            *(self.name, self.permanent, *self.options),
            *(problem.goal, problem.bound, problem.norm, problem.delta, problem.mean, problem.tolerance),
            *(problem.misspecification, problem.ridge, _parameters(problem.domain.kernel)),
        )
        arrays = (problem.domain.points, np.asarray(problem.noise), np.asarray(problem.cost))
        return _hashed(repr(given), *(array.tobytes() for array in arrays))

    def _campaign(self, seed: int) -> str:
        return f"{self._fingerprint}-{seed}"

    def _origin(self, state: State, pending: Sequence[Plan] = ()) -> str:
        """Of everything that a plan depends on: what was given, and never what a solver computed."""
        given = (self._campaign(state.seed), state.phase, state.samples, [plan.origin for plan in pending])
        return _hashed(repr(given), state.history, state.labels.tobytes(), np.packbits(state.undecided).tobytes())

    # ------------------------------------------------------------------------------------------- checks

    def _check_state(self, state: State) -> None:
        if not isinstance(state, State):
            raise InputError("state", f"of type {type(state).__name__}", "give what init or tell returned")
        n = self.problem.domain.n
        wanted = (n, n) if isinstance(self.reader, FractionOfMax) else (n,)
        if state.labels.shape != (n,) or state.undecided.shape != wanted:
            got = f"of {len(state.labels)} points and {state.undecided.ndim}-d directions"
            raise InputError("state", got, f"give one of this method, for {n} points and {self.problem.goal}")
        if state.campaign != self._campaign(state.seed):
            raise InputError("state", "of another method or problem", "give what this method's init or tell returned")

    def _as_pending(self, state: State, given: Iterable[Plan]) -> tuple[Plan, ...]:
        if isinstance(given, Plan) or not isinstance(given, Iterable):
            raise InputError("pending", f"of type {type(given).__name__}", "give a list of plans that are out")
        pending = tuple(given)
        if pending and self.confidence.rounds_only:
            remedy = "tell that round first: where the next one measures depends on all of it"
            raise InputError("pending", f"{len(pending)} plans", remedy)
        for k, plan in enumerate(pending):
            self._check_plan(f"pending[{k}]", state, plan)
        if len({plan.origin for plan in pending}) < len(pending):
            raise InputError("pending", "the same plan more than once", "give each plan that is out once")
        return pending

    def _check_plan(self, field: str, state: State, plan: Plan) -> None:
        """A plan of this campaign that was not told yet; in rounds, the one of this state."""
        if not isinstance(plan, Plan):
            raise InputError(field, f"of type {type(plan).__name__}", "give what ask returned")
        n = len(state.labels)
        if len(plan.counts) != n or (self.confidence.rounds_only and plan.phase != state.phase):
            got = f"for phase {plan.phase} and {len(plan.counts)} points"
            remedy = f"give the plan that was asked for this state, of phase {state.phase} and {n} points"
            raise InputError(field, got, remedy)
        if plan.campaign != self._campaign(state.seed):
            raise InputError(field, "for another method, problem or seed", "give a plan of this campaign")
        if self.confidence.rounds_only and plan.origin != self._origin(state):
            raise InputError(field, "for another state or method", "give the plan that was asked for this state")
        if plan.origin in state.told:
            raise InputError(field, "told already", "give each plan's values once")

    def _checked(self, state: State, plan: Plan, values: ArrayLike) -> Array:
        """The values, before anything is computed from them."""
        self._check_state(state)
        self._check_plan("plan", state, plan)
        return as_vector("values", values, length=plan.total)

    def _outside(self, state: State) -> tuple[str, ...]:
        """Whether everything is decided alike because the threshold is not among the values at all."""
        goal = self.problem.goal
        if state.stop is not Stop.DECIDED or not isinstance(goal, Threshold):
            return ()
        if state.learned is not None:
            weights, means = state.learned.evidence.information, state.learned.evidence.means
        elif state.posterior is not None:
            weights = state.posterior.weights
            means = np.divide(state.posterior.sums, weights, out=np.zeros_like(weights), where=weights > 0)
        else:
            return ()
        measured = weights > 0
        if np.count_nonzero(measured) <= 1 or np.ptp(state.labels):
            return ()
        means = self.problem.mean + means[measured]
        room = OUTSIDE / np.sqrt(weights[measured].max())
        if means.min() - room <= goal.value <= means.max() + room:
            return ()
        side = "below" if means.max() < goal.value else "above"
        return (
            f"Threshold.value is {goal.value:g}, but everything measured is between {means.min():g} and "
            f"{means.max():g}, so that all points are {side}: check the level and its units",
        )

    def _doubts(self, plan: Plan, measured: Array) -> tuple[str, ...]:
        """Whether some point's mean is farther from the problem's than B allows.

        By Chebyshev's inequality, which needs no more than a variance, that happens by chance in one of 1000 rounds at
        most.
        """
        problem = self.problem
        if problem.bound is None:
            return ()
        support = np.flatnonzero(plan.counts)
        counts = plan.counts[support]
        starts = np.cumsum(counts) - counts
        means = np.add.reduceat(measured, starts) / counts - problem.mean
        noise = np.broadcast_to(problem.noise, problem.domain.n)[support]
        excess = np.abs(means) - noise * np.sqrt(len(support) / (FALSE_ALARM * counts))
        excess -= problem.bound * (1 + SLACK) + SLACK * abs(problem.mean)
        worst = int(np.argmax(excess))
        if excess[worst] <= 0:
            return ()
        return (
            f"bound is {problem.bound:g}, but the mean of {counts[worst]:,} measurements at point {support[worst]} "
            f"is {means[worst]:g} away from problem.mean: give a larger bound, or nothing declared is guaranteed",
        )


def _info(known: Knowledge, phase: int, samples: int, precision: float | None, doubts: tuple[str, ...]) -> Info:
    return Info(
        phase=phase,
        samples=samples,
        precision=precision,
        estimates=known.estimates,
        bounds=known.bounds,
        bias=known.bias,
        warnings=(*doubts, *known.warnings),
        sources=known.sources,
    )


def _hashed(*parts: str | bytes) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def _parameters(kernel: Any) -> str:
    """Everything that a kernel was made of: scikit-learn's repr has three digits only."""
    known = kernel.get_params() if hasattr(kernel, "get_params") else {}
    exact = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in known.items()}
    return repr((kernel, sorted((name, repr(value)) for name, value in exact.items())))
