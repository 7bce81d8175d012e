"""A study that is told what a simulation measured says what the simulation says, after every batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.methods import Method
from superlevel.records import Plan, State
from superlevel.simulation import MEASURING
from superlevel.study import Study, challenged, designs, forecasts
from superlevel.study.events import BATCH, ROUND, Asked
from superlevel.study.rounds import fingerprint
from superlevel.study.signs import as_text
from superlevel.study.storage import Memory
from tests.study.campaigns import ARMS, NAME, NOISE, THETA, TRUTH, X

SEED = 11
FITTED = ("kernel", "noise", "mean")
BOUNDED = {"bound": 1.5, "misspecification": 0.01, "tolerance": 0.2}
LINE = sl.Domain(X, RBF(0.2))
LEVEL: dict[str, Any] = {"goal": sl.Threshold(0.23), "noise": NOISE}
FRACTION: dict[str, Any] = {"goal": sl.FractionOfMax(0.3), "noise": NOISE}
POSITIVE: dict[str, Any] = {"goal": sl.Threshold(1.26), "noise": 0.2, "transform": "log"}
LIMITED: dict[str, Any] = {"goal": sl.Threshold(0.0), "noise": NOISE, "bound": 1.0, "delta": 0.2, "tolerance": 0.5}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A problem and a method for it."""

    name: str
    given: dict[str, Any]
    method: str = "melk"
    options: dict[str, Any] = field(default_factory=dict)
    domain: sl.Domain = LINE
    truth: Array = field(default_factory=lambda: TRUTH)
    steps: int = 12
    budget: int = 10_000

    @property
    def problem(self) -> sl.Problem:
        return sl.Problem(self.domain, **self.given)

    def made(self) -> tuple[Method, Study]:
        """The method, and a study with the same one."""
        method = sl.methods.make(self.method, self.problem, **self.options)
        options = {"method": self.method, "seed": SEED, "worker": "ada", **self.options}
        return method, Study.create(Memory(), NAME, self.problem, **options)

    @property
    def oracle(self) -> sl.oracles.Gaussian:
        return sl.oracles.Gaussian(self.truth, noise=NOISE)


