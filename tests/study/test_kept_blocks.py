"""What is kept between commands: less to compute, the same labels, and a file that may be missing or damaged."""

from __future__ import annotations

import errno
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel import blocks, passes
from superlevel.averaging import Average, Predictive, mixture
from superlevel.errors import CacheWarning
from superlevel.findings import Finding, Verdict
from superlevel.posterior import covariance, large
from superlevel.study import Study, replay

SIDE = 30


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, covariance):
        monkeypatch.setattr(module, "LARGE", 100)
    monkeypatch.setattr(covariance, "STORED", 0)
    monkeypatch.setattr(covariance, "ROOM", 0)
    monkeypatch.setattr(blocks, "SIZE", 32)
    monkeypatch.setattr(blocks, "FEWEST", 15)
    monkeypatch.setattr(blocks, "WORK", 0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the blocks that are computed."""
    found: list[int] = []
    predict = large.predict

    def counted(job: large.Job) -> np.ndarray:
        found.append(len(job.cells))
        return predict(job)

    monkeypatch.setattr(large, "predict", counted)
    return found


def store(folder: Path) -> str:
    return f"sqlite:///{folder}/a.db"


def square() -> sl.Domain:
    axis = np.linspace(0, 1, SIDE)
    return sl.Domain(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), kernel=Matern(0.2, nu=1.5))


def created(folder: Path, name: str = "sea") -> Study:
    study = Study.create(store(folder), name, sl.Problem(square(), goal=sl.Threshold(0.4), noise=0.05), batch=10)
    for _ in range(6):
        measured(study)
    return study


def measured(study: Study) -> None:
    tickets = study.ask()
    study.tell(tickets.measured(np.sin(6 * tickets.points[:, 0]) + tickets.points[:, 1]))


def test_a_second_look_computes_nothing_and_says_the_same(tmp_path: Path, computed: list[int]) -> None:
    labels = created(tmp_path).labels
    computed.clear()
    np.testing.assert_array_equal(Study.open(store(tmp_path), "sea").labels, labels)
    assert not computed


def test_a_measurement_makes_blocks_near_it_be_computed_again_and_no_others(
    tmp_path: Path, computed: list[int]
) -> None:
    assert created(tmp_path).labels.any()
    computed.clear()
    study = Study.open(store(tmp_path), "sea")
    study.tell(at=[[0.0, 0.0]], values=[0.1])
    kept = study.labels
    assert 0 < sum(computed) < SIDE * SIDE / 2
    (tmp_path / "a.db.sea.blocks").unlink()
    computed.clear()
    fresh = Study.open(store(tmp_path), "sea")
    np.testing.assert_array_equal(fresh.labels, kept)
    np.testing.assert_array_equal(fresh.knowledge.state.estimate, study.knowledge.state.estimate)
    assert sum(computed) == SIDE * SIDE


def test_a_second_look_at_an_estimate_makes_one_pass_and_not_one_for_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (mixture, replay):
        monkeypatch.setattr(module, "LARGE", 100)
    looks: list[int] = []
    predict = Average.predict

    def counted(average: Average, points: np.ndarray) -> Predictive:
        looks.append(len(points))
        return predict(average, points)

    monkeypatch.setattr(Average, "predict", counted)
    problem = sl.Problem(square(), goal=sl.Threshold(0.4), fit=("kernel", "noise", "mean"))
    study = Study.create(store(tmp_path), "sea", problem, batch=20)
    for _ in range(4):
        measured(study)
    labels, doubts = study.labels, study.knowledge.doubts
    assert labels.any()
    looks.clear()
    again = Study.open(store(tmp_path), "sea")
    np.testing.assert_array_equal(again.labels, labels)
    assert again.knowledge.doubts == doubts
    assert len(looks) == 1
    measured(again)
    (tmp_path / "a.db.sea.blocks").unlink()
    looks.clear()
    fresh = Study.open(store(tmp_path), "sea")
    np.testing.assert_array_equal(fresh.labels, again.labels)
    assert fresh.knowledge.doubts == again.knowledge.doubts
    assert len(looks) > 1


def test_what_batches_showed_is_remembered_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "LARGE", 100)
    method = sl.methods.make("melk", sl.Problem(square(), goal=sl.Threshold(0.4), noise=0.05))
    found = (Finding(assumption="noise", verdict=Verdict.CONTRADICTED, number=math.inf, sentence="β is ½ of σ²"),)
    results = passes.Results()
    with passes.remembering(results):
        replay._Shown(method, "a", (b"1", b"2")).remember(2, found)
    again = passes.Results(results.used)
    with passes.remembering(again):
        assert replay._Shown(method, "a", (b"1", b"2", b"3")).after(2) == found
        assert replay._Shown(method, "a", (b"1", b"2", b"3")).after(1) is None
        assert replay._Shown(method, "a", (b"12",)).after(1) is None
        assert replay._Shown(method, "b", (b"1", b"2")).after(2) is None
    assert not again.changed


@pytest.mark.parametrize("damage", ["cut", "text", "flipped", "other"])
def test_a_file_that_cannot_be_used_is_noticed_thrown_away_and_said(
    tmp_path: Path, damage: str, computed: list[int]
) -> None:
    labels = created(tmp_path).labels
    path = tmp_path / "a.db.sea.blocks"
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(bytes(data[: len(data) // 2]))
    elif damage == "text":
        path.write_text("nothing of the kind")
    elif damage == "flipped":
        data[len(data) // 2] ^= 255
        path.write_bytes(bytes(data))
    else:
        created(tmp_path, "river")
        path.write_bytes((tmp_path / "a.db.river.blocks").read_bytes())
    computed.clear()
    with pytest.warns(CacheWarning, match=r"a\.db\.sea\.blocks cannot be used \(.*\): it is a cache"):
        np.testing.assert_array_equal(Study.open(store(tmp_path), "sea").labels, labels)
    assert sum(computed) == SIDE * SIDE
    computed.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        np.testing.assert_array_equal(Study.open(store(tmp_path), "sea").labels, labels)
    assert not computed  # it was written anew


def test_a_disk_that_is_full_is_said_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_arrays: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(CacheWarning, match="could not be written .No space left on device.: the next command takes"):
        assert created(tmp_path).labels.any()
    assert not [path for path in tmp_path.iterdir() if path.name != "a.db" and "-" not in path.name]


def test_without_a_file_a_study_remembers_within_a_process(computed: list[int]) -> None:
    study = Study.create("memory:", "sea", sl.Problem(square(), goal=sl.Threshold(0.4), noise=0.05), batch=10)
    for _ in range(6):
        measured(study)
    assert study.labels.any()
    computed.clear()
    study.tell(at=[[0.0, 0.0]], values=[0.1])
    assert study.labels.any()
    assert 0 < sum(computed) < SIDE * SIDE / 2
