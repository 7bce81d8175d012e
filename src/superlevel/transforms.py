"""Transforms of what is measured: methods compute with t(y), and people give and see y.

    y       a measurement, a level or the end of an interval, in the user's units
    t(y)    its logarithm, its square root or (y^lambda - 1) / lambda, the Box-Cox transform; increasing, so that
            y > alpha exactly if t(y) > t(alpha)
    s       the standard deviation of one measurement, in the user's units; that of t(y) is about t'(y) s

A record holds everything that such a transform needs. Its name says which one it is: "log", "sqrt" or "box-cox 0.3".
`superlevel.confidence.transformed` is where values are changed into t(y) and what is known of t(f) is changed back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Mask, as_number
from superlevel.errors import InputError

FIELDS = frozenset({"noise", "mean", "bound", "norm", "misspecification"})
"""The fields of a problem that are of t(f)."""
BOX_COX = "box-cox"
LARGEST = 2.0
"""The largest parameter of a Box-Cox transform. With a negative one, a normal t(f) would exceed the largest t(y)."""
FEWEST = 8  # different values from which a parameter is estimated
_DECIMALS = 2  # of an estimated parameter, whose own deviation is about a tenth
_FLAT = 0.25  # of a deviation: the slope of the square root is taken no nearer to zero, where it is infinite


@dataclass(frozen=True, kw_only=True)
class Transform:
    """An increasing function of the values, and its inverse."""

    name: str
    """As a problem and a log name it; empty for the transform that changes nothing."""
    noun: str
    """What t(y) is called: the logarithm."""
    wanted: str
    """The values that have one, in words: above 0."""
    takes: Callable[[Array], Mask]
    """Whether t is defined at each of some values."""
    maps: Callable[[Array], Array]
    """t where it is defined."""
    inverse: Callable[[Any], Array]
    """The values (any shape) with given t(y); an end of an interval that no value reaches becomes the nearest one."""
    slopes: Callable[[Array, Array], Array]
    """t'(y) at values that have a deviation s each."""

    def __call__(self, values: Any) -> Array:
        """t of values, any shape; minus infinity below all values that have one, so that t is increasing everywhere."""
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(np.isnan(given) | self.takes(given), self.maps(given), -np.inf))

    def deviations(self, values: Array, noise: Array) -> Array:
        """(N,) the deviation of t(y) for values y (N,) with deviations (N,), by the delta method; NaN stays NaN."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.where(noise == 0.0, 0.0, self.slopes(values, noise) * noise))

    def tolerance(self, levels: tuple[float, ...], tolerance: float) -> float:
        """The largest distance in t that is within the tolerance of every level on both sides."""
        if not tolerance or not levels:
            return tolerance
        at = np.array(levels)
        return float(np.minimum(self(at + tolerance) - self(at), self(at) - self(at - tolerance)).min())

    @property
    def refusal(self) -> str:
        """What to do about a value that has no t(y)."""
        return f"the {self.noun} needs a value {self.wanted}: correct it, or create a study without the transform"

    def described(self, name: str, text: str) -> str:
        """The value of a field of a problem in words, with what it is of where that is not the value itself."""
        return f"{text} of the {self.noun}" if self.name and name in FIELDS and text != "none" else text

    def check(self, field: str, values: float | Array) -> None:
        """An InputError for the first of the values, one or (N,), that has no t(y)."""
        given = np.asarray(values, dtype=np.float64)
        wrong = given[~self.takes(given)]
        if len(wrong):
            raise InputError(field, f"{wrong[0]:g}", self.refusal)

    def __repr__(self) -> str:
        return repr(self.name)

    def __reduce__(self) -> tuple[Callable[[object], Transform], tuple[str]]:
        """Another process finds it by its name."""
        return as_transform, (self.name,)


def _exp(values: Any) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


def _everything(values: Array) -> Mask:
    return np.ones(np.shape(values), dtype=np.bool_)


IDENTITY = Transform(
    name="",
    noun="value itself",
    wanted="of any size",
    takes=_everything,
    maps=lambda values: values,
    inverse=lambda values: np.asarray(values, dtype=np.float64),
    slopes=lambda values, _noise: np.ones_like(values),
)
LOG = Transform(
    name="log",
    noun="logarithm",
    wanted="above 0",
    takes=lambda values: np.asarray(values > 0.0),
    maps=lambda values: np.asarray(np.log(values)),
    inverse=_exp,
    slopes=lambda values, _noise: 1.0 / values,
)
SQRT = Transform(
    name="sqrt",
    noun="square root",
    wanted="of at least 0",
    takes=lambda values: np.asarray(values >= 0.0),
    maps=lambda values: np.asarray(np.sqrt(values)),
    inverse=lambda values: np.square(np.maximum(values, 0.0)),
    # At y = 0 this gives sqrt(s), which is how much t changes from there over one deviation.
    slopes=lambda values, noise: 0.5 / np.sqrt(np.maximum(values, _FLAT * noise)),
)
TRANSFORMS = {each.name: each for each in (LOG, SQRT)}
"""Those without a parameter, by their names."""


def box_cox(parameter: float) -> Transform:
    """(y^lambda - 1) / lambda for a parameter lambda from 0 to 2; for 0 the logarithm, which is its limit."""
    checked = as_number("transform", parameter, at_least=0.0, at_most=LARGEST)
    return _box_cox(checked) if checked else LOG


def fitted_box_cox(values: ArrayLike) -> Transform:
    """The Box-Cox transform that makes the values (N,) of a pilot likeliest to be normal.

    The parameter maximises the profile likelihood of independent normal t(y), and is rounded to two decimals. NaN
    stands for what was not measured, and is left out.
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  slow to import
    from scipy.stats import boxcox_llf  # noqa: PLC0415

    given = np.asarray(values, dtype=np.float64).ravel()
    given = given[~np.isnan(given)]
    if np.isinf(given).any():
        raise InputError("values", "infinite", "give finite numbers")
    _box_cox(1.0).check("values", given)
    different = len(np.unique(given))
    if different < FEWEST:
        raise InputError("values", f"{different} different numbers", f"give at least {FEWEST}, or the parameter itself")
    relative = given / np.exp(np.log(given).mean())  # the parameter is the same in any unit, and powers stay small
    found = minimize_scalar(lambda tried: -boxcox_llf(tried, relative), bounds=(0.0, LARGEST), method="bounded")
    return box_cox(round(float(found.x), _DECIMALS))


