"""Every figure by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from superlevel.reproduce import allocations, curves, linear
from superlevel.reproduce.outcome import Outcome
from superlevel.reproduce.settings import Figure, Row


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a figure is set up, and what is made of its rows."""

    figure: Callable[[bool], Figure]
    """Quick, or in full."""
    read: Callable[[Figure, Sequence[Row]], Outcome]


FIGURES = {
    "allocations": Recipe(figure=allocations.figure, read=allocations.read),
    "gp": Recipe(figure=curves.gp, read=curves.read),
    "cosine": Recipe(figure=curves.cosine, read=curves.read),
    "appendix-gp": Recipe(figure=curves.appendix_gp, read=curves.read),
    "appendix-cosine": Recipe(figure=curves.appendix_cosine, read=curves.read),
    "appendix-2d": Recipe(figure=curves.appendix_2d, read=curves.read),
    "linear-explicit": Recipe(figure=linear.explicit, read=linear.read),
    "linear-implicit": Recipe(figure=linear.implicit, read=linear.read),
}
