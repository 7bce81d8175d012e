"""Which columns `create` takes for coordinates, what it asks, and files of every kind from the points to the export."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from superlevel import formats
from tests.cli.study.terminal import GIVEN, Terminal, depth

KNOWN = ("--kernel", "RBF(1)", "--noise", 1)


def points(
    folder: Path, name: str = "points.csv", *, header: str = "Probe,x,y,pH,depth,soil,x2", blank: int = 0
) -> None:
    rows = [[f"P{k}", k, k * k % 7, 5, 15 + k, "Löß" if k % 2 else "Sand", k] for k in range(1, 11)]
    if blank:
        rows[blank - 1][1] = ""
    names = header.split(",")
    formats.write(folder / name, formats.table_of(names, [row[: len(names)] for row in rows]))


def test_columns_are_listed_where_there_are_more_than_three(terminal: Terminal) -> None:
    points(terminal.folder)
    ran = terminal("study", "create", "soil", "--points", "points.csv", *GIVEN)
    assert ran.code == 2
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in ran.err.splitlines() if line.startswith("│")]
    listed = {row[0]: row[1:] for row in rows}
    assert listed["x"] == ["numbers", "1 to 10", ""]
    assert listed["pH"] == ["numbers", "5 to 5", "the same in all rows"]
    assert listed["x2"][2] == "the same as x"
    assert listed["Probe"] == ["text", "10 different", "may name the points: --id Probe"]
    assert listed["soil"][2] == "may be a category: --category soil"
    assert ran.err.splitlines()[-1] == (
        "superlevel: --column is missing: say which of the 5 columns of numbers in points.csv are coordinates, "
        "as in --column x --column y"
    )
    assert not (terminal.folder / "superlevel.db").exists()


@pytest.mark.parametrize(
    ("content", "taken"),
    [
        ("x,y,zinc\n0,0,10\n1,1,30\n", None),  # around the level of 20
        ("x,y,z\n0,0,1\n1,1,3\n", ["x", "y", "z"]),
        ("x,y\n10,0\n30,1\n", ["x", "y"]),
        ("x,value\n0,1\n1,\n", ["x"]),
        ("x,zinc\n0,10\n1,\n2,\n", None),  # measured at some places
        (",x\n0,5\n1,6\n", ["x"]),  # the index of a frame
    ],
)
def test_the_answer_is_never_taken_for_a_coordinate(
    terminal: Terminal,
    content: str,
    taken: list[str] | None,
) -> None:
    (terminal.folder / "points.csv").write_text(content)
    ran = terminal("study", "create", "soil", "--points", "points.csv", *GIVEN)
    if taken is None:
        assert ran.code == 2
        assert "perhaps what is measured" in ran.err
        assert "--column is missing" in ran.err
        assert not (terminal.folder / "superlevel.db").exists()
    else:
        assert ran.code == 0, ran.err
        assert f"coordinates  {', '.join(taken)} " in ran.out


def test_what_is_odd_about_columns_and_rows_is_mentioned(terminal: Terminal) -> None:
    points(terminal.folder, blank=4)
    chosen = ("--column", "x", "--column", "pH", "--column", "x2", "--category", "soil")
    ran = terminal("study", "create", "soil", "--points", "points.csv", *chosen, "--threshold", 20, *KNOWN)
    assert ran.err == (
        "superlevel: --points is 'points.csv', in which a coordinate is blank in 1 of 10 rows, line 5: fill it in, or "
        "leave these rows out with --drop-incomplete\n"
    )
    shown = terminal.study(
        "create", "soil", "--points", "points.csv", *chosen, "--threshold", 20, *KNOWN, "--drop-incomplete"
    )
    assert "1 row without a coordinate left out: line 5" in shown
    assert "column 'pH' is the same in all rows" in shown
    assert "column 'Probe' may name the points: --id Probe" in shown
    assert "which of 9 points" in shown
    assert "coordinates  x, pH, x2, soil Löß, ..." in shown
    (terminal.folder / "twice.csv").write_text("x,y\n1,2\n1,2\n3,4\n")
    shown = terminal.study("create", "twice", "--points", "twice.csv", "--threshold", 20, *KNOWN)
    assert "1 point with the coordinates of an earlier one" in shown


def test_a_range_of_columns_is_all_of_them(terminal: Terminal) -> None:
    header = ["compound", *(f"bit{j}" for j in range(12)), "pIC50"]
    rows = [[f"C{k}", *(int(j == k) for j in range(12)), 6 + k] for k in range(12)]
    formats.write(terminal.folder / "compounds.csv", formats.table_of(header, rows))
    given = ("study", "create", "potency", "--points", "compounds.csv", "--id", "compound", "--threshold", 20)
    ran = terminal(*given, "--noise", 1)
    assert ran.code == 2
    assert "as in --column 'bit0 to pIC50'" in ran.err
    bits = ("--column", "bit0 to bit11")
    assert terminal(*given, *bits, "--kernel", "Tanimoto()", "--noise", 1).code == 0
    ran = terminal("study", "suggest", "potency", "-n", 2, "--csv", "plate.csv")
    assert "more coordinates" not in ran.out
    table = formats.read(terminal.folder / "plate.csv")
    assert table.header[:3] == ("ticket", "compound", "value")
    ran = terminal(*given[:2], "other", *given[3:], "--column", "bit0 to bit12", "--noise", 1)
    assert ran.code == 2
    assert "'bit0 to bit12'" in ran.err


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_a_sheet_comes_back_in_the_format_in_which_it_went_out(terminal: Terminal, ending: str) -> None:
    rows = [[f"Ä{k}", 0.2 * k, 0.3 * (k % 4)] for k in range(12)]
    formats.write(terminal.folder / f"points{ending}", formats.table_of(["Probe", "east", "north"], rows))
    shown = terminal.study("create", "soil", "--points", f"points{ending}", "--id", "Probe", *GIVEN, "--batch", 3)
    assert f"soil-sheet{ending}" in shown
    sheet = terminal.folder / f"sheet{ending}"
    assert "Ä" in terminal.study("suggest", "soil", "--sheet", sheet.name)
    table = formats.read(sheet)
    assert table.header[:4] == ("ticket", "Probe", "east", "north")
    values = [depth(*place) for place in table.numbers([2, 3]).tolist()]
    filled = [list(row) for row in table.rows()]
    for row, value in zip(filled, values, strict=True):
        row[4] = value
    formats.write(sheet, formats.table_of(table.header, filled))
    assert "has results in it" in terminal("study", "suggest", "soil", "--sheet", sheet.name).err
    assert "3 results stored" in terminal.study("tell", "soil", sheet.name)
    assert "0 results stored, 3 there already" in terminal.study("tell", "soil", sheet.name)
    terminal.study("suggest", "soil", "--sheet", sheet.name)  # all of it is in the log
    for what in ("labels", "stopping", "measurements"):
        for _ in range(2):  # an output may be replaced
            terminal.study("export", "soil", "--what", what, "--out", f"{what}{ending}")
    assert formats.read(terminal.folder / f"labels{ending}").texts(0) == [row[0] for row in rows]
    measured = formats.read(terminal.folder / f"measurements{ending}")
    assert measured.numbers_or_blanks(4)[0][:3].tolist() == values
    assert terminal("study", "verify", "soil", "--labels", f"labels{ending}", "--witness", f"labels{ending}").code == 0
    terminal.study("create", "again", "--points", f"points{ending}", "--id", "Probe", *GIVEN)
    assert "3 results stored" in terminal.study("tell", "again", f"measurements{ending}", "--exported")


@pytest.mark.parametrize(("ending", "package"), [(".xlsx", "openpyxl"), (".parquet", "pyarrow")])
def test_a_minimal_installation_says_which_extra_a_file_needs(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    points(terminal.folder, f"points{ending}", header="Probe,x,y")
    points(terminal.folder, header="Probe,x,y")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    extra = {"openpyxl": "excel", "pyarrow": "parquet"}[package]
    said = f"', which needs the package {package}: run pip install 'superlevel[{extra}]', or take a .csv file instead"
    ran = terminal("study", "create", "soil", "--points", f"points{ending}", *GIVEN)
    assert (ran.code, ran.err) == (2, f"superlevel: --points is 'points{ending}{said}\n")
    terminal.study("create", "soil", "--points", "points.csv", "--id", "Probe", *GIVEN)
    before = terminal.entries()
    for arguments in (
        ("suggest", "soil", "--sheet", f"sheet{ending}"),
        ("export", "soil", "--out", f"labels{ending}"),
        ("tell", "soil", f"points{ending}"),
    ):
        ran = terminal("study", *arguments)
        assert ran.code == 2
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1
    assert terminal.entries() == before
    assert not (terminal.folder / f"sheet{ending}").exists()
    terminal.study("suggest", "soil", "--csv", "sheet.csv")


def test_a_sheet_as_a_german_spreadsheet_saves_it(terminal: Terminal) -> None:
    (terminal.folder / "points.csv").write_text(
        "\ufeffProbe;Rechtswert;Hochwert\nÄ1;0,5;1,25\nÄ2;0,75;1,5\n", encoding="utf-8"
    )
    terminal.study("create", "soil", "--points", "points.csv", "--id", "Probe", "--threshold", 20, *KNOWN)
    terminal.study("suggest", "soil", "-n", 1, "--csv", "sheet.csv")
    (header, *rows) = csv.reader((terminal.folder / "sheet.csv").read_text(encoding="utf-8").splitlines())
    rows[0][header.index("value")] = "21.5"
    text = "\r\n".join(";".join(cell.replace(".", ",") for cell in row) for row in [header, *rows])
    (terminal.folder / "sheet.csv").write_bytes(text.encode("utf-8-sig"))
    assert "1 result stored" in terminal.study("tell", "soil", "sheet.csv")
    by_name = "Probe;value\nÄ2;19,5\n"
    assert "1 result stored" in terminal.study("tell", "soil", "-", given=by_name.encode())
