from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.domain import Domain, read_values
from superlevel.errors import InputError
from superlevel.formats import cells
from superlevel.formats.cells import Cell, comma_remedy, decimal_mark
from superlevel.formats.table import Fault, header_faults, table_of
from superlevel.formats.text import Row, parsed, scan, separator_of, written


def write(folder: Path, text: str) -> Path:
    path = folder / "points.csv"
    path.write_bytes(text.encode())
    return path


# --- separators


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
def test_a_file_with_any_separator_has_the_same_points(tmp_path: Path, separator: str, start: str) -> None:
    rows = [["Höhe", "y"], ["1", "2"], ["3", "4.5"]]
    text = start + "\r\n".join(separator.join(row) for row in rows) + "\r\n"
    domain = Domain.read(write(tmp_path, text))
    assert (domain.names, domain.points.tolist()) == (("Höhe", "y"), [[1.0, 2.0], [3.0, 4.5]])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_read_where_no_comma_parts_cells(tmp_path: Path, separator: str) -> None:
    rows = [["x", "y"], ["1,5", "2"], ["-0,25", "1e3"], ["", ""], ["7", "2,5e-3"]]
    path = write(tmp_path, "\n".join(separator.join(row) for row in rows))
    assert Domain.read(path).points.tolist() == [[1.5, 2.0], [-0.25, 1000.0], [7.0, 0.0025]]
    assert read_values(path, "x").tolist() == [1.5, -0.25, 7.0]


def test_a_name_with_a_semicolon_in_it_is_no_error(tmp_path: Path) -> None:
    domain = Domain.read(write(tmp_path, "depth; metres\n1\n2\n"))
    assert (domain.names, domain.points.tolist()) == (("depth; metres",), [[1.0], [2.0]])


def test_the_separator_is_the_one_that_the_rows_agree_on() -> None:
    assert separator_of("a;b,c\n1;2\n3;4\n") == ";"
    assert separator_of('"a;b;c",d\n1,2\n') == ","
    assert separator_of("a\tb\n") == "\t"
    assert separator_of("a,b\n1\n") == separator_of("a\n1\n") == separator_of("") == ","


@pytest.mark.parametrize(
    ("column", "others", "numbers"),
    [
        (["1,5", "2"], [], [1.5, 2.0]),
        (["1,500"], [], [1.5]),  # of a comma between other separators nothing else is known
        (["1,500"], ["2.5"], [None]),  # thousands, as the other column has points
        (["1,500", "1,5"], ["2.5"], [1.5, 1.5]),
        (["1.500"], [], [1.5]),
        (["1.500", "178.605"], ["2,5"], [None, None]),
        (["1.500", "1.25"], ["2,5"], [1.5, 1.25]),
        (["1,5", "1.5"], [], [None, 1.5]),
        (["1.234,5"], [], [None]),
        ([1.5, "2,5", 3], [], [1.5, 2.5, 3.0]),
    ],
)
def test_what_may_be_thousands_is_no_number_unless_the_table_says_so(
    column: list[Cell], others: list[Cell], numbers: list[float | None]
) -> None:
    found, wrong = cells.numbers(column, decimal_mark(column, [*column, *others]))
    assert [None if bad else value for value, bad in zip(found.tolist(), wrong, strict=True)] == numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_decimal_commas_have_the_very_numbers(values: list[float]) -> None:
    column = [repr(value).replace(".", ",") for value in values]
    found, wrong = cells.numbers(column, ",")
    assert found.tolist() == values
    assert not wrong.any()


# --- commas in numbers


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("3,5", "write 3.5 with a decimal point"),
        ("-0,125", "write -0.125 with a decimal point"),
        ("+12,5e-3", "write +12.5e-3 with a decimal point"),
        (",5", "write .5 with a decimal point"),
        ("1234,567", "write 1234.567 with a decimal point"),
        ("1,234", "write 1.234 or 1234, without a comma"),
        ("-12,000", "write -12.000 or -12000, without a comma"),
    ],
)
def test_a_number_with_a_comma_is_written_as_it_should_be(cell: str, remedy: str) -> None:
    assert comma_remedy(cell) == remedy


@pytest.mark.parametrize(
    "cell", ["", ",", "3,", "3.5", "1.234,5", "1,2,3", "a,5", "3, 5", "\u0663,\u0665", "1," + "0" * 1000]
)
def test_anything_else_is_not_guessed_at(cell: str) -> None:
    assert comma_remedy(cell) == ""


@given(st.from_regex(r"[+-]?[0-9]{1,9},[0-9]{1,9}", fullmatch=True))
def test_what_is_to_be_written_is_a_number(cell: str) -> None:
    written = comma_remedy(cell).split()[1]
    assert float(written) == float(cell.replace(",", "."))


def test_a_quoted_decimal_comma_is_named_in_points_and_in_values(tmp_path: Path) -> None:
    path = write(tmp_path, 'x,depth\n1,2\n"3,5",4\n')
    expected = f"{path}, line 3, column 'x' is '3,5': write 3.5 with a decimal point"
    with pytest.raises(InputError) as caught:
        Domain.read(path)
    assert str(caught.value) == expected
    with pytest.raises(InputError) as caught:
        read_values(path, "x")
    assert str(caught.value) == expected
    assert read_values(path, "depth").tolist() == [2.0, 4.0]


# --- rows and headers


CELLS = st.text(st.sampled_from('ab ,";\n\r\t'), max_size=5)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_a_row_begins_in_the_line_that_an_editor_shows(rows: list[list[str]], end: str) -> None:
    text = ""
    expected = []
    for row in rows:
        expected.append(Row(len(text.encode().splitlines()) + 1, [cell.strip() for cell in row]))
        text += ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + end
    assert list(scan(text, ",")) == expected


def test_rows_before_a_quote_that_is_never_closed_are_read_first() -> None:
    table = parsed(b'x,y\n1,2\n3,"4\n5,6\n', name="x.csv")
    assert list(table.rows()) == [("1", "2")]
    assert table.faults == ((3, Fault(None, "not CSV", "check its quotes (unexpected end of data)")),)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8).map(str.strip)
NAMES = st.lists(TEXTS.filter(bool), min_size=1, max_size=3, unique=True)


@given(st.data(), NAMES)
def test_what_is_written_is_read_again(data: st.DataObject, names: list[str]) -> None:
    row = st.lists(TEXTS | st.floats(allow_nan=False, allow_infinity=False), min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(row.filter(any), max_size=4))
    again = parsed(written(table_of(names, rows)).encode(), name="x.csv")
    assert again.header == tuple(names)
    for before, now in zip(rows, again.rows(), strict=True):
        assert [cell if isinstance(cell, str) else repr(cell) for cell in before] == list(now)


def test_every_name_that_comes_again_is_a_fault() -> None:
    assert [fault.column for fault in header_faults(["x", "", "y", "x", "", "y", "z"])] == ["x", "y"]
    assert list(header_faults(["x", "", "y", ""])) == []
