"""How probabilities are drawn: shades, and lines around what is declared."""

from __future__ import annotations

from typing import Any

from matplotlib.colors import LinearSegmentedColormap, to_hex

from superlevel.goals import ABOVE, BELOW

# Shades are neither of the colours of labels, and their lightness falls evenly: they can be read in grey.
# There is one for each per cent.
DARKER = ["#ffffff", "#bdb0da", "#7f68b0", "#472c7e", "#1d0d42"]
SHADES = LinearSegmentedColormap.from_list("probability", DARKER, N=101)
DARK = to_hex(SHADES(0.8))
EDGES = {ABOVE: "#f29a2e", BELOW: "#2f78b5"}
INSIDE = 1.8  # width of the line inside of what is declared, in 1/72 inch
HOLES: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.7", "hatch": "....", "linewidth": 0.0}
