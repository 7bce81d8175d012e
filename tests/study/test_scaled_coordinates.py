"""A study in a box: people see their own units and names everywhere, and the log opens again with the same scales."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from typer.testing import CliRunner

import superlevel as sl
from superlevel.cli import app
from superlevel.formats.text import parsed, written
from superlevel.report.campaign import as_table
from superlevel.report.drawing import draw
from superlevel.study.sheets import SheetError, blank_sheet, read_sheet

BOX = {"dose": sl.Log(1e-3, 1), "metal": sl.Choice("steel", "2, copper")}
DOMAIN = sl.Domain.box(BOX, count=20, kernel=RBF([1.0, 1.0, 1.0]))
PROBLEM = sl.Problem(DOMAIN, goal=sl.Threshold(0.5), noise=0.1)


def created(store: str) -> sl.Study:
    return sl.Study.create(store, "box", PROBLEM, worker="ada")


def test_a_study_opens_again_with_its_scales(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    before = created(store)
    study = sl.Study.open(store, "box", worker="ada")
    domain = study.knowledge.method.problem.domain
    assert domain.coordinates == DOMAIN.coordinates
    np.testing.assert_array_equal(domain.points, DOMAIN.points)
    np.testing.assert_array_equal(domain.places, DOMAIN.places)
    study.tell(study.ask().measured(np.arange(10) / 10))
    np.testing.assert_array_equal(before.refresh().labels, study.labels)
    assert study.verify().ok


def test_plain_points_are_stored_without_scales() -> None:
    plain = sl.Problem(sl.Domain([0.0, 1.0]), goal=sl.Threshold(0.5), noise=0.1)
    study = sl.Study.create("memory:", "plain", plain)
    assert "scales" not in json.loads(study.log()[0].payload)
    assert study.ledger.cells(1) == (1.0,)


def test_sheets_have_names_and_are_read_back() -> None:
    study = created("memory:")
    tickets, coordinates = study.ask(), study.ledger.coordinates
    numbers, scales = [ticket.number for ticket in tickets], coordinates.scales
    blank = blank_sheet(numbers, tickets.points, coordinates.names, scales=scales)
    lines = list(csv.DictReader(io.StringIO(written(blank))))
    assert {line["metal"] for line in lines} <= {"steel", "2, copper"}
    assert [float(line["dose"]) for line in lines] == tickets.points[:, 0].tolist()
    for line in lines:
        line["ticket"], line["value"] = "", "1.5"
    filled = io.StringIO()
    writer = csv.DictWriter(filled, lines[0])
    writer.writeheader()
    writer.writerows(lines)
    content = filled.getvalue().encode()
    given = {"points": study.ledger.places, "names": coordinates.names, "scales": scales}
    sheet = read_sheet(parsed(content, name="s.csv"), **given)  # type: ignore[arg-type]
    assert [line.point for line in sheet.lines] == tickets.indices.tolist()
    with pytest.raises(SheetError, match=r"column 'metal' is 'lead': give one of steel, 2, copper"):
        read_sheet(parsed(b"dose,metal,value\n0.5,lead,1\n", name="s.csv"), **given)  # type: ignore[arg-type]
    with pytest.raises(
        SheetError, match=r"metal = steel: give a point of the domain; the nearest is dose = .*metal = s"
    ):
        read_sheet(parsed(b"dose,metal,value\n0.5,steel,1\n", name="s.csv"), **given)  # type: ignore[arg-type]


def test_tables_frames_and_maps_are_in_the_units_of_people() -> None:
    study = created("memory:")
    study.tell(study.ask().measured(np.arange(10) / 10))
    table = as_table(study.campaign())
    columns = dict(zip(table.header, table.columns, strict=True))
    assert list(columns["metal"]) == study.to_frame()["metal"].tolist()
    assert list(columns["dose"]) == DOMAIN.places[:, 0].tolist()
    axes = draw(study.campaign()).axes[0]
    assert set(DOMAIN.places[:, 1]) == {0.0, 1.0}
    assert {axes.yaxis.get_major_formatter()(position) for position in (0, 1, 0.5)} == {"steel", "2, copper", ""}
    assert axes.xaxis.get_major_formatter()(-2.0) == "0.01"
    assert axes.get_xlabel() == "dose"


def test_the_command_line_shows_and_takes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    created("sqlite:///superlevel.db")

    def superlevel(*words: str) -> str:
        done = CliRunner().invoke(app, ["study", *words], catch_exceptions=False, env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    shown = json.loads(superlevel("suggest", "box", "--json", "--csv", "sheet.csv"))
    assert {ticket["coordinates"][1] for ticket in shown["tickets"]} <= {"steel", "2, copper"}
    assert "steel" in superlevel("suggest", "box")
    lines = (tmp_path / "sheet.csv").read_text().splitlines()
    (tmp_path / "sheet.csv").write_text(
        "\n".join([lines[0], *(line.replace(",,,,", ",1.5,,,", 1) for line in lines[1:])])
    )
    superlevel("tell", "box", "sheet.csv")
    superlevel("export", "box", "--out", "labels.csv")
    assert "steel" in (tmp_path / "labels.csv").read_text()
    superlevel("verify", "box", "--labels", "labels.csv")
    superlevel("report", "box")
    assert "2, copper" in (tmp_path / "box.html").read_text()
