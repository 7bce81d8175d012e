"""What is made of the rows of a figure: tables, pictures and claims, and the files they are written to."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure as Picture

from superlevel.arrays import Array
from superlevel.files import replacing, whole
from superlevel.formats import table_of
from superlevel.formats.text import written
from superlevel.outputs import metadata
from superlevel.reproduce.claims import Claim
from superlevel.reproduce.settings import Row

Table: TypeAlias = Sequence[Mapping[str, Any]]
"""Lines with the same columns."""
Drawings: TypeAlias = Mapping[str, Callable[[], Picture]]
"""By name; drawn when they are written."""
DPI = 130


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """All that a figure comes to. Names are what files get behind the figure's own, "" for the main one."""

    tables: Mapping[str, Table]
    pictures: Drawings
    claims: Sequence[Claim]
    shown: Table
    """What is worth printing."""
    ranked: Table = ()
    """Areas and ranks of the methods, if the figure compares any."""
    readings: Table = ()
    """The paper's claim in different readings of it, if the figure has any."""


def scores(rows: Sequence[Row], field: str) -> dict[tuple[str, str], Array]:
    """A number or a list of every run by (setting, method), in order: (runs,) or (runs, places)."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        if field in row.values:
            found.setdefault((row.setting, row.method), []).append(row.values[field])
    return {key: np.array(values, dtype=np.float64) for key, values in found.items()}


def standard_error(values: Array) -> Array:
    """Of the mean over the first axis, for drawing: 0 for one run, of which nothing is known."""
    runs = len(values)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.zeros(values.shape[1:]))


def error_of(values: Array) -> float | None:
    """The same for numbers (runs,), in tables: nothing for one run."""
    return float(standard_error(values)) if len(values) > 1 else None


def write(folder: Path, name: str, outcome: Outcome, header: Mapping[str, Any], *, force: bool = False) -> list[Path]:
    """Every file whole or not at all: a run that is killed here leaves no half of one."""
    written = [
        write_output(folder / f"{name}{suffix}.csv", as_csv(table).encode(), force=force)
        for suffix, table in outcome.tables.items()
    ]
    for suffix, draw in outcome.pictures.items():
        picture = draw()
        for kind in ("png", "pdf"):
            content = io.BytesIO()
            path = folder / f"{name}{suffix}.{kind}"
            marked: dict[str, str | None] = {**metadata(path), **({"CreationDate": None} if kind == "pdf" else {})}
            # No date in the file: the same rows give the same picture.
            picture.savefig(content, format=kind, dpi=DPI, metadata=marked)
            written.append(write_output(path, content.getvalue(), force=force))
    told = {**header, "claims": [claim.as_json() for claim in outcome.claims]}
    claims = json.dumps(told, indent=2, allow_nan=False).encode() + b"\n"
    written.append(write_output(folder / "claims.json", claims, force=force))
    return written


def as_csv(table: Table) -> str:
    """The columns of the first line, and every line."""
    if not table:
        return ""
    names = list(table[0])
    for line in table:
        if list(line) != names:
            raise ValueError(f"a line has the columns {list(line)}, the first one {names}")
    return written(table_of(names, (list(line.values()) for line in table)))


def write_output(path: Path, content: bytes, *, force: bool = False) -> Path:
    """In one step, if there is nothing else than an earlier output."""
    with replacing("--out", path, force=force) as beside:
        beside.write_bytes(content)
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """In one step, as far as anyone who looks can tell."""
    with whole(path) as beside:
        beside.write_bytes(content)
    return path
