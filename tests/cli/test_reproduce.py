"""`superlevel reproduce`, as a person uses it: run, killed, run again, and given nonsense."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from superlevel.cli import app
from superlevel.cli.reproduce import as_table
from superlevel.errors import InputError, SuperlevelError
from superlevel.reproduce.names import NAMES

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every process they start.
AWAKE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{AWAKE}; from superlevel.cli import main; main()", "reproduce"]


def reproduce(*arguments: object) -> str:
    """What is printed, on a wide screen."""
    ran = CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env={"COLUMNS": "160"}, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_a_quick_figure_writes_everything_and_judges_its_claims(tmp_path: Path) -> None:
    shown = reproduce("gp", "--quick", "--reps", 1, "--jobs", 1, "--out", tmp_path)
    for phrase in ("MELK performs very similarly to TruVar.", "undecided", "quick:", "All 1 settings of gp"):
        assert phrase in shown
    folder = tmp_path / "quick"
    names = {path.name for path in (folder / "gp").iterdir()}
    assert names >= {"rows.jsonl", "gp.csv", "gp.png", "gp.pdf", "gp-all.png", "gp-all.pdf", "claims.json"}
    assert (folder / "summary.csv").read_text().startswith("figure,setting,method,runs,area,standard_error,rank,")
    with Image.open(folder / "gp" / "gp-all.png") as image:
        assert image.width > 600
    claims = json.loads((folder / "gp" / "claims.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims} == {"undecided"}
    again = reproduce("gp", "--quick", "--reps", 1, "--jobs", 1, "--out", tmp_path)
    assert "gp: 9 of 9 rows were there already" in again


def test_the_linear_figure_prints_the_claim_in_every_reading(tmp_path: Path) -> None:
    shown = reproduce("linear-explicit", "--quick", "--reps", 1, "--jobs", 1, "--out", tmp_path)
    folder = tmp_path / "quick" / "linear-explicit"
    with (folder / "linear-explicit-readings.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len({line["reading"] for line in lines}) == 4
    assert all(shown.count(line["reading"]) == 2 for line in lines)  # a line for each of the two methods
    assert "wrong labels" in shown
    with Image.open(folder / "linear-explicit-readings.png") as image:
        assert image.width > 600


def test_allocations_print_every_round_and_the_total_beside_the_uniform_design(tmp_path: Path) -> None:
    shown = reproduce("allocations", "--quick", "--reps", 1, "--jobs", 1, "--out", tmp_path)
    lines = [line for line in shown.splitlines() if line.startswith("│")]
    assert any(line.split("│")[1].strip() == "total" for line in lines)
    assert "tv sum" in shown
    assert "tv uniform" in shown
    with (tmp_path / "quick" / "allocations" / "rows.jsonl").open() as file:
        seen = json.loads(file.readline())["values"]
    total = next(line for line in lines if line.split("│")[1].strip() == "total")
    assert f"{seen['tv_sum'][-1]:.3f}" in total
    assert f"{seen['tv_uniform']:.3f}" in shown


def started(out: Path, jobs: int = 1) -> subprocess.Popen[bytes]:
    arguments = ["cosine", "--quick", "--reps", "1", "--jobs", str(jobs), "--out", str(out)]
    return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def rows(out: Path) -> bytes:
    path = out / "quick" / "cosine" / "rows.jsonl"
    return path.read_bytes() if path.exists() else b""


def wait_for(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(2400):
        if rows(out).count(b"\n") >= count:
            return
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.025)
    pytest.fail("no rows within a minute")


def test_killed_and_started_again_no_row_is_lost_or_doubled(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for count in (2, 5):
        process = started(killed)
        wait_for(killed, count, process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert not (killed / "quick" / "cosine" / "cosine.csv").exists()
    before = rows(killed)
    assert before.count(b"\n") >= 5
    for out in (killed, whole):
        process = started(out)
        process.communicate(timeout=120)
        assert process.returncode == 0
    after = rows(killed)
    assert after.startswith(before[: before.rfind(b"\n") + 1])
    keys = [(row["setting"], row["method"], row["seed"]) for row in map(json.loads, after.splitlines())]
    assert len(keys) == len(set(keys)) == 9
    assert (killed / "quick" / "cosine" / "cosine.csv").read_bytes() == (
        whole / "quick" / "cosine" / "cosine.csv"
    ).read_bytes()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_how_to_go_on(tmp_path: Path, sent: signal.Signals) -> None:
    process = started(tmp_path)
    wait_for(tmp_path, 1, process)
    process.send_signal(sent)
    shown, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command goes on from there" in shown


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_killed_it_leaves_no_process_behind(tmp_path: Path) -> None:
    process = started(tmp_path, jobs=2)
    wait_for(tmp_path, 1, process)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    for _ in range(400):
        left = [pid for pid in workers if alive(pid)]
        if not left:
            break
        time.sleep(0.05)
    assert left == []


def children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def alive(pid: int) -> bool:
    """Whether it is there, and not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_file_where_a_folder_should_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / "gp").touch()
    with pytest.raises(SuperlevelError, match=r"gp cannot be written .*goes on from there"):
        reproduce("gp", "--quick", "--reps", 1, "--jobs", 1, "--out", tmp_path)


