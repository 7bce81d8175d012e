"""The suite that ships with the package: outsiders can run it, and storages that break a promise fail it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import superlevel.testing
from superlevel.study.storage import Entry, Memory, Moved, Note, Storage
from superlevel.testing.storages import StorageContract


def run_pytest(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run pytest in this folder, with the packages of this process and none of its settings."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment["PYTHONUTF8"] = "1"
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8", cwd=folder, env=environment)


def test_the_example_of_the_package_is_a_whole_test(tmp_path: Path) -> None:
    assert superlevel.testing.__doc__ is not None
    example = textwrap.dedent(superlevel.testing.__doc__.partition(":\n\n")[2])
    assert len([line for line in example.splitlines() if line]) == 5
    (tmp_path / "test_mine.py").write_text(example)
    ran = run_pytest("-k", "turn or any_order", folder=tmp_path)  # the others run in test_sql.py
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) >= 15


def test_a_failure_in_the_suite_shows_the_values(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from tests.study.storage.test_contract import Reversed\n"
        "from superlevel.testing.storages import StorageContract\n"
        "class TestReversed(StorageContract):\n"
        "    def make(self, folder): return Reversed()\n"
    )
    ran = run_pytest("-k", "names_are_sorted", folder=tmp_path)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout
    assert "At index 0 diff" in ran.stdout


def test_a_scan_of_the_source_finds_no_test_of_the_suite(tmp_path: Path) -> None:
    ran = run_pytest(
        "--collect-only", "--doctest-modules", str(Path(superlevel.testing.__file__).parent), folder=tmp_path
    )
    assert ran.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, ran.stdout


# --- storages that break a promise


class Reversed(Memory):
    def names(self) -> list[str]:
        return super().names()[::-1]


class Overwriting(Memory):
    def create(self, name: str, first: Entry) -> None:
        self._studies.pop(name, None)
        super().create(name, first)


class Short(Memory):
    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        return super().read(name, after=after, head=head)[:2]


class Exposed(Memory):
    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        return super().read(name, after=after, head=head) if after else self._study(name).entries


class Generous(Memory):
    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        assert worker
        return super().claim(name, count, worker="everybody", now=now, until=until)


class Stealing(Memory):
    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        return super().claim(name, count, worker=worker, now=now + 1e9, until=until)


class Forgetful(Memory):
    def note(self, name: str, note: Note, *, head: str | None = None) -> None:
        self._study(name).note = None
        super().note(name, note, head=head)


class Halfway(Memory):
    """Stores the first part of a turn that fails."""

    @contextmanager
    def turn(self, name: str, *, after: int, head: str | None = None) -> Iterator[Any]:
        failed = None
        with super().turn(name, after=after, head=head) as turn:
            try:
                yield turn
            except Moved as moved:
                failed = moved
        if failed is not None:
            raise failed


class Careless(Memory):
    """Takes an entry with any number."""

    @contextmanager
    def turn(self, name: str, *, after: int, head: str | None = None) -> Iterator[Any]:
        with super().turn(name, after=after, head=head) as turn:
            original = turn.append

            def append(entry: Entry, **tickets: Any) -> None:
                turn.length = entry.seq - 1
                original(entry, **tickets)

            turn.append = append  # type: ignore[method-assign]
            yield turn


class Trusting(Memory):
    """Takes every log for the one that was read."""

    def _study(self, name: str, seq: int = 0, head: str | None = None) -> Any:  # noqa: ARG002
        return super()._study(name)


class InMemory(StorageContract):
    def make(self, _: Path, /) -> Storage:
        return Memory()


Check = Callable[[StorageContract, Storage], None]


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (Reversed, StorageContract.test_names_are_sorted_and_told_apart_by_case),
        (Overwriting, StorageContract.test_a_taken_name_is_refused_and_its_log_stays),
        (Short, StorageContract.test_entries_come_back_as_they_were_given),
        (Short, StorageContract.test_reading_goes_on_where_one_left_off),
        (Exposed, StorageContract.test_what_was_read_is_not_the_log_itself),
        (Generous, StorageContract.test_threads_never_hold_the_same_ticket),
        (Stealing, StorageContract.test_a_lease_ends_after_its_time_and_not_at_it),
        (Forgetful, StorageContract.test_a_note_from_fewer_entries_does_not_replace_one_from_more),
        (Halfway, StorageContract.test_a_turn_that_fails_leaves_nothing),
        (Trusting, StorageContract.test_whoever_knows_another_log_gets_nothing_and_changes_nothing),
        (Trusting, StorageContract.test_whoever_has_read_more_than_there_is_gets_nothing_and_changes_nothing),
        (Careless, lambda suite, storage: suite.test_a_turn_takes_the_next_entry_only(storage, 4)),
    ],
)
def test_a_storage_that_breaks_a_promise_fails_the_suite(broken: type[Memory], test: Check) -> None:
    suite = InMemory()
    test(suite, Memory())
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test(suite, broken())
