"""The closed loop: budgets, traces, and runs that can be opened again."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.errors import InputError
from superlevel.records import Stop
from superlevel.simulation import Run, Step, settled
from tests.worlds import apart


def in_rounds(problem: sl.Problem, **options: Any) -> sl.methods.Method:
    return sl.methods.make("melk", problem, confidence=sl.Rips(**options))


def short(max_samples: int | None = None, seed: int = 0) -> Run:
    problem, oracle = apart([0.9, 0.3, -0.8, 0.1], goal=sl.Threshold(0.0))
    return sl.simulate(in_rounds(problem), oracle, max_samples=max_samples, seed=seed)


def test_a_budget_that_ends_within_a_round_keeps_the_labels_that_are_guaranteed() -> None:
    whole = short()
    for phases, step in enumerate(whole.trace[:-1], start=1):
        following = whole.trace[phases].samples
        for budget in (step.samples, following - 1):
            run = short(max_samples=budget)
            assert run.samples == step.samples
            assert len(run.trace) == phases
            np.testing.assert_array_equal(run.labels, step.labels)
            assert run.stop is Stop.BUDGET
            assert run.needed == following - step.samples
            assert f"{run.needed:,} more would be needed" in run.reason
    assert short(max_samples=whole.samples).stop is Stop.DECIDED


def test_a_budget_below_the_first_round_declares_nothing() -> None:
    run = short(max_samples=1)
    assert (run.samples, run.trace) == (0, ())
    assert (run.labels == 0).all()


def test_the_trace_follows_the_samples_and_the_labels() -> None:
    run = short()
    samples = [step.samples for step in run.trace]
    assert samples == sorted(samples)
    assert samples[-1] == run.samples
    assert [step.phase for step in run.trace] == list(range(1, len(run.trace) + 1))
    np.testing.assert_array_equal(run.trace[-1].labels, run.labels)
    for before, after in zip(run.trace, run.trace[1:], strict=False):
        decided = before.labels != 0
        np.testing.assert_array_equal(after.labels[decided], before.labels[decided])
        assert after.precision == before.precision / 2
    assert all(step.lower_bound <= step.value <= 1.01 * step.lower_bound for step in run.trace)


def test_every_phase_is_watched_and_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Step] = []
    problem, oracle = apart([0.9, -0.8], goal=sl.Threshold(0.0))
    run = sl.simulate(in_rounds(problem), oracle, watch=seen.append)
    assert tuple(seen) == run.trace
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@dataclass
class Listening:
    """An oracle that remembers what it was asked and what it said."""

    values: Array
    asked: list[Array] = field(default_factory=list)
    said: list[Array] = field(default_factory=list)

    def measure(self, indices: Indices, rng: np.random.Generator) -> Array:
        measured = self.values[indices] + 0.1 * rng.standard_normal(len(indices))
        self.asked.append(np.bincount(indices, minlength=len(self.values)).astype(float))
        self.said.append(measured[:20] - self.values[indices[:20]])
        return measured


def test_the_seed_repeats_a_run_and_every_phase_has_its_own_numbers() -> None:
    problem, _ = apart([0.9, 0.3, -0.8, 0.1], goal=sl.Threshold(0.0))
    method = in_rounds(problem)
    runs = [Listening(np.array([0.9, 0.3, -0.8, 0.1])) for _ in range(3)]
    for oracle, seed in zip(runs, (1, 1, 2), strict=True):
        sl.simulate(method, oracle, seed=seed)
    first, second, other = runs
    np.testing.assert_array_equal(np.concatenate(first.said), np.concatenate(second.said))
    np.testing.assert_array_equal(first.asked, second.asked)
    assert not np.array_equal(first.asked[0], other.asked[0])
    noise = [*first.said, *other.said]  # of two seeds and several phases, no two alike
    assert all(not np.allclose(one, two) for one, two in combinations(noise, 2))
    drawn = 0.1 * np.random.default_rng([1, 1]).standard_normal(20)  # the generator of the first plan
    assert not np.allclose(first.said[0], drawn)


def test_a_tie_ends_with_the_budget_and_not_with_the_memory() -> None:
    problem, oracle = apart([0.2], goal=sl.Threshold(0.2))
    run = sl.simulate(in_rounds(problem, schedule="tight"), oracle, max_samples=10**6)
    assert run.stop is Stop.BUDGET
    np.testing.assert_array_equal(run.labels, [0])


@pytest.mark.parametrize("max_samples", [None, 1, 3000])
@pytest.mark.parametrize(("name", "seed"), [("run.npz", 0), ("run", 2**80)])
def test_a_run_can_be_saved_and_opened_again(tmp_path: Path, max_samples: int | None, name: str, seed: int) -> None:
    run = short(max_samples, seed)
    run.save(tmp_path / name)
    again = Run.load(tmp_path / name)
    assert repr(again) == repr(run)
    assert (again.method, again.seed, again.samples, again.stop, again.needed, again.reason) == (
        run.method,
        run.seed,
        run.samples,
        run.stop,
        run.needed,
        run.reason,
    )
    np.testing.assert_array_equal(again.labels, run.labels)
    assert len(again.trace) == len(run.trace)
    for one, other in zip(again.trace, run.trace, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert (one.phase, one.samples, one.directions) == (other.phase, other.samples, other.directions)
        assert (one.precision, one.value, one.lower_bound) == (other.precision, other.value, other.lower_bound)


def affordable(confidence: str = "ridge", max_samples: int | None = None) -> Run:
    problem, oracle = apart([0.9, 0.3, -0.8, 0.1], goal=sl.Threshold(0.0), norm=1.5)
    return sl.simulate(sl.methods.make("melk", problem, confidence=confidence), oracle, max_samples=max_samples)


@pytest.mark.parametrize("confidence", ["ridge", "posterior", "rips"])
@pytest.mark.parametrize("max_samples", [None, 1])
def test_what_is_known_in_the_end_is_kept(tmp_path: Path, confidence: str, max_samples: int | None) -> None:
    run = affordable(confidence, max_samples)
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.decided, run.decided)
    assert again.before is not None
    assert run.before is not None
    np.testing.assert_array_equal(again.before, run.before)
    assert again.sources == run.sources
    assert (run.sources is not None) == (confidence == "ridge")
    assert again.goal == run.goal == sl.Threshold(0.0)
    assert run.estimate is not None
    assert run.intervals is not None
    assert again.estimate is not None
    assert again.intervals is not None
    np.testing.assert_array_equal(again.estimate, run.estimate)
    np.testing.assert_array_equal(again.intervals.lower, run.intervals.lower)
    np.testing.assert_array_equal(again.intervals.upper, run.intervals.upper)
    known = ~np.isnan(run.intervals.lower)  # a round says nothing of points that were decided before it
    assert (run.intervals.lower <= run.intervals.upper)[known].all()
    assert known.all() == (confidence != "rips")
    assert known.any() == (confidence != "rips" or max_samples is None)
    assert np.isfinite(run.estimate).all()


LATER = ("goal", "before", "estimate", "intervals", "sources")
"""What files of older versions do not have."""


def test_a_file_without_what_is_known_in_the_end_is_read(tmp_path: Path) -> None:
    run = affordable()
    run.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as file:
        left = {name: file[name] for name in file if name not in LATER}
    np.savez(tmp_path / "old.npz", **left)
    old = Run.load(tmp_path / "old.npz")
    assert (old.goal, old.before, old.estimate, old.intervals, old.sources) == (None, None, None, None, None)
    np.testing.assert_array_equal(old.labels, run.labels)
    np.testing.assert_array_equal(old.decided, run.decided)  # nothing was decided before the first measurement


def test_intervals_and_labels_in_the_end_are_those_of_the_last_state() -> None:
    run = affordable()
    assert run.intervals is not None
    assert run.sources is not None
    np.testing.assert_array_equal(run.labels, np.where(run.intervals.lower > 0, 1, -1))
    assert set(run.sources) <= {"ellipsoids", "challenges"}


def brute(history: list[tuple[int, list[int]]]) -> list[int]:
    """For every point, the first moment from which on its label is the last one."""
    found = []
    for point, label in enumerate(history[-1][1]):
        kept = [at for k, (at, _) in enumerate(history) if all(then[point] == label for _, then in history[k:])]
        found.append(kept[0] if label else -1)
    return found


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4), min_size=1, max_size=8))
def test_a_point_is_decided_when_it_got_the_label_that_it_kept(labels: list[list[int]]) -> None:
    history = [(7 * k, then) for k, then in enumerate(labels)]
    found = settled([(at, np.array(then, dtype=np.int8)) for at, then in history])
    assert found.tolist() == brute(history)


def test_the_trace_says_when_each_point_was_decided() -> None:
    for run in (affordable(), affordable("posterior"), short(), affordable(max_samples=40)):
        nothing = (0, [0] * 4)
        assert run.decided.tolist() == brute([nothing, *((step.samples, step.labels.tolist()) for step in run.trace)])
    assert affordable().decided.max() == affordable().samples


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_run_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"give a file that Run.save wrote"):
        Run.load(path)


def test_bad_input_is_one_sentence() -> None:
    problem, oracle = apart([0.9, -0.8], goal=sl.Threshold(0.0))
    method = sl.methods.make("melk", problem)
    with pytest.raises(InputError, match="max_samples is 0: give a whole number >= 1"):
        sl.simulate(method, oracle, max_samples=0)
    with pytest.raises(InputError, match="oracle is for 3 points: give one for the 2 points"):
        sl.simulate(method, sl.oracles.Gaussian(np.zeros(3), noise=1.0))
