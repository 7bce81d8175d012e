"""The averaged estimate with scikit-learn's conventions: which side of a level each row of X is on.

    found = LevelSetClassifier(threshold=20.0).fit(X, y)      # y (n,) real measurements
    found.predict(places), found.predict_proba(places)        # -1 below, +1 above, and the probability of each
    found.query(places, batch=5)                              # the next places to measure

Without a threshold y has two classes. They are coded as -1 and +1, and the level is 0: f(x) is then the mean of the
codes at x, and the probability of a class is that of being the likelier one there.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from superlevel import methods, pilots
from superlevel.arrays import Array, Indices, as_count, as_number
from superlevel.averaging import Data, average
from superlevel.averaging.predictive import probit
from superlevel.domain import Domain
from superlevel.goals import Threshold
from superlevel.problem import FITTED, Problem
from superlevel.rules.among import Among
from superlevel.rules.sequential import Sequential
from superlevel.rules.variance import Doubtful, VarianceReduction

BELOW, ABOVE = -1, 1


class LevelSetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Which rows of X have f above a level, from noisy measurements, with kernel, noise and mean estimated.

    Args:
        threshold: the level. None: y has two classes, and the level is between them.
        seed: everything random in `query` comes from it.

    After `fit`: ``classes_`` (2,), -1 and +1 or the two classes; ``average_``, the estimate (`superlevel.averaging`);
    ``n_features_in_``, and ``feature_names_in_`` for a frame.
    """

    def __init__(self, threshold: float | None = None, *, seed: int = 0) -> None:
        self.threshold = threshold
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """From measurements y (n,) at the rows of X (n, d). Rows that are equal are repeats of one place."""
        given, measured = validate_data(self, X, y, dtype=np.float64, y_numeric=self.threshold is not None)
        values = self._coded(measured)
        places, at = np.unique(given, axis=0, return_inverse=True)
        order = np.lexsort((values, at.reshape(-1)))  # the order of the rows makes no difference
        self._data = _data(at.reshape(-1)[order], values[order])
        self.average_ = average(self._problem(places), self._data)
        return self

    def _coded(self, y: Array) -> Array:
        """(n,) values whose level is `_level`; sets the classes."""
        if self.threshold is not None:
            if y.dtype.kind not in "biuf":
                raise ValueError(f"y is of type {y.dtype}: with a threshold give real values, without one two classes")
            self.classes_ = np.array([BELOW, ABOVE])
            return y.astype(np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: "
                "give two classes, or real values and a threshold"
            )
        if len(self.classes_) < 2:
            raise ValueError("y has only one class: give two classes, or real values and a threshold")
        return np.where(codes == 1, 1.0, -1.0)

    @property
    def _level(self) -> float:
        return 0.0 if self.threshold is None else as_number("threshold", self.threshold)

    def _problem(self, places: Array) -> Problem:
        return Problem(Domain(places), goal=Threshold(self._level), fit=FITTED)

    def predict_proba(self, X: ArrayLike) -> Array:  # noqa: N803
        """(n, 2) the probability that f is below the level, and above it, as the averaged kernels have it."""
        check_is_fitted(self)
        places = validate_data(self, X, dtype=np.float64, reset=False)
        below = np.clip(self.average_.elsewhere(places).below(self._level), 0.0, 1.0)
        return np.column_stack([below, 1.0 - below])

    def decision_function(self, X: ArrayLike) -> Array:  # noqa: N803
        """(n,) how many deviations f is above the level: the normal deviate of the probability."""
        return probit(self.predict_proba(X)[:, 1])

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """(n,) the likelier side: -1 or +1, or the class."""
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(np.int64)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """The share of the rows that are predicted on the side where y is."""
        named = np.asarray(y) if self.threshold is None else np.where(np.asarray(y) > self._level, ABOVE, BELOW)
        return float(super().score(X, named, sample_weight))

    def query(self, candidates: Any, batch: int = 5) -> Any:
        """The rows of the candidates (m, d) to measure next, as an array or a frame, with repeats where they help.

        They lower the expected number of wrong sides among candidates and measured places. Before there are as many
        measurements as a pilot has, they are far from all measured places.
        """
        check_is_fitted(self)
        count = as_count("batch", batch)
        places = validate_data(self, candidates, dtype=np.float64, reset=False)
        return _safe_indexing(candidates, self._chosen(places, count))

    def _chosen(self, places: Array, count: int) -> Indices:
        known = self.average_.mixture.summary.domain.points
        joined, at = np.unique(np.concatenate([places, known]), axis=0, return_inverse=True)
        at = at.reshape(-1)
        first = {int(point): k for k, point in reversed(list(enumerate(at[: len(places)])))}
        allowed = np.isin(np.arange(len(joined)), at[: len(places)])
        data = _data(at[len(places) :][self._data.points], self._data.values)
        missing = pilots.size(len(joined)) - len(data)
        if missing > 0:
            wanted = pilots.spread(joined, count, np.unique(data.points))
            some = np.resize(np.flatnonzero(allowed), count)  # if every candidate was measured, any will do
            return np.array([first[int(point)] for point in np.where(allowed[wanted], wanted, some)])
        method = methods.make("melk", self._problem(joined), batch=count)
        state, _ = method.observe(method.init(seed=self.seed), data.points, data.values)
        rule = Sequential(score=Among(score=VarianceReduction(weights=Doubtful()), allowed=allowed))
        chosen = rule.choose(method.view(state, phase=state.phase)).counts
        return np.array([first[int(point)] for point in np.repeat(np.arange(len(joined)), chosen)])


def _data(points: Indices, values: Array) -> Data:
    return Data(points=points, values=values, noise=np.full(len(points), np.nan))
