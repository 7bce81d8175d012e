"""Work on a Dask cluster that somebody else has started: the connection, and passes over a large domain.

    with superlevel.cluster("tcp://scheduler:8786"):
        study.labels                                   # the same as without it

Dask runs a job again if its worker is gone, so a killed worker changes nothing. Few jobs are in flight at a time, so
that the scheduler's memory does not depend on the size of the domain. A job's result depends on the job alone, and
results are returned in the order of the jobs.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from superlevel import __version__, passes
from superlevel.arrays import Array
from superlevel.errors import InputError, SuperlevelError

WAIT = 5.0  # seconds for a cluster to answer
PATIENCE = 30.0  # seconds without any worker: one that died may be started again meanwhile
AHEAD = 4  # tasks in flight for each thread of the cluster
JOBS, BYTES = 8, 2**18  # of one task at most: a job may take as little as the way to a worker and back
SMALL = 2**14  # bytes of a function that is sent with every task
SOCKETS = ("tcp", "tls")


@contextmanager
def cluster(address: str, *, field: str = "address") -> Iterator[None]:
    """Make passes over large domains on the workers of a Dask scheduler; everything else runs here.

    An address where nobody listens is an InputError at once. The connection is made when the first pass begins, so
    small domains need none. Labels are the same as without a cluster.

    Args:
        address: of the scheduler, such as tcp://scheduler:8786.
        field: the option that named the address, as errors say it.
    """
    _check_installed(address, field)
    _check_listening(address, field)
    with ExitStack() as open_until_the_end, passes.running(_Workers(address, field, open_until_the_end).run):
        yield


@contextmanager
def connected(address: str, *, field: str) -> Iterator[Any]:
    """A client of the scheduler at this address, whose workers have this version."""
    _check_installed(address, field)
    with _without_log(), _client(address, field) as client:
        _check_workers(client, address, field)
        yield client


class _Workers:
    """The engine of passes. It connects when it is first used."""

    def __init__(self, address: str, field: str, stack: ExitStack) -> None:
        self._address, self._field, self._stack = address, field, stack
        self._known: Any = None

    @property
    def _client(self) -> Any:
        if self._known is None:
            self._known = self._stack.enter_context(connected(self._address, field=self._field))
        return self._known

    def run(self, jobs: Iterator[Any], function: Callable[[Any], Array]) -> Iterator[Array]:
        """See `passes.Engine`."""
        first = next(jobs, None)
        if first is None:  # everything is known already
            return
        client = self._client
        most = AHEAD * max(1, sum(client.nthreads().values()))
        executor, sent = client.get_executor(pure=False), _sent(client, function)
        flying: deque[Future[list[Array]]] = deque()
        try:
            for task in _tasks(chain([first], jobs)):
                if len(flying) >= most:
                    yield from self._results(flying.popleft())
                flying.append(executor.submit(_computed, sent, task))
            while flying:
                yield from self._results(flying.popleft())
        finally:  # nothing is in flight any more, unless somebody has stopped this
            executor.shutdown(wait=False)

    def _results(self, future: Future[list[Array]]) -> list[Array]:
        """Of one task, which Dask may run again on another worker meanwhile."""
        alone = 0.0
        while alone < PATIENCE:
            try:
                return future.result(timeout=WAIT)
            except TimeoutError:
                if future.done():
                    return future.result()
                alone = 0.0 if self._has_workers() else alone + WAIT
            except CancelledError as error:
                raise self._lost("the connection to it broke") from error
            except Exception as error:
                self._translate(error)
                raise
        raise self._lost("it has had no worker for a while")

    def _has_workers(self) -> bool:
        try:
            return bool(self._client.sync(self._client.scheduler.ncores, callback_timeout=WAIT))
        except Exception:  # the scheduler is gone too, which has several names
            return False

    def _translate(self, error: Exception) -> None:
        """Say what went wrong on a worker, unless it is an error of the job, which is the same as in a thread."""
        from distributed import KilledWorker  # noqa: PLC0415  an extra

        if isinstance(error, KilledWorker):
            raise self._lost("several workers died, one after the other, when they computed the same block") from error
        if isinstance(error, ImportError):
            remedy = f"its workers lack something ({error}): install it there"
            raise InputError(self._field, repr(self._address), remedy) from error

    def _lost(self, reason: str) -> SuperlevelError:
        return SuperlevelError(f"the cluster at {self._address} is lost: {reason}; start it again, or do without")


def _tasks(jobs: Iterator[Any]) -> Iterator[list[bytes]]:
    """Some jobs at a time."""
    from distributed.protocol.pickle import dumps  # noqa: PLC0415  an extra

    task: list[bytes] = []
    for job in jobs:
        task.append(dumps(job))
        if len(task) == JOBS or sum(map(len, task)) >= BYTES:
            yield task
            task = []
    if task:
        yield task


def _computed(function: Callable[[Any], Array], task: list[bytes]) -> list[Array]:
    """The results of some jobs, on a worker."""
    return [passes.alone(function, pickle.loads(job)) for job in task]


def _sent(client: Any, function: Callable[[Any], Array]) -> Any:
    """The function itself if it is small, otherwise a future of it.

    Workers fetch the future's result once. Dask can make it again: what is scattered is lost with its worker.
    """
    import dask  # noqa: PLC0415  an extra
    from distributed.protocol.pickle import dumps  # noqa: PLC0415

    found = dumps(function)
    if len(found) <= SMALL:
        return function
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        return client.submit(pickle.loads, found, pure=False)


# --- the connection


def _check_installed(address: str, field: str) -> None:
    if find_spec("distributed") is None:
        remedy = "it needs the package distributed: pip install 'superlevel[dask]'"
        raise InputError(field, repr(address), remedy)


@contextmanager
def _without_log() -> Iterator[None]:
    """Dask's client logs a lost scheduler as a traceback, after the error that says it in a sentence."""
    from distributed import client  # noqa: PLC0415  an extra; its import sets up the log

    before, client.logger.disabled = client.logger.disabled, True
    try:
        yield
    finally:
        client.logger.disabled = before


