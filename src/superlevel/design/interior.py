"""The default solver: interior point on an active set, certified on all arms and targets.

The inner loop takes Newton steps on an active set, which is everything where the problem is small. The outer loop,
which is here, evaluates the whole problem at what the inner one found: that gives value and bound, and says which arms
and targets contradict the active set and must enter it (`superlevel.design.active_set`). What is returned is the best
pair of weights and mixture that a full evaluation has seen, so its bound is one that `certify` recomputes.

The worst case and an average differ in their criterion: `superlevel.design.minimax`, `superlevel.design.average_case`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from superlevel.arrays import as_count
from superlevel.costs import Cost, of_design
from superlevel.design.active_set import ActiveSet, first_sizes
from superlevel.design.average import AverageProblem
from superlevel.design.average_case import AverageCase
from superlevel.design.certificate import Proof
from superlevel.design.inner import Inner, Seen
from superlevel.design.minimax import Minimax
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design, Status, Watch, found

LOOSE = 0.02  # gap to which the first active set is solved before the whole problem is looked at
SOLVED = 0.3  # afterwards, the part of the whole gap that an active set's own gap may be


class Criterion(Protocol[Seen]):
    """What is minimised, and how it is on an active set."""

    @property
    def problem(self) -> DesignProblem: ...

    def begin(self, start: Design | None) -> ActiveSet: ...

    def covers(self, active: ActiveSet) -> bool:
        """Whether this is everything."""
        ...

    def inner(self, active: ActiveSet, *, aim: float, budget: int) -> Inner[Seen]:
        """The loop on the active set, until its own gap is at most aim or the budget of steps is spent."""
        ...

    def look(self, active: ActiveSet) -> Seen:
        """Everything, at an active set's weights and mixture."""
        ...

    def enter(self, active: ActiveSet, seen: Seen) -> ActiveSet | None:
        """With what contradicts the active set; None where nothing does."""
        ...


@dataclass(frozen=True, kw_only=True)
class InteriorPoint:
    """Primal-dual interior point with arms and targets generated as they are needed."""

    max_iter: int = 200
    """Steps at most."""

    def __post_init__(self) -> None:
        as_count("max_iter", self.max_iter)

    def cost(self, problem: DesignProblem) -> Cost:
        """About what `run` takes."""
        return of_design(problem.arms.shape, problem.targets.mask.shape, first_sizes(problem), held=problem.arms.held)

    def run(
        self,
        problem: DesignProblem | AverageProblem,
        *,
        rtol: float,
        start: Design | None = None,
        watch: Watch | None = None,
    ) -> Design:
        """The best design found; its status says whether it is certified within rtol."""
        if isinstance(problem, AverageProblem):
            return self._run(AverageCase(average=problem), rtol, start, watch)
        return self._run(Minimax(problem=problem), rtol, start, watch)

    def _run(self, criterion: Criterion[Seen], rtol: float, start: Design | None, watch: Watch | None) -> Design:
        problem, active = criterion.problem, criterion.begin(start)
        best: Design | None = None
        steps, evaluations, aim, coarse = 0, 0, LOOSE, start is None
        while True:
            everything = criterion.covers(active)
            within = rtol if everything else max(aim, SOLVED * rtol)
            inner = criterion.inner(active, aim=within, budget=self.max_iter - steps)
            ended = inner.run(active, coarse=coarse)
            steps, coarse, active = steps + ended.steps, False, ended.active
            seen = ended.seen if everything else criterion.look(active)
            evaluations += ended.evaluations if everything else 1
            here = found(problem, active.everywhere(problem), (active.targets, active.mixture), seen)
            best = here if best is None or here.gap < best.gap else best
            best = replace(best, iterations=steps, evaluations=evaluations)
            if watch is not None:
                watch(best)
            status = self._verdict(best, seen, rtol)
            wider = criterion.enter(active, seen) if status is None else None
            sharper = within > SOLVED * rtol and ended.seen.gap <= within  # the next aim is one that needs steps
            if status is None and wider is None and (ended.stuck or (ended.steps == 0 and not sharper)):
                status = Status.ROUNDING  # nothing enters and nothing moves
            if status is not None:
                return replace(best, status=status)
            aim = min(LOOSE, SOLVED * (seen.gap if wider is not None else ended.seen.gap))
            active = active if wider is None else wider

    def _verdict(self, best: Design, seen: Proof, rtol: float) -> Status | None:
        if best.gap <= rtol:
            return Status.CERTIFIED
        if seen.limited_by_features(rtol):
            return Status.FEATURES
        return Status.ITERATIONS if best.iterations >= self.max_iter else None
