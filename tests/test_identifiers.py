"""Names of points, from a file or a frame to sheets, tickets, tables, pages and frames."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import formats
from superlevel.errors import InputError
from superlevel.formats.text import parsed, written
from superlevel.identifiers import as_ids, match_ids
from superlevel.report.page import page
from superlevel.study.events import Created, DamagedError
from superlevel.study.ledger import fold
from superlevel.study.sense import check_sense
from superlevel.study.sheets import SheetError, blank_sheet, read_sheet
from superlevel.study.verification import Verification

NAMES = ["Ä1", "Ä2", "007", "B 4"]
POINTS = [[0.0, 1.0], [0.5, 1.0], [1.0, 0.0], [1.0, 1.0]]


def study(points: Any = POINTS, names: Any = NAMES) -> sl.Study:
    domain = sl.Domain(points, RBF(0.5), ids=names, id_name="Probe")
    problem = sl.Problem(domain, goal=sl.Threshold(0.0), noise=0.1)
    return sl.Study.create("memory:", "soil", problem, batch=2)


# --- domains


def test_a_domain_keeps_its_names_whatever_happens_to_its_kernel() -> None:
    domain = sl.Domain(POINTS, ids=NAMES, id_name="Probe")
    for again in (domain.with_kernel(RBF(1.0)), replace(domain, kernel=RBF(1.0))):
        assert (again.ids, again.id_name) == (tuple(NAMES), "Probe")
    assert (sl.Domain(POINTS).ids, sl.Domain(POINTS).with_kernel(RBF(1.0)).ids) == ((), ())


def test_a_frame_s_column_names_the_points() -> None:
    frame = pd.DataFrame({"sample": ["a", "b"], "x": [1.0, 2.0]})
    for domain in (sl.Domain(frame, ids="sample"), sl.Domain(frame[["x"]], ids=frame["sample"])):  # type: ignore[arg-type]
        assert (domain.ids, domain.id_name, domain.names) == (("a", "b"), "sample", ("x",))
    with pytest.raises(InputError, match=r"^ids is 'probe': give a column out of 'sample', 'x', or 2 names$"):
        sl.Domain(frame, ids="probe")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a", "b", "a", "c"], r"^ids\[2\] is 'a', like ids\[0\]: give every point a name of its own$"),
        (["a", "b", " ", "c"], r"^ids\[2\] is empty: give every point a name$"),
        (["a"], r"^ids is 1 names: give 4, one for each point$"),
        ("abcd", r"^ids is 'abcd': give 4 names"),
        ([1, 1.0, 2, 3], r"^ids\[1\] is '1', like ids\[0\]"),
    ],
)
def test_names_are_texts_and_all_different(names: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sl.Domain(POINTS, ids=names)


@pytest.mark.parametrize("name", ["x0", " "])
def test_the_column_of_names_has_a_name_of_its_own(name: str) -> None:
    with pytest.raises(InputError, match=r"^id_name is"):
        sl.Domain(POINTS, ids=NAMES, id_name=name)


def test_a_column_of_a_sheet_cannot_be_the_column_of_names() -> None:
    problem = sl.Problem(sl.Domain(POINTS, RBF(1.0), ids=NAMES, id_name="Value"), goal=sl.Threshold(0.0), noise=0.1)
    with pytest.raises(InputError, match=r"^id_name is 'Value': a sheet of results has a column value"):
        sl.Study.create("memory:", "soil", problem)


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), unique=True, min_size=1))
def test_every_name_is_found_where_it_is(names: list[str]) -> None:
    ids = as_ids(names, len(names))
    assert match_ids(ids, ids).tolist() == list(range(len(names)))


def test_a_number_stands_for_the_only_name_that_is_that_number() -> None:
    assert match_ids(["007", "8", "8.0", "x"], ["7", "7.0", "8", "8.00", "y", "nan"]).tolist() == [0, 0, 1, -1, -1, -1]


# --- files


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".parquet"])
def test_a_file_has_names_categories_and_rows_without_a_coordinate(tmp_path: Path, ending: str) -> None:
    rows: list[list[object]] = [["A", 1, "Löß", 9], ["B", None, "Sand", 9], ["C", 3, "Sand", 9]]
    path = tmp_path / f"soil{ending}"
    formats.write(path, formats.table_of(["Probe", "x", "Boden", "z"], rows))
    domain = sl.Domain.read(path, ids="Probe", categories=["Boden"], drop_incomplete=True)
    assert (domain.ids, domain.id_name) == (("A", "C"), "Probe")
    assert domain.names == ("x", "z", "Boden Löß", "Boden Sand")
    assert domain.points.tolist() == [[1, 9, 1, 0], [3, 9, 0, 1]]
    with pytest.raises(InputError, match=r"1 of 3 rows lacks a coordinate \(line 3\)"):
        sl.Domain.read(path, ids="Probe", categories=["Boden"])
    with pytest.raises(InputError, match=r"line 4, column 'Boden' is 'Sand', as in line 3: give every point a name"):
        sl.Domain.read(path, ids="Boden", columns=["z"])


# --- sheets


def sheet(text: str, **options: Any) -> list[int | None]:
    given: dict[str, Any] = {
        "points": np.array(POINTS),
        "names": ("x", "y"),
        "ids": NAMES,
        "id_name": "Probe",
    } | options
    return [line.point for line in read_sheet(parsed(text.encode(), name="sheet.csv"), **given).lines]


def test_a_line_says_where_by_its_name_alone() -> None:
    assert sheet("Probe,value\nB 4,1\nÄ1,2\n7,3\n") == [3, 0, 2]
    assert sheet("Probe,ticket,value\nB 4,,1\n,5,2\n") == [3, None]
    assert sheet("Probe,x,y,value\nB 4,,,1\n,0.5,1,2\nÄ1,0,1,3\n") == [3, 1, 0]


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("Probe,value\nB4,1\n", "line 2, column 'Probe' is 'B4': give a name of the domain; the nearest is 'B 4'"),
        ("Probe,value\n,1\n", "line 2, column 'Probe' is empty: give the Probe, or all coordinates"),
        ("Probe,ticket,value\n,,1\n", "line 2, column 'ticket' is empty: give the ticket or the Probe, or all"),
        ("Probe,x,y,value\nB 4,0,1,1\n", "line 2, column 'Probe' is 'B 4': its coordinates are x = 1.0, y = 1.0"),
        ("value\n1\n", "add a column of tickets, a column Probe, or the coordinates x, y"),
    ],
)
def test_a_name_that_cannot_be_is_named(text: str, trouble: str) -> None:
    with pytest.raises(SheetError) as caught:
        sheet(text)
    assert trouble in str(caught.value)


def test_a_compound_is_shown_by_its_name_and_not_as_zeros_and_ones() -> None:
    many = np.eye(4, 200)
    coordinates = [f"bit{j}" for j in range(200)]
    table = blank_sheet([1, 2], many[:2], coordinates, ids=NAMES[:2], id_name="compound", study="s")
    assert table.header == ("ticket", "compound", "value", "noise", "status", "reason", "study")
    assert list(table.rows())[1] == (2, "Ä2", "", "", "", "", "s")
    few = blank_sheet([1], np.array(POINTS[:1]), ["x", "y"], ids=NAMES[:1], id_name="compound")
    assert written(few).splitlines()[1] == "1,Ä1,0.0,1.0,,,,,"


# --- studies


def test_names_are_in_tickets_views_frames_tables_and_pages() -> None:
    made = study()
    tickets = made.ask()
    assert [ticket.id for ticket in tickets] == [NAMES[ticket.point] for ticket in tickets]
    made.tell(tickets.measured([1.0, -1.0]))
    made.ask()
    view = made.view()
    assert view.points.id == NAMES
    assert [ticket.id for ticket in view.tickets] == [NAMES[ticket.point] for ticket in view.tickets]
    assert type(view).model_validate_json(view.model_dump_json()) == view
    frame = made.to_frame()
    assert list(frame.columns[:3]) == ["Probe", "x0", "x1"]
    assert frame["Probe"].tolist() == NAMES
    text = page(made.campaign())
    assert all(name in text for name in NAMES)
    assert ">Probe<" in text
    assert made.point_of("B 4") == 3
    with pytest.raises(InputError, match=r"^id is 'B4': give a name of the domain; the nearest is 'B 4'$"):
        made.point_of("B4")
    assert isinstance(made.verify(), Verification)


def test_a_page_about_compounds_has_their_names_and_no_fingerprints() -> None:
    made = study(np.eye(4, 40))
    made.tell(made.ask().measured([1.0, -1.0]))
    made.ask()
    text = page(made.campaign())
    assert "Coordinates are left out." in text
    assert all(f">{name}<" in text for name in NAMES)
    assert ">x0<" not in text
    assert "1, 0, 0" not in text
    plain = page(study(np.eye(4, 40), None).campaign())
    assert ">x0<" in plain


def test_the_log_has_the_names_and_a_log_without_them_opens() -> None:
    first = study().log()[0]
    assert json.loads(first.payload)["ids"] == NAMES
    plain = sl.Study.create(
        "memory:", "soil", sl.Problem(sl.Domain(POINTS, RBF(0.5)), goal=sl.Threshold(0.0), noise=0.1)
    )
    assert not {"ids", "id_name"} & set(json.loads(plain.log()[0].payload))
    assert plain.to_frame().columns[0] == "x0"
    with pytest.raises(InputError, match="the points of this study have no names"):
        plain.point_of("A")


@pytest.mark.parametrize("names", [NAMES[:3], [*NAMES[:3], NAMES[0]]])
def test_a_log_with_names_that_cannot_be_is_damaged(names: list[str]) -> None:
    made = study()
    given = Created.read(made.log()[0]).model_copy(update={"ids": names})
    with pytest.raises(DamagedError, match="entry 1 has 3 different names for 4 points"):
        check_sense(fold([given.entry(seq=1, before="")]))
