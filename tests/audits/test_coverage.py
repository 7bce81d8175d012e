"""The promise as an experiment: audits by somebody who stops when the bound is smallest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from experiments import audit as experiment
from experiments.audit import LAWS, MAPS, SIZES, capitals, simulate, world
from superlevel import audits

RUNS = 300


@pytest.mark.parametrize("doubted", [False, True])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", MAPS)
def test_the_smallest_bound_of_an_audit_fails_in_a_share_of_delta_at_most(
    kind: str, law: str, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "SHOWN", 5)
    monkeypatch.setattr(experiment, "HORIZON", 2000 if kind == "good" else 600)
    rng = np.random.default_rng([1, len(law), doubted])
    row = simulate(world(MAPS[kind], LAWS[law], doubted=doubted, rng=rng), LAWS[law], RUNS, rng)
    assert binomtest(row.ever, RUNS, experiment.DELTA, alternative="greater").pvalue > 1e-3
    assert row.bounds[0] > row.bounds[1] > row.bounds[2] > row.share


def test_audits_of_a_wrong_map_fail_about_as_often_as_they_may() -> None:
    """Otherwise the test above would not notice a bound that is too small."""
    rng = np.random.default_rng(2)
    setting = world(0.15, LAWS["Gaussian"], doubted=False, rng=rng)
    audit = setting.audit
    points = audits.draw(audit.chances, RUNS * 400, rng).reshape(RUNS, 400)
    values = setting.values[points] + rng.normal(size=points.shape)
    seen = audit.weights[points] * audit.contradicted(points, values)
    largest = capitals(seen, audit.kappa * setting.share, audit.spread).max(axis=1)
    for delta in (0.05, 0.2):
        failed = int((largest >= -np.log(delta)).sum())
        assert binomtest(failed, RUNS, delta, alternative="greater").pvalue > 1e-3
        assert failed > RUNS * delta / 3
    careless = int((capitals(seen, 1.5 * audit.kappa * setting.share, audit.spread).max(axis=1) >= -np.log(0.05)).sum())
    assert binomtest(careless, RUNS, 0.05, alternative="greater").pvalue < 1e-3


@pytest.mark.parametrize("doubted", [False, True])
def test_a_bound_fails_exactly_where_the_capital_against_the_truth_is_large(doubted: bool) -> None:
    """Two roads: the bound of `judge` after every draw, and the path of the capital."""
    rng = np.random.default_rng(3)
    setting = world(0.15, LAWS["skewed"], doubted=doubted, rng=rng)
    for delta in (0.05, 0.6):
        audit = replace(setting.audit, delta=delta)
        points = audits.draw(audit.chances, 40, rng)
        values = setting.values[points] + LAWS["skewed"].draw(rng, (1, 40))[0]
        seen = audit.weights[points] * audit.contradicted(points, values)
        path = capitals(seen[None], audit.kappa * setting.share, audit.spread)[0]
        bounds = [audit.judge(points[:t], values[:t]).bound for t in range(1, 41)]
        np.testing.assert_array_equal(np.array(bounds) < setting.share, path >= -np.log(delta))


def test_doubt_that_misleads_costs_little_and_no_coverage() -> None:
    """All wrong labels are where nobody doubts."""
    rng = np.random.default_rng(4)
    n, runs, size = 1000, 200, 150
    wrong = np.arange(n) >= 0.85 * n
    labels = rng.choice([-1, 1], size=n).astype(np.int8)
    values = 10.0 - labels * np.where(wrong, 1e-9, -50.0)
    doubt = np.where(wrong, 0.0, 0.4)
    bounds, failed = {}, 0
    for name, q in {"uniform": audits.chances(np.zeros(n)), "misled": audits.chances(doubt)}.items():
        audit = audits.Audit(labels=labels, chances=q, level=10.0)
        points = audits.draw(q, runs * size, rng).reshape(runs, size)
        told = values[points] + rng.normal(size=points.shape)
        seen = audit.weights[points] * audit.contradicted(points, told)
        failed = int((capitals(seen, 0.5 * 0.15, audit.spread) >= -np.log(0.05)).any(axis=1).sum())
        assert binomtest(failed, runs, 0.05, alternative="greater").pvalue > 1e-3
        bounds[name] = np.mean([audit.judge(points[run], told[run]).bound for run in range(50)])
    assert bounds["misled"] < 1.3 * bounds["uniform"]


def test_a_result_that_is_late_because_of_its_value_does_not_bias_the_bound() -> None:
    """Contradictions arrive late. The draws before the first missing one are safe; all that arrived are not."""
    rng = np.random.default_rng(5)
    runs, size, share = 300, 120, 0.3
    audit = audits.Audit(
        labels=np.ones(10, dtype=np.int8), chances=np.full(10, 0.1), level=0.0, noise=audits.Gaussian(0)
    )
    f = np.where(np.arange(10) < 10 * share, -1.0, 1.0)
    safe = biased = 0
    for _ in range(runs):
        points = audits.draw(audit.chances, size, rng)
        values = f[points]
        late = (values < 0) & (rng.random(size) < 0.7)
        safe += audit.judge(points, np.where(late, np.nan, values)).bound < share
        biased += audit.judge(points[~late], values[~late]).bound < share
    assert binomtest(safe, runs, 0.05, alternative="greater").pvalue > 1e-3
    assert biased > runs / 2


def test_the_experiment_prints_a_row_for_each_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(experiment, "HORIZON", SIZES[-1])
    experiment.main(["--runs", "3"])
    shown = capsys.readouterr().out
    assert shown.count("by doubt") == shown.count("uniform") == len(MAPS) * len(LAWS)
    assert "NO" not in shown
