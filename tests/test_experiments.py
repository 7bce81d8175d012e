"""Experiments beyond the paper: their worlds are what they say, and one small run of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from experiments import affordable, common, fields, gp, implicit, known, linear_designs, newer, sea, trust
from superlevel.reproduce import linear
from superlevel.reproduce.settings import Figure, Row, Score, Setting, Task
from superlevel.worker_setup import quiet


def test_the_raised_cosine_is_found_within_a_fifth_of_its_maximum() -> None:
    world = implicit.Raised(points=200, length=0.1, noise=0.2, epsilon=0.2)(0)
    assert world.values.max() == pytest.approx(3.0)
    assert world.truth.tolist() == (world.values > 2.4).tolist()


def test_the_sea_floor_counts_cells_of_exactly_20_m_as_deep() -> None:
    world = sea.SeaFloor(depth=20.0, noise=0.3)(0)
    assert len(world.values) == 4841
    depths = np.round(world.values**2).astype(int)
    assert np.array_equal(world.truth, depths >= 20)
    assert (depths == 20).any()


def test_mislabelled_cells_fall_with_soundings() -> None:
    setting = Setting(name="", world=sea.SeaFloor(depth=20.0, noise=0.3), samples=(5, 20, 60))
    entry = next(entry for entry in sea.ENTRIES if entry.label == "Straddle")
    with quiet():
        none, first, last = Task(setting=setting, entry=entry, seed=0).run().values["mislabelled"]
    deep = int(setting.world(0).truth.sum())
    assert none == deep  # nothing is told yet, and nothing is guessed to be deep
    assert 0 < last < first < 4841


@pytest.mark.parametrize("permanent", [True, False])
def test_the_gp_in_batches_has_the_paper_s_three(permanent: bool) -> None:
    labels = [entry.label for entry in gp.entries("!", permanent=permanent)]
    assert labels == ["MELK!", "TruVar!", "LSE!"]


@pytest.mark.parametrize("name", ["melk", "milk"])
def test_frank_wolfe_is_measured_in_every_round_of_a_run_that_ends(name: str) -> None:
    figure = linear.implicit(quick=True) if name == "milk" else linear.explicit(quick=True)
    with quiet():
        found = linear_designs.measured(figure, name, 0)
    assert found.ratios.shape[1] == len(linear_designs.KINDS) == 2
    assert (found.ratios >= 1.0).all()  # nothing is below a certified lower bound
    assert found.ratios[0, 1] > 1.2 > found.ratios[0, 0]
    shown = linear_designs.table(name, [found, found])
    assert shown.row_count == len(found.ratios)


def test_a_small_experiment_writes_and_shows_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "OUT", tmp_path)
    monkeypatch.setattr(common, "cores", lambda: 1)
    world = implicit.Raised(points=30, length=0.1, noise=0.2, epsilon=0.2)
    setting = Setting(name="small", world=world, samples=(10, 20, 30))
    entries = [entry for entry in implicit.ENTRIES if entry.label in ("LSE-imp", "uniform")]
    score = Score(field="f1", label="F1")
    rows = common.run(Figure(name="small", title="T", settings=[setting], entries=entries, score=score), (30,), reps=2)
    assert [(row.method, row.seed) for row in rows] == [(e.label, seed) for e in entries for seed in (0, 1)]
    shown = capsys.readouterr().out
    mean = np.mean([row.values["f1"][-1] for row in rows[:2]])
    assert f"{mean:.3g} ±" in shown
    assert (tmp_path / "small" / "small.csv").read_text().count("\n") == 1 + 2 * 3


def test_a_ridge_run_of_the_benchmark_is_right_and_within_ten_times_the_bound() -> None:
    setting, entry = affordable.PLANS[0]
    with quiet():
        runs = [Task(setting=setting, entry=entry, seed=seed).run().values for seed in range(8)]
    assert not any(run["ever_wrong"] for run in runs)
    assert {(run["stop"], run["undecided"]) for run in runs} == {("DECIDED", 0)}
    assert np.mean([run["measured"] for run in runs]) < 10 * np.mean([run["bound"] for run in runs])


def test_the_misspecified_world_is_off_by_exactly_what_it_says() -> None:
    right, wrong = affordable.BUMPS(3), affordable.WRONG(3)
    np.testing.assert_allclose(np.abs(wrong.values - right.values), 0.05)
    assert (wrong.problem.misspecification, wrong.problem.tolerance) == (0.05, 0.4)
    assert wrong.problem.norm == right.problem.norm


def test_rounds_that_are_too_long_to_draw_are_counted() -> None:
    setting, entry = affordable.COUNTED[1]
    counted = Task(setting=setting, entry=entry, seed=0).run().values
    assert counted["measured"] > 100 * counted["bound"]


def test_failures_and_factors_are_told_apart() -> None:
    one = {"ever_wrong": False, "undecided": 0, "stop": "DECIDED", "batches": 9, "measured": 50, "bound": 10.0}
    other = {**one, "ever_wrong": True, "stop": "CONTRADICTED", "undecided": 3}
    rows = [
        Row(setting="linear, explicit", method="ridge", seed=seed, digest="", seconds=0.0, values=values)
        for seed, values in enumerate([one, one, one, other])
    ]
    table = affordable.failures(rows)
    cells = {str(column.header): list(column.cells) for column in table.columns}
    assert cells["ever wrong"] == ["1"]
    assert cells["95 % interval"] == ["0.006 to 0.806"]  # of 1 in 4, by Clopper and Pearson
    assert (cells["all decided"], cells["refused"]) == (["3"], ["1"])


def test_a_field_is_looked_at_after_every_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.random.default_rng(0).random((80, 2))
    values = np.sin(5 * places[:, 0])
    field = fields.Field(name="small", points=places, values=values, level=0.2, noise=0.1)
    row = trust.campaign(field, 0, measurements=70)
    assert [look[0] for look in row["looks"]] == list(range(trust.BATCH, 71, trust.BATCH))
    assert all(wrong <= declared <= 80 for _, declared, wrong, _ in row["looks"])
    assert row["looks"][-1][1] > 20
    monkeypatch.setattr(trust, "FIELDS", {"small": lambda: field})
    out = tmp_path / "rows.jsonl"
    trust.main(["--seeds", "1", "--jobs", "1", "--out", str(out)])
    assert out.read_text(encoding="utf-8").count("\n") == 1
    trust.main(["--seeds", "1", "--jobs", "1", "--out", str(out)])  # nothing is missing
    assert out.read_text(encoding="utf-8").count("\n") == 1


def test_fields_of_packages_that_are_missing_are_left_out_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(trust, "FIELDS", {"none": fields._table("none", 0.5, 1.0)})
    trust.main(["--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "rows.jsonl")])
    assert "none is left out: " in capsys.readouterr().out


def test_matplotlib_s_fields_are_what_they_say() -> None:
    strait, hills = fields.strait(), fields.hills()
    assert (strait.values > 0).all()
    assert strait.points.shape == (2439, 2)
    assert (hills.values > hills.level).mean() == pytest.approx(0.3, abs=0.01)


def test_a_known_kernel_is_given_or_estimated() -> None:
    name = "RBF, length 0.2"
    for estimated in (False, True):
        _, _, looks = known.campaign(name, 0, estimated)
        assert max(looks) <= 200
        declared, wrong = looks[max(looks)]
        assert declared > 0.8
        assert wrong < 0.05


def test_rules_that_aim_at_a_set_learn_it_best() -> None:
    deviations = {what.partition(":")[0]: float(found) for what, _, found in newer.transductive()}
    assert max(deviations["itl"], deviations["vtl"]) < 0.1 * min(deviations["max-variance"], deviations["uniform"])


def test_the_camelback_function_is_even_in_its_own_coordinates() -> None:
    """f(u, v) = f(-u, -v), with u = 1.2 x - 0.1 and v = 0.9 y."""
    points = np.random.default_rng(0).uniform(-0.8, 0.8, (20, 2))
    mirrored = np.stack([(0.2 - 1.2 * points[:, 0]) / 1.2, -points[:, 1]], axis=1)
    np.testing.assert_allclose(newer.camelback(points), newer.camelback(mirrored))


def test_a_latin_sample_has_one_point_in_each_row_and_column() -> None:
    points = newer.grid([0, 0], [1, 1], 101)
    chosen = points[newer.latin(points, 5, seed=0)]
    for axis in chosen.T:
        assert sorted(np.minimum((5 * axis).astype(int), 4)) == [0, 1, 2, 3, 4]


def test_a_campaign_refits_its_kernel_and_counts_every_measurement() -> None:
    x = np.linspace(0, 1, 40)[:, None]
    values = np.sin(6 * x[:, 0])
    given = {"kernel": RBF(0.3), "noise": 0.1, "first": np.arange(0, 40, 8), "budget": 12, "interval": 3}
    with quiet():
        states = newer.Campaign(points=x, values=values, level=0.2, **given).run("eff")
    assert [state.samples for state in states] == [5, 6, 7, 8, 8, 9, 10, 11, 11, 12]
    assert len({repr(state.belief.problem.domain.kernel) for state in states}) > 1
    assert ((states[-1].estimate > 0.2) == (values > 0.2)).mean() > 0.85


def test_the_table_of_the_papers_names_each(capsys: pytest.CaptureFixture[str]) -> None:
    newer.main(["wmse"])
    assert "with 4 and with 22 evaluations" in capsys.readouterr().out
