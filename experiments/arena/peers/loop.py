"""The loop that every peer is run in: a problem from a file, looks as JSON lines, CPU seconds of the tool alone.

    python -m experiments.arena.peers.PEER PROBLEM.npz SEED BUDGET

The script needs numpy and scipy, and the peer's own package. All peers begin with the same 10 random points of a seed,
and the k-th measurement has the same noise for all of them, and for us. Hyperparameters are estimated at every look.
Coordinates come scaled to [0, 1], and values to mean 0 and deviation 1 of what was measured up to the last look: priors
of most tools expect that.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr

LOOK = 10  # measurements between two looks, and before the first one
RATE = 0.01  # of wrong labels among the declared ones
STREAM = 7  # sets the noise of measurements apart from other random numbers of a seed


@dataclass(frozen=True)
class Task:
    """A problem as a peer sees it, and the truth that only the loop looks at."""

    points: Any
    """(n, d) coordinates in [0, 1]."""
    values: Any
    level: float
    noise: Any
    """(n,) the standard deviation of one measurement."""
    seed: int
    budget: int


class Tool(Protocol):
    """What a script provides. ``places`` (N,) are points of the list, ``values`` (N,) are standardised."""

    def fit(self, places: Any, values: Any, level: float) -> None:
        """Estimate everything from all measurements."""

    def add(self, places: Any, values: Any) -> None:
        """Condition on all measurements, without another estimate."""

    def posterior(self) -> tuple[Any, Any]:
        """(n,) and (n,): the mean and the standard deviation of f."""

    def choose(self) -> int:
        """The point to measure next."""

    def declare(self, mean: Any, deviation: Any) -> Any:
        """(n,) labels: 1, -1, and 0 where the tool declares nothing."""


class Declared:
    """For a tool that declares nothing by itself: the largest set of which at most 1 % are wrong on average."""

    level: float

    def declare(self, mean: Any, deviation: Any) -> Any:
        return declared(mean, deviation, self.level)


def noise_of(seed: int, budget: int) -> Any:
    """(budget,) standard normal numbers: the noise of the k-th measurement, in units of its deviation."""
    return np.random.default_rng([seed, STREAM]).standard_normal(budget)


def doubt_of(mean: Any, deviation: Any, level: float) -> Any:
    """(n,) the probability that the likelier label is wrong."""
    return ndtr(-np.abs(mean - level) / np.maximum(deviation, 1e-300))


def declared(mean: Any, deviation: Any, level: float, rate: float = RATE) -> Any:
    """(n,) labels of the largest set whose mean probability of a wrong label is at most the rate."""
    wrong = doubt_of(mean, deviation, level)
    order = np.argsort(wrong, kind="stable")
    means = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    count = int(np.searchsorted(means, rate, side="right"))  # the means never fall
    labels = np.zeros(len(mean), dtype=np.int8)
    labels[order[:count]] = np.where(mean[order[:count]] > level, 1, -1)
    return labels


def surest(doubt: Any, guess: Any, truth: Any, rate: float = RATE) -> Any:
    """(n,) whether a point is in the largest set of the tool's surest guesses of which at most the rate is wrong.

    It needs the truth. It shows what a tool could declare if its probabilities were right, so that tools that claim too
    much and tools that claim too little are compared at the same share of wrong labels.
    """
    order = np.argsort(doubt, kind="stable")
    shares = np.cumsum((guess != truth)[order]) / np.arange(1, len(order) + 1)
    within = np.flatnonzero(shares <= rate)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: within[-1] + 1 if len(within) else 0]] = True
    return chosen


def scores(labels: Any, guess: Any, doubt: Any, truth: Any) -> dict[str, int]:
    """Counts of one look.

    Mislabelled by the likelier side; declared above, and rightly so; declared, and wrong; above among the surest
    guesses, and rightly so. ``doubt`` (n,) is the probability that a guess is wrong.
    """
    above, below = labels > 0, labels < 0
    sure = surest(doubt, guess, truth) & guess
    return {
        "mislabelled": int((guess != truth).sum()),
        "above": int(above.sum()),
        "right": int((above & truth).sum()),
        "declared": int((above | below).sum()),
        "wrong": int((above & ~truth).sum() + (below & truth).sum()),
        "surest": int(sure.sum()),
        "surest_right": int((sure & truth).sum()),
    }


def run(tool: Tool, task: Task) -> Any:
    """Yield a look after every ten measurements."""
    rng = np.random.default_rng([task.seed, 11])
    truth, noise = task.values > task.level, noise_of(task.seed, task.budget)
    places = list(rng.permutation(len(task.points))[:LOOK])
    measured = [task.values[i] + task.noise[i] * noise[k] for k, i in enumerate(places)]
    spent, asks = 0.0, 0
    while True:
        centre, scale = float(np.mean(measured)), float(np.std(measured)) or 1.0
        began = time.process_time()
        level = (task.level - centre) / scale
        tool.fit(np.array(places), (np.array(measured) - centre) / scale, level)
        mean, deviation = tool.posterior()
        spent += time.process_time() - began
        mean, deviation = np.asarray(mean, dtype=float), np.asarray(deviation, dtype=float)
        doubt = doubt_of(mean, deviation, level)
        found = scores(tool.declare(mean, deviation), mean > level, doubt, truth)
        yield {"samples": len(places), **found, "cpu": round(spent, 4), "asks": asks}
        for _ in range(LOOK):
            if len(places) == task.budget:
                return
            began = time.process_time()
            place = int(tool.choose())
            asks += 1
            spent += time.process_time() - began
            measured.append(task.values[place] + task.noise[place] * noise[len(places)])
            places.append(place)
            began = time.process_time()
            if len(places) % LOOK:
                tool.add(np.array(places), (np.array(measured) - centre) / scale)
            spent += time.process_time() - began


def load(path: str, seed: int, budget: int) -> Task:
    """A problem from a file with points, values, level and noise."""
    with np.load(path) as found:
        points, values = found["points"], found["values"]
        level, noise = float(found["level"]), np.broadcast_to(found["noise"], len(values))
    width = np.ptp(points, axis=0)
    unit = (points - points.min(axis=0)) / np.where(width > 0, width, 1.0)
    return Task(points=unit, values=values, level=level, noise=noise, seed=seed, budget=budget)


def main(make: Any) -> None:
    """Run the tool that ``make(task)`` returns on the problem of the command line."""
    path, seed, budget = sys.argv[1:]
    task = load(path, int(seed), int(budget))
    for look in run(make(task), task):
        sys.stdout.write(json.dumps(look) + "\n")
        sys.stdout.flush()
