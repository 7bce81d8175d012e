"""No output replaces a store, a sheet with values in it, or anything that superlevel did not write, without --force."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from superlevel import outputs
from superlevel.errors import InputError
from superlevel.files import file_name, replacing, whole
from superlevel.outputs import Found
from superlevel.reproduce import outcome as figures
from superlevel.study import Study, backup
from tests.cli.study.terminal import GIVEN, Terminal, fill, read, terminal, write  # noqa: F401

HEADER = "ticket,east,north,value,noise,status,reason,study\n"
EXPORTED = "ticket,east,north,value,noise,fate,late,reason,told\n"


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    return path


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, Found.NOTHING),
        ("", Found.NOTHING),
        ("mine", Found.OTHER),
        ("\0\1\2", Found.OTHER),
        ("east,north\n0,0\n", Found.OTHER),
        ("<!DOCTYPE html>\n<p>mine, about superlevel", Found.OTHER),
        ('{"seq": 1}', Found.OTHER),
        (HEADER, Found.OURS),
        (HEADER + "1,0,0,,,,,sea\n2,0,1,,,,,sea\n", Found.OURS),
        (HEADER + "1,0,0,,,,,sea\n2,0,1,3.5,,,,sea\n", Found.FILLED),
        (HEADER + "1,0,0,,,failed,,sea\n", Found.FILLED),
        (HEADER + "1,0,0,,,,ice,sea\n", Found.FILLED),
        ("ticket,value,remark\n1,,tide\n", Found.OTHER),
        ("\ufeff" + HEADER.upper() + "1,0,0,3,,,,\n", Found.FILLED),
        ('"ticket","a ""b"", c",value,noise,status,reason,study\n1,0,,,,,\n', Found.OURS),
        (EXPORTED + "1,0,0,3.5,,measured,,,2\n2,0,1,,,open,,,\n", Found.OURS),
        (EXPORTED + "1,0,0,3.5,,measured,,,2\n2,0,1,3.7,,open,,,\n", Found.FILLED),
        ("east,label,measurements,average,mean,lower,upper\n", Found.OURS),
        ("east,label,measurements,average,mean,lower,upper,likelier,probability above 20\n", Found.OURS),
        ("east,label,measurements,average,mean,lower,upper,my remark\n", Found.OTHER),
    ],
)
def test_what_is_there_is_known_by_its_content(tmp_path: Path, content: str | None, found: Found) -> None:
    path = tmp_path / "x.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert outputs.look(path) is found


@pytest.mark.parametrize("name", ["x.db", "x.csv", "x.png", "x.html", "x.csv-wal", "x.csv-shm", "x.csv-journal"])
def test_a_database_and_what_belongs_to_it_is_never_replaced(tmp_path: Path, name: str) -> None:
    kept = database(tmp_path / (name.partition("-")[0]))
    before = kept.read_bytes()
    refused = pytest.raises(InputError, match="which is a database or belongs to one: name another file")
    with refused, replacing("--out", tmp_path / name, force=True) as new:
        new.write_text("new")
    with refused, replacing("--out", tmp_path / name) as new:
        new.write_text("new")
    with refused, whole(tmp_path / name) as new:
        new.write_text("new")
    assert kept.read_bytes() == before
    assert list(tmp_path.iterdir()) == [kept]


def test_a_file_that_came_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    with pytest.raises(InputError, match="was not written by superlevel"), replacing("--out", path) as beside:
        assert beside.write_text("new") + path.write_text("mine")
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_a_file_keeps_its_rights_and_they_are_never_wider(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("mine")
    path.chmod(mode)
    with replacing("--out", path, force=True) as beside:
        beside.write_text("new")
        assert beside.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with replacing("--out", tmp_path / "labels.csv") as beside:
            beside.write_text("new")
    finally:
        os.umask(before)
    assert (tmp_path / "labels.csv").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path, there: bool) -> None:
    (tmp_path / "here").mkdir()
    target, link = tmp_path / "labels.csv", tmp_path / "here" / "labels.csv"
    if there:
        target.write_text(HEADER)
    link.symlink_to(target)
    for force in (False, True):
        with (
            pytest.raises(InputError, match=r"which is a link to .*: name that file itself"),
            replacing("--out", link, force=force) as beside,
        ):
            beside.write_text("new")
    assert target.exists() == there
    (tmp_path / "also").symlink_to(tmp_path / "here")  # a folder may be a link
    with replacing("--out", tmp_path / "also" / "new.csv") as beside:
        beside.write_text("new")
    assert (tmp_path / "here" / "new.csv").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("force", [False, True])
def test_a_pipe_or_a_device_is_neither_read_nor_replaced(tmp_path: Path, force: bool) -> None:
    """To read a pipe would wait for ever, and whoever may replace /dev/null would break the machine."""
    os.mkfifo(tmp_path / "pipe.csv")
    with (
        pytest.raises(InputError, match="it is a device or a pipe"),
        replacing("--out", tmp_path / "pipe.csv", force=force),
    ):
        pass
    with pytest.raises(InputError, match="which is a device or a pipe"):
        backup(f"sqlite:///{tmp_path / 'a.db'}", tmp_path / "pipe.csv", force=force)
    assert (tmp_path / "pipe.csv").is_fifo()


def test_every_study_has_a_file_of_its_own() -> None:
    names = ["a/b", "a-b", "a b", "a//b", "a:b", "-a-b", "a-b-", "a-b.", "../a-b", "", "study", "..", "/", "x" * 300]
    names += ["x" * 301, "x" * 100, "ç", "a\nb", *(file_name(name) for name in names)]
    made = [file_name(name) for name in dict.fromkeys(names)]
    assert len(set(made)) == len(made)
    assert (file_name("harbour"), file_name("a-b"), file_name("ç.1")) == ("harbour", "a-b", "ç.1")
    assert file_name("a/b").startswith("a-b-")
    for name in made:
        assert len(name) < 120
        assert not set(name) & set("/\\:\0 \n")


def test_a_name_that_no_file_can_have_is_a_sentence(terminal: Terminal) -> None:  # noqa: F811
    terminal.measured()
    ran = terminal("study", "export", "harbour", "--out", f"{'x' * 300}.csv")
    assert ran.code == 2
    assert "it cannot be written (File name too long)" in ran.err


# --- every command


VERBS: dict[str, tuple[object, ...]] = {
    "labels.csv": ("study", "export", "harbour", "--out"),
    "stopping.csv": ("study", "export", "harbour", "--what", "stopping", "--out"),
    "all.csv": ("study", "export", "harbour", "--what", "measurements", "--out"),
    "log.jsonl": ("study", "export", "harbour", "--what", "log", "--out"),
    "map.png": ("study", "plot", "harbour", "--out"),
    "map.pdf": ("study", "plot", "harbour", "--out"),
    "map.svg": ("study", "plot", "harbour", "--out"),
    "page.html": ("study", "report", "harbour", "--out"),
    "claim.json": ("study", "certificate", "harbour", "--out"),
    "next.csv": ("study", "suggest", "harbour", "--csv"),
    "audit.csv": ("study", "audit", "harbour", "--size", 3, "--csv"),
    "plan.csv": ("plan", "guess.csv", "--guess", "f", "--threshold", 2.5, "--noise", 0.5, "--norm", 5, "--out"),
    "plan.png": ("plan", "guess.csv", "--guess", "f", "--threshold", 2.5, "--noise", 0.5, "--norm", "5,9", "--picture"),
    "hills.png": ("demo", "--measurements", 30, "--store", "sqlite:///hills.db", "--out"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("map.pdf", "map.svg"))) for name in VERBS]
)
def test_an_output_is_written_again_and_nothing_else_is_lost(
    terminal: Terminal,  # noqa: F811
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, out = VERBS[name], terminal.folder / name
    terminal.measured()
    (terminal.folder / "guess.csv").write_text("x,f\n1,1\n2,2\n3,3\n4,4\n")
    monkeypatch.setattr("superlevel.demo.run", lambda *_, **__: pytest.fail("this takes minutes"))
    quick = command[0] != "demo"
    for _ in range(2 * quick):
        ran = terminal(*command, name)
        assert ran.code == 0, ran.err
    store = (terminal.folder / "superlevel.db").read_bytes()
    filled = HEADER + "1,0,0,3.5,,,,harbour\n"
    for content, words in (("mine", "was not written by superlevel"), (filled, "has results in it")):
        out.write_text(content)
        ran = terminal(*command, name)
        assert ran.code == 2
        assert words in ran.err
        assert "--force" in ran.err
        assert out.read_text() == content
    out.write_bytes(database(terminal.folder / "other.db").read_bytes())
    for force in ((), ("--force",)):
        ran = terminal(*command, name, *force)
        assert ran.code == 2
        assert "which is a database or belongs to one: name another file" in ran.err
    assert outputs.look(out) is Found.STORE
    assert (terminal.folder / "superlevel.db").read_bytes() == store  # nothing was asked for, and nothing else written
    if quick:
        out.write_text("mine")
        ran = terminal(*command, name, "--force")
        assert ran.code == 0, ran.err
        assert outputs.look(out) is Found.OURS


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("name", ["superlevel.db", "./superlevel.db", "superlevel.db-wal", "link.db"])
def test_a_study_is_not_exported_over_its_own_store(
    terminal: Terminal,  # noqa: F811
    name: str,
    force: tuple[str, ...],
) -> None:
    terminal.measured()
    (terminal.folder / "link.db").symlink_to("superlevel.db")
    before = (terminal.folder / "superlevel.db").read_bytes()
    ran = terminal("study", "export", "harbour", "--out", name, *force)
    assert ran.code == 2
    assert f"--out is '{Path(name)}', which is a database or belongs to one" in ran.err
    assert (terminal.folder / "superlevel.db").read_bytes() == before
    assert Study.open("sqlite:///superlevel.db", "harbour").ledger.samples == 10


def test_the_points_of_a_study_are_not_lost(terminal: Terminal) -> None:  # noqa: F811
    terminal.measured()
    before = (terminal.folder / "points.csv").read_bytes()
    assert terminal("study", "export", "harbour", "--out", "points.csv").code == 2
    assert (terminal.folder / "points.csv").read_bytes() == before


def test_a_figure_of_the_paper_replaces_its_own_files_only(tmp_path: Path) -> None:
    def drawn() -> Figure:
        return Figure()

    outcome = figures.Outcome(tables={"": [{"x": 1, "y": 2}]}, pictures={"": drawn}, claims=[], shown=[])
    for _ in range(2):
        paths = figures.write(tmp_path, "gp", outcome, {"figure": "gp"})
    before = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.write_text("mine")
        with pytest.raises(InputError, match="was not written by superlevel"):
            figures.write(tmp_path, "gp", outcome, {"figure": "gp"})
        assert path.read_text() == "mine"
        figures.write(tmp_path, "gp", outcome, {"figure": "gp"}, force=True)
    assert {path: path.read_bytes() for path in paths} == before


# --- formulas


DANGEROUS = [
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "+1+cmd",
    "-1+cmd",
    "'=x",
    "''@x",
    "-",
    "\uff1dx",
    "=1,2;\n=3",
    "-3.5",
]


@pytest.mark.parametrize(
    "reason", [*DANGEROUS[:2], DANGEROUS[4], *(pytest.param(each, marks=pytest.mark.slow) for each in DANGEROUS)]
)
def test_no_exported_cell_is_a_formula_and_it_is_read_as_it_was(terminal: Terminal, reason: str) -> None:  # noqa: F811
    """Reasons, names of studies and names of coordinates are texts that somebody else may have chosen."""
    (terminal.folder / "points.csv").write_text("east,'@north\n0,0\n1,1\n0,1\n")
    name = "=sea"
    for each in (name, "other"):
        terminal.study("create", "--points", "points.csv", *GIVEN, "--", each)
    study = Study.open("sqlite:///superlevel.db", name)
    assert study.ledger.created.names == ["east", "@north"]
    terminal.study("suggest", "-n", 3, "--csv", "sheet.csv", "--", name)
    rows = read(terminal.folder / "sheet.csv")
    for row, value in zip(rows, ("20.5", "20.7", ""), strict=True):
        row.update(value=value, reason="" if not value else f"'{reason}", status="" if value else "failed")
    write(terminal.folder / "sheet.csv", rows)
    terminal.study("tell", "--", name, "sheet.csv")
    terminal.study("export", "--out", "all.csv", "--what", "measurements", "--", name)
    terminal.study("export", "--out", "labels.csv", "--", name)
    for file in ("sheet.csv", "all.csv", "labels.csv"):
        for row in read(terminal.folder / file):
            for cell in (*row, *row.values()):
                assert cell[:1] not in "=+-@\t\r\uff1d\uff0b\uff0d\uff20" or not cell or is_number(cell)
    known = Study.open("sqlite:///superlevel.db", name).ledger
    terminal.study("verify", "--labels", "labels.csv", "--", name)
    terminal.study("tell", "--exported", "--", "other", "all.csv")
    other = Study.open("sqlite:///superlevel.db", "other").ledger
    assert sorted(other.value.tolist()) == [20.5, 20.7]
    assert set(other.reasons.values()) == {reason for reason in known.reasons.values() if reason}


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_a_sheet_that_is_told_is_replaced_by_suggest_only(terminal: Terminal) -> None:  # noqa: F811
    terminal.measured()
    ran = terminal("study", "export", "harbour", "--out", "sheet.csv")
    assert (ran.code, "has results in it" in ran.err) == (2, True)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    assert terminal("study", "suggest", "harbour", "--csv", "sheet.csv").code == 2
    assert terminal("study", "audit", "harbour", "--size", 3, "--csv", "sheet.csv").code == 2