@cache
def _box_cox(parameter: float) -> Transform:
    def inverse(values: Any) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            # Below -1 / lambda is no t(y): there the nearest value is 0.
            return np.asarray(np.exp(np.log1p(np.maximum(np.multiply(parameter, values), -1.0)) / parameter))

    return Transform(
        name=f"{BOX_COX} {parameter!r}",
        noun="Box-Cox transform",
        wanted="above 0",
        takes=LOG.takes,
        maps=lambda values: np.asarray(np.expm1(parameter * np.log(values)) / parameter),
        inverse=inverse,
        slopes=lambda values, _noise: np.power(values, parameter - 1.0),
    )


def as_transform(given: object) -> Transform:
    """A transform from its name, or as it is; None and the empty name change nothing."""
    name = given.name if isinstance(given, Transform) else given
    if name is None or name == "":
        return IDENTITY
    remedy = f"give {', '.join(map(repr, TRANSFORMS))} or '{BOX_COX} 0.3', or leave it out"
    family, _, parameter = name.partition(" ") if isinstance(name, str) else ("", "", "")
    if family == BOX_COX:
        return box_cox(_parameter(parameter, InputError("transform", repr(name), remedy)))
    if not isinstance(name, str) or name not in TRANSFORMS:
        raise InputError("transform", repr(name), remedy)
    return TRANSFORMS[name]


def _parameter(text: str, mistake: InputError) -> float:
    try:
        return float(text)
    except ValueError:
        raise mistake from None
