"""The whole estimate: what it says of known functions, of hardly any measurements, and of what is given."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.averaging import NO_DATA, Average, Data, Shortlist, average, candidates, lengths
from superlevel.averaging.families import Given
from superlevel.averaging.structures import REPLICATES, Structure, evidences, grid, grid_of_noise
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Threshold
from tests.averaging import dense
from tests.averaging.dense import World

module: Any = importlib.import_module("superlevel.averaging.estimate")

ALL = ("kernel", "noise", "mean")
SIDE = np.linspace(0.0, 1.0, 20)
GRID = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
EVERYWHERE = np.arange(len(GRID))
TRUTH = Matern(0.3, nu=1.5)
ROOT = np.linalg.cholesky(TRUTH(GRID) + 1e-10 * np.eye(len(GRID)))
NOISE = 0.1
FITS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("noise",), {"mean": 0.2}),
    (("mean",), {"noise": NOISE}),
    (("noise", "mean"), {}),
    (("kernel",), {"noise": NOISE, "mean": 0.2}),
    (("kernel", "mean"), {"noise": NOISE}),
    (("kernel", "noise"), {"mean": 0.2}),
    (ALL, {}),
]
fits = pytest.mark.parametrize(("fit", "given"), FITS, ids="+".join)


def drawn(seed: int) -> Array:
    """A function on the grid."""
    return np.asarray(ROOT @ np.random.default_rng([seed, 0]).standard_normal(len(GRID)))


def measured(f: Array, count: int, seed: int, *, twice: bool = False) -> Data:
    """Measurements at ``count`` different points, or at half as many, each of them twice."""
    rng = np.random.default_rng([seed, 1])
    points = np.repeat(rng.choice(len(f), count // 2, replace=False), 2) if twice else rng.choice(len(f), count, False)
    return told(points, f[points] + NOISE * rng.standard_normal(count))


def told(points: Any, values: Any, noise: Any = math.nan) -> Data:
    """Measurements, by default without a noise of their own."""
    where = np.asarray(points, dtype=np.int64)
    return Data(
        points=where,
        values=np.asarray(values, dtype=np.float64),
        noise=np.broadcast_to(np.asarray(noise, dtype=np.float64), where.shape).copy(),
    )


def problem(*, points: Any = GRID, level: float = 0.3, fit: tuple[str, ...] = ALL, **given: Any) -> sl.Problem:
    goal = given.pop("goal", Threshold(level))
    return sl.Problem(sl.Domain(points, given.pop("kernel", None)), goal=goal, fit=fit, **given)


def numbers(found: Average, points: Indices = EVERYWHERE) -> dict[str, Array]:
    """Everything that can be asked for."""
    prediction = found.predict(points)
    middle, half = prediction.spread()
    return {
        "below": prediction.below(0.3),
        "wider": prediction.below(0.3, 1.5),
        "low": prediction.quantile(0.1),
        "median": prediction.quantile(0.5),
        "high": prediction.quantile(0.9),
        "middle": middle,
        "half": half,
        "left out": found.left_out(),
        "noise": np.array(found.noise),
        "counts": found.counts,
        "weights": np.array([weight for weight, _, _ in found.parts]),
    }


# --- known functions


def test_as_many_points_are_mislabelled_as_probabilities_say() -> None:
    """The share of wrong labels less the mean of min(p, 1 - p) has expectation 0 where probabilities are right."""
    expected, wrong, always = [], [], []
    for seed in range(16):
        f = drawn(seed)
        below = average(problem(), measured(f, 60, seed)).predict(EVERYWHERE).below(0.3)
        expected.append(np.minimum(below, 1 - below).mean())
        wrong.append(((below < 0.5) != (f > 0.3)).mean())
        always.append((f > 0.3).mean())
    gaps = np.array(wrong) - np.array(expected)
    assert abs(gaps.mean()) < 4 * gaps.std(ddof=1) / math.sqrt(len(gaps))
    assert np.mean(wrong) < 0.5 * np.minimum(always, np.subtract(1, always)).mean()


def test_intervals_cover_f_as_often_as_they_say() -> None:
    covered = []
    for seed in range(8):
        f = drawn(seed)
        found = average(problem(), measured(f, 60, seed)).predict(EVERYWHERE)
        covered.append(((found.quantile(0.1) < f) & (f < found.quantile(0.9))).mean())
    assert abs(np.mean(covered) - 0.8) < 4 * np.std(covered, ddof=1) / math.sqrt(len(covered))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.03, 0.3])
def test_repeats_show_the_noise(seed: int, noise: float) -> None:
    f, rng = drawn(seed), np.random.default_rng([seed, 2])
    points = np.repeat(rng.choice(len(GRID), 25, replace=False), 2)
    found = average(problem(), told(points, f[points] + noise * rng.standard_normal(50)))
    assert 0.5 < found.noise / noise < 2.0


def test_a_skew_function_is_transformed_and_its_quantiles_have_their_probability() -> None:
    f = np.exp(1.5 * drawn(0))
    for count in (20, 60):
        found = average(problem(), measured(f, count, 0))
        assert math.isfinite(found.warp.scale)
        assert "of transformed values" in found.kernel
        prediction = found.predict(EVERYWHERE)
        for chance in (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-4):
            np.testing.assert_allclose(prediction.below(prediction.quantile(chance)), chance, rtol=0, atol=1e-6)


def test_parts_are_weighted_and_the_largest_comes_first() -> None:
    several = 0
    for seed in range(4):
        found = average(problem(), measured(np.exp(drawn(seed)), 30, seed))
        weights = [weight for weight, _, _ in found.parts]
        assert math.fsum(weights) == pytest.approx(1.0)
        assert weights == sorted(weights, reverse=True)
        assert 1 <= len(weights) <= candidates.TRANSFORMS
        assert min(weights) >= candidates.NEGLIGIBLE * max(weights)
        members = [part.weights.sum() for _, part in found.predict(EVERYWHERE[:3]).parts]
        assert members == pytest.approx(weights)
        count = sum(len(mixture.fits) for _, _, mixture in found.parts)
        assert f"the likeliest of {count} that are averaged" in found.kernel
        several += len(weights) > 1
    assert several


def smooth(structures: Iterable[Structure]) -> list[Structure]:
    return [structure for structure in structures if structure.rough == 0]


def test_transforms_are_weighted_by_the_likelihood_of_what_was_measured() -> None:
    """By full integrals, with the lengths that are likeliest for each transform, and finite differences of it.

    Without a rough part, the likeliest structures name the families; of these, all with a scatter near theirs count.
    """
    data = measured(np.exp(0.6 * drawn(6)), 24, 6)
    found = average(problem(), data)
    logs = []
    for _, warp, _ in found.parts:
        plain = World(domain=sl.Domain(GRID), points=data.points, values=warp(data.values), counts=np.ones(24))
        listed = grid(plain.metrics, noise_is_given=False)
        _, best = max(evidences(plain.summary, smooth(listed)), key=lambda pair: pair[0])
        world = replace(plain, stretched=(lengths.stretched(plain.summary, best, listed[best]),))
        structures = list(grid(world.metrics, noise_is_given=False))
        ranked = sorted(evidences(world.summary, smooth(structures)), key=lambda pair: pair[0])
        families = {structure.family: structure.noise for _, structure in ranked}  # the likeliest comes last
        order = list(dict.fromkeys(structure.family for _, structure in reversed(ranked)))[: candidates.FAMILIES]
        apart = {s: math.log((s.rough + s.noise) / families[s.family]) for s in structures if s.family in order}
        likely = [structure for structure, log in apart.items() if abs(log) <= math.log(candidates.WITHIN)]
        step = 1e-6 * float(data.values.std())
        slopes = (warp(data.values + step) - warp(data.values - step)) / (2 * step)
        each = [dense.log_evidence(world, structure) + structure.log_prior for structure in likely]
        prior = 0.0 if math.isinf(warp.scale) else -candidates.RELUCTANCE
        logs.append(np.logaddexp.reduce(each) + np.log(slopes).sum() + prior)
    assert len(logs) > 1
    weights = [weight for weight, _, _ in found.parts]
    assert weights == pytest.approx(np.exp(logs - np.logaddexp.reduce(logs)).tolist(), rel=1e-4)


def test_left_out_points_are_normal_deviates() -> None:
    """Over all functions their mean square is 1 where the kernels are right; neighbours are nearly independent."""
    deviates = np.concatenate([average(problem(), measured(drawn(seed), 60, seed)).left_out() for seed in range(6)])
    assert abs(np.square(deviates).mean() - 1.0) < 4 * math.sqrt(2 / len(deviates))


# --- what must not matter


@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 1e6), (1e3, -5.0), (1e-8, 0.0), (1e8, 1e8)])
@pytest.mark.parametrize("skew", [False, True])
def test_units_of_the_values_change_nothing(scale: float, offset: float, skew: bool) -> None:
    f = np.exp(drawn(1)) if skew else drawn(1)
    data = measured(f, 40, 1)
    expected = average(problem(), data)
    found = average(problem(level=scale * 0.3 + offset), told(data.points, scale * data.values + offset))
    one, other = expected.predict(EVERYWHERE), found.predict(EVERYWHERE)
    np.testing.assert_allclose(other.below(scale * 0.3 + offset), one.below(0.3), rtol=0, atol=1e-6)
    np.testing.assert_allclose((other.quantile(0.2) - offset) / scale, one.quantile(0.2), rtol=0, atol=1e-5)
    assert found.noise / scale == pytest.approx(expected.noise, rel=1e-5)
    np.testing.assert_allclose(found.left_out(), expected.left_out(), atol=1e-5)


@fits
@pytest.mark.parametrize("scale", [1e3, 0.01])
def test_units_of_what_is_given_change_nothing(fit: tuple[str, ...], given: dict[str, Any], scale: float) -> None:
    data = measured(drawn(1), 40, 1, twice=True)
    scaled = {name: scale * value for name, value in given.items()}
    expected = average(problem(fit=fit, kernel=TRUTH, **given), data)
    other = problem(fit=fit, kernel=scale**2 * TRUTH, level=scale * 0.3, **scaled)
    found = average(other, told(data.points, scale * data.values))
    below = [each.predict(EVERYWHERE).below(level) for each, level in ((expected, 0.3), (found, scale * 0.3))]
    np.testing.assert_allclose(below[1], below[0], rtol=0, atol=1e-7)
    assert found.noise / scale == pytest.approx(expected.noise, rel=1e-7)


@pytest.mark.parametrize(("scale", "offset"), [(1e3, 7.0), (1e-3, -1.0)])
def test_units_of_the_coordinates_change_nothing(scale: float, offset: float) -> None:
    data = measured(drawn(1), 40, 1)
    one, other = (average(problem(points=each), data).predict(EVERYWHERE) for each in (GRID, scale * GRID + offset))
    np.testing.assert_allclose(other.below(0.3), one.below(0.3), rtol=0, atol=1e-7)


@fits
def test_the_order_of_measurements_changes_nothing(fit: tuple[str, ...], given: dict[str, Any]) -> None:
    data = measured(drawn(2), 40, 2, twice=True)
    order = np.random.default_rng(0).permutation(40)
    task = problem(fit=fit, kernel=TRUTH, **given)
    one, other = (numbers(average(task, each)) for each in (data, data[order]))
    for name in one:
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-9, err_msg=name)


def test_constant_coordinates_change_nothing() -> None:
    data = measured(drawn(3), 30, 3)
    wider = np.insert(GRID, 1, 4.2, axis=1)
    one, other = (average(problem(points=each), data).predict(EVERYWHERE) for each in (GRID, wider))
    np.testing.assert_allclose(other.below(0.3), one.below(0.3), rtol=0, atol=1e-9)


# --- hardly any measurements

FEW: dict[str, tuple[Any, Data]] = {
    "one point": ([[0.3, 0.4]], told([0], [1.0])),
    "one point, three measurements": ([[0.3, 0.4]], told([0, 0, 0], [1.0, 1.1, 0.9])),
    "equal points": (np.full((5, 2), 0.3), told([0, 1, 2, 2], [1.0, 1.1, 0.9, 0.95])),
    "one measurement": (GRID, told([7], [1.0])),
    "one measurement of zero": (GRID, told([7], [0.0])),
    "three points": ([0.0, 0.5, 1.0], told([0, 1, 2], [1.0, 2.0, 1.5])),
    "equal values": (GRID, told(range(0, 70, 10), np.full(7, 0.1))),
    "equal values, repeated": (GRID, told([3, 3, 8, 8, 8], np.full(5, -7.7))),
    "zeros": (GRID, told(range(0, 80, 10), np.zeros(8))),
    "large equal values": (GRID, told(range(0, 80, 10), np.full(8, 1e6 + 0.1))),
    "one value differs": (GRID, told(range(0, 80, 10), [0.0] * 7 + [1.0])),
    "exact repeats": (GRID, told(np.repeat(range(0, 80, 10), 2), np.repeat(np.arange(8.0), 2))),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize(
    ("fit", "given"),
    [*FITS, (("kernel",), {"noise": 0.0}), (ALL, {"goal": FractionOfMax(0.3)})],
    ids="+".join,
)
def test_hardly_any_measurements_make_finite_numbers(name: str, fit: tuple[str, ...], given: dict[str, Any]) -> None:
    points, data = FEW[name]
    task = problem(points=points, fit=fit, kernel=RBF(0.3), **given)
    found = average(task, data)
    for what, each in numbers(found, np.arange(task.domain.n)).items():
        assert np.isfinite(each).all(), what
    assert found.kernel


@pytest.mark.parametrize("value", [0.1, -7.7, 1e6 + 0.1])
def test_equal_values_are_expected_everywhere(value: float) -> None:
    found = average(problem(), told(range(0, 80, 10), np.full(8, value))).predict(EVERYWHERE)
    np.testing.assert_allclose(found.quantile(0.5), value)


def test_without_measurements_there_is_nothing_to_average() -> None:
    with pytest.raises(InputError, match="fit is asked for without any measurement") as caught:
        average(problem(), NO_DATA)
    assert caught.value.field == "fit"


# --- data


def test_data_are_joined_and_picked_in_order() -> None:
    first, second = told([3, 1], [0.5, 0.6], [math.nan, 0.2]), told([1], [0.7])
    joined = NO_DATA.joined(first).joined(second)
    assert len(joined) == 3
    assert joined.points.tolist() == [3, 1, 1]
    assert joined[np.array([2, 0])].values.tolist() == [0.7, 0.5]
    np.testing.assert_array_equal(joined.noise, [math.nan, 0.2, math.nan])


# --- noise of its own


@pytest.mark.parametrize("fit", [("mean",), ("kernel",)])
def test_ten_times_the_noise_counts_a_hundredth_where_noise_is_given(fit: tuple[str, ...]) -> None:
    data = measured(drawn(0), 30, 0)
    own = data.noise.copy()
    own[:4] = [10 * NOISE, NOISE, NOISE / 2, 2 * NOISE]
    found = average(problem(fit=fit, kernel=TRUTH, noise=NOISE), told(data.points, data.values, own))
    np.testing.assert_allclose(found.counts, [0.01, 1.0, 4.0, 0.25, *[1.0] * 26])


def test_ten_times_the_noise_counts_a_hundredth_where_all_have_their_own() -> None:
    data = measured(drawn(0), 30, 0)
    own = np.full(30, NOISE)
    own[3] *= 10
    found = average(problem(), told(data.points, data.values, own))
    np.testing.assert_allclose(found.counts, np.where(np.arange(30) == 3, 0.01, 1.0))
    assert found.noise == pytest.approx(NOISE, rel=0.3)


def test_own_noise_is_compared_with_the_noise_of_the_others() -> None:
    data = measured(drawn(0), 60, 0, twice=True)
    own = data.noise.copy()
    own[:2] = [0.02, 0.2]
    found = average(problem(), told(data.points, data.values, own))
    usual = average(problem(), data[np.arange(2, 60)]).noise
    np.testing.assert_allclose(found.counts, [(usual / 0.02) ** 2, (usual / 0.2) ** 2, *[1.0] * 58])


@pytest.mark.parametrize("fit", [("mean",), ("kernel", "mean")])
def test_noise_that_differs_between_points_is_noise_of_the_measurements(fit: tuple[str, ...]) -> None:
    data, deviations = measured(drawn(0), 30, 0), np.random.default_rng(0).uniform(0.05, 0.5, len(GRID))
    by_points = average(problem(fit=fit, kernel=TRUTH, noise=deviations), data)
    own = told(data.points, data.values, deviations[data.points])
    by_measurements = average(problem(fit=fit, kernel=TRUTH, noise=3.0), own)
    for name, expected in numbers(by_points).items():
        np.testing.assert_allclose(numbers(by_measurements)[name], expected, err_msg=name)


def test_a_hundred_noisy_measurements_are_one_precise_one() -> None:
    data = measured(drawn(0), 30, 0)
    task = problem(fit=("mean",), kernel=TRUTH, noise=NOISE)
    noisy = told(np.full(100, data.points[0]), np.full(100, data.values[0]), 10 * NOISE)
    one, other = (average(task, each).predict(EVERYWHERE) for each in (data, data[np.arange(1, 30)].joined(noisy)))
    np.testing.assert_allclose(other.below(0.3), one.below(0.3), rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.quantile(0.2), one.quantile(0.2), rtol=0, atol=1e-9)


@pytest.mark.parametrize("own", [0.0, 1e-300])
def test_a_measurement_without_noise_counts_a_lot_and_not_infinitely(own: float) -> None:
    data = measured(drawn(0), 30, 0)
    noise = np.where(np.arange(30) == 0, own, NOISE)
    found = average(problem(fit=("mean",), kernel=TRUTH, noise=NOISE), told(data.points, data.values, noise))
    assert found.counts[0] == pytest.approx(module.LEAST**-2)
    assert found.predict(data.points[:1]).quantile(0.5)[0] == pytest.approx(data.values[0], abs=1e-4)


# --- what is given


@fits
def test_what_is_given_is_used(fit: tuple[str, ...], given: dict[str, Any]) -> None:
    data = measured(drawn(0), 40, 0, twice=True)
    found = average(problem(fit=fit, kernel=TRUTH, **given), data)
    members = [each for _, _, mixture in found.parts for each in mixture.fits]
    assert {isinstance(each.structure.family, Given) for each in members} == {"kernel" not in fit}
    assert {each.mean_is_given for each in members} == {"mean" not in fit}
    if fit != ALL:
        ((weight, warp, mixture),) = found.parts
        assert (weight, warp.scale) == (1.0, math.inf)
        if "mean" not in fit:
            assert [float(warp.inverse(each.mean)) for each in mixture.fits] == pytest.approx([0.2] * len(members))
    if "noise" not in fit:
        # a given noise counts as M measurements, so the noise of the data changes it a little where the kernel is open
        slack = 1e-9 if "kernel" not in fit else 3 * math.sqrt(0.5 / REPLICATES)
        assert found.noise == pytest.approx(NOISE, rel=slack)
    if "kernel" not in fit:
        assert found.mixture.freedom == math.inf
        assert found.kernel.startswith("the given kernel")
    else:
        expected = 40 - ("mean" in fit) + (0 if "noise" in fit else REPLICATES)
        assert found.mixture.freedom == expected


@pytest.mark.parametrize("kernel", [TRUTH, 0.7 * RBF(0.2) + WhiteKernel(0.1), None], ids=["matern", "white", "linear"])
def test_an_unknown_mean_is_universal_kriging(kernel: Any) -> None:
    data = measured(drawn(0), 40, 0, twice=True)
    task = problem(fit=("mean",), kernel=kernel, noise=NOISE)
    found = average(task, data).predict(EVERYWHERE)
    known = World(domain=task.domain, points=data.points, values=data.values, counts=np.ones(40))
    (structure,) = grid_of_noise([NOISE**2])
    means, variances = dense.kriged(known, structure, EVERYWHERE)
    np.testing.assert_allclose(found.quantile(0.5), means, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.below(0.3), ndtr((0.3 - means) / np.sqrt(variances)), rtol=0, atol=1e-6)


def test_an_unknown_noise_is_a_mixture_of_posteriors_of_scikit_learn() -> None:
    data = measured(drawn(0), 40, 0, twice=True)
    found = average(problem(fit=("noise",), kernel=TRUTH, mean=0.2), data)
    expected = np.zeros(len(GRID))
    for weight, fit in zip(found.mixture.weights, found.mixture.fits, strict=True):
        other = GaussianProcessRegressor(TRUTH, alpha=fit.structure.noise, optimizer=None)
        mean, deviation = other.fit(GRID[data.points], data.values - 0.2).predict(GRID, return_std=True)
        expected += weight * ndtr((0.3 - 0.2 - mean) / deviation)
    assert len(found.mixture.fits) > 1
    np.testing.assert_allclose(found.predict(EVERYWHERE).below(0.3), expected, rtol=0, atol=1e-6)
    assert 0.5 < found.noise / NOISE < 2.0


def test_a_share_of_the_maximum_keeps_zero() -> None:
    found = average(problem(goal=FractionOfMax(0.3)), measured(np.exp(drawn(0)), 40, 0))
    ((_, warp, _),) = found.parts
    assert float(warp(0.0)) == 0.0
    assert math.isinf(warp.scale)


# --- many points


def test_of_many_points_some_decide_which_kernels_are_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    data = measured(drawn(0), 80, 0)
    data = data.joined(told(data.points[:20], data.values[:20] + 0.05))
    ordered = np.unique(data.points)
    chosen = ordered[np.linspace(0, 79, 30).astype(np.int64)]
    few = data[np.flatnonzero(np.isin(data.points, chosen))]
    expected = average(problem(), few)
    everything = average(problem(), data)
    monkeypatch.setattr(module, "MOST", 30)
    found = average(problem(), data)
    known = {warp: those for _, warp, those in expected.parts}
    assert len(known) == len(found.parts)
    for _, warp, these in found.parts:
        assert [fit.structure for fit in these.fits] == [fit.structure for fit in known[warp].fits]
        np.testing.assert_array_equal(these.summary.points, ordered)
        np.testing.assert_array_equal(known[warp].summary.points, chosen)
    assert len(found.counts) == 100
    apart = [
        np.abs(each.predict(EVERYWHERE).below(0.3) - (drawn(0) < 0.3)).mean() for each in (expected, found, everything)
    ]
    assert apart[1] < apart[0]
    monkeypatch.setattr(module, "MOST", 80)
    np.testing.assert_array_equal(
        average(problem(), data).predict(EVERYWHERE).below(0.3), everything.predict(EVERYWHERE).below(0.3)
    )


def assert_same(one: Average, other: Average) -> None:
    found, expected = numbers(one), numbers(other)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


def test_later_measurements_decide_how_much_each_kernel_of_a_shortlist_counts() -> None:
    everything = measured(drawn(0), 66, 0)
    first = everything[np.arange(60)]
    shortlist = Shortlist(problem=problem(), data=first)
    before, after = shortlist.averaged(first), shortlist.averaged(everything)
    assert {warp for _, warp, _ in before.parts} == {warp for _, warp, _ in after.parts}
    known = {warp: mixture for _, warp, mixture in before.parts}
    for _, warp, mixture in after.parts:
        structures = [fit.structure for fit in known[warp].fits]
        logs = np.array([log for log, _ in evidences(mixture.summary, structures)])
        np.testing.assert_allclose(mixture.weights, np.exp(logs) / np.exp(logs).sum(), rtol=1e-9)
        assert mixture.summary.samples == 66
    assert [weight for weight, _, _ in after.parts] == sorted((weight for weight, _, _ in after.parts), reverse=True)
    assert_same(before, average(problem(), first))


def test_labels_by_a_shortlist_are_those_of_a_new_search() -> None:
    """Six later measurements out of 66: the probabilities of a search of its own are nearly the same."""
    for seed in range(4):
        everything = measured(drawn(seed), 66, seed)
        shortlist = Shortlist(problem=problem(), data=everything[np.arange(60)])
        one, other = (
            each.predict(EVERYWHERE).below(0.3)
            for each in (shortlist.averaged(everything), average(problem(), everything))
        )
        assert np.abs(one - other).max() < 0.15
        assert np.abs(one - other).mean() < 0.01


def test_kernels_that_have_become_singular_are_searched_for_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    data = measured(drawn(0), 66, 0)
    shortlist = Shortlist(problem=problem(), data=data[np.arange(60)])
    shortlist.averaged(data)
    searched = module._averaged

    def singular(task: object, listed: object, every: Data) -> object:
        return None if listed is shortlist._listed else searched(task, listed, every)

    monkeypatch.setattr(module, "_averaged", singular)
    assert_same(shortlist.averaged(data), average(problem(), data))
