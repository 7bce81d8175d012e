"""What a problem is made of, besides its points and its goal: one record for each field.

`Problem` checks its fields by this table, the log of a study holds them by it, `verify` states them by it, and the
command line and the documentation take their words from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superlevel.arrays import as_deviations, as_number, as_positive, frozen


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a problem."""

    name: str
    meaning: str
    """What it is, in a sentence for the command line and the documentation."""
    default: Any
    check: Callable[[Any, int], Any]
    """The value as the problem holds it, for n points; an InputError where it cannot be used."""
    statement: str = "{:g}"
    """How a page states a number."""

    def show(self, value: Any) -> str:
        """A value in words: a number, the range of an array, or none."""
        if value is None:
            return "none"
        smallest, largest = float(np.min(value)), float(np.max(value))
        if smallest == largest:
            return self.statement.format(smallest)
        return f"{smallest:.4g} to {largest:.4g}"


def _number(name: str, **limits: float) -> Callable[[Any, int], float]:
    return lambda value, _n: as_number(name, value, **limits)


def _optional(name: str, **limits: float) -> Callable[[Any, int], float | None]:
    return lambda value, _n: None if value is None else as_number(name, value, **limits)


def _noise(value: Any, n: int) -> Any:
    return None if value is None else as_deviations("noise", value, n)


def _cost(value: Any, n: int) -> Any:
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return as_number("cost", value, above=0.0)
    return frozen(as_positive("cost", value, shape=(n,)).copy())


FIELDS = (
    Field(
        name="noise",
        meaning="Standard deviation of one measurement, or one for each point; it is estimated if it is left out.",
        default=None,
        check=_noise,
        statement="{:.4g}",
    ),
    Field(
        name="mean",
        meaning="Known mean of f; it is subtracted before anything is estimated.",
        default=0.0,
        check=_number("mean"),
        statement="{:.6g}",
    ),
    Field(
        name="bound",
        meaning="B with |f - mean| <= B at every point; for rips, and for ridge where there is no norm.",
        default=None,
        check=_optional("bound", above=0.0),
        statement="|f - mean| <= {:g}",
    ),
    Field(
        name="norm",
        meaning="S with ||theta|| <= S in the kernel's space; for ridge and rkhs.",
        default=None,
        check=_optional("norm", above=0.0),
        statement="||theta|| <= {:g}",
    ),
    Field(
        name="delta",
        meaning="Allowed probability of any wrong label; for ridge, rips and rkhs.",
        default=0.1,
        check=_number("delta", above=0.0, below=1.0),
    ),
    Field(
        name="misspecification",
        meaning="How far f may be from every function of the kernel.",
        default=0.0,
        check=_number("misspecification", at_least=0.0),
    ),
    Field(
        name="tolerance",
        meaning="Points this near to the level may get either label; it ends ties.",
        default=0.0,
        check=_number("tolerance", at_least=0.0),
    ),
    Field(
        name="ridge",
        meaning="Regularisation of designs and estimates; larger is cheaper and blurs more. The method chooses one if "
        "it is left out.",
        default=None,
        check=_optional("ridge", at_least=0.0),
    ),
    Field(
        name="cost",
        meaning="Cost of one measurement, or one for each point; only ratios matter. TruVar, MELK and MILK weigh them.",
        default=1.0,
        check=_cost,
    ),
)
BY_NAME = {field.name: field for field in FIELDS}


def table() -> str:
    """The fields as a Markdown table, for the documentation."""
    rows = ["| field | default | meaning |", "|---|---|---|"]
    for field in FIELDS:
        meaning = field.meaning.replace("|", "\\|")  # a bare bar would begin another column
        rows.append(f"| `{field.name}` | {field.show(field.default)} | {meaning} |")
    return "\n".join(rows)
