"""`superlevel study correct`, `withdraw` and `close`: what was wrong, what does not count, and the end."""

from __future__ import annotations

import pytest

from superlevel.study import Study
from tests.cli.study.terminal import Terminal

URL = "sqlite:///superlevel.db"


@pytest.fixture
def measured(terminal: Terminal) -> Terminal:
    return terminal.measured()


def test_a_wrong_value_is_replaced_and_the_log_keeps_both(measured: Terminal) -> None:
    before = float(Study.open(URL, "harbour").ledger.value[2])
    shown = measured.study("correct", "harbour", 3, "-17.5", "--noise", "0.5", "--reason", "minus sign forgotten")
    assert "ticket 3 has the value -17.5 now (entry 4 of the log)" in shown
    assert "undecided" in shown
    ledger = Study.open(URL, "harbour").ledger
    assert (ledger.value[2], ledger.noise[2], ledger.reasons[3]) == (-17.5, 0.5, "minus sign forgotten")
    measured.study("export", "harbour", "--out", "log.jsonl", "--what", "log")
    assert repr(before) in (measured.folder / "log.jsonl").read_text()
    assert measured.data("study", "status", "harbour")["fresh"]


def test_withdrawn_measurements_do_not_count(measured: Terminal) -> None:
    assert "2 tickets withdrawn (entry 4 of the log)" in measured.study(
        "withdraw", "harbour", 3, 4, "--reason", "broken"
    )
    status = measured.data("study", "status", "harbour")
    assert (status["measurements"], status["withdrawn"]) == (8, 2)
    assert status["fresh"]


def test_a_closed_study_keeps_its_labels_and_suggests_nothing(measured: Terminal) -> None:
    before = measured.data("study", "status", "harbour")
    shown = measured.study("close", "harbour", "--reason", "winter")
    assert "closed study 'harbour' (entry 4 of the log)" in shown
    assert "superlevel study report harbour" in shown
    after = measured.data("study", "status", "harbour")
    assert after["closed"]
    assert [after[key] for key in ("above", "below")] == [before[key] for key in ("above", "below")]
    assert measured.data("study", "suggest", "harbour")["stop"] == "the study is closed"
    assert measured.data("study", "list")["studies"][0]["closed"]
    ran = measured("study", "close", "harbour")
    assert ran.code == 2
    assert "closed already" in ran.err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("correct", "harbour", 99, "3.5", "--reason", "x"), "TICKET is 99: there are tickets 1 to 10"),
        (("correct", "harbour", 1, "3,5", "--reason", "x"), "VALUE is '3,5': write 3.5 with a decimal point"),
        (("correct", "harbour", 1, "-3,5", "--reason", "x"), "VALUE is '-3,5': write -3.5 with a decimal point"),
        (("correct", "harbour", 1, "nan", "--reason", "x"), "VALUE is nan: give a finite number"),
        (("correct", "harbour", 1, "-inf", "--reason", "x"), "VALUE is -inf: give a finite number"),
        (("correct", "harbour", 1, "1_0", "--reason", "x"), "VALUE is '1_0': give a number with a decimal point"),
        (("correct", "harbour", 1, "1", "--noise", "-1", "--reason", "x"), "noise is -1.0: give a number >= 0"),
        (("correct", "harbour", 1, "3.5"), "--reason"),
        (("withdraw", "harbour", 0, "--reason", "x"), "TICKET is 0: there are tickets 1 to 10"),
        (("withdraw", "harbour", "--reason", "x"), "TICKET"),
        (("withdraw", "harbour", 1), "--reason"),
    ],
)
def test_nonsense_is_refused_and_nothing_is_stored(
    measured: Terminal, command: tuple[object, ...], sentence: str
) -> None:
    before = measured.entries()
    ran = measured("study", *command)
    assert ran.code == 2
    assert sentence in ran.err
    assert measured.entries() == before


def test_what_is_withdrawn_can_be_neither_corrected_nor_withdrawn_again(measured: Terminal) -> None:
    measured.study("withdraw", "harbour", 1, "--reason", "broken")
    assert "which is withdrawn" in measured("study", "correct", "harbour", 1, "3", "--reason", "x").err
    assert "withdrawn already" in measured("study", "withdraw", "harbour", 1, "--reason", "x").err
