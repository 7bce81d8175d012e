"""How the benchmarks measure time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def timed(work: Callable[[], T], repeat: int) -> tuple[T, float]:
    """What the work returns, and the shortest of its times: on a shared machine the others measure the neighbours."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)
