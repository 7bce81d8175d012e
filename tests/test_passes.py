"""Passes in threads: the order of the results, what is known already, and how far they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from superlevel import passes
from superlevel.arrays import Array


@dataclass(frozen=True)
class Job:
    """A number to be squared."""

    number: int

    @property
    def key(self) -> bytes | None:
        return str(self.number).encode() if self.number % 5 else None


def jobs(count: int) -> Iterator[Job]:
    return (Job(number) for number in range(count))


def squared(job: Job) -> Array:
    time.sleep(0.001 * (job.number % 3))
    return np.array([float(job.number**2)])


def numbers(results: Iterator[Array]) -> list[float]:
    return [float(result[0]) for result in results]


@pytest.mark.parametrize("count", [0, 1, 7, 100])
@pytest.mark.parametrize("known", [0, 1, 30, 100])
def test_results_are_in_the_order_of_the_jobs_whatever_is_known_already(count: int, known: int) -> None:
    before = {str(number).encode(): np.array([-float(number)]) for number in range(known)}
    results = passes.Results(before)
    with passes.remembering(results):
        found = numbers(passes.over(jobs(count), squared, total=count))
    assert found == [-n if n < known and n % 5 else n**2 for n in range(count)]
    assert set(results.used) == {job.key for job in jobs(count)} - {None}


def test_a_pass_says_how_far_it_is_and_is_silent_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int]] = []
    with passes.watching(lambda done, total: seen.append((done, total))):
        numbers(passes.over(jobs(5), squared, total=5))
        numbers(passes.over(jobs(0), squared, total=0))
    numbers(passes.over(jobs(5), squared, total=5))
    assert seen == [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5), (0, 0)]
    assert capsys.readouterr() == ("", "")


def test_a_pass_that_nobody_finishes_takes_no_more_jobs() -> None:
    taken: list[int] = []

    def counted() -> Iterator[Job]:
        for job in jobs(1000):
            taken.append(job.number)
            yield job

    pass_ = passes.over(counted(), squared, total=1000)
    next(pass_)
    pass_.close()
    begun = len(taken)
    time.sleep(0.2)
    assert len(taken) <= begun + 20 < 1000


def test_the_engine_is_the_one_that_was_said_unless_the_jobs_stay_here() -> None:
    def mine(jobs: Iterator[Job], _: object) -> Iterator[Array]:
        return (np.array([-1.0]) for _ in jobs)

    with passes.running(mine):
        assert numbers(passes.over(jobs(3), squared, total=3)) == [-1, -1, -1]
        assert numbers(passes.over(jobs(3), squared, total=3, here=True)) == [0, 1, 4]
    assert numbers(passes.over(jobs(3), squared, total=3)) == [0, 1, 4]
