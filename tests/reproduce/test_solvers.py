"""Designs by Frank-Wolfe as the appendix has it, held against certified ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from superlevel import design, methods
from superlevel.confidence.rips import Rips
from superlevel.records import Plan
from superlevel.reproduce.solvers import DecreasingSteps, EqualSteps
from superlevel.reproduce.worlds import Linear, World
from superlevel.rules.design import OptimalDesign
from tests.design.oracle import Instance, pairs

WORLD = Linear(arms=100, dimension=25, implicit=False, noise=1.0, ridge=1e-7)
RULES = [DecreasingSteps(), EqualSteps()]


def first_plan(world: World, rule: OptimalDesign, schedule: Any = "experiments") -> Plan:
    name = "milk" if world.problem.goal.implicit else "melk"
    method = methods.make(name, world.problem, confidence=Rips(schedule=schedule), rule=rule)
    return method.ask(method.init())


@pytest.mark.parametrize("implicit", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_first_round_is_what_frank_wolfe_gives_from_the_first_arm(rule: DecreasingSteps, implicit: bool) -> None:
    """The steps written out with A itself; the paper's 2,000 are many, so 40 here."""
    world = replace(WORLD, arms=20, dimension=3, implicit=implicit)(0)
    few = replace(rule, iterations=40)
    arms = world.problem.domain.points
    instance = Instance(arms=arms, rows=pairs(arms, 0.5) if implicit else arms, ridge=1e-7)
    weights = np.eye(20)[0]
    for t in range(1, 41):
        worst = instance.rows[int(instance.variances(weights).argmax())]
        best = int(np.square(arms @ instance.inverse(weights) @ worst).argmax())
        eta = 0.5 if rule == EqualSteps() else 0.5 / (t + 2)
        weights = (1 - eta) * weights + eta * np.eye(20)[best]
    found = first_plan(world, few).certificate
    assert found is not None
    assert found.iterations == 40
    # Several arms may be equally good to rounding: the value is what a design is.
    assert found.value == pytest.approx(instance.value(weights), rel=1e-5)


def test_the_appendix_has_a_step_of_one_half_and_2000_iterations() -> None:
    assert DecreasingSteps().solver() == design.FrankWolfe(iterations=2000, step=0.5)
    assert EqualSteps().solver() == design.FixedFrankWolfe(iterations=2000, step=0.5)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_worse_design_takes_more_measurements(rule: DecreasingSteps) -> None:
    """So that no guarantee depends on the solver."""
    world = WORLD(0)
    best, ours = first_plan(world, OptimalDesign(rtol=1e-4)), first_plan(world, rule)
    assert best.certificate is not None
    assert ours.certificate is not None
    ratio = ours.certificate.value / best.certificate.value
    assert ours.total / best.total == pytest.approx(ratio, rel=0.01)


def test_on_the_benchmark_falling_steps_come_near_the_optimum_and_equal_ones_do_not() -> None:
    """For all arms the optimum is 2, the rank (Kiefer and Wolfowitz); equal steps end with weights 2/3 and 1/3."""
    world = WORLD(0)
    falling, equal = (first_plan(world, rule).certificate for rule in RULES)
    assert falling is not None
    assert equal is not None
    assert falling.value == pytest.approx(2.0, rel=1e-3)
    assert np.sort(equal.weights)[-2:] == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    assert equal.value == pytest.approx(3.0, rel=1e-3)
