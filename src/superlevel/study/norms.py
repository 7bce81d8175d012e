"""For how large a norm the labels of a study are right: a statement for people who do not know their norm.

The event on which a guarantee rests is the same for every norm (`superlevel.confidence.ellipsoids`). So labels that a
larger norm would give too are right for functions of that norm, with the same probability.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from superlevel.arrays import Array

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge


def norms(known: Knowledge) -> Array | None:
    """(n,) the largest norm, or bound, for which all labels of a point are right, NaN where it has none.

    None where the guarantee rests on no norm, or that of a larger one is not known.
    """
    state = known.state
    found = None if state.belief.contradicted else state.belief.norms(known.method.goal, state.labels)
    if found is None:
        return None
    each = np.atleast_2d(found)
    least = np.where(np.isnan(each), np.inf, each).min(axis=0)
    return np.where(np.isinf(least), np.nan, least)


def sentence(known: Knowledge) -> str:
    """For how large a norm all labels are right, and half of them; empty where nothing is decided or known of it."""
    found = norms(known)
    if found is None or np.isnan(found).all():
        return ""
    problem = known.method.problem
    what = "norm" if problem.norm is not None else "bound"
    least, half = (rounded_down(float(each)) for each in (np.nanmin(found), np.nanmedian(found)))
    more = f", and half of them up to {half:g}" if half > least else ""
    return f"every label is right for a {what} of up to {least:g}{more}"


def rounded_down(value: float) -> float:
    """To two digits, and never more than it is; a value that has two digits stays."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / unit * (1 + 1e-9)) * unit:.2g}")
