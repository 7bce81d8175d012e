"""Every named method, as a composition of a rule, a confidence and a goal.

| method | rule                                        | confidence | goal            | batch                     |
|--------|---------------------------------------------|------------|-----------------|---------------------------|
| melk   | G-optimal design for the undecided points   | RIPS       | threshold       | rounds, N_t of the paper  |
| milk   | XY-optimal design for the undecided pairs   | RIPS       | fraction of max | rounds, N_t of the paper  |

    state = method.init(seed=0)
    while state.stop is None:
        plan = method.ask(state)                              # where, how often, and the certificate of that choice
        state, info = method.tell(state, plan, values)        # values in the order of plan.indices

A state never changes and a plan depends on nothing but the state: asking twice gives the same plan.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superlevel import design, robust
from superlevel.arrays import Array, as_number, as_vector
from superlevel.confidence.rips import Rips
from superlevel.confidence.rounds import Rounds, as_schedule
from superlevel.design.basis import basis
from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.features import Features, embed, tolerance
from superlevel.goals import Bounds, FractionOfMax, Goal, Reading, Threshold
from superlevel.problem import Problem
from superlevel.records import Info, Plan, State, Stop
from superlevel.rules.design import DesignRule, unknown

FALSE_ALARM = 1e-3  # probability with which a round may doubt a bound that holds
RIDGE = 1e-7  # gamma of the paper's linear experiments, times the largest k(x, x)
MISSED = 1e-3  # part of the largest k(x, x) that the features may miss at most
SLACK = 1e-9  # relative; a mean that exceeds the bound by less does so by rounding
LARGEST = 1e100
NAMES = ("melk", "milk")
CONFIDENCES = ("rips",)
GOALS: dict[str, type[Goal]] = {"melk": Threshold, "milk": FractionOfMax}


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """The rule says where, the rounds how often, the confidence what is known then, and the goal what that decides."""

    name: str
    problem: Problem
    features: Features
    rule: DesignRule
    rounds: Rounds
    confidence: Rips

    def init(self, *, seed: int = 0) -> State:
        """Before the first measurement."""
        n = self.problem.domain.n
        goal = self.problem.goal
        labels = np.zeros(n, dtype=np.int8)
        reading = Reading(labels=labels, undecided=goal.directions(n))
        state = State(seed=_as_seed(seed), phase=1, reading=self._without_zeros(reading), samples=0, stop=None)
        return replace(state, stop=self._stop(state))

    def ask(self, state: State) -> Plan:
        """Where to measure in the phase that comes next. The same state gives the same plan."""
        self._check_state(state)
        if state.stop is not None:
            raise SuperlevelError(f"nothing is left to measure: {state.stop.value}")
        found = self.rule.aim(state.undecided)
        total = self.rounds.samples(state.phase, found.value, int(np.count_nonzero(state.undecided)))
        counts = design.draw(found.weights, total, rng=np.random.default_rng([state.seed, state.phase]))
        return Plan(
            phase=state.phase,
            weights=found.weights,
            counts=counts,
            certificate=found,
            precision=self.rounds.precision(state.phase),
            origin=self._origin(state),
        )

    def tell(self, state: State, plan: Plan, values: ArrayLike) -> tuple[State, Info]:
        """What the measured values (plan.total,) show; they are in the order of ``plan.indices``."""
        measured = self._checked(state, plan, values)
        bias = self.confidence.bias(plan)
        doubts = (*self._doubts(plan, measured), *_hidden(plan, bias))
        estimate = self.confidence.estimate(plan, state.undecided, measured)
        bounds = self.confidence.bounds(plan, estimate)
        told = replace(
            state,
            phase=state.phase + 1,
            reading=self.problem.goal.read(state.reading, bounds),
            samples=state.samples + plan.total,
        )
        info = Info(
            phase=plan.phase,
            samples=plan.total,
            precision=plan.precision,
            estimates=estimate.values + self.problem.goal.offset(self.problem.mean),
            bounds=bounds,
            bias=bias,
            warnings=doubts,
        )
        for doubt in doubts:
            warnings.warn(doubt, AssumptionWarning, stacklevel=2)
        return replace(told, stop=self._stop(told)), info

    def _stop(self, state: State) -> Stop | None:
        if not (state.labels == 0).any():
            nothing = isinstance(self.problem.goal, FractionOfMax) and not state.found().any()
            return Stop.EMPTY if nothing else Stop.DECIDED
        last = self.rounds.last
        return Stop.TOLERANCE if last is not None and state.phase > last else None

    def _without_zeros(self, reading: Reading) -> Reading:
        """Directions of length zero are known without measuring: at phi(x) = 0, f(x) is the mean.

        A point exactly at the threshold is not above it, and nothing will ever show more. A pair exactly at zero speaks
        neither for nor against its point, as in the paper's lemma, where a point is in if no pair is below zero.
        """
        goal, slack = self.problem.goal, self.problem.misspecification
        zero = ~unknown(goal, self.features)
        if not zero.any():
            return reading
        offset = goal.offset(self.problem.mean)
        if isinstance(goal, Threshold) and -slack < offset <= slack and slack > 0:
            got = f"{int(np.argmax(zero))} for the number of a point with phi(x) = 0, whose side no measurement tells"
            raise InputError("domain.points", got, "leave that point out, or give a smaller misspecification")
        in_set = offset > 0 or (offset == 0 and isinstance(goal, FractionOfMax))
        known = np.where(zero, np.inf if in_set else -np.inf, np.nan)
        return goal.read(reading, Bounds(lower=known, upper=known))

    def _origin(self, state: State) -> str:
        """Of everything that a plan depends on, as it was given: numbers that a solver computed may change with it."""
        problem = self.problem
        given = (
            *(self.name, self.rounds.schedule, state.seed, state.phase, state.samples, self.rule.ridge, self.rule.rtol),
            *(problem.goal, problem.bound, problem.delta, problem.mean, problem.tolerance),
            *(self.rounds.estimator.name, _parameters(problem.domain.kernel)),
        )
        digest = blake2b(repr(given).encode(), digest_size=16)
        for array in (problem.domain.points, np.asarray(problem.noise), state.labels, np.packbits(state.undecided)):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def _check_state(self, state: State) -> None:
        if not isinstance(state, State):
            raise InputError("state", f"of type {type(state).__name__}", "give what init or tell returned")
        n = self.problem.domain.n
        if state.labels.shape != (n,) or state.undecided.shape != self.problem.goal.directions(n).shape:
            got = f"of {len(state.labels)} points and {state.undecided.ndim}-d directions"
            raise InputError("state", got, f"give one of this method, for {n} points and {self.problem.goal}")

    def _checked(self, state: State, plan: Plan, values: ArrayLike) -> Array:
        """The values, before anything is computed from them."""
        self._check_state(state)
        if not isinstance(plan, Plan):
            raise InputError("plan", f"of type {type(plan).__name__}", "give what ask returned")
        if plan.phase != state.phase or len(plan.counts) != len(state.labels):
            got = f"for phase {plan.phase} and {len(plan.counts)} points"
            remedy = (
                f"give the plan that was asked for this state, of phase {state.phase} and {len(state.labels)} points"
            )
            raise InputError("plan", got, remedy)
        if plan.origin != self._origin(state):
            raise InputError("plan", "for another state or method", "give the plan that was asked for this state")
        return as_vector("values", values, length=plan.total)

    def _doubts(self, plan: Plan, measured: Array) -> tuple[str, ...]:
        """Whether some point's mean is farther from the problem's than B allows.

        By Chebyshev's inequality, which needs no more than a variance, that happens by chance in one of 1000 rounds at
        most.
        """
        problem = self.problem
        support = np.flatnonzero(plan.counts)
        counts = plan.counts[support]
        starts = np.cumsum(counts) - counts
        means = np.add.reduceat(measured, starts) / counts - problem.mean
        noise = np.broadcast_to(problem.noise, problem.domain.n)[support]
        excess = np.abs(means) - noise * np.sqrt(len(support) / (FALSE_ALARM * counts))
        excess -= (problem.bound or np.inf) * (1 + SLACK) + SLACK * abs(problem.mean)
        worst = int(np.argmax(excess))
        if excess[worst] <= 0:
            return ()
        return (
            f"bound is {problem.bound:g}, but the mean of {counts[worst]:,} measurements at point {support[worst]} "
            f"is {means[worst]:g} away from problem.mean: give a larger bound, or nothing declared is guaranteed",
        )


def _hidden(plan: Plan, bias: float | None) -> tuple[str, ...]:
    """Whether ridge and misspecification hide more than the round resolves."""
    if bias is None or bias <= plan.precision:
        return ()
    return (
        f"round {plan.phase} resolves {plan.precision:g}, but ridge and misspecification hide up to {bias:g}: what is "
        "declared from now on may be wrong by that much; give a smaller ridge, or a larger tolerance",
    )


def make(
    name: str,
    problem: Problem,
    *,
    confidence: str = "rips",
    schedule: str = "scaled",
    estimator: robust.Estimator = robust.CATONI,
    rtol: float = 0.01,
) -> Method:
    """The method of this name for a problem.

    ``schedule`` sets how many measurements a round takes: "scaled" and "paper" with the constants as printed, "tight"
    with those that the robust mean needs. ``estimator`` is that mean; other ones than Catoni's need "tight", because
    the printed constants are Catoni's. ``rtol`` is how far from the best each design may be.
    """
    _check_problem(name, problem, confidence)
    chosen = as_schedule(schedule)
    if not isinstance(estimator, robust.Estimator):
        raise InputError("estimator", repr(estimator), "give robust.CATONI, MEDIAN_OF_MEANS or TRIMMED_MEAN")
    if estimator is not robust.CATONI and chosen != "tight":
        raise InputError("schedule", repr(schedule), "the printed constants are for Catoni's mean: give 'tight'")
    rtol = as_number("rtol", rtol, above=0)
    assert problem.bound is not None
    ridge = RIDGE * float(problem.domain.diagonal().max()) if problem.ridge is None else problem.ridge
    features = _features(problem, ridge, rtol)
    rounds = Rounds(
        n=problem.domain.n,
        second_moment=problem.bound**2 + float(np.max(problem.noise)) ** 2,
        delta=problem.delta,
        unit=1.0 if chosen == "paper" else problem.bound,
        tolerance=problem.tolerance,
        schedule=chosen,
        estimator=estimator,
    )
    return Method(
        name=name,
        problem=problem,
        features=features,
        rule=DesignRule(goal=problem.goal, features=features, ridge=ridge, rtol=rtol),
        rounds=rounds,
        confidence=Rips(
            goal=problem.goal,
            features=features,
            ridge=ridge,
            mean=problem.mean,
            rounds=rounds,
            norm=problem.norm,
            misspecification=problem.misspecification,
        ),
    )


def _check_problem(name: str, problem: Problem, confidence: str) -> None:
    """What the method and its confidence need of a problem."""
    if name not in NAMES:
        raise InputError("name", repr(name), f"choose out of {', '.join(NAMES)}")
    if confidence not in CONFIDENCES:
        raise InputError("confidence", repr(confidence), f"choose out of {', '.join(CONFIDENCES)}")
    if not isinstance(problem, Problem):
        raise InputError("problem", f"of type {type(problem).__name__}", "give Problem(domain, goal=..., noise=...)")
    if not isinstance(problem.goal, GOALS[name]):
        raise InputError("problem.goal", repr(problem.goal), f"{name} is for {GOALS[name].__name__}(...)")
    if problem.bound is None:
        raise InputError("problem.bound", None, "the rips confidence needs B with |f(x) - mean| <= B at every point")
    # Numbers whose squares and logarithms are numbers too.
    for field, size in (("bound", problem.bound), ("noise", float(np.max(problem.noise)))):
        if size > LARGEST:
            raise InputError(f"problem.{field}", size, f"rescale the measurements: give at most {LARGEST:g}")
    if problem.delta < 1 / LARGEST:
        raise InputError("problem.delta", problem.delta, f"give at least {1 / LARGEST:g}")


def _parameters(kernel: Any) -> str:
    """Everything that a kernel was made of: scikit-learn's repr has three digits only."""
    known = kernel.get_params() if hasattr(kernel, "get_params") else {}
    return repr((kernel, sorted((name, repr(value)) for name, value in known.items())))


def _features(problem: Problem, ridge: float, rtol: float) -> Features:
    """phi(x) for every point. Without a ridge only the span matters, and its coordinates are orthonormal."""
    kernel, points = problem.domain.kernel, problem.domain.points
    if kernel is None and ridge > 0:
        return embed(None, _turned(points))
    if ridge > 0:
        # However large the ridge is, the features are to be of some use.
        return embed(kernel, points, tol=min(tolerance(ridge, rtol), MISSED * float(problem.domain.diagonal().max())))
    found = embed(kernel, points, tol=0)
    coordinates = basis(found.array, ridge)
    return replace(found, array=coordinates.arms, residuals=np.zeros(len(points)))


def _turned(points: Array) -> Array:
    """The points in orthonormal coordinates of their span, (n, rank): a ridge sees lengths and angles only."""
    _, sizes, axes = np.linalg.svd(points, full_matrices=False)
    rank = int(np.count_nonzero(sizes > max(points.shape) * np.finfo(float).eps * sizes[0]))
    return points if rank in {0, points.shape[1]} else points @ axes[:rank].T


def _as_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError("seed", repr(seed), "give a whole number >= 0")
    return int(seed)