POSTERIOR: dict[str, Any] = {"confidence": "posterior", "batch": 4}
TIGHT: dict[str, Any] = {"confidence": sl.Rips(schedule="tight")}
LINEAR: dict[str, Any] = {"domain": sl.Domain(ARMS), "truth": ARMS @ THETA}
CASES = [
    Case(name="greedy", given=LEVEL, options=POSTERIOR),
    Case(name="worst", given=LEVEL, options={**POSTERIOR, "rule": "worst"}),
    Case(name="average", given=LEVEL, options={**POSTERIOR, "rule": "average"}),
    Case(name="permanent", given=LEVEL, options={**POSTERIOR, "permanent": True}),
    Case(name="milk", given=FRACTION, options=POSTERIOR),
    Case(name="band", given={**LEVEL, "goal": sl.Band(-0.3, 0.4)}, options=POSTERIOR),
    Case(name="levels", given={**LEVEL, "goal": sl.Levels([-0.5, 0.1, 0.6])}, options=POSTERIOR),
    Case(name="lse", given=LEVEL, method="lse", options={"batch": 3}),
    Case(name="rkhs", given=LEVEL | {"norm": 3.0}, method="lse", options={"confidence": "rkhs", "batch": 12}),
    Case(name="ridge-norm", given=LEVEL | {"norm": 3.0, "tolerance": 0.1}, options={"batch": 10}),
    Case(name="ridge-bound", given=LEVEL | BOUNDED, options={"batch": 10}),
    Case(name="ridge-band", given=LEVEL | {"goal": sl.Band(-0.3, 0.4), "norm": 3.0}, options={"batch": 10}),
    Case(name="ridge-max", given=FRACTION | {"norm": 3.0, "tolerance": 0.1}, options={"batch": 10}),
    Case(name="ridge-permanent", given=LEVEL | {"norm": 3.0}, options={"batch": 10, "permanent": True}),
    Case(name="noise", given={**LEVEL, "noise": None}, options={"batch": 6}),
    Case(name="estimated", given={**LEVEL, "noise": None, "fit": FITTED}, options={"batch": 6}, steps=7, budget=60),
    Case(
        name="estimated-max", given={**FRACTION, "noise": None, "fit": FITTED}, options={"batch": 6}, steps=5, budget=60
    ),
    Case(name="log", given=POSITIVE, options=POSTERIOR, truth=np.exp(TRUTH)),
    Case(name="ridge-log", given=POSITIVE | {"norm": 3.0}, options={"batch": 10}, truth=np.exp(TRUTH)),
    Case(
        name="estimated-sqrt",
        given={"goal": sl.Threshold(1.26), "fit": FITTED, "transform": "sqrt"},
        options={"batch": 6},
        truth=np.exp(TRUTH),
        steps=6,
        budget=60,
    ),
    Case(name="rips", given=LIMITED, options=TIGHT, **LINEAR),
    Case(name="rips-max", given={**LIMITED, "goal": sl.FractionOfMax(0.4)}, options=TIGHT, **LINEAR),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def simulated(case: Case, method: Method) -> Iterator[tuple[State, Plan, Array, State]]:
    """State, plan, values and the state after it, of every phase, as `simulate` has them."""
    state, oracle = method.init(seed=SEED), case.oracle
    for _ in range(case.steps):
        if state.stop is not None:
            return
        plan = method.ask(state)
        values = oracle.measure(plan.indices, np.random.default_rng([SEED, state.phase, MEASURING]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.AssumptionWarning)
            after, _ = method.tell(state, plan, values)
        yield state, plan, values, after
        state = after


def written(study: Study, method: Method, state: State, plan: Plan) -> None:
    """Write a plan that somebody else made into the log."""
    in_rounds, ledger = method.confidence.in_rounds, study.ledger
    asked = Asked(
        seen=ledger.length,
        purpose=ROUND if in_rounds else BATCH,
        phase=plan.phase,
        points=plan.indices.tolist(),
        samples=ledger.samples,
        labels=as_text(study.labels),
        design=None if plan.certificate is None else designs.stored(plan.certificate),
        weights=designs.thin(plan.weights) if in_rounds else None,
        undecided=fingerprint(state.undecided) if in_rounds else "",
        forecast=None if plan.forecast is None else forecasts.stored(plan.forecast),
        challenge=None if plan.challenge is None else challenged.stored(plan.challenge),
    )
    assert study._write(lambda _: asked) == ledger.length + 1


def same(study: Study, state: State) -> None:
    """Labels, stop and intervals."""
    known = study.knowledge.state
    assert known is not None
    np.testing.assert_array_equal(study.labels, state.labels)
    np.testing.assert_array_equal(known.undecided, state.undecided)
    assert known.stop == state.stop
    share = study.ledger.goal.share
    for end in ("lower", "upper"):
        one, other = (getattr(each.belief.bounds(share), end) for each in (known, state))
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)


@each_case
def test_labels_are_those_of_the_simulation_after_every_batch(case: Case) -> None:
    method, study = case.made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        run = sl.simulate(method, case.oracle, seed=SEED, max_samples=case.budget)
    phases = 0
    for state, plan, values, after in simulated(case, method):
        written(study, method, state, plan)
        tickets = study.ask()
        np.testing.assert_array_equal(tickets.indices, plan.indices)
        study.tell(tickets.measured(values))
        np.testing.assert_array_equal(study.labels, run.trace[phases].labels)
        assert study.ledger.samples == run.trace[phases].samples
        same(study, after)
        same(Study.open(study._storage, NAME), after)
        phases += 1
    assert phases == min(case.steps, len(run.trace))
    assert study.labels.any()
    found = study.verify()
    assert not {check.assumption for check in found.checks if check.verdict.bad} - {"noise", "kernel"}, str(found)


@each_case
def test_a_study_asks_for_what_the_simulation_asks_for(case: Case) -> None:
    method, study = case.made()
    for _, plan, values, after in list(simulated(case, method))[:4]:
        tickets = study.ask()
        np.testing.assert_array_equal(tickets.indices, plan.indices)
        study.tell(tickets.measured(values))
        same(study, after)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name.startswith("ridge") and case.name not in {"ridge-log", "ridge-bound"}],
    ids=lambda case: case.name,
)
def test_challenges_begin_and_are_fed_as_in_a_simulation(case: Case) -> None:
    method, study = case.made()
    begun = 0
    for _, plan, values, after in simulated(case, method):
        tickets = study.ask()
        written_down = study.ledger.askings[-1].asked.challenge
        assert (written_down is None) == (plan.challenge is None)
        if written_down is not None and plan.challenge is not None:
            expected_one = challenged.stored(plan.challenge)
            assert (written_down.points, written_down.others) == (expected_one.points, expected_one.others)
            assert written_down.signs == expected_one.signs
            np.testing.assert_allclose(written_down.gaps, expected_one.gaps, rtol=1e-6)
            np.testing.assert_allclose(written_down.deltas, expected_one.deltas, rtol=1e-5)
        study.tell(tickets.measured(values)[::-1])  # in whatever order
        known: Any = study.knowledge.state
        expected: Any = after.belief
        assert known.belief.shares == expected.shares
        assert expected.challenges.information.any()
        np.testing.assert_allclose(known.belief.challenges.information, expected.challenges.information, rtol=1e-9)
        assert len(known.belief.challenges.tests) == len(expected.challenges.tests)
        for one, other in zip(known.belief.challenges.tests, expected.challenges.tests, strict=True):
            for name in ("estimates", "variances", "scales", "misses"):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-12)
        begun = len(expected.challenges.tests)
    assert begun > 0


