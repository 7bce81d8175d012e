from __future__ import annotations

import csv
import io
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError, SuperlevelError
from superlevel.formats.text import parsed, written
from superlevel.study.sheets import Line, Sheet, SheetError, blank_sheet, check_names, read_sheet

POINTS = np.array([[0.0, 10.0], [0.5, 10.0], [1 / 3, 20.0], [1.0, 30.0], [0.5, 10.0]])
NAMES = ("east", "north")


def read(content: str | bytes, *, points: Any = POINTS, names: tuple[str, ...] = NAMES) -> Sheet:
    content = content.encode() if isinstance(content, str) else content
    return read_sheet(parsed(content, name="harbour.csv"), points=points, names=names)


def troubles(content: str | bytes, **options: Any) -> list[str]:
    with pytest.raises(SheetError) as caught:
        read(content, **options)
    return [str(trouble) for trouble in caught.value.troubles]


def only_trouble(content: str | bytes, **options: Any) -> str:
    (trouble,) = troubles(content, **options)
    return trouble


# --- good sheets


def test_a_sheet_as_it_comes_back_from_the_field() -> None:
    sheet = read(
        "ticket,east,north,value,noise,status,reason,crew\n"
        "7,0.5,10,3.5,0.25,,,Ann\n"
        '8,1,30,,,failed,"ice, two metres",Bob\n'
        ",0,10,-1e-3,,Measured,by hand,\n"
        "9.0,,,2,0,,,\n"
        "10,1,30,,,,,\n"
    )
    assert sheet.lines == (
        Line(line=2, ticket=7, point=1, value=3.5, noise=0.25, reason=""),
        Line(line=3, ticket=8, point=3, value=None, noise=None, reason="ice, two metres"),
        Line(line=4, ticket=None, point=0, value=-1e-3, noise=None, reason="by hand"),
        Line(line=5, ticket=9, point=None, value=2.0, noise=0.0, reason=""),
    )
    assert (sheet.blank, sheet.ignored) == (1, ("crew",))


@pytest.mark.parametrize(
    "text",
    [
        "ticket,value\n1,2\n",
        "\ufeffticket,value\r\n1,2\r\n",
        "ticket,value\n1,2",
        "ticket,value\n1,2\n\n\n \n",
        "ticket,value\n1,2\n,\n",
        "ticket,value\n\n1,2\n",
        "ticket,value\r1,2\r",
        ' Ticket , "VALUE"\n 1.0 , +2.0e0 \n',
        "ticket,value,\n1,2,\n",
        "value,status,ticket\n2,MEASURED,001\n",
        "\n,,\nticket,value\n1,2\n",
        "ticket;value\n1;2,0\n",
        "ticket\tvalue\n1\t2,0\n",
        "ticket,value\n1,2\n".encode("utf-16"),
    ],
    ids=[
        "plain",
        "BOM",
        "no end",
        "blank lines",
        "empty",
        "gap",
        "CR",
        "blanks",
        "nameless column",
        "order",
        "blank beginning",
        "semicolons",
        "tabs",
        "UTF-16",
    ],
)
def test_sheets_as_programs_and_people_write_them(text: str | bytes) -> None:
    sheet = read(text)
    assert [(line.ticket, line.point, line.value) for line in sheet.lines] == [(1, None, 2.0)]
    assert (sheet.blank, sheet.ignored) == (0, ())


def test_coordinates_alone_are_enough_and_equal_points_are_the_first() -> None:
    sheet = read("north,east,value\n10,0.5,1\n10,-0.0,2\n20,0.333333333333,3\n")
    assert [(line.ticket, line.point, line.value) for line in sheet.lines] == [(None, 1, 1), (None, 0, 2), (None, 2, 3)]


def test_some_coordinates_beside_tickets_mean_nothing() -> None:
    sheet = read("ticket,east,value\n1,99,2\n")
    assert sheet.ignored == ("east",)
    assert sheet.lines[0].point is None


