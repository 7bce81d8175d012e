"""Passes on two Dask workers: the same numbers as in threads, whatever happens to the workers; or a sentence."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from distributed import LocalCluster
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel import blocks, clusters, passes, streamed
from superlevel.arrays import Array
from superlevel.averaging import mixture
from superlevel.averaging.data import Data
from superlevel.averaging.estimate import average
from superlevel.posterior import covariance
from tests.workers import Started, started

SIDE, NOISE = 40, 0.1


@pytest.fixture(scope="module")
def pair() -> Iterator[Started]:
    with started(2) as both:
        yield both


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is patched, so that a small domain makes passes."""
    for name in ("LARGE", "STORED", "ROOM"):
        monkeypatch.setattr(covariance, name, 0)
    monkeypatch.setattr(mixture, "LARGE", 0)
    monkeypatch.setattr(blocks, "SIZE", 64)
    monkeypatch.setattr(blocks, "FEWEST", 40)


def square() -> Array:
    axis = np.linspace(0, 1, SIDE)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def measured(count: int = 100) -> Data:
    rng, points = np.random.default_rng(0), square()
    at = rng.choice(len(points), count)
    values = np.sin(6 * points[at, 0]) + points[at, 1] + NOISE * rng.standard_normal(count)
    return Data(points=at, values=values, noise=np.full(count, np.nan))


# --- the same numbers


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("work", [0, blocks.WORK], ids=["local", "exact"])
def test_means_and_variances_are_the_same_to_the_last_digit(
    pair: Started, work: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "WORK", work)

    def computed() -> Array:
        domain, data = sl.Domain(square(), kernel=2.0 * Matern(0.1, nu=1.5)), measured()
        found = sl.posterior.begin(domain, noise=NOISE).told(data.points, data.values)
        return np.stack([found.mean, found.variance])

    here = computed()
    with sl.cluster(pair.address):
        np.testing.assert_array_equal(computed(), here)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("fit", [("kernel", "noise", "mean"), ("noise", "mean")])
@pytest.mark.parametrize("work", [0, blocks.WORK], ids=["local", "exact"])
def test_predictions_of_many_kernels_are_the_same_to_the_last_digit(
    pair: Started, work: int, fit: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "WORK", work)
    kernel = None if "kernel" in fit else 2.0 * Matern(0.1, nu=1.5)
    problem = sl.Problem(sl.Domain(square(), kernel=kernel), goal=sl.Threshold(0.5), fit=fit)
    found, everywhere = average(problem, measured()), np.arange(SIDE**2)
    here = found.predict(everywhere)
    with sl.cluster(pair.address):
        there = found.predict(everywhere)
    for (_, one), (_, other) in zip(here.parts, there.parts, strict=True):
        np.testing.assert_array_equal(one.means, other.means)
        np.testing.assert_array_equal(one.deviations, other.deviations)


def test_a_design_and_its_certificate_are_the_same_to_the_last_digit(
    pair: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "PART", 256)
    monkeypatch.setattr(streamed, "SAMPLE", 400)

    def computed() -> sl.design.Design:
        arms = sl.features.stream(Matern(0.5, nu=1.5), square(), tol=0.02)
        assert arms.passes == 2
        return sl.design.solve(arms, ridge=0.1, rtol=0.3)

    here = computed()
    with sl.cluster(pair.address):
        there = computed()
    np.testing.assert_array_equal(there.weights, here.weights)
    assert (there.value, there.lower_bound) == (here.value, here.lower_bound)


# --- jobs


@dataclass(frozen=True)
class Job:
    """Something that takes a while."""

    number: int
    seconds: float = 0.0

    key: ClassVar[None] = None


def slow(job: Job) -> Array:
    time.sleep(job.seconds)
    return np.array([float(job.number), float(os.getpid())])


def carrying(load: Array, job: Job) -> Array:
    return np.asarray(slow(job) + load[0] * 0.0)


def failing(job: Job) -> Array:
    raise np.linalg.LinAlgError(f"job {job.number}")


def deadly(job: Job) -> Array:
    os.kill(os.getpid(), signal.SIGKILL)
    return slow(job)


def jobs(count: int, seconds: float = 0.0) -> Iterator[Job]:
    return (Job(number, seconds) for number in range(count))


def test_both_workers_work_and_the_results_are_in_order(pair: Started) -> None:
    with sl.cluster(pair.address):
        found = np.array(list(passes.over(jobs(203, 0.002), slow, total=203)))
    assert found[:, 0].tolist() == list(range(203))
    assert set(found[:, 1].astype(int)) == {worker.pid for worker in pair.workers}


def test_few_jobs_are_in_flight(pair: Started) -> None:
    taken: list[int] = []

    def counted() -> Iterator[Job]:
        for job in jobs(1000):
            taken.append(job.number)
            yield job

    with sl.cluster(pair.address):
        for done, _ in enumerate(passes.over(counted(), slow, total=1000)):
            assert len(taken) - done <= (2 * clusters.AHEAD + 1) * clusters.JOBS


