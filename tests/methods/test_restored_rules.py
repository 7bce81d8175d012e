"""Rules that a log names are loaded, and nothing else that it names is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from superlevel.errors import InputError
from superlevel.methods.make import describe_rule, restore_rule
from superlevel.rules.design import WorstCase


def test_a_rule_comes_back_as_it_was_described() -> None:
    rule = WorstCase(rtol=0.02)
    assert restore_rule(describe_rule(rule)) == rule
    assert restore_rule(describe_rule("greedy")) == "greedy"


@pytest.mark.parametrize(
    ("named", "parameters"),
    [
        ("os:mkdir", {"path": "made"}),
        ("pathlib:Path.mkdir", {"self": Path("made")}),
        ("builtins:open", {"file": "made", "mode": "w"}),
        ("collections:OrderedDict", {}),
    ],
)
def test_what_is_no_rule_is_refused_before_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, parameters: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"not a class that derives from superlevel\.rules\.Rule"):
        restore_rule({"name": named, **parameters})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("named", ["nowhere.at.all:Rule", "superlevel.rules.design:Nothing"])
def test_a_rule_that_is_not_there_is_one_sentence(named: str) -> None:
    with pytest.raises(InputError, match="this study's rule cannot be loaded"):
        restore_rule({"name": named})
