"""Where tasks are run: in processes of this machine, or on a Dask cluster. Both through joblib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol

import joblib

from superlevel.errors import InputError, SuperlevelError
from superlevel.reproduce.settings import Row, Task

WAIT = 5.0  # seconds for a cluster to answer


class Engine(Protocol):
    """Runs tasks and hands over each row when it is there, in any order."""

    def running(self) -> AbstractContextManager[joblib.Parallel]: ...


@dataclass(frozen=True, kw_only=True)
class Processes:
    """Processes of this machine, one task at a time in each; a single one is this process."""

    jobs: int

    @contextmanager
    def running(self) -> Iterator[joblib.Parallel]:
        with joblib.parallel_config(backend="loky"):
            yield _parallel(self.jobs)


@dataclass(frozen=True, kw_only=True)
class Dask:
    """The workers of a scheduler that somebody else has started."""

    address: str

    @contextmanager
    def running(self) -> Iterator[joblib.Parallel]:
        with ExitStack() as stack:
            client = stack.enter_context(self._connected())
            self._check(client)
            stack.enter_context(joblib.parallel_config(backend="dask", client=client, pure=False))
            yield _parallel(-1)

    def _connected(self) -> Any:
        try:
            from distributed import Client  # noqa: PLC0415  an extra
        except ImportError as error:
            remedy = "it needs the package distributed: pip install 'superlevel[dask]'"
            raise InputError("--dask", repr(self.address), remedy) from error
        try:
            return Client(self.address, timeout=WAIT, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError) as error:
            remedy = f"no scheduler answers there within {WAIT:g} s: start one, or leave it out for the cores here"
            raise InputError("--dask", repr(self.address), remedy) from error

    def _check(self, client: Any) -> None:
        """That there are workers, and that all of them run this version: others would give other numbers."""
        try:
            client.wait_for_workers(1, timeout=WAIT)
            found = client.run(metadata.version, "superlevel")
        except TimeoutError as error:
            remedy = f"the scheduler has no worker within {WAIT:g} s: start one with 'dask worker'"
            raise InputError("--dask", repr(self.address), remedy) from error
        except metadata.PackageNotFoundError as error:
            raise InputError("--dask", repr(self.address), "its workers lack superlevel: install it there") from error
        here = metadata.version("superlevel")
        for worker, there in found.items():
            if there != here:
                remedy = f"its worker {worker} has superlevel {there} and this is {here}: install the same on both"
                raise InputError("--dask", repr(self.address), remedy)


def cores() -> int:
    """That this process may use."""
    return int(joblib.cpu_count())


def results(parallel: joblib.Parallel, tasks: Sequence[Task]) -> Iterator[Row]:
    """Each row as soon as it is there."""
    yield from parallel(joblib.delayed(_run)(task) for task in tasks)


def _parallel(jobs: int) -> joblib.Parallel:
    # One task a batch: joblib would bundle short ones, and a killed run would lose the bundle.
    return joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)


def _run(task: Task) -> Row:
    try:
        return task.run()
    except Exception as error:
        where = f"{task.entry.label}, {task.setting.name}, seed {task.seed}"
        raise SuperlevelError(f"{where} failed: {type(error).__name__}: {error}") from error