def test_names_of_coordinates_have_their_case_and_the_others_have_none() -> None:
    assert read("TICKET,East,North,Value\n1,0,10,2\n").ignored == ("East", "North")
    assert read(" east ,north,vAlUe\n0,10,2\n", names=("east", " north ")).lines[0].point == 0


@pytest.mark.parametrize("status", ["failed", "FAILED", " Failed "])
def test_a_failure_has_no_value(status: str) -> None:
    (line,) = read(f"ticket,value,status\n1,,{status}\n").lines
    assert line == Line(line=2, ticket=1, point=None, value=None, noise=None)


def test_lines_without_value_and_status_are_left_open_whatever_else_they_say() -> None:
    sheet = read("ticket,value,noise,status,reason\n1,,,,\nx,,-1,,later\n3,4,,,\n")
    assert (sheet.blank, [line.line for line in sheet.lines]) == (2, [4])


def test_a_sheet_may_be_all_blank() -> None:
    assert read("ticket,value\n1,\n2,\n") == Sheet(lines=(), blank=2, ignored=())


def test_lines_are_counted_where_they_begin_also_after_quoted_line_ends() -> None:
    sheet = read('ticket,value,reason\n1,2,"a\nb\n\nc"\n2,3,x\n\n3,4,"\r\n"\n4,5,\n')
    assert [line.line for line in sheet.lines] == [2, 6, 8, 10]
    assert [line.reason for line in sheet.lines] == ["a\nb\n\nc", "x", "", ""]
    said = only_trouble('"ticket","value","a\nnote"\r\n1,2,"\r\n"\r\n2,x,\r\n')
    assert said.startswith("line 5, column 'value' is 'x'")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
RESULTS = st.fixed_dictionaries(
    {
        "ticket": st.none() | st.integers(1, 10**18 - 1),
        "point": st.none() | st.integers(0, 3),
        "value": st.none() | NUMBERS,
        "noise": st.none() | NUMBERS.map(abs),
        "reason": st.text(st.characters(codec="utf-8", exclude_characters="\0")).map(str.strip)
        | st.text(st.sampled_from('a,"\n\r; é')).map(str.strip),
    }
).filter(lambda result: result["ticket"] is not None or result["point"] is not None)


@given(st.lists(RESULTS, min_size=1, max_size=6), st.sampled_from(["utf-8", "utf-8-sig"]), st.randoms())
def test_results_come_back_as_they_were_written(results: list[dict[str, Any]], encoding: str, chance: Any) -> None:
    text = io.StringIO()
    columns = ["ticket", "east", "north", "value", "noise", "status", "reason"]
    chance.shuffle(columns)
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    begin = []
    for result in results:
        begin.append(len(text.getvalue().encode().splitlines()) + 1)
        east, north = ("", "") if result["point"] is None else POINTS[result["point"]].tolist()
        status = "failed" if result["value"] is None else chance.choice(["", "measured"])
        row = {key: result[key] for key in ("ticket", "value", "noise", "reason")}
        writer.writerow(row | {"east": east, "north": north, "status": status})
    sheet = read(text.getvalue().encode(encoding))
    assert sheet.lines == tuple(Line(line=line, **result) for line, result in zip(begin, results, strict=True))
    assert (sheet.blank, sheet.ignored) == (0, ())
    signs = [math.copysign(1.0, line.value) for line in sheet.lines if line.value is not None]
    assert signs == [math.copysign(1.0, each["value"]) for each in results if each["value"] is not None]


# --- bad cells

