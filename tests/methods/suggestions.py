"""What methods of the table suggest and decide on 625 points: run as a program, with labels of cases as arguments.

It prints one JSON document, {label: [digest of counts, labels and bounds of each batch]}.
"""

from __future__ import annotations

import json
import sys
import warnings
from hashlib import blake2b

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.methods.loop import Method
from tests.methods.cases import CASES, NOISE, Case, measured

SIDE, BATCH, BATCHES = 25, 5, 3
ESTIMATED = "-estimated"
AXIS = np.linspace(0.0, 1.0, SIDE)
POINTS = np.stack(np.meshgrid(AXIS, AXIS), axis=-1).reshape(-1, 2)  # with all its symmetries: many ties
VALUES = np.asarray(np.sin(5 * POINTS[:, 0]) * np.cos(4 * POINTS[:, 1]))


def labels(*, pairs: bool) -> list[str]:
    """Every case, and every case on the posterior with nothing given; those of pairs take longer."""
    wanted = [case for case in CASES if pairs or case.name != "milk"]
    return [case.label for case in wanted] + [
        case.label + ESTIMATED for case in wanted if case.confidence == "posterior" and case.name != "milk"
    ]


def make(case: Case, *, estimated: bool) -> Method:
    """The method of a case on the grid."""
    if estimated:
        everything = sl.Problem(sl.Domain(POINTS), goal=case.goal, fit=("kernel", "noise", "mean"))
        return case.make(problem=everything, batch=10)
    problem = case.problem(domain=sl.Domain(POINTS, RBF(0.2)))
    return case.make(problem=problem) if case.in_rounds else case.make(problem=problem, batch=BATCH)


def digests(case: Case, *, estimated: bool) -> list[str]:
    """One for each batch. What anybody looks at in between must change nothing."""
    method = make(case, estimated=estimated)
    state, found = method.init(), []
    for _ in range(1 if case.in_rounds else BATCHES):
        if state.stop is not None:
            break
        plan = method.ask(state)
        state, info = method.tell(state, plan, measured(plan, VALUES, NOISE))
        if not state.belief.pilot:
            state.belief.seen_by_rules(method.goal)
            state.belief.relief(plan.indices[:1])
        parts = (plan.counts, state.labels, state.estimate, info.bounds.lower, info.bounds.upper)
        digest = blake2b(digest_size=8)
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        found.append(digest.hexdigest())
    return found


def main() -> None:
    cases = {case.label: case for case in CASES}
    found = {}
    for label in sys.argv[1:]:
        case = cases[label.removesuffix(ESTIMATED)]
        found[label] = digests(case, estimated=label.endswith(ESTIMATED))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
