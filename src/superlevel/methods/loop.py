"""The loop that every method is: ask where to measure, tell what was measured, read what that decides.

    state = method.init(seed=0)
    while state.stop is None:
        plan = method.ask(state)                              # where, how often, and the certificate of that choice
        state, info = method.tell(state, plan, values)        # values in the order of plan.indices

A state never changes and a plan depends on nothing but the state and the plans that are pending: asking twice gives the
same plan. Where measurements take long, ask again with the plans that are out, ``method.ask(state, pending=[plan])``,
for further points; plans may then be told in any order.

Simulations, forecasts and studies all go through `Method.update`: only there do measurements change a state.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superlevel import findings
from superlevel.arrays import Labels, as_points, as_seed, as_vector, frozen
from superlevel.confidence.protocol import AnyConfidence
from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.findings import Finding, Verdict
from superlevel.goals import UNDECIDED, Bounds, Goal, Reading
from superlevel.one_thread import one_thread
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, Choice, Info, Plan, State, Stop, View
from superlevel.rules.protocol import Rule
from superlevel.sizes import Sizes

OUTSIDE = 3.0  # deviations of the noise that a level may be beyond what was measured


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """The rule says where, the sizes how often, the confidence what is known then, and the goal what that decides."""

    name: str
    problem: Problem
    goal: Goal
    """The problem's goal, with the directions by which it is read."""
    rule: Rule
    sizes: Sizes
    confidence: AnyConfidence
    prior: Belief
    """What is known before the first measurement."""
    permanent: bool
    """Whether a label stays once it is given. Otherwise labels are read anew from all measurements each time."""

    @property
    def budget(self) -> int:
        """Measurements of a simulation that has no other budget."""
        return self.confidence.budget

    @property
    def ordered(self) -> bool:
        """Whether labels depend on the order in which measurements came, or on how they were grouped."""
        return self.confidence.ordered or self.permanent

    # ----------------------------------------------------------------------------------------- ask

    @one_thread
    def init(self, *, seed: int = 0) -> State:
        """Before the first measurement only those directions are decided that no measurement can change."""
        belief, reading = self.prior, self._unread
        known = belief.fixed(self.goal.share)
        if known is not None:
            reading = self.goal.read(reading, known, tolerance=belief.tolerance)
        return State(
            seed=as_seed(seed),
            phase=1,
            goal=self.goal,
            reading=reading,
            samples=0,
            stop=self._stop(reading, belief, 1),
            belief=belief,
            campaign=self._campaign(as_seed(seed)),
        )

    @one_thread
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
        choice = self.choose(state, self.view(state, phase=phase, pending=out))
        return self.planned(state, choice, pending=pending)

    @one_thread
    def choose(self, state: State, view: View) -> Choice:
        """What the rule chooses from a view of this state, with a forecast of what will be measured there.

        While results are out no challenge begins: an earlier one may be among them, and both would take the same delta.
        """
        choice, out = self.rule.choose(view), len(view.pending) > len(view.failed)
        challenge = None if out else (choice.outlook or view.belief.outlook(view, choice.weights)).challenge
        forecast = state.belief.forecast(np.flatnonzero(choice.counts))
        return replace(choice, forecast=forecast, challenge=challenge)

    def planned(self, state: State, choice: Choice, *, pending: Sequence[Plan] = ()) -> Plan:
        """The plan of a choice that was made in this state, now or earlier."""
        phase = state.phase + len(pending)
        return Plan(
            phase=phase,
            weights=choice.weights,
            counts=choice.counts,
            certificate=choice.certificate,
            precision=self.sizes.precision(phase),
            undecided=state.undecided,
            origin=self._origin(state, pending),
            campaign=self._campaign(state.seed),
            forecast=choice.forecast,
            challenge=choice.challenge,
        )

    @one_thread
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

        ``sizes`` replaces the method's own, for a batch of another size.
        """
        n = self.problem.domain.n
        belief, goal = state.belief.seen_by_rules(self.goal)
        return View(
            goal=goal,
            phase=phase,
            reading=state.reading,
            belief=belief,
            pending=as_points("pending", pending, count=n),
            failed=as_points("failed", failed, count=n),
            start=state.design,
            sizes=self.sizes if sizes is None else sizes,
            seed=state.seed,
        )

    # ---------------------------------------------------------------------------------------- tell

    def tell(self, state: State, plan: Plan, values: ArrayLike) -> tuple[State, Info]:
        """What the measured values (plan.total,) show; they are in the order of ``plan.indices``.

        A finding against an assumption is also an `AssumptionWarning`.
        """
        self._check_state(state)
        self._check_plan("plan", state, plan)
        measured = as_vector("values", values, length=plan.total)
        told, info = self.update(state, Batch(points=plan.indices, values=measured, plan=plan, whole=True))
        for finding in info.findings:
            warnings.warn(finding.sentence, AssumptionWarning, stacklevel=2)
        return told, info

    def observe(
        self, state: State, points: ArrayLike, values: ArrayLike, *, noise: ArrayLike | None = None
    ) -> tuple[State, Info]:
        """What values (N,) at any points (N,) show, whoever planned them; ``noise`` (N,) are their own deviations.

        Places elsewhere are numbered after the points: the first is n. Where a round must be told as a whole there is
        no such thing.
        """
        places = as_points("points", points, count=self.problem.domain.everywhere.n)
        measured = as_vector("values", values, length=len(places))
        deviations = None if noise is None else as_vector("noise", noise, length=len(places))
        return self.update(state, Batch(points=places, values=measured, noise=deviations))

    @one_thread
    def update(self, state: State, batch: Batch) -> tuple[State, Info]:
        """The state after a batch, and what the batch showed. This is the only way to add measurements."""
        self._check_state(state)
        belief = self.confidence.update(state.belief, batch)
        reading, bounds = self.read(state.reading, belief)
        plan = batch.plan if batch.whole else None
        stop = Stop.CONTRADICTED if belief.contradicted else self._stop(reading, belief, state.phase + 1)
        after = replace(self._with(state, batch, belief), reading=reading, stop=stop)
        against = findings.contradicting(belief.findings)
        new = findings.new(against, state.belief.findings) if against else ()
        found = (*new, *self._outside(after))
        precision = None if plan is None else plan.precision
        return after, Info(
            phase=state.phase if plan is None else plan.phase,
            samples=len(batch.points),
            precision=precision,
            bounds=bounds,
            findings=found,
        )

    @one_thread
    def passed(self, state: State, batch: Batch) -> State:
        """The state after a batch, without a look at what the batch decides: there are no labels in it.

        A state in which labels are looked at comes from `update`. Where labels are permanent, it needs those before.
        """
        self._check_state(state)
        return self._with(state, batch, self.confidence.update(state.belief, batch))

    def _with(self, state: State, batch: Batch, belief: Belief) -> State:
        """After a batch; nothing is decided."""
        plan = batch.plan if batch.whole and not self.confidence.in_rounds else None
        return State(
            seed=state.seed,
            phase=state.phase + 1,
            goal=self.goal,
            reading=self._unread,
            samples=state.samples + len(batch.points),
            stop=None,
            belief=belief,
            design=None if plan is None else plan.certificate,
            told=state.told if plan is None else state.told | {plan.origin},
            campaign=state.campaign,
            history=_hashed(state.history, *_contents(batch)),
        )

    @one_thread
    def read(self, before: Reading, belief: Belief) -> tuple[Reading, Bounds]:
        """What a belief decides, and the bounds of the directions that decide it."""
        if not self.permanent or belief.contradicted:
            before = self._unread
        bounds = belief.bounds(self.goal.share, before.undecided)
        if belief.contradicted:
            return before, bounds
        return self.goal.read(before, bounds, tolerance=belief.tolerance), bounds

    @cached_property
    def _unread(self) -> Reading:
        """Nothing is decided."""
        return self.goal.unread(self.problem.domain.n)

    @one_thread
    def guess(self, state: State) -> Labels:
        """The label of every point, and where there is none, the side of the level on which the estimate is."""
        self._check_state(state)
        sides = self.goal.signs(state.estimate)
        return frozen(np.where(state.labels == UNDECIDED, sides, state.labels).astype(np.int8))

    def _stop(self, reading: Reading, belief: Belief, phase: int) -> Stop | None:
        """Whether the phase that comes next is needed."""
        if (reading.labels != UNDECIDED).all():
            highest = float(belief.bounds().upper.max())
            return Stop.EMPTY if self.goal.is_empty(reading.labels, highest, belief.tolerance) else Stop.DECIDED
        last = self.sizes.last
        return Stop.TOLERANCE if last is not None and phase > last else None

    def __repr__(self) -> str:
        rule, where = type(self.rule).__name__, f"{self.problem.domain.n:,} points"
        return f"Method({self.name}: {rule}, {self.confidence!r}, {self.sizes!r}, {self.problem.goal!r} on {where})"

    # ------------------------------------------------------------------------------------- fingerprints

    @cached_property
    def _fingerprint(self) -> str:
        """Of the method and the problem, as they were given: numbers that a solver computed may change with it."""
        problem = self.problem
        given = (
            *(self.name, self.permanent, self.rule, self.sizes, self.confidence),
            *(problem.goal, problem.bound, problem.norm, problem.delta, problem.mean, problem.tolerance),
            *(problem.misspecification, problem.ridge, problem.fit, _parameters(problem.domain.kernel)),
            problem.transform,
        )
        arrays = (
            problem.domain.points,
            problem.domain.elsewhere,
            np.asarray(problem.noise, dtype=np.float64),
            np.asarray(problem.cost),
        )
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
        if state.campaign != self._campaign(state.seed):
            raise InputError("state", "of another method or problem", "give what this method's init or tell returned")

    def _as_pending(self, state: State, given: Iterable[Plan]) -> tuple[Plan, ...]:
        if isinstance(given, Plan) or not isinstance(given, Iterable):
            raise InputError("pending", f"of type {type(given).__name__}", "give a list of plans that are out")
        pending = tuple(given)
        if pending and self.confidence.in_rounds:
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
        n, in_rounds = self.problem.domain.n, self.confidence.in_rounds
        if len(plan.counts) != n or (in_rounds and plan.phase != state.phase):
            got = f"for phase {plan.phase} and {len(plan.counts)} points"
            remedy = f"give the plan that was asked for this state, of phase {state.phase} and {n} points"
            raise InputError(field, got, remedy)
        if plan.campaign != self._campaign(state.seed):
            raise InputError(field, "for another method, problem or seed", "give a plan of this campaign")
        if in_rounds and plan.origin != self._origin(state):
            raise InputError(field, "for another state or method", "give the plan that was asked for this state")
        if plan.origin in state.told:
            raise InputError(field, "told already", "give each plan's values once")

    def _outside(self, state: State) -> tuple[Finding, ...]:
        """Whether all points got the same label because no level is among the measured values at all.

        A belief in rounds knows the last round only, which measures little more than the points that were left.
        """
        levels = self.goal.levels
        if state.stop is not Stop.DECIDED or not levels or self.confidence.in_rounds or np.ptp(state.labels):
            return ()
        weights, means = state.belief.averages
        measured = weights > 0
        if np.count_nonzero(measured) <= 1:
            return ()
        room = OUTSIDE / np.sqrt(weights[measured].max())
        low, high = float(means[measured].min()), float(means[measured].max())
        if any(low - room <= level <= high + room for level in levels):
            return ()
        side = "below" if high < min(levels) else "above"
        sentence = (
            f"the level is {', '.join(f'{level:g}' for level in levels)}, but everything measured is between {low:g} "
            f"and {high:g}, so that all points are {side}: check the level and its units"
        )
        return (Finding(assumption="level", verdict=Verdict.CONTRADICTED, number=levels[0], sentence=sentence),)


def _contents(batch: Batch) -> tuple[str | bytes, ...]:
    """What tells a batch from others."""
    origin = batch.plan.origin if batch.plan is not None and batch.whole else ""
    own = b"" if batch.noise is None else batch.noise.tobytes()
    return origin, batch.points.tobytes(), batch.values.tobytes(), own


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