ABSENT = "leave it empty if it is not measured yet, or write failed in the column status"
FINITE = "give a finite number with a decimal point"


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("NaN", ABSENT),
        ("-nan", ABSENT),
        ("n/a", ABSENT),
        ("#N/A", ABSENT),
        ("inf", f"{FINITE}, or leave it empty"),
        ("-Infinity", f"{FINITE}, or leave it empty"),
        ("1e400", f"{FINITE}, or leave it empty"),
        ("0x10", f"{FINITE}, or leave it empty"),
        ("1_000", f"{FINITE}, or leave it empty"),
        ("1 000", f"{FINITE}, or leave it empty"),
        ("deep", f"{FINITE}, or leave it empty"),
        ("3,5", "write 3.5 with a decimal point"),
        ("1,234", "write 1.234 or 1234, without a comma"),
    ],
)
@pytest.mark.parametrize("others", ["7", ""], ids=["alone", "beside another"])
def test_a_value_that_is_no_number_is_named(cell: str, remedy: str, others: str) -> None:
    said = troubles(f'ticket,value\n1,2.5\n2,"{cell}"\n' + (f"3,{others}\n4,?\n" if others else ""))
    assert said[0] == f"line 3, column 'value' is {cell!r}: {remedy}"
    assert len(said) == (2 if others else 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,0,10,,,measured", f"column 'value' is empty: {FINITE}, or write failed in the column status"),
        ("1,0,10,2,,failed", "column 'value' is '2': leave it empty, or write measured in the column status"),
        ("1,0,10,nan,,failed", "column 'value' is 'nan': leave it empty, or write measured in the column status"),
        ("1,0,10,2,,ok", "column 'status' is 'ok': write measured, failed or nothing"),
        ("1,0,10,,,broken", "column 'status' is 'broken': write measured, failed or nothing"),
        ("7.5,0,10,2,,", "column 'ticket' is '7.5': give a whole number >= 1"),
        ("0,0,10,2,,", "column 'ticket' is '0': give a whole number >= 1"),
        ("-1,0,10,2,,", "column 'ticket' is '-1': give a whole number >= 1"),
        ("1_0,0,10,2,,", "column 'ticket' is '1_0': give a whole number >= 1"),
        ("A7,0,10,2,,", "column 'ticket' is 'A7': give a whole number >= 1"),
        ("A7,,,2,,", "column 'ticket' is 'A7': give a whole number >= 1"),
        (f"{10**30},,,2,,", "column 'ticket' is '100000000000...0000000000000': give a whole number >= 1"),
        (",,,2,,", "column 'ticket' is empty: give the ticket, or all coordinates"),
        (",,,,,failed", "column 'ticket' is empty: give the ticket, or all coordinates"),
        ("1,0,,2,,", f"column 'north' is empty: {FINITE}, or leave all coordinates empty beside a ticket"),
        (",,10,2,,", f"column 'east' is empty: {FINITE}, or leave all coordinates empty beside a ticket"),
        ("1,0,inf,2,,", f"column 'north' is 'inf': {FINITE}, or leave all coordinates empty beside a ticket"),
        ('1,"0,5",10,2,,', "column 'east' is '0,5': write 0.5 with a decimal point"),
        ("1,,,2,-1,", "column 'noise' is '-1': give a standard deviation >= 0 with a decimal point, or leave it empty"),
        ("1,,,2,nan,", "column 'noise' is 'nan': give a standard deviation >= 0 with a decimal point, or leave it"),
        ("1,,,2,inf,", "column 'noise' is 'inf': give a standard deviation >= 0 with a decimal point, or leave it"),
        ('1,,,2,"0,1",', "column 'noise' is '0,1': write 0.1 with a decimal point"),
    ],
)
def test_a_bad_cell_is_named_with_its_remedy(line: str, expected: str) -> None:
    assert only_trouble(f"ticket,east,north,value,noise,status\n{line}\n").startswith(f"line 2, {expected}")


def test_without_a_column_of_tickets_every_coordinate_is_needed() -> None:
    assert troubles("east,north,value\n,,2\n0,,2\n") == [
        f"line 2, column 'east' is empty: {FINITE}",
        f"line 2, column 'north' is empty: {FINITE}",
        f"line 3, column 'north' is empty: {FINITE}",
    ]


