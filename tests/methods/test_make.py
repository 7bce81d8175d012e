"""`make`: the defaults, the counterparts for goals relative to the maximum, and problems that leave things open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import pilots
from superlevel.arrays import Array
from superlevel.confidence.estimated import Estimated, EstimatedBelief
from superlevel.errors import InputError
from superlevel.findings import Verdict
from superlevel.methods.make import as_confidence, default_confidence, describe, describe_rule, restore_rule
from superlevel.methods.table import CONFIDENCES, NAMES, ROWS
from superlevel.records import Batch, State, Stop
from superlevel.rules.chance import Chance
from superlevel.rules.covariances import AverageCase
from superlevel.rules.pilot import Piloted
from superlevel.sizes import Growing, PilotFirst
from tests.methods.cases import CASES, TRUTH, Case, X, after, each

EXPLICIT, FRACTION = sl.Threshold(0.23), sl.FractionOfMax(0.3)


def problem(goal: sl.Goal = EXPLICIT, **options: Any) -> sl.Problem:
    return sl.Problem(sl.Domain(X, RBF(0.2)), goal=goal, **{"noise": 0.1, **options})


# --- the default


LIMITED = [{"norm": 3.0}, {"bound": 2.0, "misspecification": 0.05}, {"norm": 3.0, "bound": 2.0}]
OPEN: list[dict[str, Any]] = [{}, {"noise": None}, {"fit": ("kernel",)}, {"fit": ("mean",)}]


@pytest.mark.parametrize("name", ["melk", "milk"])
@pytest.mark.parametrize("batch", [None, 1, 50])
@pytest.mark.parametrize("limits", LIMITED, ids="+".join)
def test_a_norm_or_a_bound_gives_a_guarantee_at_every_moment(name: str, batch: int | None, limits: Any) -> None:
    given = problem(EXPLICIT if name == "melk" else FRACTION, **limits)
    method = sl.methods.make(name, given, batch=batch)
    assert method.confidence == sl.Ridge()
    assert default_confidence(name, given) == "ridge"
    assert method.sizes == Growing(first=10 if batch is None else batch, growth=1.2)


def test_a_bound_alone_limits_nothing_that_the_features_of_a_kernel_miss() -> None:
    """With f = 0.15 + 0.3 times the 12th eigenfunction every run would end with wrong labels and no contradiction."""
    given = sl.Problem(sl.Domain(np.linspace(0, 1, 60), RBF(0.4)), goal=sl.Threshold(0.0), noise=1.0, bound=1.0)
    assert sl.methods.make("melk", given).confidence.name == default_confidence("melk", given) == "posterior"
    with pytest.raises(
        InputError, match=r"bound is 1 without a norm: it does not limit what .* features of this kernel"
    ):
        sl.methods.make("melk", given, confidence="ridge")
    linear = sl.Problem(sl.Domain(np.linspace(0, 1, 60)), goal=sl.Threshold(0.0), noise=1.0, bound=1.0)
    assert sl.methods.make("melk", linear).confidence.name == "ridge"
    apart = sl.Problem(sl.Domain(np.arange(6.0), RBF(0.4)), goal=sl.Threshold(0.0), noise=1.0, bound=1.0)
    assert sl.methods.make("melk", apart, confidence="ridge").confidence.name == "ridge"  # features for every f


@pytest.mark.parametrize("name", ["melk", "milk"])
@pytest.mark.parametrize("batch", [None, 1, 50])
@pytest.mark.parametrize("options", OPEN, ids=str)
def test_without_them_or_where_something_is_fitted_it_is_the_posterior(
    name: str, batch: int | None, options: Any
) -> None:
    for limits in ({}, {"norm": 3.0, "bound": 2.0}) if options else ({},):
        given = problem(EXPLICIT if name == "melk" else FRACTION, **limits, **options)
        method = sl.methods.make(name, given, batch=batch)
        assert method.confidence.name == default_confidence(name, given) == "posterior"
        usual = 5 if given.fit else 10  # what is estimated changes with every result
        later = Growing(first=usual if batch is None else batch)
        assert method.sizes == (PilotFirst(pilot=20, later=later) if given.fit else later)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("options", [*LIMITED, *OPEN], ids=str)
def test_rips_and_rkhs_are_chosen_by_name_only(name: str, batch: int | None, options: Any) -> None:
    goal = EXPLICIT if ROWS[name].takes(EXPLICIT) else FRACTION
    given = problem(goal, **options)
    method = sl.methods.make(name, given, batch=batch)
    has_ridge = name in {"melk", "milk"} and ("norm" in options or "bound" in options)
    assert method.confidence.name == ("ridge" if has_ridge else "posterior")


def test_a_confidence_by_its_name_is_the_one_with_the_usual_parameters() -> None:
    given = problem(norm=3.0, bound=2.0)
    for name in ("posterior", "ridge", "rips"):
        by_name, by_object = (
            sl.methods.make("melk", given, confidence=wanted) for wanted in (name, as_confidence(name))
        )
        assert by_name.confidence == by_object.confidence == CONFIDENCES[name]()
        assert by_name.init().campaign == by_object.init().campaign
    assert sl.methods.make("lse", given, confidence="posterior").confidence == sl.Posterior(intersected=True)
    assert sl.methods.make("lse", given, confidence="rkhs").confidence == sl.Rkhs(intersected=True)
    assert sl.methods.make("lse", given, confidence=sl.Posterior()).confidence == sl.Posterior(intersected=False)


@pytest.mark.parametrize(
    "confidence",
    [
        sl.Posterior(),
        sl.Posterior(beta=1.75, intersected=True),
        sl.Ridge(growth=1.0, shares=(0.9, 0.05)),
        sl.Rips(schedule="tight", estimator=sl.robust.TRIMMED_MEAN),
        sl.Rips(),
        sl.Rkhs(intersected=True),
    ],
    ids=repr,
)
def test_a_confidence_is_restored_from_its_description(confidence: Any) -> None:
    assert as_confidence(describe(confidence)) == confidence
    assert as_confidence(confidence) is confidence


def test_an_unknown_confidence_is_one_sentence() -> None:
    with pytest.raises(InputError, match="confidence is 'hope': choose out of posterior, ridge, rips, rkhs"):
        as_confidence("hope")
    with pytest.raises(InputError, match="confidence is None: choose out of posterior"):
        as_confidence({"beta": 3.0})


@pytest.mark.parametrize("made", [3, None, "melk"])
def test_what_is_no_problem_is_refused(made: Any) -> None:
    with pytest.raises(InputError, match=f"problem is of type {type(made).__name__}: give Problem"):
        sl.methods.make("melk", made)


# --- goals relative to the maximum


@pytest.mark.parametrize(("name", "other"), [("melk", "milk"), ("lse", "lse-imp")])
def test_a_goal_relative_to_the_maximum_gets_the_method_for_it(name: str, other: str) -> None:
    for options in ({}, {"norm": 3.0}):
        method, same = (sl.methods.make(each, problem(FRACTION, **options)) for each in (name, other))
        assert method.name == same.name == other
        assert (method.goal, method.rule, method.confidence) == (same.goal, same.rule, same.confidence)
        assert method.init().campaign == same.init().campaign
        np.testing.assert_array_equal(method.ask(method.init()).counts, same.ask(same.init()).counts)
    with pytest.raises(InputError, match=f"{other} is not for this goal"):
        sl.methods.make(other, problem(EXPLICIT))


@pytest.mark.parametrize("name", [name for name in NAMES if ROWS[name].takes(FRACTION)])
def test_milk_reads_pairs_and_the_others_read_points(name: str) -> None:
    method = sl.methods.make(name, problem(FRACTION))
    assert method.problem.goal == FRACTION
    assert method.goal.share == pytest.approx(0.7 if name == "milk" else 0.0)
    assert method.init().undecided.shape == ((len(X), len(X)) if name == "milk" else (len(X),))


# --- what is left open


PLACES = np.random.default_rng(0).uniform(-1, 1, (40, 2))
SLOPE = PLACES @ np.array([2.0, -1.0])


def to_the_end(method: sl.methods.Method, truth: Array, *, noise: float = 0.1, most: int = 600) -> list[State]:
    """All states of a campaign."""
    states = [method.init()]
    while states[-1].stop is None and states[-1].samples < most:
        plan = method.ask(states[-1])
        drawn = np.random.default_rng([states[-1].phase, 7]).standard_normal(plan.total)
        states.append(method.tell(states[-1], plan, truth[plan.indices] + noise * drawn)[0])
    return states


@pytest.mark.parametrize("name", [name for name in NAMES if ROWS[name].takes(EXPLICIT)])
def test_points_and_a_goal_are_enough(name: str) -> None:
    given = sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.3))
    assert given.fit == ("noise",)
    method = sl.methods.make(name, given)
    assert isinstance(method.confidence, Estimated)
    assert isinstance(method.rule, Piloted)
    run = sl.simulate(method, sl.oracles.Gaussian(SLOPE, noise=0.1), max_samples=3000)
    assert run.stop is Stop.DECIDED
    np.testing.assert_array_equal(run.labels, np.sign(SLOPE - 0.3))


@pytest.mark.parametrize("name", ["melk", "lse", "truvar", "uniform", "max-variance"])
def test_a_fraction_of_the_maximum_is_enough_too(name: str) -> None:
    method = sl.methods.make(name, sl.Problem(sl.Domain(PLACES), goal=sl.FractionOfMax(0.5), tolerance=0.1))
    run = sl.simulate(method, sl.oracles.Gaussian(SLOPE, noise=0.1), max_samples=3000)
    assert run.stop is Stop.DECIDED
    clear = np.abs(SLOPE - 0.5 * SLOPE.max()) > 0.1
    np.testing.assert_array_equal(run.labels[clear], np.sign(SLOPE - 0.5 * SLOPE.max())[clear])


def test_a_pilot_comes_first_and_then_estimates() -> None:
    method = sl.methods.make("melk", sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.3)))
    first, second, third, fourth, *rest = to_the_end(method, SLOPE)
    assert isinstance(first.belief, EstimatedBelief)
    assert [state.belief.pilot for state in (first, second, third, fourth)] == [20, 15, 10, 5]
    assert not first.labels.any()
    assert np.isinf(first.intervals.lower).all()
    assert [finding.verdict for finding in first.belief.findings] == [Verdict.UNTESTED]
    plan = method.ask(first)
    assert plan.total == 5
    assert plan.forecast is None
    counts = rest[0].belief.counts
    assert sorted(np.unique(counts).tolist()) == [0, 1, 2]  # repeats tell the noise apart
    assert np.count_nonzero(counts == 2) == pilots.TWICE
    for state in rest:
        assert isinstance(state.belief, EstimatedBelief)
        assert state.belief.pilot == 0
        assert state.belief.counts.sum() == state.samples
    last = (third, *rest)[-1]
    assert last.stop is Stop.DECIDED
    assert float(last.belief.estimated["noise"]) == pytest.approx(0.1, rel=0.4)


def test_before_the_pilot_is_complete_nothing_is_decided_and_the_rest_of_it_is_asked_for() -> None:
    for name, goal in (("melk", sl.FractionOfMax(0.3)), ("lse", sl.FractionOfMax(0.3)), ("melk", sl.Band(0.1, 0.4))):
        other = sl.methods.make(name, sl.Problem(sl.Domain(PLACES), goal=goal))
        assert not other.observe(other.init(), [3, 7], SLOPE[[3, 7]])[0].labels.any()
    method = sl.methods.make("melk", sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.3)), batch=30)
    state, info = method.observe(method.init(), [3, 3, 7, 9, 20], SLOPE[[3, 3, 7, 9, 20]])
    assert state.belief.pilot == 15
    assert not state.labels.any()
    assert info.findings == ()
    assert method.ask(state).total == 15
    assert not method.ask(state).counts[[3, 7, 9, 20]].any()  # far from what was measured
    with pytest.raises(InputError, match="belief is without an estimate: 15 more measurements of the pilot come first"):
        _ = state.belief.posterior
    pending = method.ask(state)
    assert method.ask(state, pending=[pending]).total == 30  # the pilot is on its way


def test_an_unknown_kernel_declares_nothing_before_its_predictions_were_compared() -> None:
    wave = 3.0 + np.sin(6 * X)
    given = sl.Problem(sl.Domain(X), goal=sl.Threshold(3.3), fit=("kernel", "mean"))
    method = sl.methods.make("melk", given)
    states = to_the_end(method, wave, noise=0.05, most=200)
    for state in states[4:]:
        assert isinstance(state.belief, EstimatedBelief)
        (tested,) = state.belief.findings
        if len(state.belief.compared) < len(X) // 2:
            assert tested.verdict is Verdict.UNTESTED
            assert "nothing is declared before that" in tested.sentence
            assert not state.labels.any()
        else:
            assert tested.verdict is Verdict.HOLDS
    last = states[-1]
    known = last.labels != 0
    assert known.mean() > 0.7
    np.testing.assert_array_equal(last.labels[known], np.sign(wave - 3.3)[known])


def test_results_far_from_their_forecasts_widen_the_intervals_and_end_the_claims() -> None:
    places = np.linspace(0, 1, 300)
    wave = 3.0 + np.sin(6 * places)
    method = sl.methods.make("melk", sl.Problem(sl.Domain(places), goal=sl.Threshold(3.3), fit=("kernel", "mean")))
    before = [state for state in to_the_end(method, wave, noise=0.3, most=80) if state.stop is None][-1]
    assert before.labels.any()
    state, widths = before, []
    for _ in range(4):
        plan = method.ask(state)
        forecast = plan.forecast
        assert forecast is not None
        at = np.searchsorted(forecast.points, plan.indices)
        far = forecast.warp.inverse(forecast.means[at] + 30.0 * forecast.deviations[at])
        state, _ = method.update(state, Batch(points=plan.indices, values=far, plan=plan, whole=True))
        belief: Any = state.belief
        widths.append(belief.misfit)
    assert widths[0] > 2.5
    assert state.belief.findings[0].verdict is Verdict.CONTRADICTED
    assert "nothing is declared while the fit fails this test" in state.belief.findings[0].sentence
    assert not state.labels.any()
    assert state.stop is None  # the campaign goes on


@pytest.mark.parametrize(("name", "confidence"), [("melk", "ridge"), ("melk", "rips"), ("lse", "rkhs")])
@pytest.mark.parametrize("options", OPEN[1:], ids=str)
def test_a_guarantee_needs_what_is_left_open(name: str, confidence: str, options: Any) -> None:
    given = problem(norm=3.0, bound=2.0, **options)
    with pytest.raises(InputError, match=r"fit is \(.*\): a guarantee needs kernel, noise and mean to be given"):
        sl.methods.make(name, given, confidence=confidence)


def test_methods_that_differ_in_the_inner_confidence_are_told_apart() -> None:
    given = problem(noise=None)
    one, other = (sl.methods.make("melk", given, confidence=sl.Posterior(beta=beta)) for beta in (2.0, 3.0))
    with pytest.raises(InputError, match="of another method or problem"):
        other.ask(one.init())


# --- rules as data


@each(CASES)
def test_a_method_by_rule_object_is_the_method_by_name(case: Case) -> None:
    """Only the fingerprint of the rule counts, not how it was given."""
    method = case.make()
    same = case.make(rule=method.rule)
    assert same.init().campaign == method.init().campaign
    state = after(method, 1)
    if state.stop is None:
        np.testing.assert_array_equal(same.ask(state).counts, method.ask(state).counts)


def test_a_rule_is_described_by_its_name_or_by_its_import_path() -> None:
    assert describe_rule("greedy") == {"name": "greedy"}
    assert restore_rule({"name": "greedy"}) == "greedy"
    described = describe_rule(AverageCase(rtol=0.2))
    assert described == {"name": "superlevel.rules.covariances:AverageCase", "rtol": 0.2}
    assert restore_rule(described) == AverageCase(rtol=0.2)
    assert restore_rule(describe_rule(Chance())) == Chance()


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        ({"name": "nowhere.to.be:Found"}, "rule is nowhere.to.be:Found: this study's rule cannot be loaded"),
        ({"name": "superlevel.rules.chance:Luck"}, "this study's rule cannot be loaded .* install the package"),
        ({"name": "superlevel.rules.chance:Chance", "seed": 3}, "this study's rule cannot be loaded"),
        ({"name": "superlevel.domain:Domain", "points": [1.0]}, "it is not a class that derives from"),
    ],
)
def test_a_rule_that_cannot_be_loaded_is_one_sentence(described: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        restore_rule(described)


def test_a_rule_that_cannot_be_stored_is_one_sentence() -> None:
    class Local(Chance):
        pass

    with pytest.raises(InputError, match=r"rule is .*Local: define the class at the top of a module"):
        describe_rule(Local())
    with pytest.raises(InputError, match=r"rule.rule is of type Chance: give text, a number, or True or False"):
        describe_rule(Piloted(Chance()))


def test_measurements_with_a_noise_of_their_own_are_taken_at_their_word() -> None:
    method = sl.methods.make("melk", problem(noise=None))
    rng = np.random.default_rng(0)
    points = np.tile(np.arange(len(X)), 2)
    values = TRUTH[points] + 0.1 * rng.standard_normal(len(points))
    state, _ = method.observe(method.init(), points, values, noise=np.full(len(points), 0.1))
    expected = np.bincount(points, minlength=len(X)) / 0.1**2
    np.testing.assert_allclose(state.belief.posterior.weights, expected)
