"""One function on many jobs: in the threads of this machine, where `joblib.parallel_config` says, or on a Dask cluster.

What a large domain needs of every point is computed in blocks of points. The result of a block depends on its job
alone, so the number of threads, their order and the machine that computed it make no difference. For the same reason a
result can be remembered: the key of a job is a digest of everything in it, and a job with a known key is not run again.
`superlevel.clusters` runs passes on the workers of a Dask scheduler.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from superlevel.arrays import Array
from superlevel.one_thread import one_thread

KEPT = 2**24  # bytes


class Keyed(Protocol):
    """A job that can be told from others."""

    @property
    def key(self) -> bytes | None:
        """A digest of everything that its result depends on; None for a result that is not worth remembering."""
        ...


Job = TypeVar("Job", bound=Keyed)

Engine: TypeAlias = Callable[[Iterator[Any], Callable[[Any], Array]], Iterator[Array]]
"""Runs a function on jobs, each in one BLAS thread, and returns the results in the order of the jobs."""
Watch: TypeAlias = Callable[[int, int], None]
"""Is called with the number of jobs of a pass that are done, and with the number of all its jobs."""


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


def _in_threads(jobs: Iterator[Job], function: Callable[[Job], Array]) -> Iterator[Array]:
    from joblib import Parallel, delayed  # noqa: PLC0415  slow to import

    # numpy and BLAS let other Python threads run, and threads need no copy of the points.
    parallel = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    results = parallel(delayed(alone)(function, job) for job in jobs)
    try:
        for result in results:  # noqa: UP028  what is delegated to is closed before the warning can be silenced
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of jobs that are left out: somebody stopped them
            results.close()


_remembered: ContextVar[Results | None] = ContextVar("remembered", default=None)
_engine: ContextVar[Engine] = ContextVar("engine", default=_in_threads)
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def remembering(results: Results) -> Iterator[None]:
    """Passes look for their results here first, and add them."""
    token = _remembered.set(results)
    try:
        yield
    finally:
        _remembered.reset(token)


def remembered() -> Results | None:
    """What passes are told to look at and to add to."""
    return _remembered.get()


@contextmanager
def running(engine: Engine) -> Iterator[None]:
    """Passes are made by this engine."""
    token = _engine.set(engine)
    try:
        yield
    finally:
        _engine.reset(token)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Passes say how far they are: ``watch(done, total)`` is called when a pass begins and after each of its jobs."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def over(jobs: Iterable[Job], function: Callable[[Job], Array], *, total: int, here: bool = False) -> Generator[Array]:
    """The results, in the order of the jobs. Each job runs in one BLAS thread.

    Args:
        jobs: what differs from job to job.
        function: of a job. It carries what all jobs have in common, and is sent to another machine once.
        total: how many jobs there are.
        here: run them on this machine in any case, because to send a job takes longer than to compute it.
    """
    known, watch = _remembered.get(), _watch.get()
    engine = _in_threads if here else _engine.get()
    begun: deque[_Begun] = deque()

    def unknown() -> Iterator[Job]:
        for job in jobs:
            key = None if known is None else job.key
            found = None if known is None or key is None else known.get(key)
            begun.append(_Begun(key, found))
            if found is None:
                yield job

    if watch is not None:
        watch(0, total)
    with closing(_ordered(begun, engine(unknown(), function))) as results:
        for done, (key, result) in enumerate(results, start=1):
            if known is not None and key is not None:
                known.used[key] = result
            if watch is not None:
                watch(done, total)
            yield result


@one_thread
def alone(function: Callable[[Job], Array], job: Job) -> Array:
    """The result of one job, in one BLAS thread."""
    _keep_memory()
    return function(job)


@cache
def _keep_memory() -> None:
    """Let the C library keep what the arrays of one job took for those of the next.

    glibc keeps about as much as the largest block that was ever freed. Otherwise every job returns its memory to the
    system and gets it back page by page, which doubles the time of a pass.
    """
    np.empty(KEPT, dtype=np.uint8)


class _Begun(NamedTuple):
    """A job that was looked at."""

    key: bytes | None
    found: Array | None
    """Its result, if it was known."""


def _ordered(begun: deque[_Begun], computed: Iterator[Array]) -> Generator[tuple[bytes | None, Array]]:
    """Keys and results in the order of the jobs. ``computed`` has those that were not known, and fills ``begun``."""
    for result in computed:
        yield from _known(begun)
        yield begun.popleft().key, result
    yield from _known(begun)


def _known(begun: deque[_Begun]) -> Iterator[tuple[bytes | None, Array]]:
    """Those before the first job whose result was not known."""
    while begun and (found := begun[0].found) is not None:
        yield begun.popleft().key, found