def test_coordinates_outside_the_domain_are_named_with_the_nearest_point() -> None:
    said = only_trouble("ticket,east,north,value\n1,0,10,2\n2,0.9,29,2\n")
    nearest = "give a point of the domain; the nearest is east = 1.0, north = 30.0"
    assert said == f"line 3 is at east = 0.9, north = 29.0: {nearest}"
    assert only_trouble("east,north,value\n-1e308,1e308,2\n").startswith("line 2 is at east = -1e+308, north = 1e+308")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,2,3", "line 3 is 3 cells long: give 2 cells, as in the header"),
        ("1", "line 3, column 'value' is missing: give 2 cells, as in the header"),
    ],
)
def test_a_line_with_too_many_or_too_few_cells_is_named(line: str, expected: str) -> None:
    assert only_trouble(f"ticket,value\n1,2\n{line}\n3,4\n") == expected


def test_all_troubles_are_collected_in_the_order_of_the_file() -> None:
    said = troubles(
        "value,ticket,noise,status,east,north\n"
        "nan,0,-1,ok,a,b\n"
        "1,1,,,0.7,10\n"
        "1,1,,\n"
        "1,1,,,,\n"
        ",2,,,a,\n"
        "x,2,,,0,10\n"
        '1,1,"\n'
    )
    assert [line.split(" is ")[0] for line in said] == [
        *(f"line 2, column '{name}'" for name in ("value", "ticket", "noise", "status", "east", "north")),
        "line 3",
        "line 4, column 'east'",
        "line 7, column 'value'",
        "line 8",
    ]


def test_a_quote_that_is_never_closed_is_named_where_its_line_begins() -> None:
    said = only_trouble('ticket,value,reason\n1,2,\n2,3,"ice\n3,4,\n4,5,\n')
    assert said == "line 3 is not CSV: check its quotes (unexpected end of data)"
    assert only_trouble('ticket,"value\n1,2\n') == "line 1 is not CSV: check its quotes (unexpected end of data)"
    assert only_trouble('ticket,value\n1,"2"3\n').startswith("line 2 is not CSV: check its quotes")


# --- bad files

UTF8 = "save the file as CSV in UTF-8"
NAME_THEM = "put the names of the columns there"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ["line 1 is empty: give a header and further lines"]),
        (b"\xef\xbb\xbf\n \n", ["line 1 is empty: give a header and further lines"]),
        (b"ticket,value\n", ["line 1 is followed by no results: add a line for each result"]),
        (b"ticket,value\n\n,\n", ["line 1 is followed by no results: add a line for each result"]),
        ("ticket,value\n1,2\n".encode("utf-16-le"), [f"line 1 is UTF-16 text: {UTF8}"]),
        ("ticket,value\n1,2\n".encode("utf-16-be"), [f"line 1 is UTF-16 text: {UTF8}"]),
        ("ticket,value,reason\n1,2,\r\n3,4,Kälte\n".encode("latin-1"), [f"line 3 is not UTF-8 text: {UTF8}"]),
        (b"ticket,value\n1,2\n3,4\0\n", [f"line 3 is with a NUL byte: {UTF8}"]),
        (b"1,2\n3,4\n", [f"line 1 is '1,2': {NAME_THEM}"]),
        (
            b"ticket,value,Value\n1,2,3\n",
            ["line 1, column 'value' is there more than once: give every column its own name"],
        ),
        (
            b"crew,ticket,crew\n1,2,3\n",
            [
                "line 1, column 'crew' is there more than once: give every column its own name",
                "line 1, column 'value' is missing: give the column of what was measured that name "
                "(the columns are 'crew', 'ticket', 'crew')",
            ],
        ),
        (
            b"value,depth\n1,2\n",
            [
                "line 1, column 'ticket' is missing: add a column of tickets, or the coordinates east, north "
                "(the columns are 'value', 'depth')"
            ],
        ),
        (
            b"value,east\n1,2\n",
            [
                "line 1, column 'north' is missing: add that coordinate, or a column ticket "
                "(the columns are 'value', 'east')"
            ],
        ),
    ],
)
def test_a_file_that_is_no_sheet_is_named(content: bytes, expected: list[str]) -> None:
    assert troubles(content) == expected


