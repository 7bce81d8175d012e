"""One function on many jobs: in the threads of this machine, or wherever `joblib.parallel_config` says.

What a large domain needs of every point is computed in blocks of points. The result of a block depends on that block
alone, so the number of threads, their order and the machine that computed it make no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from superlevel.one_thread import one_thread

Job = TypeVar("Job")
Done = TypeVar("Done")


def over(jobs: Iterable[Job], function: Callable[[Job], Done]) -> Iterator[Done]:
    """The results, in the order of the jobs. Each job runs in one BLAS thread."""
    from joblib import Parallel, delayed  # noqa: PLC0415  slow to import

    # numpy and BLAS let other Python threads run, and threads need no copy of the points.
    return iter(Parallel(n_jobs=-1, prefer="threads", return_as="generator")(_called(function, jobs, delayed)))


def _called(function: Callable[[Job], Done], jobs: Iterable[Job], delayed: Callable[..., object]) -> Iterator[object]:
    run = delayed(_alone)
    return (run(function, job) for job in jobs)  # type: ignore[operator]


@one_thread
def _alone(function: Callable[[Job], Done], job: Job) -> Done:
    return function(job)
