"""What every method promises, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.confidence.posterior import GaussianBelief
from superlevel.errors import InputError, SuperlevelError
from superlevel.goals import FractionOfMax, Threshold
from superlevel.methods.table import NAMES, ROWS
from superlevel.records import State, Stop
from superlevel.rules.ambiguity import Straddle
from superlevel.rules.covariances import AverageCase
from superlevel.rules.design import WorstCase
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.rules.sequential import Sequential
from tests.methods.cases import (
    CASES,
    IN_BATCHES,
    NOISE,
    ONE_AT_A_TIME,
    TRUTH,
    Case,
    X,
    after,
    at,
    each,
    gaussian,
    known,
    measured,
)

ORACLE = sl.oracles.Gaussian(TRUTH, noise=NOISE)


def test_a_method_says_what_it_is_made_of_in_one_line() -> None:
    case = next(case for case in CASES if case.name == "truvar")
    said = repr(case.make(batch=3))
    assert said == (
        "Method(truvar: Sequential, Posterior(intersected=False, beta=None, error_rate=None), "
        f"Growing(first=3, growth=1.0), {case.goal} on 24 points)"
    )


def test_the_table_is_covered() -> None:
    assert {case.name for case in CASES} == set(NAMES) == set(ROWS)
    assert len(CASES) == 2 * (1 + 5 + 1) + 2 * 2 + 2 + 2 * 3 + 8 + 2 * 2


# --- one loop


@each(CASES)
def test_asking_twice_gives_one_plan_and_nothing_can_be_changed(case: Case) -> None:
    method = case.make()
    state = method.init(seed=5)
    plan, again = method.ask(state), method.ask(state)
    np.testing.assert_array_equal(plan.counts, again.counts)
    np.testing.assert_array_equal(plan.weights, again.weights)
    assert (plan.origin, plan.campaign, plan.phase) == (again.origin, again.campaign, 1)
    assert plan.weights.sum() == pytest.approx(1.0)
    told, info = method.tell(state, plan, measured(plan))
    assert (told.phase, told.samples) == (2, plan.total)
    assert set(np.unique(told.labels)) <= {-1, 0, 1}
    assert told.labels.dtype == np.int8
    handed_out: list[Any] = [plan.counts, plan.weights, told.labels, told.undecided, told.estimate, info.bounds.lower]
    handed_out += [told.intervals.lower, told.intervals.upper]
    if isinstance(told.belief, GaussianBelief):
        handed_out += [told.belief.posterior.mean, told.belief.posterior.variance]
    assert not any(array.flags.writeable for array in handed_out)
    assert (state.phase, state.samples) == (1, 0)


@each(IN_BATCHES)
@pytest.mark.parametrize("batch", [1, 10])
def test_a_phase_takes_the_batch_that_was_asked_for(case: Case, batch: int) -> None:
    method = case.make(batch=batch)
    state = after(method, 2)
    assert state.samples == 2 * batch
    plan = method.ask(state)
    assert plan.total == len(plan.indices) == batch
    assert plan.precision is None
    assert (plan.certificate is None) == (
        case.rule in {None, "label", "declare", "greedy"} and case.confidence != "ridge"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_has_ten_points_for_the_designs_and_one_for_the_others(name: str) -> None:
    goal = next(goal for goal in (Threshold(0.2), FractionOfMax(0.3)) if ROWS[name].takes(goal))
    problem = sl.Problem(sl.Domain(X[:, None]), goal=goal, noise=0.1)
    method = sl.methods.make(name, problem, confidence=sl.Posterior(beta=2.0))
    assert method.ask(method.init()).total == (10 if name in {"melk", "milk"} else 1)


@each(CASES)
def test_the_seed_decides_everything_that_is_random(case: Case) -> None:
    options: dict[str, Any] = {} if case.in_rounds else {"batch": 4}
    one, two, other = (
        sl.simulate(case.make(**options), ORACLE, max_samples=10**7 if case.in_rounds else 16, seed=seed)
        for seed in (1, 1, 2)
    )
    assert (one.samples, one.stop) == (two.samples, two.stop)
    np.testing.assert_array_equal(one.labels, two.labels)
    method = case.make(**options)
    first, same, another = (method.ask(method.init(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.counts, same.counts)
    assert first.campaign == same.campaign != another.campaign
    drawn = case.name == "uniform" or (first.certificate is not None and case.confidence != "ridge")
    if case.in_rounds or drawn:
        assert (first.counts != another.counts).any()
    assert other.seed == 2


@each(CASES)
def test_a_simulation_labels_nothing_wrongly(case: Case) -> None:
    """With a set seed; intervals of three deviations leave one point in hundreds."""
    method = case.make() if case.in_rounds else case.make(batch=10)
    run = sl.simulate(method, ORACLE, max_samples=10**8 if case.in_rounds else 60)
    level = 0.23 if isinstance(case.goal, Threshold) else 0.7 * TRUTH.max()
    side = np.sign(TRUTH - level)
    clear = np.abs(TRUTH - level) > case.problem().tolerance
    assert not (run.labels == -side)[clear].any()
    if case.confidence == "posterior":
        assert (run.labels == side).mean() > 0.5


# --- plans that are out


@each(ONE_AT_A_TIME)
@pytest.mark.parametrize("phases", [0, 2])
def test_a_pending_plan_is_continued_as_a_batch_twice_as_long(case: Case, phases: int) -> None:
    short, long = case.make(batch=4), case.make(batch=8)
    state, larger = short.init(), long.init()
    for k in range(phases):
        plan, other = short.ask(state), long.ask(larger)
        state, _ = short.tell(state, plan, measured(plan))
        larger, _ = long.tell(larger, at(other, plan.indices.tolist(), f"{k}"), measured(plan))
    first = short.ask(state)
    second = short.ask(state, pending=[first])
    np.testing.assert_array_equal(first.counts + second.counts, long.ask(larger).counts)
    assert (second.phase, second.origin != first.origin) == (phases + 2, True)


@each(IN_BATCHES)
def test_further_points_are_proposed_while_plans_are_out(case: Case) -> None:
    method = case.make(batch=5)
    state = after(method, 1)
    out = [method.ask(state)]
    for _ in range(2):
        out.append(method.ask(state, pending=out))
        np.testing.assert_array_equal(method.ask(state, pending=out[:-1]).counts, out[-1].counts)
    assert len({plan.origin for plan in out}) == 3
    assert [plan.phase for plan in out] == [2, 3, 4]
    if case.name not in {"lse", "straddle", "rmile"}:  # these may stay at the level
        assert np.count_nonzero(sum(plan.counts for plan in out)) > np.count_nonzero(out[0].counts)


def test_a_rough_part_that_is_being_measured_already_draws_no_more() -> None:
    """Values that scatter far more than the noise allows for leave a rough part at every point."""
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(0.2), noise=0.1)
    short, long = (sl.methods.make("melk", problem, batch=size) for size in (4, 8))
    state, larger = short.init(), long.init()
    scatter = TRUTH + 3.0 * np.random.default_rng(0).standard_normal(len(TRUTH))
    plan, other = short.ask(state), long.ask(larger)
    with pytest.warns(sl.AssumptionWarning, match="times as far from their predictions as kernel and noise say"):
        state, _ = short.tell(state, plan, scatter[plan.indices])
    with pytest.warns(sl.AssumptionWarning, match="times as far"):
        larger, _ = long.tell(larger, at(other, plan.indices.tolist(), "same"), scatter[plan.indices])
    assert gaussian(state).roughness > 0.1
    first = short.ask(state)
    second = short.ask(state, pending=[first])
    np.testing.assert_array_equal(first.counts + second.counts, long.ask(larger).counts)


@each(IN_BATCHES)
def test_plans_may_be_told_in_any_order(case: Case) -> None:
    method = case.make(batch=6)
    state = after(method, 1)
    first = method.ask(state)
    second = method.ask(state, pending=[first])
    third = method.ask(state, pending=[first, second])
    ends = []
    for order in ([first, second, third], [third, first, second]):
        end = state
        for plan in order:
            end, _ = method.tell(end, plan, measured(plan))
        ends.append(end)
    one, other = (known(end) for end in ends)
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert ends[0].samples == ends[1].samples
    if not case.intersected and case.confidence != "ridge":  # whose challenges remember the order
        np.testing.assert_array_equal(ends[0].labels, ends[1].labels)


@pytest.mark.parametrize("given", [None, 3, "plan"])
def test_pending_plans_come_in_a_list(given: Any) -> None:
    case = next(case for case in CASES if case.name == "truvar")
    method = case.make(batch=2)
    state = method.init()
    plan = method.ask(state)
    with pytest.raises(InputError, match=r"pending is of type \w+: give a list of plans that are out"):
        method.ask(state, pending=cast(Any, plan) if given == "plan" else given)
    assert method.ask(state, pending=iter([plan])).origin == method.ask(state, pending=[plan]).origin


def test_the_average_design_leaves_alone_what_is_being_measured() -> None:
    """Two regions alike: with all measurements of one pending, the next go to the other."""
    places = np.concatenate([np.linspace(0, 0.1, 10), np.linspace(5, 5.1, 10)])
    problem = sl.Problem(sl.Domain(places, RBF(0.2)), goal=sl.Threshold(0.0), noise=0.3)
    method = sl.methods.make("melk", problem, batch=20, rule="average")
    state = method.init()
    plan = method.ask(state)
    out = at(plan, [4] * 20, "left")
    weights = method.ask(state, pending=[out]).weights
    assert weights[10:].sum() > 0.6
    assert plan.weights[10:].sum() == pytest.approx(0.5, abs=0.05)


@each([case for case in CASES if case.rule in {"average", "worst"} and case.name == "melk"])
def test_a_design_starts_from_the_one_before(case: Case) -> None:
    method = case.make(batch=2)
    state = after(method, 1)
    assert state.design is not None
    cold = method.ask(replace(state, design=None))
    warm = method.ask(state)
    assert warm.certificate is not None
    assert cold.certificate is not None
    assert warm.certificate.weights.tolist() != cold.certificate.weights.tolist()
    assert warm.certificate.value == pytest.approx(cold.certificate.value, rel=0.02)


def test_the_history_knows_the_values() -> None:
    case = next(case for case in CASES if case.name == "truvar")
    method = case.make(batch=2)
    state = method.init()
    plan = method.ask(state)
    one, other = (method.tell(state, plan, values)[0] for values in ([0.1, 0.2], [0.1, 0.3]))
    assert method.ask(one).origin != method.ask(other).origin


def test_a_state_of_another_problem_is_refused() -> None:
    case = next(case for case in CASES if case.name == "truvar")
    method, other = case.make(batch=1), case.make(problem=case.problem(domain=sl.Domain(X, RBF(0.9))), batch=1)
    state = after(method, 1)
    with pytest.raises(InputError, match="state is of another method or problem"):
        other.ask(state)
    with pytest.raises(InputError, match="state is of type NoneType"):
        method.guess(None)  # type: ignore[arg-type]


@each(IN_BATCHES)
def test_a_plan_is_told_once(case: Case) -> None:
    method = case.make(batch=2)
    state = method.init()
    plan = method.ask(state)
    told, _ = method.tell(state, plan, measured(plan))
    with pytest.raises(InputError, match="plan is told already: give each plan's values once"):
        method.tell(told, plan, measured(plan))
    with pytest.raises(InputError, match=r"pending\[0\] is told already"):
        method.ask(told, pending=[plan])
    with pytest.raises(InputError, match="pending is the same plan more than once"):
        method.ask(state, pending=[plan, plan])


@each(IN_BATCHES)
def test_a_plan_of_another_campaign_is_refused(case: Case) -> None:
    method = case.make(batch=2)
    state, plan = method.init(seed=1), method.ask(method.init(seed=1))
    others = [case.make(batch=3), case.make(problem=case.problem(noise=0.2), batch=2)]
    if case.confidence == "posterior":
        others.append(case.make(batch=2, confidence=sl.Posterior(beta=1.0)))
    for other in others:
        with pytest.raises(
            InputError, match="plan is for another method, problem or seed: give a plan of this campaign"
        ):
            other.tell(other.init(seed=1), plan, measured(plan))
    with pytest.raises(InputError, match="plan is for another method, problem or seed"):
        method.tell(method.init(seed=2), plan, measured(plan))
    with pytest.raises(InputError, match=r"pending\[0\] is for another method, problem or seed"):
        method.ask(method.init(seed=2), pending=[plan])
    with pytest.raises(InputError, match=r"pending\[0\] is of type int: give what ask returned"):
        method.ask(state, pending=[3])  # type: ignore[list-item]


@each([case for case in CASES if case.in_rounds])
def test_rounds_are_told_before_the_next_is_asked_for(case: Case) -> None:
    method = case.make()
    plan = method.ask(method.init())
    with pytest.raises(InputError, match="pending is 1 plans: tell that round first"):
        method.ask(method.init(), pending=[plan])


def test_a_state_of_another_confidence_is_refused() -> None:
    rounds, batches = (
        case.make() for case in CASES if case.name == "melk" and (case.in_rounds or case.rule == "greedy")
    )
    for method, state in ((rounds, batches.init()), (batches, rounds.init())):
        with pytest.raises(InputError, match="state is of another method or problem"):
            method.ask(state)


# --- what does not go together


EXPLICIT, FRACTION, BAND = Threshold(0.2), FractionOfMax(0.3), sl.Band(0.1, 0.2)


class Made:
    """Not a rule, although it has the method of one."""

    def choose(self, view: Any) -> Any:
        return view


@pytest.mark.parametrize(
    ("name", "options", "changes", "sentence"),
    [
        ("melkk", {}, {}, "name is 'melkk': choose out of melk, milk, lse, lse-imp, truvar, straddle, rmile, uniform"),
        ("lse", {"confidence": "rips"}, {}, "confidence is 'rips': lse has posterior and rkhs"),
        ("lse", {"confidence": sl.Rips()}, {}, "confidence is 'rips': lse has posterior and rkhs"),
        ("truvar", {"confidence": "rkhs"}, {}, "confidence is 'rkhs': truvar has posterior"),
        ("melk", {"confidence": "rkhs"}, {}, "confidence is 'rkhs': melk has posterior and ridge and rips"),
        ("melk", {"confidence": sl.Rkhs()}, {}, "confidence is 'rkhs': melk has posterior and ridge and rips"),
        ("melk", {"confidence": "faith"}, {}, "confidence is 'faith': melk has posterior and ridge and rips"),
        ("melk", {"confidence": 3.0}, {}, "confidence is 3.0: melk has posterior and ridge and rips"),
        (
            "melk",
            {"rule": "best"},
            {},
            "rule is 'best': melk on the posterior confidence has label, declare, greedy, average, worst",
        ),
        (
            "melk",
            {"objective": "win"},
            {},
            "objective is 'win': melk on the posterior confidence has 'label' or 'declare'",
        ),
        ("lse", {"objective": "label"}, {}, "objective is 'label': lse on the posterior confidence has none: leave"),
        ("melk", {"objective": "label", "rule": "greedy"}, {}, "give an objective or a rule, not both"),
        (
            "melk",
            {"confidence": "rips", "batch": 5},
            {"bound": 1.0},
            "batch is 5: rounds are as long as their guarantee",
        ),
        ("lse", {"rule": "worst"}, {}, "rule is 'worst': lse on the posterior confidence has lse: give one, or a Rule"),
        (
            "melk",
            {"rule": "greedy", "confidence": "ridge"},
            {"norm": 1.0},
            "rule is 'greedy': melk on the ridge confidence has gap-weighted: give one, or a Rule",
        ),
        ("melk", {"rule": "greedy"}, {"norm": 1.0}, "rule is 'greedy': melk on the ridge confidence has gap-weighted"),
        ("melk", {"rule": Made()}, {}, "rule is of type Made: give a name, or an object of a class that derives from"),
        ("melk", {"rule": 7}, {}, "rule is of type int: give a name, or an object of a class that derives from"),
        (
            "milk",
            {"confidence": sl.Posterior(intersected=True)},
            {"goal": FRACTION},
            r"confidence is Posterior\(intersected=True, .*\): milk bounds pairs, which are not intersected",
        ),
        ("lse", {"confidence": "rkhs"}, {}, r"problem.norm is None: the rkhs confidence needs S with"),
        ("lse-imp", {"confidence": "rkhs"}, {"goal": FRACTION}, "problem.norm is None"),
        ("melk", {"confidence": "rips"}, {}, "problem.bound is None: the rips confidence needs B"),
        ("melk", {"confidence": "ridge"}, {}, "problem.norm is None: the ridge confidence needs S with"),
        ("straddle", {}, {"goal": FRACTION}, r"problem.goal is FractionOfMax\(epsilon=0.3\): straddle is not for this"),
        ("rmile", {}, {"goal": FRACTION}, "rmile is not for this goal: take milk, lse-imp, truvar, uniform"),
        ("rmile", {}, {"goal": BAND}, r"problem.goal is Band\(low=0.1, high=0.2\): rmile is not for this goal: take"),
        ("lse-imp", {}, {}, r"problem.goal is Threshold\(value=0.2\): lse-imp is not for this goal: take melk, lse"),
        ("lse-imp", {}, {"goal": BAND}, "lse-imp is not for this goal: take melk, lse, truvar, straddle, uniform"),
        ("milk", {"batch": 3}, {}, "milk is not for this goal: take melk, lse"),
        ("lse", {"batch": 0}, {}, "batch is 0: give a whole number >= 1"),
        ("lse", {"batch": 2.5}, {}, "batch is 2.5: give a whole number >= 1"),
        ("lse", {"permanent": "yes"}, {}, "permanent is 'yes': give True or False"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(name: str, options: Any, changes: Any, sentence: str) -> None:
    problem = sl.Problem(sl.Domain(X[:, None]), **{"goal": EXPLICIT, "noise": 0.1, **changes})
    with pytest.raises(InputError, match=sentence) as caught:
        sl.methods.make(name, problem, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (sl.Posterior, {"beta": 0.0}, "Posterior.beta is 0.0: give a number > 0"),
        (sl.Posterior, {"intersected": 1}, "Posterior.intersected is 1: give True or False"),
        (sl.Rkhs, {"intersected": "no"}, "Rkhs.intersected is 'no': give True or False"),
        (AverageCase, {"rtol": 0.0}, "rtol is 0.0: give a number > 0"),
        (WorstCase, {"rtol": -1.0}, "rtol is -1.0: give a number > 0"),
        (GapWeighted, {"rtol": "small"}, "rtol is 'small': give a number > 0"),
    ],
)
def test_wrong_parameters_are_refused_where_they_are_given(kind: type, options: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        kind(**options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("melk", {"schedule": "paper"}),
        ("melk", {"criterion": "worst"}),
        ("melk", {"beta": 2.0}),
        ("lse", {"intersected": True}),
        ("melk", {"rtol": 0.1}),
    ],
)
def test_parameters_of_a_confidence_or_a_rule_are_given_to_it(name: str, options: Any) -> None:
    problem = sl.Problem(sl.Domain(X[:, None]), goal=EXPLICIT, noise=0.1)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        sl.methods.make(name, problem, **options)


def test_a_rule_for_another_confidence_says_so_when_it_is_asked() -> None:
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=EXPLICIT, noise=0.1, norm=3.0, bound=2.0)
    for confidence, rule in (("ridge", Sequential(score=Straddle())), ("rips", AverageCase())):
        method = sl.methods.make("melk", problem, confidence=confidence, rule=rule)
        with pytest.raises(InputError, match=f"needs a Gaussian posterior, which the {confidence} confidence does not"):
            method.ask(method.init())
    method = sl.methods.make("melk", problem, confidence="posterior", rule=GapWeighted())
    with pytest.raises(InputError, match="it needs features that bound f, which a Gaussian posterior does not have"):
        method.ask(method.init())


@each(IN_BATCHES)
def test_a_finished_campaign_asks_for_nothing(case: Case) -> None:
    method = case.make()
    state = replace(method.init(), stop=Stop.DECIDED)
    with pytest.raises(SuperlevelError, match="nothing is left to measure: every point is decided"):
        method.ask(state)


# --- labels that stay, and labels that are read anew


def two_points(permanent: bool | None) -> State:
    """The first value is misleading; the second point is never measured and stays open."""
    problem = sl.Problem(sl.Domain(np.eye(2)), goal=Threshold(0.0), noise=0.5)
    method = sl.methods.make("uniform", problem, batch=1, confidence=sl.Posterior(beta=0.5), permanent=permanent)
    state = method.init()
    for k, value in enumerate([-0.8, 0.9, 1.1, 1.0]):
        state, _ = method.tell(state, at(method.ask(state), [0], f"plan {k}"), [value])
        if k == 0:
            np.testing.assert_array_equal(state.labels, [-1, 0])
    return state


def test_an_early_mistake_is_corrected_unless_labels_are_permanent() -> None:
    np.testing.assert_array_equal(two_points(None).labels, [1, 0])
    np.testing.assert_array_equal(two_points(False).labels, [1, 0])
    np.testing.assert_array_equal(two_points(True).labels, [-1, 0])


def test_labels_are_permanent_where_the_confidence_holds_at_all_times() -> None:
    for case in CASES:
        assert case.make().permanent == (case.confidence in {"rips", "rkhs"})