# --- errors


def test_the_error_says_how_many_troubles_there_are_and_shows_twenty() -> None:
    with pytest.raises(SheetError) as caught:
        read("ticket,value\n" + "1,x\n" * 25)
    said = str(caught.value).splitlines()
    assert said[0] == "harbour.csv has 25 troubles:"
    assert said[1:21] == [str(trouble) for trouble in caught.value.troubles[:20]]
    assert said[21:] == ["and 5 more"]
    assert len(caught.value.troubles) == 25
    assert isinstance(caught.value, SuperlevelError)


def test_the_error_survives_the_way_back_from_a_worker_process() -> None:
    with pytest.raises(SheetError) as caught:
        read("ticket,value\n1,x\n")
    assert str(caught.value).startswith("harbour.csv has 1 trouble:\nline 2, column 'value' is 'x': give")
    back = pickle.loads(pickle.dumps(caught.value))
    assert (str(back), back.name, back.troubles) == (str(caught.value), "harbour.csv", caught.value.troubles)


# --- sheets to fill in


@given(st.lists(st.integers(0, 4), min_size=1), st.sampled_from([NAMES, ("x, y", 'the "other"'), (" a ", "b;\n")]))
def test_a_blank_sheet_is_read_as_blank(chosen: list[int], names: tuple[str, str]) -> None:
    tickets = [10 + position for position in range(len(chosen))]
    text = written(blank_sheet(tickets, POINTS[chosen], names))
    assert read(text, names=names) == Sheet(lines=(), blank=len(chosen), ignored=())


def test_a_blank_sheet_is_filled_in_and_read() -> None:
    text = written(blank_sheet([7, 8], POINTS[[2, 3]], NAMES))
    assert text == (
        "ticket,east,north,value,noise,status,reason,study\n7,0.3333333333333333,20.0,,,,,\n8,1.0,30.0,,,,,\n"
    )
    sheet = read(text.replace("20.0,", "20.0,1.5").replace("30.0,,,", "30.0,,,failed"))
    assert sheet.lines == (
        Line(line=2, ticket=7, point=2, value=1.5, noise=None),
        Line(line=3, ticket=8, point=3, value=None, noise=None),
    )


def test_every_ticket_of_a_blank_sheet_needs_a_point() -> None:
    with pytest.raises(ValueError, match="zip"):
        blank_sheet([1, 2, 3], POINTS[:2], NAMES)


@pytest.mark.parametrize("name", ["value", "Ticket", " noise "])
def test_a_coordinate_cannot_be_called_like_another_column(name: str) -> None:
    expected = f"names[1] is {name!r}: give that coordinate another name: a sheet of results has a column "
    for attempt in (
        lambda: check_names(("east", name)),
        lambda: blank_sheet([1], POINTS[:1], ("east", name)),
        lambda: read("ticket,value\n1,2\n", names=("east", name)),
    ):
        with pytest.raises(InputError) as caught:
            attempt()
        assert str(caught.value) == expected + name.strip().lower()


def test_coordinates_that_differ_only_in_blanks_cannot_be_told_apart() -> None:
    with pytest.raises(InputError, match=r"^names\[1\] is 'east ' again: give every name once$"):
        check_names(("east", "east "))


def test_a_large_sheet_is_read_line_by_line() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(5_000, 2))
    chosen = rng.integers(5_000, size=20_000)
    values = rng.normal(size=20_000)
    rows = zip(chosen.tolist(), points[chosen].tolist(), values.tolist(), strict=True)
    body = "\n".join(f"{at + 1},{east!r},{north!r},{value!r}" for at, (east, north), value in rows)
    lines = read(f"ticket,east,north,value\n{body}\n", points=points).lines
    assert [line.point for line in lines] == chosen.tolist()
    assert [line.ticket for line in lines] == (chosen + 1).tolist()
    assert [line.value for line in lines] == values.tolist()
    assert [line.line for line in lines] == list(range(2, 20_002))
