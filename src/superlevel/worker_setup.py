"""One BLAS thread and no warnings while tasks run, and no process that outlives its purpose.

Two jobs then use two cores, and the numbers are the same everywhere: sums that several threads add up come out
different in the last digit, which is enough to choose another point.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from superlevel.errors import AssumptionWarning


@contextmanager
def quiet() -> Iterator[None]:
    """For a while, in a process that does other things too."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        _ignore()
        yield


@functools.cache
def quieten() -> None:
    """For good, in a process that only runs tasks.

    A Dask worker may run several in threads of one process, to which limits and filters belong: a task that took them
    back at its end would take them from the others.
    """
    threadpool_limits(limits=1)
    _ignore()


@functools.cache
def end_with(parent: int) -> None:
    """End this process when the parent has: one that was killed can tell nobody to stop."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _ignore() -> None:
    # A simulated function may well contradict its model; the figure shows what that costs.
    warnings.simplefilter("ignore", AssumptionWarning)
