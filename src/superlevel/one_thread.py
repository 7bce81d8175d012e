"""Work on many small matrices in one BLAS thread.

Threads cost more than they save on matrices of a few hundred rows, and on a busy machine they wait for each other: an
estimate then takes three times as long with two threads. One thread also gives the same digits on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with BLAS limited to one thread while it runs."""

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1):
            return function(*args, **kwargs)

    return limited


@functools.cache
def _controller() -> ThreadpoolController:
    """Of the libraries that are loaded by now; to look for them takes milliseconds."""
    return ThreadpoolController()