def sampled(n: int, length: float, seed: int) -> tuple[sl.Problem, Array]:
    """A function of a Gaussian process on a line, with a norm that is known to a fifth."""
    x, rng = np.linspace(0, 1, n), np.random.default_rng(seed)
    covariance = RBF(length)(x[:, None]) + 1e-8 * np.eye(n)
    f = np.linalg.cholesky(covariance) @ rng.standard_normal(n)
    norm = 1.2 * float(np.sqrt(f @ np.linalg.solve(covariance, f)))
    return sl.Problem(sl.Domain(x, RBF(length)), goal=sl.Threshold(0.5), noise=0.5, norm=norm, tolerance=0.3), f


@pytest.mark.parametrize(
    ("n", "length", "batch", "seed"),
    [*((150, 0.06, 200, seed) for seed in range(3)), *((30, 0.2, 50, seed) for seed in range(4))],
)
def test_a_study_takes_as_many_measurements_as_a_simulation(n: int, length: float, batch: int, seed: int) -> None:
    """How many they are depends on rounding, and so on the threads of the linear algebra: it is the same for both.

    At least one challenge begins on the way, and is in the log.
    """
    problem, f = sampled(n, length, seed)
    oracle = sl.oracles.Gaussian(f, noise=0.5)
    run = sl.simulate(sl.methods.make("melk", problem, confidence="ridge", batch=batch), oracle, seed=0)
    study = Study.create(Memory(), NAME, problem, confidence="ridge", batch=batch, seed=0)
    phases, begun = 0, []
    while len(tickets := study.ask()):
        challenge = study.ledger.askings[-1].asked.challenge
        begun += [] if challenge is None else [challenge]
        values = oracle.measure(tickets.indices, np.random.default_rng([0, phases + 1, MEASURING]))
        study.tell(tickets.measured(values))
        np.testing.assert_array_equal(study.labels, run.trace[phases].labels)
        assert study.ledger.samples == run.trace[phases].samples
        phases += 1
    assert phases == len(run.trace)
    assert study.ledger.samples == run.samples
    assert 2 * batch < run.samples < 20 * batch
    assert tickets.stop == run.stop.value
    known: Any = study.knowledge.state
    assert [challenged.stored(tests.challenge) for tests in known.belief.challenges.tests] == begun
    assert begun
    assert known.belief.sources == run.sources
    assert run.sources is not None
    assert "challenges" in run.sources
    wrong = (study.labels * np.sign(f - 0.5) < 0) & (np.abs(f - 0.5) > 0.3)
    assert not wrong.any()
