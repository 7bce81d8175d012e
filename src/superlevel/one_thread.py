"""Work in one BLAS thread, so that the same measurements give the same suggestions and labels everywhere.

Several threads add up a sum in another order than one thread does. Its last digit then differs, which is enough to
choose another point where two are equally good. Therefore everything that decides runs in one thread: methods, designs,
features, and what a belief computes when somebody looks at it. One thread is also faster on matrices of a few hundred
rows, and on a busy machine, where threads wait for each other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with BLAS limited to one thread while it runs."""

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with limit():
            return function(*args, **kwargs)

    return limited


class _Users:
    """How many Python threads are inside `limit` now. Most BLAS libraries have one limit for a whole process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.before: list[int] = []
        """Threads of each library when the first one came."""
        self.mine = threading.local()


_users = _Users()


@contextmanager
def limit() -> Iterator[None]:
    """One BLAS thread for a while. The last one to leave restores the former limit, whoever came first."""
    depth = getattr(_users.mine, "depth", 0)
    if not depth:
        _enter()
    _users.mine.depth = depth + 1
    try:
        yield
    finally:
        _users.mine.depth = depth
        if not depth:
            _leave()


def _enter() -> None:
    with _users.lock:
        _users.mine.before = [library.num_threads for library in _libraries()]
        if not _users.count:
            _users.before = _users.mine.before
        _users.count += 1
        for library in _libraries():
            _set(library, 1)


def _leave() -> None:
    with _users.lock:
        _users.count -= 1
        for library, mine, first in zip(_libraries(), _users.mine.before, _users.before, strict=True):
            if "openmp" in (library.user_api, getattr(library, "threading_layer", None)):
                _set(library, mine)  # these limits belong to one Python thread
            elif not _users.count:
                _set(library, first)


def _set(library: Any, count: int) -> None:
    """From any Python thread: by itself threadpoolctl lets only that one change a limit which did so first."""
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(count)
    if release is not None:
        release(force=True)


@functools.cache
def _libraries() -> list[Any]:
    """numpy's BLAS and scipy's, which is another one, and others; to look for them takes milliseconds."""
    import scipy.linalg  # noqa: F401, PLC0415

    return list(ThreadpoolController().lib_controllers)
