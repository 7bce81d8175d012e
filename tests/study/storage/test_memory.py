"""The storage in memory keeps the contract, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.study.storage import Memory, Storage, open_storage
from tests.study.storage.contract import StorageContract, compare_with_model, study
from tests.study.storage.model import COMMANDS


class TestMemory(StorageContract):
    @pytest.fixture
    def storage(self) -> Storage:
        return Memory()


def test_every_storage_in_memory_is_a_new_one() -> None:
    one, other = open_storage("memory:"), open_storage("memory:")
    study(one)
    assert one.names() == ["sea"]
    assert other.names() == []
    assert one.url == "memory:"


@given(st.lists(COMMANDS, max_size=40))
def test_long_orders_of_calls_do_what_plain_lists_and_dictionaries_do(commands: list[Any]) -> None:
    compare_with_model(Memory(), commands)
