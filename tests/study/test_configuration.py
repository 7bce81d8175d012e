"""Everything that was given survives: problems, kernels, seeds, options; what cannot survive is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel

import superlevel as sl
from superlevel.errors import InputError
from superlevel.kernels import describe
from superlevel.rules.design import OptimalDesign, WorstCase
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.study import Study
from superlevel.study.configuration import problem_of
from superlevel.study.sheets import COLUMNS
from superlevel.study.storage import Memory
from tests.study.campaigns import FITTED, GREEDY, NAME, ROUNDS, X

positive = st.floats(1e-6, 1e6)
kernels = st.sampled_from(
    [
        RBF(0.1 + 0.2),
        1.7 * Matern([0.3, 1 / 3], nu=2.5),
        RBF(0.2, "fixed") + WhiteKernel(1e-3),
        DotProduct(0.0, "fixed"),
        None,
    ]
)
level = st.floats(-1e6, 1e6)
goals = st.one_of(
    st.builds(sl.Threshold, level, side=st.sampled_from(["above", "below"])),
    st.tuples(level, positive).map(lambda pair: sl.Band(pair[0], pair[0] + pair[1])),
    st.lists(level, min_size=1, max_size=4, unique=True).map(lambda values: sl.Levels(sorted(values))),
    st.builds(sl.FractionOfMax, st.floats(0.01, 0.99)),
)
letters = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name.lower() not in COLUMNS
)


@st.composite
def problems(draw: st.DrawFn) -> sl.Problem:
    n = draw(st.integers(1, 4))
    points = np.array(draw(st.lists(st.tuples(positive, positive), min_size=n, max_size=n)))
    each = st.lists(positive, min_size=n, max_size=n).map(np.array)
    names = draw(st.lists(letters, min_size=2, max_size=2, unique_by=str.casefold))
    goal = draw(goals)
    return sl.Problem(
        sl.Domain(points, draw(kernels), names=names),
        goal=goal,
        noise=draw(st.none() | positive | st.just(0.0) | each),
        cost=draw(positive | each),
        bound=draw(st.none() | positive),
        delta=draw(st.floats(1e-6, 0.999)),
        mean=draw(st.floats(-1e6, 1e6)),
        norm=draw(st.none() | positive),
        misspecification=draw(st.floats(0, 1e3)),
        tolerance=draw(st.floats(0, 1e3)),
        ridge=draw(st.none() | st.floats(0, 1e3)),
        fit=draw(st.lists(st.sampled_from(["noise", "mean"]), unique=True).map(tuple)),
    )


@settings(max_examples=60)
@given(problem=problems(), seed=st.integers(0, 10**60), batch=st.integers(1, 99), lease=positive)
def test_every_field_of_a_problem_comes_back(problem: sl.Problem, seed: int, batch: int, lease: float) -> None:
    storage = Memory()
    made = Study.create(storage, NAME, problem, method="uniform", seed=seed, batch=batch, lease=lease)
    created = Study.open(storage, NAME).ledger.created
    assert created == made.ledger.created
    assert (created.seed, created.batch, created.lease, created.method) == (seed, batch, lease, "uniform")
    again = problem_of(created, None)
    assert again.domain.points.tobytes() == problem.domain.points.tobytes()
    assert again.domain.names == problem.domain.names
    assert describe(again.domain.kernel) == describe(problem.domain.kernel)
    for name in ("noise", "cost"):
        one, other = getattr(again, name), getattr(problem, name)
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other)
    for name in ("goal", "bound", "delta", "mean", "norm", "misspecification", "tolerance", "ridge", "fit"):
        assert getattr(again, name) == getattr(problem, name)


@pytest.mark.parametrize(
    "seed", [0, 2**63, 2**64 + 1, 10**100, 10**4000], ids=["0", "2^63", "2^64", "10^100", "10^4000"]
)
def test_seeds_of_any_size_are_kept_and_used(seed: int) -> None:
    storage = Memory()
    study = Study.create(storage, NAME, GREEDY.problem(), method="uniform", seed=seed, batch=20)
    tickets = study.ask()
    again = Study.open(storage, NAME)
    assert again.ledger.created.seed == seed
    other = Study.create(Memory(), NAME, GREEDY.problem(), method="uniform", seed=seed + 1, batch=20)
    assert tickets.indices.tolist() != other.ask().indices.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"confidence": sl.Posterior(beta=2.5), "rule": WorstCase(rtol=0.1 + 0.2)},
        {"confidence": sl.Posterior(beta=2.5), "rule": "worst"},
        {"confidence": sl.Posterior(intersected=True), "permanent": True},
        {"confidence": sl.Posterior(beta=np.float64(2.5)), "rule": None},
        {"confidence": sl.Ridge(growth=1.5, shares=(0.25, 0.5)), "rule": GapWeighted(rtol=0.2), "permanent": False},
        {"confidence": "ridge"},
        {"confidence": sl.Rkhs(intersected=True), "method": "lse"},
    ],
)
def test_confidence_rule_and_permanence_come_back_and_make_the_same_method(options: dict[str, Any]) -> None:
    storage = Memory()
    given = {"method": "melk", "batch": 4, **options}
    made = Study.create(storage, NAME, GREEDY.problem(), seed=7, **given)
    again = Study.open(storage, NAME)
    name = given.pop("method")
    direct = sl.methods.make(name, GREEDY.problem(), **given)
    for study in (made, again):
        method = study.knowledge.method
        assert method is not None
        assert (method.name, method.confidence, method.rule) == (name, direct.confidence, direct.rule)
        assert (method.permanent, method.sizes) == (direct.permanent, direct.sizes)
        assert method.init(seed=7).campaign == direct.init(seed=7).campaign


@pytest.mark.parametrize("estimator", ["Catoni", "median of means"])
def test_rounds_come_back_with_schedule_and_estimator(estimator: str) -> None:
    confidence = sl.Rips(schedule="tight", estimator=estimator)  # type: ignore[arg-type]
    storage = Memory()
    ROUNDS.create(storage, confidence=confidence, rule=OptimalDesign(rtol=0.25))
    created = Study.open(storage, NAME).ledger.created
    assert created.confidence == {"name": "rips", "schedule": "tight", "estimator": estimator}
    assert created.rule == {"name": "superlevel.rules.design:OptimalDesign", "rtol": 0.25}
    method = Study.open(storage, NAME).knowledge.method
    assert method is not None
    direct = sl.methods.make("melk", ROUNDS.problem(), confidence=confidence, rule=OptimalDesign(rtol=0.25))
    assert method.init(seed=7).campaign == direct.init(seed=7).campaign


def test_the_kernel_that_is_to_be_estimated_is_not_written_down() -> None:
    created = FITTED.create().ledger.created
    assert created.kernel is None
    assert created.fit == ["kernel", "noise", "mean"]
    partly = GREEDY.create(problem=GREEDY.problem(fit=("noise",))).ledger.created
    assert partly.kernel == describe(RBF(0.2))


class Own:
    """A kernel that no log can hold, because it does not derive from scikit-learn's."""

    def __call__(self, left: Any, right: Any = None) -> Any:
        return RBF(0.2)(left, right)

    def diag(self, points: Any) -> Any:
        return np.ones(len(points))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"problem": None}, "problem is of type NoneType"),
        ({"problem": GREEDY.problem(domain=sl.Domain(X, Own()))}, "Own is not in the table"),
        ({"problem": GREEDY.problem(domain=sl.Domain(X, RBF(0.2), names=["value"]))}, "value"),
        ({"problem": GREEDY.problem(domain=sl.Domain(X, RBF(0.2), names=["\ud800"]))}, r"names[0] is '\ud800'"),
        (
            {"problem": GREEDY.problem(goal=sl.FractionOfMax(0.1)), "method": "straddle"},
            "straddle is not for this goal",
        ),
        ({"problem": GREEDY.problem(goal=sl.Band(0.1, 0.2)), "method": "rmile"}, "rmile is not for this goal"),
        ({"method": "magic"}, "'magic': choose out of melk"),
        ({"method": 5}, "method is 5"),
        ({"method": "milk"}, "milk is not for this goal"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": True}, "seed is True"),
        ({"batch": 0}, "batch is 0"),
        ({"batch": 2.5}, "batch is 2.5"),
        ({"lease": 0}, "lease is 0"),
        ({"lease": np.nan}, "lease is nan"),
        ({"confidence": "rips"}, "problem.bound is None"),
        ({"confidence": "faith"}, "confidence is 'faith'"),
        ({"confidence": 5}, "confidence is 5"),
        ({"problem": GREEDY.problem(fit=("kernel",), bound=1.0), "confidence": "rips"}, "a guarantee needs kernel"),
        ({"problem": GREEDY.problem(fit=("kernel",)), "rule": "best"}, "rule is 'best'"),
        ({"rule": "worst"}, "rule is 'worst': melk on the ridge confidence has gap-weighted"),
        ({"rule": 5}, "rule is of type int"),
        ({"permanent": "yes"}, "permanent is 'yes'"),
        ({"worker": ""}, "worker is ''"),
        ({"worker": "\udc00"}, "worker is"),
        ({"name": ""}, "name is ''"),
        ({"name": " sea"}, "name is ' sea'"),
        ({"name": "a\nb"}, "name is"),
        ({"name": "x" * 101}, "name is 101 letters long"),
        ({"name": 5}, "name is 5"),
    ],
)
def test_what_makes_no_study_is_refused_and_nothing_is_stored(given: dict[str, Any], sentence: str) -> None:
    storage = Memory()
    options = {"problem": GREEDY.problem(), "name": NAME, **given}
    with pytest.raises(InputError, match=re.escape(sentence)):
        Study.create(storage, options.pop("name"), options.pop("problem"), **options)
    assert storage.names() == []


def test_a_name_is_given_once() -> None:
    storage = Memory()
    GREEDY.create(storage)
    before = storage.read(NAME)
    with pytest.raises(InputError, match="which is taken"):
        ROUNDS.create(storage)
    assert storage.read(NAME) == before


def test_the_question_is_said_in_words() -> None:
    assert GREEDY.create().ledger.goal.question == "above 0.23"
    milk = Study.create(Memory(), NAME, GREEDY.problem(goal=sl.FractionOfMax(0.125)), method="milk")
    assert milk.ledger.goal.question == "within 12.5 % of the maximum"


def test_names_of_any_script_are_kept(tmp_path: Any) -> None:
    names = ["température", "温度 😀"]
    problem = sl.Problem(sl.Domain(np.eye(2), names=names), goal=sl.Threshold(0.5), noise=0.1)
    store = f"sqlite:///{tmp_path / 'sea.db'}"
    Study.create(store, "прибой 波", problem)
    assert Study.open(store, "прибой 波").ledger.created.names == names
