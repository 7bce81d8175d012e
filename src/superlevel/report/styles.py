"""Colours, dashes and markers that stay apart in grey print and for any colour vision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

LineStyle: TypeAlias = Literal["-"] | tuple[float, tuple[float, ...]]

SIZES = {"*": 9.0, "P": 7.2, "^": 6.8, "v": 6.8, "<": 6.8, ">": 6.8}  # in points, where 5.5 would look smaller


@dataclass(frozen=True)
class Style:
    """How one curve is drawn."""

    color: str
    linestyle: LineStyle
    marker: str
    width: float = 1.3
    filled: bool = True
    """Whether the marker is; variants of the same thing have open ones."""

    def line(self) -> dict[str, Any]:
        """What ``plot`` takes."""
        return {
            "color": self.color,
            "linestyle": self.linestyle,
            "linewidth": self.width,
            "marker": self.marker,
            "markersize": SIZES.get(self.marker, 5.5),
            "markerfacecolor": self.color if self.filled else "white",
            "markeredgecolor": "white" if self.filled else self.color,  # white parts it from lines that pass below
            "markeredgewidth": 0.5 if self.filled else 1.0,
        }


SOLID: Final = "-"
DASHED = (0.0, (4.0, 1.6))
LONG = (0.0, (7.0, 2.0))
DOTTED = (0.0, (1.0, 1.2))
DASHDOT = (0.0, (6.0, 1.5, 1.0, 1.5))
DASHDOTDOT = (0.0, (6.0, 1.5, 1.0, 1.5, 1.0, 1.5))

# Okabe and Ito's colours, some of them darkened or lightened until no two are equally light, so that they stay apart in
# grey print and for any colour vision.
BLACK, NAVY, GREEN, BLUE = "#000000", "#12306b", "#006247", "#0072b2"
VERMILION, PURPLE, ORANGE, GREY = "#d55e00", "#cc79a7", "#dd9500", "#b3b3b3"
THICK = 2.0
RULE: dict[str, Any] = {"color": "0.25", "linewidth": 1.1, "zorder": 1.5}
