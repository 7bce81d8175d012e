"""The storage in memory keeps the contract, and nothing else."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from superlevel.study.storage import Memory, Storage, open_storage
from superlevel.testing.logs import study
from superlevel.testing.model import COMMANDS, Command, compare_with_model
from superlevel.testing.storages import StorageContract


class TestMemory(StorageContract):
    def make(self, _: Path, /) -> Storage:
        return Memory()


def test_every_storage_in_memory_is_a_new_one() -> None:
    one, other = open_storage("memory:"), open_storage("memory:")
    study(one)
    assert one.names() == ["sea"]
    assert other.names() == []
    assert one.url == "memory:"


@given(st.lists(COMMANDS, max_size=40))
def test_long_orders_of_calls_do_what_plain_lists_and_dictionaries_do(commands: list[Command]) -> None:
    compare_with_model(Memory(), commands)
