"""Tables of a study as maps: which columns say where a row is, and in which reference system."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from superlevel.formats.places import column_names

if TYPE_CHECKING:
    from superlevel.formats import Table
    from superlevel.study.ledger import Ledger


def on_map(table: Table, ledger: Ledger) -> Table:
    """The table, which has a column for every coordinate, with the two that are east and north on a map.

    Those are longitude and latitude, or what is called easting and northing and the like, or the first two. Points
    with one coordinate are on no map.
    """
    created, names = ledger.created, ledger.coordinates.names
    sphere = ledger.coordinates.sphere
    chosen = column_names(names, in_degrees=False) if sphere is None else (names[sphere[0]], names[sphere[1]])
    east_and_north = [_heading(table, name) for name in chosen or (names[:2] if len(names) > 1 else ())]
    if not set(east_and_north) <= set(table.header):  # a sheet with names of points may leave coordinates out
        east_and_north = []
    return replace(table, reference=created.reference, coordinates=tuple(east_and_north))


def _heading(table: Table, name: str) -> str:
    """What a coordinate is called in the table: one with the name of another column says what it is."""
    heading = f"{name} (coordinate)"
    return heading if heading in table.header else name
