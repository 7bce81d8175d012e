"""`superlevel study status` and `list`: how things stand, at once and from the log."""

from __future__ import annotations

import numpy as np
import pytest

from superlevel.study import Result, Study
from tests.cli.study.terminal import GIVEN, Terminal, start, tampered

URL = "sqlite:///superlevel.db"


def test_labels_of_an_earlier_moment_are_called_that_and_fresh_computes_them(terminal: Terminal) -> None:
    terminal.measured()
    before = terminal.data("study", "status", "harbour")
    study = Study.open(URL, "harbour")  # another program, which keeps no note
    study.tell([Result(point=point, value=30.0) for point in (0, 1, 2)])
    stale = terminal.data("study", "status", "harbour")
    assert not stale["fresh"]
    assert stale["results_since"] == 3
    assert stale["measurements"] == 13
    assert stale["above"] == before["above"]
    shown = terminal.study("status", "harbour")
    assert "as of entry 3: 3 results since then are not in these counts; --fresh includes them" in shown
    fresh = terminal.data("study", "status", "harbour", "--fresh")
    assert fresh["fresh"]
    assert fresh["results_since"] == 0
    assert fresh["above"] == int(np.count_nonzero(study.labels == 1))
    assert terminal.data("study", "status", "harbour") == fresh  # it was kept
    assert "as of entry" not in terminal.study("status", "harbour")


def test_it_says_what_was_measured_and_what_to_do_next(terminal: Terminal) -> None:
    terminal.measured(0)
    assert "next: suggest the next batch" in terminal.study("status", "harbour")
    terminal.study("suggest", "harbour")
    shown = terminal.study("status", "harbour")
    assert "harbour: which of 36 points are above 20" in shown
    assert "10 (10 reserved)" in shown
    assert "next: tell the results of 10 open tickets" in shown
    terminal.study("withdraw", "harbour", 1, 2, "--reason", "no time")
    assert "0 in 1 plan, 2 withdrawn" in terminal.study("status", "harbour")


@pytest.mark.parametrize("verb", ["status", "list"])
def test_a_look_at_a_study_needs_neither_scipy_nor_scikit_learn(terminal: Terminal, verb: str) -> None:
    terminal.measured()
    process = start("study", verb, *(["harbour"] if verb == "status" else []))
    shown, imported = process.communicate(timeout=60)
    assert "harbour" in shown
    assert "'sqlalchemy'" in imported
    assert not any(f"'{slow}'" in imported for slow in ("scipy", "sklearn", "matplotlib", "pandas", "alembic"))


def test_every_study_of_a_store_is_listed(terminal: Terminal) -> None:
    terminal.measured(0)
    terminal.created("sea", "--fraction-of-max", 0.1)
    terminal.batch()
    terminal.study("suggest", "harbour")
    found = terminal.data("study", "list")
    assert found["store"] == URL
    first, second = found["studies"]
    assert (first["name"], first["question"], first["points"]) == ("harbour", "above 20", 36)
    assert (first["measurements"], first["open"], first["entries"], first["closed"]) == (10, 10, 4, False)
    assert (second["name"], second["question"]) == ("sea", "within 10 % of the maximum")
    shown = terminal.study("list")
    assert "harbour" in shown
    assert "within 10 % of the maximum" in shown


def test_a_damaged_study_hides_no_other(terminal: Terminal) -> None:
    terminal.measured(0)
    terminal.created("sea", *GIVEN)
    tampered(terminal.folder / "superlevel.db", "created", lambda payload: payload.replace("0.3", "0.4"))
    shown = terminal.study("list")
    assert "damaged" in shown
    assert "superlevel doctor" in shown
    found = {item["name"]: item for item in terminal.data("study", "list")["studies"]}
    assert set(found) == {"harbour", "sea"}
    assert sum("error" in item for item in found.values()) == 1


def test_a_store_that_is_not_there_is_a_sentence_and_is_not_made(terminal: Terminal) -> None:
    for command in (("study", "list"), ("study", "status", "harbour"), ("study", "verify", "harbour")):
        ran = terminal(*command, "--store", "sqlite:///none.db")
        assert ran.code == 2
        assert "where nothing is stored yet" in ran.err
        assert ran.out == ""
    assert not list(terminal.folder.iterdir())


def test_a_study_that_is_not_there_is_a_sentence_with_those_that_are(terminal: Terminal) -> None:
    terminal.measured(0)
    ran = terminal("study", "status", "harbor")
    assert ran.code == 2
    assert "NAME is 'harbor': give the name of a study that is there: 'harbour'" in ran.err


def test_a_damaged_log_is_exit_code_3(terminal: Terminal) -> None:
    terminal.measured()
    tampered(terminal.folder / "superlevel.db", "told", lambda payload: payload.replace('"values":[', '"values":[9', 1))
    ran = terminal("study", "status", "harbour")
    assert ran.code == 3
    assert "entry 3 is not as it was written" in ran.err
    assert terminal.data("study", "status", "harbour", code=3)["error"].startswith("entry 3 is not")


def test_a_file_that_is_no_store_is_exit_code_3(terminal: Terminal) -> None:
    (terminal.folder / "superlevel.db").write_text("nothing of the kind" * 100)
    ran = terminal("study", "list")
    assert ran.code == 3
    assert "is not a SQLite database" in ran.err


def test_it_says_how_many_labels_are_expected_to_be_wrong_now_and_later(terminal: Terminal) -> None:
    terminal.measured()
    shown = terminal.study("status", "harbour")
    assert "expected wrong" in shown
    assert "until 1 % wrong" in shown
    found = terminal.data("study", "status", "harbour")["outlook"]
    assert [each["more"] for each in found["expected"]] == [0, 50, 100]
    study = Study.open(URL, "harbour")
    table = study.to_frame()["probability above 20"]
    assert found["expected"][0]["wrong"] == pytest.approx(float(np.minimum(table, 1 - table).sum()))
    for each in found["expected"]:
        assert 0 <= each["low"] <= each["wrong"] <= each["high"] <= 36
    terminal.study("plot", "harbour")
    assert (terminal.folder / "harbour.png").stat().st_size > 1000
    terminal.study("report", "harbour", "--unit", "m")
    page = (terminal.folder / "harbour.html").read_text(encoding="utf-8")
    for line in ("Result", "How sure", "Cost so far", "What is left", "What to do next"):
        assert f"<dt>{line}</dt><dd>" in page
    assert "10 measurements at 10 points." in page


def test_a_confidence_without_a_model_makes_no_forecast(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN, "--norm", 3)
    terminal.batch()
    assert terminal.data("study", "status", "harbour")["outlook"] is None
    assert "expected wrong" not in terminal.study("status", "harbour")
