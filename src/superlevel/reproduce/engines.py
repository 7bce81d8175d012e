"""Where tasks are run: in processes of this machine, or on a Dask cluster. Both through joblib."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

import joblib

from superlevel import clusters
from superlevel.errors import SuperlevelError
from superlevel.reproduce.settings import Row, Task
from superlevel.worker_setup import end_with, quiet, quieten

Work: TypeAlias = Callable[[Sequence[Task]], Iterator[Row]]
"""Runs tasks and hands over each row when it is there, in any order."""


class Engine(Protocol):
    """Something that can be started to run tasks."""

    def running(self) -> AbstractContextManager[Work]: ...


@dataclass(frozen=True, kw_only=True)
class Processes:
    """Processes of this machine, one task at a time in each; a single one is this process."""

    jobs: int

    @contextmanager
    def running(self) -> Iterator[Work]:
        with ExitStack() as stack:
            stack.enter_context(joblib.parallel_config(backend="loky"))
            if self.jobs == 1:
                stack.enter_context(quiet())
            run = _run if self.jobs == 1 else partial(_run_for, os.getpid())
            yield partial(_results, _parallel(self.jobs), run)


@dataclass(frozen=True, kw_only=True)
class Dask:
    """The workers of a scheduler that somebody else has started."""

    address: str

    @contextmanager
    def running(self) -> Iterator[Work]:
        with ExitStack() as stack:
            client = stack.enter_context(clusters.connected(self.address, field="--dask"))
            stack.enter_context(joblib.parallel_config(backend="dask", client=client))
            yield partial(_results, _parallel(-1), _run_apart)


def cores() -> int:
    """That this process may use."""
    return int(joblib.cpu_count())


def _results(parallel: joblib.Parallel, run: Callable[[Task], Row], tasks: Sequence[Task]) -> Iterator[Row]:
    try:
        yield from parallel(joblib.delayed(run)(task) for task in tasks)
    except SuperlevelError:
        raise
    except Exception as error:  # joblib's, loky's and Dask's ways to say that somebody is gone
        remedy = "all rows so far are kept: start the same command again, with fewer --jobs if memory was short"
        raise SuperlevelError(f"the workers were lost ({type(error).__name__}); {remedy}") from error


def _parallel(jobs: int) -> joblib.Parallel:
    # One task a batch: joblib would bundle short ones, and a killed run would lose the bundle.
    return joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="1.5*n_jobs")


def _run_for(parent: int, task: Task) -> Row:
    """In a process of its own, which ends when the one it works for is gone."""
    end_with(parent)
    return _run_apart(task)


def _run_apart(task: Task) -> Row:
    """In a process of its own."""
    quieten()
    return _run(task)


def _run(task: Task) -> Row:
    try:
        return task.run()
    except Exception as error:
        where = f"{task.entry.label}, {task.setting.name}, seed {task.seed}"
        raise SuperlevelError(f"{where} failed: {type(error).__name__}: {error}") from error
