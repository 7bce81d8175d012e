"""Dask workers of this machine, each a process of its own that a test may kill."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from distributed import Client, LocalCluster

STARTING = 60.0  # seconds


@dataclass(frozen=True)
class Started:
    """A scheduler with its workers."""

    scheduler: LocalCluster
    workers: tuple[subprocess.Popen[bytes], ...]

    @property
    def address(self) -> str:
        return str(self.scheduler.scheduler_address)


@contextmanager
def started(count: int) -> Iterator[Started]:
    """Workers of one thread each. Nobody starts them again, and they end with the block."""
    with (
        LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as scheduler,
        ExitStack() as ending,
    ):
        address = scheduler.scheduler_address
        workers = tuple(_worker(address) for _ in range(count))
        for worker in workers:
            ending.callback(worker.wait, timeout=STARTING)
            ending.callback(worker.kill)
        if count:
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=STARTING)
        yield Started(scheduler, workers)


def _worker(address: str) -> subprocess.Popen[bytes]:
    options = ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--no-dashboard", "--death-timeout", "60"]
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
