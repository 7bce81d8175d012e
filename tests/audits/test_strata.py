"""Points by the doubt of their labels: what a loop finds, and totals that are those of the audit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from superlevel.audits import Audit, by_doubt, chances, draw
from superlevel.errors import InputError

EDGES = (0.0, 0.05, 0.2, 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_strata_are_what_a_loop_over_points_and_draws_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 80)), int(rng.integers(1, 60))
    doubt = rng.choice([*EDGES, *rng.random(5) * 0.5], n)
    mask = rng.random(n) < 0.8
    mask[0] = True
    labels = np.where(mask, rng.choice([-1, 1], n), 0).astype(np.int8)
    audit = Audit(labels=labels, chances=chances(doubt, mask), level=1.0, tolerance=0.3)
    points = draw(audit.chances, size, rng)
    values = np.where(rng.random(size) < 0.05, np.nan, rng.normal(1.0, 1.0, size))
    found, result = by_doubt(audit, points, values, doubt=doubt, edges=EDGES), audit.judge(points, values)
    expected = []
    for k, (low, high) in enumerate(pairwise(EDGES)):
        members = {x for x in range(n) if mask[x] and low <= doubt[x] and (doubt[x] < high or k == len(EDGES) - 2)}
        draws = contradictions = 0
        for point, value in zip(points.tolist(), values.tolist(), strict=True):
            if np.isnan(value):
                break
            draws += point in members
            contradictions += point in members and labels[point] * (1.0 - value) > 0.3
        if members:
            expected.append((low, high, len(members), draws, contradictions))
    assert [(each.low, each.high, each.points, each.draws, each.contradictions) for each in found] == expected
    assert sum(each.points for each in found) == result.points
    assert sum(each.draws for each in found) == result.draws
    assert sum(each.contradictions for each in found) == result.contradictions


PAIR = Audit(labels=np.array([1, -1], dtype=np.int8), chances=np.full(2, 0.5), level=0.0)


def test_without_draws_there_are_points_only() -> None:
    (only,) = by_doubt(PAIR, [0], [np.nan], doubt=np.zeros(2), edges=EDGES)
    assert (only.points, only.draws, only.contradictions) == (2, 0, 0)


def test_every_point_has_a_doubt() -> None:
    with pytest.raises(InputError, match="doubt"):
        by_doubt(PAIR, [0], [1.0], doubt=np.zeros(3), edges=EDGES)
