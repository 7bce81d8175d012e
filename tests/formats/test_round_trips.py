"""Every format gives back what was written to it, and says which extra it needs where that is missing."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel import formats
from superlevel.domain import Domain, read_values
from superlevel.errors import InputError, NotInstalledError
from superlevel.formats import Cell, Fault, table_of

ENDINGS = [".csv", ".tsv", ".xlsx", ".parquet"]
EXTRAS = {".xlsx": ("openpyxl", "excel"), ".parquet": ("pyarrow", "parquet")}
HEADER = ("Probe", "Höhe über NN", "y", "Bemerkung")
ROWS: list[list[Any]] = [
    ["Ä-1", 178605.5, 1, "naß"],
    ["007", 0.1 + 0.2, 2, None],
    ["=1+1", None, 3, "#N/A"],
    ['Ω, "x"; y', -1e-300, None, "-5 °C\nund mehr"],
]


def as_read(cell: Cell, ending: str) -> Cell:
    """Text files have texts only."""
    text = ending in {".csv", ".tsv"} and not isinstance(cell, str)
    return repr(cell) if text else cell


@pytest.mark.parametrize("ending", ENDINGS)
def test_umlauts_formulas_and_missing_cells_come_back(tmp_path: Path, ending: str) -> None:
    path, table = tmp_path / f"Proben ä{ending}", table_of(HEADER, ROWS)
    formats.write(path, table)
    again = formats.read(path)
    assert formats.header(path) == again.header == HEADER
    expected = [[as_read(cell, ending) for cell in row] for row in table.rows()]
    assert [list(row) for row in again.rows()] == expected
    assert again.faults == ()
    values = again.numbers_or_blanks(1)[0]
    np.testing.assert_array_equal(values, [178605.5, 0.1 + 0.2, math.nan, -1e-300])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_round_trip_through_every_other_format_keeps_the_numbers(tmp_path: Path, ending: str) -> None:
    table, first = table_of(HEADER, ROWS), tmp_path / f"a{ending}"
    formats.write(first, table)
    for other in ENDINGS:
        second = tmp_path / f"b{other}"
        formats.write(second, formats.read(first))
        again = formats.read(second)
        assert again.texts(0) == [row[0] for row in ROWS]
        np.testing.assert_array_equal(again.numbers_or_blanks(1)[0], table.numbers_or_blanks(1)[0])


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=9)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=15, deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, FLOATS, FLOATS | st.none()), min_size=1, max_size=5))
def test_numbers_come_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[tuple[str, float, float | None]]
) -> None:
    path = tmp_path_factory.mktemp("formats") / f"x{ending}"
    formats.write(path, table_of(["id", "x", "y"], rows))
    again = formats.read(path)
    assert again.texts(0) == [row[0] for row in rows]
    np.testing.assert_array_equal(again.numbers([1])[:, 0], [row[1] for row in rows])
    np.testing.assert_array_equal(
        again.numbers_or_blanks(2)[0], [math.nan if row[2] is None else row[2] for row in rows]
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_can_be_the_domain_and_the_pilot(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"points{ending}"
    formats.write(path, table_of(["x", "y", "depth"], [[0, 0.5, 3.5], [1, 0.25, None]]))
    assert Domain.read(path, columns=["x", "y"]).points.tolist() == [[0.0, 0.5], [1.0, 0.25]]
    np.testing.assert_array_equal(read_values(path, "depth"), [3.5, math.nan])
    with pytest.raises(InputError, match=r"where 1 of 2 rows lacks a coordinate \(line 3\)"):
        Domain.read(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_one_cell_and_no_rows_come_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    formats.write(path, table_of(["x"], [[1.5]]))
    assert Domain.read(path).points.tolist() == [[1.5]]
    formats.write(path, table_of(["x"], []))
    assert (formats.read(path).header, len(formats.read(path))) == (("x",), 0)
    with pytest.raises(InputError, match="which has a header only: add one line"):
        Domain.read(path)


def large(count: int) -> formats.Table:
    rng = np.random.default_rng(0)
    rows = zip(range(count), *rng.normal(size=(2, count)).tolist(), strict=True)
    return table_of(["Probe", "x", "y"], ([f"ä{at}", x, None if at % 7 == 0 else y] for at, x, y in rows))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", pytest.param(".xlsx", marks=pytest.mark.slow)])
def test_a_hundred_thousand_rows_come_back(tmp_path: Path, ending: str) -> None:
    path, table = tmp_path / f"x{ending}", large(100_000)
    formats.write(path, table)
    again = formats.read(path)
    assert again.texts(0) == list(table.columns[0])
    for place in (1, 2):
        np.testing.assert_array_equal(again.numbers_or_blanks(place)[0], table.numbers_or_blanks(place)[0])


# --- spreadsheets


def test_a_workbook_as_people_keep_it(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "empty"
    sheet = book.create_sheet("Daten")
    for row in ([], [None, None], ["Probe", " Rechtswert ", "Hochwert", None], ["A1", "182012,5", 5.25, None]):
        sheet.append(row)
    sheet.append([])
    sheet.append([7, "183000", True, None])
    path = tmp_path / "soil.xlsx"
    book.save(path)
    table = formats.read(path)
    assert (table.header, table.header_line) == (("Probe", "Rechtswert", "Hochwert"), 3)
    assert (list(table.lines), table.texts(0)) == ([4, 6], ["A1", "7"])
    assert table.numbers([1, 2]).tolist() == [[182012.5, 5.25], [183000.0, 1.0]]


def test_cells_beside_the_table_and_an_empty_workbook_are_named(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    path = tmp_path / "soil.xlsx"
    book.save(path)
    assert formats.read(path).faults == ((1, Fault(None, "empty", "give a header and further lines")),)
    for row in (["x"], [1], [2, "see below"]):
        book.active.append(row)
    book.save(path)
    with pytest.raises(InputError, match=r"soil.xlsx, line 3 is 2 cells long: give 1, as in the header"):
        Domain.read(path)


def test_a_text_that_looks_like_a_formula_is_none_in_a_workbook(tmp_path: Path) -> None:
    import openpyxl

    path = tmp_path / "x.xlsx"
    formats.write(path, table_of(["a"], [["=HYPERLINK(1)"], ["#REF!"], ["bell\x07"]]))
    cells = [row[0] for row in openpyxl.load_workbook(path).active.iter_rows(min_row=2)]
    assert [cell.data_type for cell in cells] == ["s", "s", "s"]
    assert [cell.value for cell in cells] == ["=HYPERLINK(1)", "#REF!", "bell\ufffd"]


@pytest.mark.parametrize(("ending", "word"), [(".xlsx", "Excel workbook"), (".parquet", "Parquet file")])
def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path: Path, ending: str, word: str) -> None:
    path = tmp_path / f"x{ending}"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=f"which is no {word}: give"):
        Domain.read(path)
    with pytest.raises(InputError, match=r"give a file that can be read \(No such file"):
        Domain.read(tmp_path / f"none{ending}")


@pytest.mark.parametrize("name", ["x.xls", "x.ODS"])
def test_formats_of_other_programs_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"save it as a file that ends in .xlsx$"):
        formats.read(tmp_path / name)


# --- extras


@pytest.mark.parametrize("ending", EXTRAS)
def test_a_missing_extra_is_one_sentence(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, extra = EXTRAS[ending]
    path, table = tmp_path / f"x{ending}", table_of(["x"], [[1.0]])
    formats.write(path, table)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    for use in (formats.read, formats.header, lambda file: formats.write(file, table)):
        with pytest.raises(NotInstalledError) as caught:
            use(path)
        assert str(caught.value) == (
            f"path is {str(path)!r}, which needs the package {package}: "
            f"run pip install 'superlevel[{extra}]', or take a .csv file instead"
        )
    formats.write(tmp_path / "x.csv", table)
    assert Domain.read(tmp_path / "x.csv").n == 1
