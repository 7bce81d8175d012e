"""`superlevel demo`: the optimal design on the paper's grid, with its certificate, as a picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from superlevel.arrays import Array, as_number
from superlevel.errors import InputError

SIDE = 30
LENGTH_SCALE = 0.1
NEAR = 0.2  # part of the grid that counts as near the level


def run(
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .pdf or .svg.")] = Path("superlevel-demo.png"),
    ridge: Annotated[
        float, typer.Option(help="Regularisation of the design, > 0. Smaller means more measurements.")
    ] = 0.01,
    rtol: Annotated[float, typer.Option(help="How far from the best possible design to stop, 0.01 = 1 %.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Which random function to draw.")] = 0,
) -> None:
    """Where to measure on a 30 x 30 grid: for every point, and for the points near a level.

    Solves two optimal designs for the squared-exponential kernel with length scale 0.1, proves how far each can be from
    the best possible one, and draws both.

    Example: superlevel demo --ridge 0.001 --out design.png
    """
    ridge, rtol = as_number("ridge", ridge, above=0), as_number("rtol", rtol, above=0)
    _check_writable(out)
    console = Console()
    with console.status("loading scipy, scikit-learn and matplotlib"):  # slow to import, and --help needs none of them
        from sklearn.gaussian_process.kernels import RBF  # noqa: PLC0415

        from superlevel import design, features  # noqa: PLC0415
        from superlevel.report import designs  # noqa: PLC0415
    side = np.arange(SIDE) / SIDE
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    with console.status("embedding 900 points"):
        kernel = RBF(LENGTH_SCALE)
        embedded = features.embed(kernel, points, tol=features.tolerance(ridge, rtol))
    # From the kernel, not from its features: the same seed must mean the same function at every ridge and rtol.
    function = kernel(points) @ np.random.default_rng(seed).normal(size=len(points))
    near = np.abs(function) <= np.quantile(np.abs(function), NEAR)
    table = Table("design for", "largest variance", "lower bound", "gap", "points with 99 %", "iterations")
    panels = []
    for heading, mask in (("every point", None), ("points near the level", near)):
        with console.status(f"solving the design for {heading}"):
            found = design.solve(embedded, design.Subset(mask), ridge=ridge, rtol=rtol)
        table.add_row(
            heading,
            f"{found.value:.2f}",
            f"{found.lower_bound:.2f}",
            f"{found.gap:.2%}",
            f"{_points_with(0.99, found.weights)} of {len(points)}",
            f"{found.iterations}",
        )
        panels.append(
            designs.Panel(
                heading=f"Where to measure for {heading}",
                design=found,
                targets=None if mask is None else mask.reshape(SIDE, SIDE),
                values=None if mask is None else function.reshape(SIDE, SIDE),
            )
        )
    figure = designs.draw_designs(side, side, panels, names=("first coordinate", "second coordinate"))
    figure.savefig(out, dpi=150, bbox_inches="tight")
    console.print(table)
    console.print(f"wrote {out}")


def _points_with(share: float, weights: Array) -> int:
    """How many of the heaviest points hold this share of the weight."""
    return int(np.searchsorted(np.cumsum(np.sort(weights)[::-1]), share)) + 1


def _check_writable(out: Path) -> None:
    """Before anything is computed."""
    if out.suffix.lower() not in {".png", ".pdf", ".svg"}:
        raise InputError("--out", repr(str(out)), "end it in .png, .pdf or .svg")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("--out", repr(str(out)), f"its folder cannot be made ({error.strerror})") from error
    if out.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
        raise InputError("--out", repr(str(out)), "it cannot be written: name a file in a folder of yours")
