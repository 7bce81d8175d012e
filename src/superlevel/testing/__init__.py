"""Test suites for those who write a part of superlevel themselves. They need `pip install 'superlevel[testing]'`.

A test class inherits a suite and says how to make what is tested. Here is the whole test of a storage:

    from superlevel.study.storage import open_storage
    from superlevel.testing.storages import StorageContract

    class TestSqlite(StorageContract):
        def make(self, folder):
            return open_storage(f"sqlite:///{folder}/store.db")
"""

from __future__ import annotations

import pytest

# Without this a failed assertion would not show the values that it compared.
MODULES = ("confidences", "goals", "logs", "model", "rules", "storages")
pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in MODULES))
