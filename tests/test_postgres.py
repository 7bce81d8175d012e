"""The PostgreSQL server of the tests starts wherever the project is checked out."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psycopg
import pytest

from tests.postgres import copied, installed, started, usable


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the server as another user")
def test_a_server_starts_if_only_root_may_read_its_programs() -> None:
    with tempfile.TemporaryDirectory() as closed:  # has mode 700
        programs = copied(installed(), Path(closed))
        for path in Path(closed).rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)  # as after an installation with a umask of 077
        assert not usable(programs)
        with started(programs) as server, psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT 1 + 1").fetchone() == (2,)
            with started(server.programs) as another:  # the copy can be run, so there is no second copy
                assert another.programs == server.programs
        assert not server.folder.exists()
