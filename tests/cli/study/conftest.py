from __future__ import annotations

from tests.cli.study.terminal import terminal  # noqa: F401  a fixture for every test here