def test_what_all_jobs_share_travels_once(pair: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    load = np.zeros(2**18)
    with ExitStack() as stack:
        engine = clusters._Workers(pair.address, "address", stack)
        sizes: list[int] = []
        submit = engine._client.submit

        def weighed(function: object, *given: object, **more: object) -> object:
            sizes.append(sum(len(part) for part in given if isinstance(part, bytes)))
            return submit(function, *given, **more)

        monkeypatch.setattr(engine._client, "submit", weighed)
        with passes.running(engine.run):
            found = np.array(list(passes.over(jobs(100), partial(carrying, load), total=100)))
    assert found[:, 0].tolist() == list(range(100))
    assert sum(size >= load.nbytes for size in sizes) == 1


def test_an_error_of_a_job_is_the_same_error_here(pair: Started) -> None:
    with sl.cluster(pair.address), pytest.raises(np.linalg.LinAlgError, match="job 0"):
        list(passes.over(jobs(100), failing, total=100))
    with sl.cluster(pair.address):  # and nothing is left of it
        assert len(list(passes.over(jobs(10), slow, total=10))) == 10


# --- workers that die


def killed_in_the_middle(count: int, seconds: float, function: partial[Array] | None = None) -> None:
    with started(2) as both, sl.cluster(both.address):
        found = []
        for result in passes.over(jobs(count, seconds), function or slow, total=count):
            found.append(result)
            if len(found) == count // 5:
                both.workers[0].kill()
    everything = np.array(found)
    assert everything[:, 0].tolist() == list(range(count))
    assert set(everything[-count // 5 :, 1].astype(int)) == {both.workers[1].pid}


def test_a_worker_that_is_killed_in_the_middle_changes_nothing() -> None:
    killed_in_the_middle(200, 0.005, partial(carrying, np.zeros(2**16)))


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_long_pass_changes_nothing() -> None:
    for _ in range(3):
        killed_in_the_middle(2000, 0.01)
        killed_in_the_middle(2000, 0.01, partial(carrying, np.zeros(2**21)))


def test_a_cluster_without_any_worker_left_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 1.0)
    with started(1) as one, sl.cluster(one.address):
        pass_ = passes.over(jobs(500, 0.01), slow, total=500)
        next(pass_)
        monkeypatch.setattr(clusters, "WAIT", 0.5)
        one.workers[0].kill()
        with pytest.raises(sl.SuperlevelError, match="is lost: it has had no worker for a while; start it again"):
            list(pass_)


def test_a_scheduler_that_is_gone_is_a_sentence_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with started(1) as one, sl.cluster(one.address):
        pass_ = passes.over(jobs(500, 0.01), slow, total=500)
        next(pass_)
        one.scheduler.close()
        with pytest.raises(sl.SuperlevelError, match="is lost: the connection to it broke; start it again"):
            list(pass_)
    assert "Traceback" not in capsys.readouterr().err


def test_a_job_that_kills_every_worker_is_a_sentence() -> None:
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with (
        LocalCluster(n_workers=2, processes=True, silence_logs=50, **options) as restarting,
        sl.cluster(restarting.scheduler_address),
        pytest.raises(sl.SuperlevelError, match="is lost: several workers died"),
    ):
        list(passes.over(jobs(1), deadly, total=1))


# --- addresses


@pytest.fixture
def mute() -> Iterator[str]:
    """Somebody who listens and never speaks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:{port}", "127.0.0.1:{port}", "nonsense", "http://x", "tcp://[", ""]
)
def test_an_address_where_nobody_listens_is_a_sentence_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "WAIT", 1.0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = address.format(port=probe.getsockname()[1])
        with (
            pytest.raises(sl.InputError, match=r"^--dask is .*: no scheduler answers there within 1 s"),
            sl.cluster(address, field="--dask"),
        ):
            list(passes.over(jobs(3), slow, total=3))


def test_somebody_else_who_listens_is_a_sentence_when_a_pass_begins(mute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "WAIT", 1.0)
    with sl.cluster(mute), pytest.raises(sl.InputError, match=r"^address is .*: no scheduler answers there"):
        list(passes.over(jobs(3), slow, total=3))


def test_a_small_domain_connects_to_nobody(mute: str, tmp_path: Path) -> None:
    problem = sl.Problem(sl.Domain(square(), kernel=Matern(0.1)), goal=sl.Threshold(0.5), noise=NOISE)
    with sl.cluster(mute):
        study = sl.Study.create(f"sqlite:///{tmp_path}/study.db", "small", problem)
        study.tell(study.ask(5).measured(np.zeros(5)))
        assert not study.labels.all()
        assert not list(passes.over(jobs(0), slow, total=0))


def test_a_scheduler_without_workers_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "WAIT", 1.0)
    with started(0) as none, sl.cluster(none.address), pytest.raises(sl.InputError, match="no worker within 1 s"):
        list(passes.over(jobs(3), slow, total=3))


def test_workers_of_another_version_are_a_sentence(pair: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "__version__", "0.0.0")
    with sl.cluster(pair.address), pytest.raises(sl.InputError, match=r"has superlevel .*, here is 0\.0\.0"):
        list(passes.over(jobs(3), slow, total=3))