def _check_listening(address: str, field: str) -> None:
    """That something listens there, without Dask, which takes half a second to import."""
    scheme, _, place = address.rpartition("://")
    if (scheme or "tcp") not in SOCKETS:  # addresses that only Dask understands
        return
    try:
        parts = urlsplit(f"//{place}")
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=WAIT).close()
    except (OSError, ValueError) as error:
        raise _silent(address, field) from error


def _client(address: str, field: str) -> Any:
    from distributed import Client  # noqa: PLC0415  an extra
    from distributed.core import connect  # noqa: PLC0415

    async def knock() -> None:
        """A client that finds nobody keeps trying to say goodbye; a connection does not."""
        async with asyncio.timeout(WAIT):  # connect's own ends before the handshake does
            (await connect(address, timeout=WAIT)).abort()

    try:
        asyncio.run(knock())
        return Client(address, timeout=WAIT, set_as_default=False)
    except Exception as error:  # whatever listens there may answer anything
        raise _silent(address, field) from error


def _silent(address: str, field: str) -> InputError:
    remedy = f"no scheduler answers there within {WAIT:g} s: start one, or leave it out for the cores here"
    return InputError(field, repr(address), remedy)


def _check_workers(client: Any, address: str, field: str) -> None:
    """That there are workers, and that all of them run this version: others would give other numbers."""
    try:
        client.wait_for_workers(1, timeout=WAIT)
        # A lambda travels as code; a function of this module would be looked up there.
        found = client.run(lambda: __import__("superlevel").__version__)
    except TimeoutError as error:
        remedy = f"the scheduler has no worker within {WAIT:g} s: start one with 'dask worker'"
        raise InputError(field, repr(address), remedy) from error
    except ImportError as error:
        raise InputError(field, repr(address), "its workers lack superlevel: install it there") from error
    for worker, there in found.items():
        if there != __version__:
            remedy = f"its worker {worker} has superlevel {there}, here is {__version__}: install one version"
            raise InputError(field, repr(address), remedy)
