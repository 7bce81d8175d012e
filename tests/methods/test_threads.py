"""The same suggestions and labels whatever the number of BLAS threads is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from superlevel.one_thread import limit, one_thread
from tests.methods import suggestions

SOME = [
    "melk-posterior-label-Threshold",
    "melk-posterior-average-Threshold",
    "melk-posterior-worst-Threshold",
    "melk-ridge-None-Threshold",
    "melk-rips-None-Threshold",
    "melk-posterior-label-Threshold-estimated",
]


def digests(wanted: list[str], count: int) -> dict[str, Any]:
    """What another process with so many BLAS threads suggests and decides."""
    variables = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    made = subprocess.run(
        [sys.executable, "-m", suggestions.__name__, *wanted],
        env={**os.environ, **dict.fromkeys(variables, str(count))},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return dict(json.loads(made.stdout))


def check(wanted: list[str]) -> None:
    one, two = (digests(wanted, count) for count in (1, 2))
    assert list(one) == wanted
    assert [label for label in wanted if one[label] != two[label]] == []
    assert all(one[label] for label in wanted)


def test_some_methods_suggest_the_same_with_one_and_with_two_threads() -> None:
    check(SOME)


@pytest.mark.slow
def test_all_methods_suggest_the_same_with_one_and_with_two_threads() -> None:
    check(suggestions.labels(pairs=True))


# ------------------------------------------------------------------------------------------- the limit


def threads() -> int:
    return max(int(library["num_threads"]) for library in threadpool_info())


@pytest.fixture
def two_threads() -> Any:
    with threadpool_limits(limits=2):
        if threads() < 2:
            pytest.skip("this BLAS has one thread only")
        yield


@pytest.mark.usefixtures("two_threads")
def test_a_limit_within_a_limit_ends_with_the_outer_one() -> None:
    with limit():
        assert one_thread(threads)() == 1
        assert threads() == 1
    assert threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_a_mistake_restores_the_former_limit() -> None:
    with pytest.raises(ZeroDivisionError), limit():
        raise ZeroDivisionError
    assert threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_last_of_several_python_threads_restores_the_former_limit() -> None:
    """Whoever came first leaves first, and must not give the threads back that the other one does without."""
    entered, left = threading.Event(), threading.Event()
    seen: list[int] = []

    def second() -> None:
        with limit():
            entered.set()
            assert left.wait(timeout=10)
            seen.append(threads())

    other = threading.Thread(target=second)
    with limit():
        other.start()
        assert entered.wait(timeout=10)
    left.set()
    other.join()
    assert seen == [1]
    assert threads() == 2
