from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from superlevel import InputError, design


@pytest.fixture(scope="module")
def arms() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(9, 3))


@pytest.mark.parametrize("targets", [None, design.Pairs(0.3)])
def test_a_saved_design_comes_back_and_still_certifies(tmp_path: Path, arms: np.ndarray, targets: design.Pairs) -> None:
    before = design.solve(arms, targets, ridge=0.1)
    before.save(tmp_path / "design.npz")
    after = design.Design.load(tmp_path / "design.npz")
    assert repr(after) == repr(before)
    assert (after.value, after.truncation, after.evaluations) == (before.value, before.truncation, before.evaluations)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert sparse.issparse(after.dual) == sparse.issparse(before.dual)
    bound = design.certify(arms, targets, after.weights, after.dual, ridge=0.1)
    assert bound == pytest.approx(before.lower_bound, rel=1e-10)
    assert design.solve(arms, targets, ridge=0.1, start=after).gap <= 0.01


def test_another_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.npz").write_text("soundings")
    np.savez(tmp_path / "newer.npz", format=99)
    for name, words in (("notes.npz", "Design.save"), ("newer.npz", "reads format 1"), ("none.npz", "Design.save")):
        with pytest.raises(InputError, match=words):
            design.Design.load(tmp_path / name)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: design.FrankWolfe(0), "iterations"),
        (lambda: design.FrankWolfe(5, 3.0), "step"),
        (lambda: design.FrankWolfe(5, 0.0), "step"),
        (lambda: design.InteriorPoint(max_iter=0), "max_iter"),
    ],
)
def test_options_are_checked_when_they_are_made(make: object, field: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=f"^{field} is "):
        make()
