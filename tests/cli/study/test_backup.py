"""`superlevel study backup` and `restore`, and commands during which somebody restores a backup."""

from __future__ import annotations

from typing import Any

import pytest

from superlevel.study import Study
from tests.cli.study.terminal import Terminal, fill, read, write
from tests.study.restores import OnSqlite


def test_the_command_line_says_one_sentence_with_the_code_of_a_wrong_input(
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal.measured()
    store = OnSqlite(terminal.folder)
    store.path = terminal.folder / "superlevel.db"
    saved = store.save()
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    tell = Study.tell

    def meanwhile(study: Study, *given: Any, **more: Any) -> Any:
        store.put_back(saved)
        return tell(study, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Study, "tell", meanwhile)
        ran = terminal("study", "tell", "harbour", "sheet.csv")
    assert ran.code == 2
    assert ran.err.startswith("superlevel: study is 'harbour', whose log was restored or replaced after entry 4")
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") == 1
    assert terminal.entries() == 3


def test_a_backup_says_what_it_saved_and_a_restore_what_it_did(terminal: Terminal) -> None:
    terminal.measured()
    shown = terminal.study("backup", "--to", "monday.db")
    assert "saved study 'harbour': 3 entries, 10 measurements, every digest checked, head " in shown
    assert "wrote monday.db; to bring it back: superlevel study restore monday.db" in shown
    assert Study.open("sqlite:///monday.db", "harbour").ledger.head in shown
    assert "study 'harbour' is unchanged: the store has all 3 entries" in terminal.study("restore", "monday.db")

    terminal.batch()
    ran = terminal("study", "restore", "monday.db")
    assert ran.code == 2
    assert ran.err.startswith(
        "superlevel: study is 'harbour', which has 2 entries in the store that the backup does not"
    )
    assert terminal.entries() == 5
    shown = terminal.study("restore", "monday.db", "all", "--force")
    assert "replaced study 'harbour': 3 entries, 10 measurements; dropped 2 that the backup has not" in shown
    assert terminal.entries() == 3

    (terminal.folder / "superlevel.db").unlink()
    assert "restored study 'harbour': 3 entries" in terminal.study("restore", "monday.db", "harbour")
    assert terminal.entries() == 3


def test_results_that_a_restore_dropped_are_told_again_by_their_places(terminal: Terminal) -> None:
    terminal.measured()
    terminal.study("backup", "--to", "monday.db")
    terminal.batch()
    terminal.study("restore", "monday.db", "--force")
    ran = terminal("study", "tell", "harbour", "sheet.csv")
    assert ran.code == 2
    assert "there are tickets 1 to 10, or give the point alone" in ran.err
    rows = [{key: cell for key, cell in row.items() if key != "ticket"} for row in read(terminal.folder / "sheet.csv")]
    write(terminal.folder / "places.csv", rows)
    assert "10 results stored, 10 unplanned" in terminal.study("tell", "harbour", "places.csv")
    assert "10 there already" in terminal.study("tell", "harbour", "places.csv")


def test_backups_and_restores_answer_in_json_and_refuse_in_one_sentence(terminal: Terminal) -> None:
    terminal.measured()
    document = terminal.data("study", "backup", "harbour", "--to", "a.db")
    assert document["file"] == "a.db"
    (study,) = document["studies"]
    assert (study["name"], study["outcome"], study["entries"]) == ("harbour", "saved", 3)
    (study,) = terminal.data("study", "restore", "a.db", "--store", "sqlite:///b.db")["studies"]
    assert (study["outcome"], study["dropped"]) == ("restored", 0)
    for words, said in [
        (("backup", "--to", "a.db"), "--to is"),
        (("backup", "--to", "superlevel.db", "--force"), "which is the store itself"),
        (("backup", "sky", "--to", "c.db"), "NAME is 'sky'"),
        (("restore", "none.db"), "FILE is 'none.db', which is no file"),
        (("restore", "a.db", "sky"), "NAME is 'sky'"),
    ]:
        ran = terminal("study", *words)
        assert ran.code == 2, words
        assert said in ran.err
        assert "Traceback" not in ran.err
    assert not (terminal.folder / "c.db").exists()
    assert terminal.entries() == 3
