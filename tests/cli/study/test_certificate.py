"""`superlevel study certificate` writes a file that the second verifier accepts."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.cli.study.terminal import Terminal


def test_a_stranger_checks_what_the_command_wrote(terminal: Terminal) -> None:
    terminal.measured()
    ran = terminal("study", "certificate", "harbour", "--out", "claim.json", "--verifier", "check.py")
    assert ran.code == 0, ran.err
    assert "wrote the certificate to claim.json" in ran.out
    assert "proved: " in ran.out
    document = json.loads((terminal.folder / "claim.json").read_text())
    for head, code, word in ((document["head"]["digest"], 0, "proved: "), ("0" * 32, 1, "not proved: ")):
        checked = subprocess.run(
            [sys.executable, "-I", "check.py", "claim.json", head],
            cwd=terminal.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == code, checked.stderr
        assert checked.stdout.startswith(word)


def test_a_study_that_proves_nothing_is_told_what_would(terminal: Terminal) -> None:
    terminal.created()
    ran = terminal("study", "certificate", "harbour")
    assert ran.code == 2
    assert "proves nothing yet" in ran.err
    assert not (terminal.folder / "harbour-certificate.json").exists()
