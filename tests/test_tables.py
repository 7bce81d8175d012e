from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.domain import Domain, read_values
from superlevel.errors import InputError
from superlevel.tables import Row, comma_remedy, header_faults, scan, separator_remedy


def write(folder: Path, text: str) -> Path:
    path = folder / "points.csv"
    path.write_bytes(text.encode())
    return path


# --- separators


@pytest.mark.parametrize(("separator", "shown"), [(";", "';'"), ("\t", "tabs")])
def test_a_column_that_is_missing_because_of_the_separator_gets_it_named(
    tmp_path: Path, separator: str, shown: str
) -> None:
    path = write(tmp_path, separator.join("xy") + "\n" + separator.join("12") + "\n")
    expected = f"{path}, line 1, column 'x' is missing: save it with commas instead of {shown}"
    with pytest.raises(InputError) as caught:
        Domain.read(path, columns=["x", "y"])
    assert str(caught.value) == expected
    with pytest.raises(InputError) as caught:
        read_values(path, "x")
    assert str(caught.value) == expected


@pytest.mark.parametrize(("separator", "shown"), [(";", "';'"), ("\t", "tabs")])
def test_decimal_commas_between_other_separators_get_the_separator_named(
    tmp_path: Path, separator: str, shown: str
) -> None:
    path = write(tmp_path, separator.join("xy") + "\n" + separator.join(["1,5", "2,5"]) + "\n")
    with pytest.raises(InputError) as caught:
        Domain.read(path)
    assert str(caught.value) == f"{path}, line 2 is 3 cells long: save it with commas instead of {shown}"


def test_a_cell_with_a_tab_in_it_gets_the_separator_named(tmp_path: Path) -> None:
    path = write(tmp_path, "x\ty\n1\t2\n")
    with pytest.raises(InputError) as caught:
        Domain.read(path)
    assert str(caught.value) == rf"{path}, line 2, column 'x\ty' is '1\t2': save it with commas instead of tabs"


def test_a_name_with_a_semicolon_in_it_is_no_error(tmp_path: Path) -> None:
    domain = Domain.read(write(tmp_path, "depth; metres\n1\n2\n"))
    assert (domain.names, domain.points.tolist()) == (("depth; metres",), [[1.0], [2.0]])


@pytest.mark.parametrize("header", [["x", "y"], ["x;y", "z"], ["x"], [""], ["x,1;y,1"], []])
def test_other_headers_have_no_separator_to_name(header: list[str]) -> None:
    assert separator_remedy(header) == ""


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
def test_a_row_ends_in_the_line_that_an_editor_shows(rows: list[list[str]], end: str) -> None:
    text = ""
    expected = []
    for cells in rows:
        text += ",".join('"' + cell.replace('"', '""') + '"' for cell in cells) + end
        expected.append(Row(len(text.encode().splitlines()), [cell.strip() for cell in cells]))
    assert list(scan("x.csv", io.StringIO(text, newline=""))) == expected


def test_rows_before_a_quote_that_is_never_closed_are_read_first() -> None:
    rows = scan("x.csv", io.StringIO('x,y\n1,2\n3,"4\n5,6\n', newline=""))
    assert [next(rows), next(rows)] == [Row(1, ["x", "y"]), Row(2, ["1", "2"])]
    with pytest.raises(InputError, match=r"^x.csv, line 4 is not CSV: check its quotes \(unexpected end") as caught:
        next(rows)
    assert isinstance(caught.value.__cause__, csv.Error)


def test_every_name_that_comes_again_is_a_fault() -> None:
    assert [fault.column for fault in header_faults(["x", "", "y", "x", "", "y", "z"])] == ["x", "y"]
    assert list(header_faults(["x", "", "y", ""])) == []
