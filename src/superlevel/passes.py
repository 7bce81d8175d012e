"""One function on many jobs: in the threads of this machine, or wherever `joblib.parallel_config` says.

What a large domain needs of every point is computed in blocks of points. The result of a block depends on its job
alone, so the number of threads, their order and the machine that computed it make no difference. For the same reason a
result can be remembered: the key of a job is a digest of everything in it, and a job with a known key is not run again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from superlevel.arrays import Array
from superlevel.one_thread import one_thread


class Keyed(Protocol):
    """A job that can be told from others."""

    @property
    def key(self) -> bytes | None:
        """A digest of everything that its result depends on; None for a result that is not worth remembering."""
        ...


Job = TypeVar("Job", bound=Keyed)


class Results:
    """Results by the keys of their jobs: those of earlier passes, and those of the passes made with it."""

    def __init__(self, before: Mapping[bytes, Array] | None = None) -> None:
        self.before: Mapping[bytes, Array] = before or {}
        self.used: dict[bytes, Array] = {}
        """Of the passes made with it: what the next ones will most likely need."""

    def get(self, key: bytes) -> Array | None:
        """The result of a job, if it is known."""
        found = self.used.get(key)
        return self.before.get(key) if found is None else found

    @property
    def changed(self) -> bool:
        """Whether there are others than before."""
        return self.used.keys() != self.before.keys()


_remembered: ContextVar[Results | None] = ContextVar("remembered", default=None)


@contextmanager
def remembering(results: Results) -> Iterator[None]:
    """Passes look for their results here first, and add them."""
    token = _remembered.set(results)
    try:
        yield
    finally:
        _remembered.reset(token)


def over(jobs: Iterable[Job], function: Callable[[Job], Array]) -> Iterator[Array]:
    """The results, in the order of the jobs. Each job runs in one BLAS thread."""
    from joblib import Parallel, delayed  # noqa: PLC0415  slow to import

    known, keys = _remembered.get(), deque[bytes | None]()

    def tasks() -> Iterator[Any]:
        for job in jobs:
            key = None if known is None else job.key
            keys.append(key)
            found = None if known is None or key is None else known.get(key)
            yield delayed(_run)(function, job) if found is None else delayed(_given)(found)

    # numpy and BLAS let other Python threads run, and threads need no copy of the points.
    for result in Parallel(n_jobs=-1, prefer="threads", return_as="generator")(tasks()):
        key = keys.popleft()
        if known is not None and key is not None:
            known.used[key] = result
        yield result


@one_thread
def _run(function: Callable[[Job], Array], job: Job) -> Array:
    return function(job)


def _given(result: Array) -> Array:
    return result
