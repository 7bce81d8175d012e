"""The closed loop: a method asks, an oracle answers, until nothing is left to measure or the budget ends."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask, as_count, frozen
from superlevel.errors import InputError
from superlevel.files import whole
from superlevel.goals import ABOVE, BELOW, Bounds, Goal, decided, restore, summary
from superlevel.methods import Method
from superlevel.methods.stopping import Criterion
from superlevel.oracles import Oracle
from superlevel.records import Info, Plan, State, Stop

FORMAT = 1  # of saved runs
MEASURING = 1  # sets the oracle's random numbers apart from the method's


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """What was known after a phase."""

    phase: int
    samples: int
    """Measurements so far, those of this phase included."""
    labels: Labels
    """(n,)"""
    guess: Labels
    """(n,) the labels, and for undecided points the likelier one."""
    directions: int
    """Points or pairs that are still undecided."""
    precision: float
    """NaN for a fixed batch."""
    value: float
    """The design's largest variance, g(lambda_t; A_t; gamma); NaN for rules that make no design."""
    lower_bound: float
    """No design has a smaller one."""


Watch: TypeAlias = Callable[[Step], None]
"""Called after each phase."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """How a simulated campaign went."""

    method: str
    seed: int
    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below; (k, n) for k levels. In which sense they are right is the guarantee of the
    method's confidence."""
    samples: int
    """Measurements taken."""
    stop: Stop
    trace: tuple[Step, ...]
    """One entry a phase."""
    needed: int | None
    """How many measurements the next phase would have taken, where the budget ended the run."""
    goal: Goal | None = None
    """None where the file of an older version does not say, as for the next three."""
    before: Labels | None = None
    """The labels before the first measurement."""
    estimate: Array | None = None
    """(n,) the estimate of f in the end."""
    intervals: Bounds | None = None
    """(n,) the intervals of f in the end, NaN where the last round says nothing."""
    sources: tuple[str, ...] | None = None
    """(n,) which of several kinds of interval is the narrowest at each point; None where there is one kind only."""

    @property
    def decided(self) -> Indices:
        """(n,) how many measurements there were when each point got the label that it kept; -1 where it has none."""
        unsaid = np.zeros_like(self.labels) if self.trace else self.labels
        before = unsaid if self.before is None else self.before
        return settled([(0, before), *((step.samples, step.labels) for step in self.trace)])

    @property
    def reason(self) -> str:
        """Why the run ended, in words."""
        if self.needed is None:
            return self.stop.value
        undecided = int((~decided(self.labels)).sum())
        return f"{self.stop.value}: {self.needed:,} more would be needed, {undecided} points are undecided"

    @property
    def above(self) -> Mask:
        """The points that are decided to be above the level, (n,) or (k, n)."""
        return np.asarray(self.labels == ABOVE)

    @property
    def not_below(self) -> Mask:
        """The points that are above the level or undecided, (n,) or (k, n)."""
        return np.asarray(self.labels != BELOW)

    def save(self, path: str | Path) -> None:
        """Write everything to one .npz file: arrays and numbers, no pickles."""
        with whole(path) as beside, beside.open("wb") as file:  # numpy would add .npz to a name that lacks it
            np.savez_compressed(
                file,
                format=FORMAT,
                method=self.method,
                stop=self.stop.name,
                seed=str(self.seed),  # of any size
                counts=np.array([self.samples, -1 if self.needed is None else self.needed]),
                labels=self.labels,
                step_counts=np.array([[s.phase, s.samples, s.directions] for s in self.trace]).reshape(-1, 3),
                step_numbers=np.array([[s.precision, s.value, s.lower_bound] for s in self.trace]).reshape(-1, 3),
                step_labels=np.array([s.labels for s in self.trace], dtype=np.int8).reshape(-1, *self.labels.shape),
                step_guesses=np.array([s.guess for s in self.trace], dtype=np.int8).reshape(-1, *self.labels.shape),
                **self._known(),
            )

    def _known(self) -> dict[str, Any]:
        """What there may be of what is known in the end."""
        ends = None if self.intervals is None else np.array([self.intervals.lower, self.intervals.upper])
        sources = None if self.sources is None else np.array(self.sources)
        goal = None if self.goal is None else np.array(json.dumps(self.goal.describe()))
        found = {"before": self.before, "estimate": self.estimate, "intervals": ends, "sources": sources, "goal": goal}
        return {name: array for name, array in found.items() if array is not None}

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """What `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                if int(file["format"]) != FORMAT:
                    raise InputError("format", int(file["format"]), f"this version reads format {FORMAT}")
                samples, needed = (int(x) for x in file["counts"])
                labels = file["step_labels"]
                guesses = file.get("step_guesses", labels)  # older versions left them out
                steps = zip(file["step_counts"], file["step_numbers"], labels, guesses, strict=True)
                return cls(
                    method=str(file["method"]),
                    seed=int(str(file["seed"])),
                    labels=frozen(file["labels"]),
                    samples=samples,
                    stop=Stop[str(file["stop"])],
                    trace=tuple(_step(*step) for step in steps),
                    needed=None if needed < 0 else needed,
                    **_kept(file),
                )
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("path", repr(str(path)), f"give a file that Run.save wrote ({error})") from error

    def __repr__(self) -> str:
        found = "" if self.goal is None else f", {summary(self.goal, self.labels)}"
        return f"Run({self.method}: {self.samples:,} measurements{found}: {self.reason})"


def simulate(
    method: Method,
    oracle: Oracle,
    *,
    max_samples: int | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    until: Criterion | None = None,
) -> Run:
    """Run a method against an oracle.

    A phase that would exceed ``max_samples`` is not begun: a part of a round would decide nothing, so the labels that
    are there already are the answer and the rest of the budget is saved. Ties at the level end with the tolerance, or
    with the budget. A criterion of `superlevel.methods.stopping` ends the run as soon as it is reached: ``until``.
    Everything random comes from (seed, phase).
    """
    _check(method, oracle, watch, until)
    budget = method.budget if max_samples is None else as_count("max_samples", max_samples)
    state = begun = method.init(seed=seed)
    trace: list[Step] = []
    needed = None
    while state.stop is None:
        plan = method.ask(state)
        if state.samples + plan.total > budget:
            needed = plan.total
            break
        rng = np.random.default_rng([state.seed, state.phase, MEASURING])
        state, info = method.tell(state, plan, oracle.measure(plan.indices, rng))
        trace.append(_seen(plan, state, info, method.guess(state)))
        if watch is not None:
            watch(trace[-1])
        if state.stop is None and until is not None and until.reached(state):
            state = replace(state, stop=Stop.CRITERION)
    return Run(
        method=method.name,
        seed=state.seed,
        labels=state.labels,
        samples=state.samples,
        stop=Stop.BUDGET if state.stop is None else state.stop,
        trace=tuple(trace),
        needed=needed,
        goal=method.problem.goal,
        before=begun.labels,
        estimate=state.estimate,
        intervals=state.intervals,
        sources=state.belief.sources,
    )


def _check(method: object, oracle: object, watch: object, until: object) -> None:
    """That each is what it is to be."""
    if not isinstance(method, Method):
        raise InputError("method", f"of type {type(method).__name__}", "give what methods.make returned")
    if not hasattr(oracle, "measure") or not hasattr(oracle, "values"):
        raise InputError("oracle", f"of type {type(oracle).__name__}", "give one of oracles, such as Gaussian(values)")
    if watch is not None and not callable(watch):
        raise InputError("watch", f"of type {type(watch).__name__}", "give a function of one Step")
    if until is not None and not hasattr(until, "reached"):
        raise InputError("until", f"of type {type(until).__name__}", "give a criterion, such as Accurate(epsilon=0.1)")
    n = method.problem.domain.n
    if len(oracle.values) != n:
        raise InputError("oracle", f"for {len(oracle.values)} points", f"give one for the {n} points of the domain")


def settled(moments: Sequence[tuple[int, Labels]]) -> Indices:
    """(n,) how many measurements there were when each point got the label that it has; -1 where it has none.

    Moments are numbers of measurements and the labels of then, (n,) or (k, n), in their order; the last is now. A label
    that was taken back and given again counts from the last time.
    """
    (samples, labels), *later = moments
    since = np.full(labels.shape[-1], samples, dtype=np.int64)
    for samples, now in later:
        since[np.atleast_2d(now != labels).any(axis=0)] = samples
        labels = now
    since[~decided(labels)] = -1
    return frozen(since)


def _seen(plan: Plan, state: State, info: Info, guess: Labels) -> Step:
    return Step(
        phase=plan.phase,
        samples=state.samples,
        labels=state.labels,
        guess=guess,
        directions=int(np.count_nonzero(state.undecided)),
        precision=np.nan if info.precision is None else info.precision,
        value=np.nan if plan.certificate is None else plan.certificate.value,
        lower_bound=np.nan if plan.certificate is None else plan.certificate.lower_bound,
    )


def _kept(file: Mapping[str, Any]) -> dict[str, Any]:
    """What a file has of what is known in the end; older versions left it out."""
    found: dict[str, Any] = {name: frozen(file[name]) for name in ("before", "estimate") if name in file}
    if "intervals" in file:
        lower, upper = file["intervals"]
        found["intervals"] = Bounds(lower=lower, upper=upper)
    if "goal" in file:
        found["goal"] = restore(json.loads(str(file["goal"])))
    if "sources" in file:
        found["sources"] = tuple(file["sources"].tolist())
    return found


def _step(counts: Indices, numbers: Array, labels: Labels, guess: Labels) -> Step:
    phase, samples, directions = (int(x) for x in counts)
    precision, value, lower_bound = (float(x) for x in numbers)
    return Step(
        phase=phase,
        samples=samples,
        labels=frozen(labels),
        guess=frozen(guess),
        directions=directions,
        precision=precision,
        value=value,
        lower_bound=lower_bound,
    )