def test_a_folder_may_have_any_name_and_a_summary_keeps_what_it_had(tmp_path: Path) -> None:
    out = tmp_path / "é [/x] [bold]"
    shown = reproduce("gp", "--quick", "--reps", 1, "--jobs", 1, "--out", out)
    assert f"under {out / 'quick'}" in shown
    reproduce("cosine", "--quick", "--reps", 1, "--jobs", 1, "--out", out)
    lines = (out / "quick" / "summary.csv").read_text().splitlines()
    assert [sum(line.startswith(f"{name},") for line in lines) for name in ("gp", "cosine")] == [9, 9]
    assert (out / "quick" / "overall.csv").read_text().splitlines()[1].startswith("gp cosine,")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], f"NAME is missing: choose out of {', '.join(NAMES)}, or all"),
        (["gpp"], f"NAME is 'gpp': choose out of {', '.join(NAMES)}, or all"),
        (["gp", "--reps", "0"], "--reps is 0: give a whole number >= 1"),
        (["gp", "--jobs", "0"], "--jobs is 0: give a whole number >= 1"),
        (["gp", "--seed", "-1"], "--seed is -1: give a whole number >= 0"),
        (["gp", "--jobs", "2", "--dask", "tcp://x:1"], "--jobs is 2 together with --dask: leave one out"),
        (["gp", "--out", "{file}/below"], "it cannot be written to"),
        (["gp", "--out", "/proc/nothing"], "it cannot be written to"),
        (["gp", "--quick", "--dask", "tcp://127.0.0.1:9"], "no scheduler answers there within"),
    ],
)
def test_nonsense_is_a_sentence_before_anything_is_computed(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    given = [argument.format(file=file) for argument in arguments]
    if "--out" not in given:
        given += ["--out", str(tmp_path / "out")]
    with pytest.raises(InputError) as caught:
        CliRunner().invoke(app, ["reproduce", *given], catch_exceptions=False)
    assert sentence in str(caught.value)
    assert not list(tmp_path.rglob("rows.jsonl"))


def test_help_lists_what_there_is() -> None:
    ran = CliRunner().invoke(app, ["reproduce", "--help"], env={"COLUMNS": "160"})
    assert all(name in ran.output for name in NAMES)
    assert "Example: superlevel reproduce" in ran.output


def test_names_that_are_the_same_in_every_line_are_not_shown() -> None:
    first = {"figure": "gp", "method": "LSE", "runs": 25, "rank": 1.0, "samples_to_0.9": None}
    second = {"figure": "gp", "method": "MELK", "runs": 25, "rank": 2.5, "samples_to_0.9": 1200}
    table = as_table([first, second], title="T")
    shown = {str(column.header): list(column.cells) for column in table.columns}
    assert shown == {
        "method": ["LSE", "MELK"],
        "runs": ["25", "25"],
        "rank": ["1", "2.500"],
        "samples to 0.9": ["-", "1,200"],
    }
