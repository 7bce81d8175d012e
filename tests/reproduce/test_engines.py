"""One process, two, or a Dask cluster: the same table. A cluster that is not there: a sentence within seconds."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import threadpoolctl
from distributed import LocalCluster

from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.reproduce import runner
from superlevel.reproduce.engines import Dask, Engine, Processes, cores
from superlevel.reproduce.settings import Entry, Setting, Values
from tests.reproduce import running


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Two workers on the loopback, of three threads each."""
    with LocalCluster(
        n_workers=2, threads_per_worker=3, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        yield made.scheduler_address


def test_one_job_two_jobs_and_a_dask_cluster_give_the_same_table(tmp_path: Path, cluster: str) -> None:
    engines: dict[str, Engine] = {"one": Processes(jobs=1), "two": Processes(jobs=2), "dask": Dask(address=cluster)}
    tables = []
    for name, engine in engines.items():
        seen = running.make(tmp_path / name, reps=2, engine=engine)
        assert len(seen.rows) == 9 * 2
        tables.append(running.csv(tmp_path / name))
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0].splitlines()) == 1 + 9 * 3


def test_a_cluster_goes_on_with_what_processes_began(tmp_path: Path, cluster: str) -> None:
    running.make(tmp_path / "both", engine=Processes(jobs=1))
    seen = running.make(tmp_path / "both", reps=2, engine=Dask(address=cluster))
    assert (seen.kept, len(seen.rows)) == (9, 9)
    running.make(tmp_path / "one", reps=2)
    assert running.csv(tmp_path / "both") == running.csv(tmp_path / "one")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nonsense", "http://127.0.0.1:{port}", ""])
def test_a_dead_address_is_a_sentence(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = address.format(port=closed_port())
    monkeypatch.setattr("superlevel.clusters.WAIT", 1.0)
    with (
        pytest.raises(InputError, match=r"--dask is .*no scheduler answers there within 1 s"),
        Dask(address=address).running(),
    ):
        pytest.fail("there is nobody")


def test_a_listener_that_never_speaks_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superlevel.clusters.WAIT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        closed = threading.Event()  # by us, so that waiting for ever is a failure and not a test that hangs

        def close() -> None:
            closed.set()
            mute.close()

        timer = threading.Timer(60, close)
        timer.start()
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(InputError, match="no scheduler answers there"), Dask(address=address).running():
            pytest.fail("it has not said a word")
        timer.cancel()
    assert not closed.is_set()


def test_a_scheduler_without_workers_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superlevel.clusters.WAIT", 1.0)
    with (
        LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(InputError, match="no worker within 1 s"),
        Dask(address=empty.scheduler_address).running(),
    ):
        pytest.fail("nobody works")


def test_another_version_on_a_worker_is_a_sentence(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superlevel.clusters.__version__", "0.0.0")
    with pytest.raises(InputError, match=r"has superlevel .*, here is 0\.0\.0"), Dask(address=cluster).running():
        pytest.fail("numbers would be mixed")


@dataclass(frozen=True)
class Dying:
    """Ends its process, as the system does when memory runs out."""

    parent: int

    def __call__(self, setting: Setting, seed: int) -> Values:  # noqa: ARG002
        if os.getpid() != self.parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return {}


@pytest.mark.filterwarnings("ignore")  # loky says that a worker is gone
def test_a_killed_worker_is_a_sentence(tmp_path: Path) -> None:
    figure = replace(running.figure(quick=True), entries=[Entry(label="dying", trial=Dying(parent=os.getpid()))])
    with (
        Processes(jobs=2).running() as work,
        pytest.raises(SuperlevelError, match=r"the workers were lost \(.*all rows so far are kept"),
    ):
        runner.complete(figure, tmp_path / "rows.jsonl", work, reps=2, seed=0, watch=running.Seen())


def blas_threads() -> set[int]:
    found: list[dict[str, Any]] = threadpoolctl.threadpool_info()
    return {pool["num_threads"] for pool in found if pool["user_api"] == "blas"}


def test_a_single_job_takes_its_limits_back(tmp_path: Path) -> None:
    with threadpoolctl.threadpool_limits(limits=2):
        before = blas_threads()
        with Processes(jobs=1).running() as work:
            figure = replace(running.figure(quick=True), entries=[Entry(label="looking", trial=Looking())])
            rows = runner.complete(figure, tmp_path / "rows.jsonl", work, reps=1, seed=0, watch=running.Seen())
        assert rows[0].values == {"threads": 1}
        assert blas_threads() == before
    with pytest.warns(AssumptionWarning, match="heard"):
        warnings.warn("heard", AssumptionWarning, stacklevel=1)


@dataclass(frozen=True)
class Looking:
    """Threads that it may use, after a warning that nobody hears."""

    def __call__(self, setting: Setting, seed: int) -> Values:  # noqa: ARG002
        warnings.warn("silent", AssumptionWarning, stacklevel=1)
        return {"threads": max(blas_threads())}


@pytest.mark.parametrize("threads", [1, 3])
def test_tasks_in_threads_of_one_worker_have_one_blas_thread_each(threads: int) -> None:
    code = (
        "import numpy, scipy.linalg, warnings, threadpoolctl, threading, superlevel\n"
        "from superlevel.worker_setup import quieten\n"
        "warnings.simplefilter('error')\n"
        "seen = []\n"
        "def task():\n"
        "    quieten()\n"
        "    warnings.warn('silent', superlevel.AssumptionWarning)\n"
        "    seen.extend(p['num_threads'] for p in threadpoolctl.threadpool_info() if p['user_api'] == 'blas')\n"
        f"for _ in range({threads}):\n"
        "    thread = threading.Thread(target=task)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "print(sorted(set(seen)), len(seen))\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    )
    assert ran.stdout.startswith("[1] ")
    assert int(ran.stdout.split()[-1]) >= threads


def test_there_is_a_core() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


def test_two_jobs_are_at_work_at_once(tmp_path: Path) -> None:
    figure = replace(running.figure(quick=True), entries=[Entry(label="waiting", trial=Meeting(str(tmp_path)))])
    with Processes(jobs=2).running() as work:
        rows = runner.complete(figure, tmp_path / "rows.jsonl", work, reps=2, seed=0, watch=running.Seen())
    assert [row.values["met"] for row in rows] == [True, True]
    assert [row.values["threads"] for row in rows] == [1, 1]


@dataclass(frozen=True)
class Meeting:
    """Waits until the other one is there too."""

    folder: str

    def __call__(self, setting: Setting, seed: int) -> Values:  # noqa: ARG002
        (Path(self.folder) / f"{seed}.here").touch()
        other = Path(self.folder) / f"{1 - seed}.here"
        for _ in range(400):
            if other.exists():
                break
            time.sleep(0.05)
        return {"met": other.exists(), "threads": max(blas_threads())}
