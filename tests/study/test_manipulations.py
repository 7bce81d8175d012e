"""Random manipulations of a store, and what finds them: nothing, heads written down elsewhere, or signatures."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from superlevel.errors import SuperlevelError
from superlevel.study.ledger import fold
from superlevel.study.status import kept
from superlevel.study.storage import Storage, open_storage
from superlevel.study.verification import verify
from superlevel.study.witnesses import Witness, witness
from tests.study.manipulations import ALL, NAMES, Campaigns, make, manipulated
from tests.test_docs import ROOT

BY_MEANS = ("nothing", "head", "signature")


class Found(NamedTuple):
    """What came of one manipulation."""

    changed: bool
    """Whether a label, a value or a reason is another one now."""
    caught: dict[str, bool]
    """By the means that the reader has."""
    sentences: str


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Campaigns:
    return make(tmp_path_factory.mktemp("studies"))


def content(storage: Storage, name: str) -> object:
    """Labels, values and reasons as anybody reads them; None where nobody can."""
    try:
        ledger = fold(storage.read(name))
        noted = storage.noted(name)
    except SuperlevelError:
        return None
    cached = None if noted is None else kept(noted)
    return (
        ledger.value.tobytes(),
        ledger.fate.tobytes(),
        ledger.reasons,
        [(item.seq, item.asked.labels) for item in ledger.askings],
        None if cached is None else cached.labels,
    )


def is_changed(before: object, after: object) -> bool:
    """Cached labels that are gone are no other labels: they are computed again."""
    if not isinstance(before, tuple) or not isinstance(after, tuple):
        return True
    return before[:-1] != after[:-1] or after[-1] not in (before[-1], None)


def examined(store: Campaigns, path: Path, name: str) -> Found:
    """One verification says what each means would have found, by which of its checks fail."""
    storage, witnesses = open_storage(f"sqlite:///{path}"), [_witness(store, name)]
    changed = is_changed(content(open_storage(f"sqlite:///{store.path}"), name), content(storage, name))
    try:
        found = verify(name, storage, witnesses=witnesses, key=store.key)
    except SuperlevelError as error:
        return Found(changed, dict.fromkeys(BY_MEANS, True), str(error))
    finally:
        storage.close()
    bad = {check.assumption.split()[0] for check in found.checks if check.verdict.bad}
    alone = bool(bad - {"witness", "signatures"})
    caught = {"nothing": alone, "head": alone or "witness" in bad, "signature": alone or "signatures" in bad}
    return Found(changed, caught, str(found))


def _witness(store: Campaigns, name: str) -> Witness:
    file = store.path.parent / f"{name}.txt"
    file.write_text(store.heads[name])
    return witness(str(file))


def table() -> dict[str, dict[str, str]]:
    """What docs/verification.md says of each manipulation."""
    text = (ROOT / "docs/verification.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) +\| (\S+) +\| (\S+) +\| (\S+) +\|$", text, re.MULTILINE)
    return {row[0]: dict(zip(BY_MEANS, row[1:], strict=True)) for row in rows if row[0] != "manipulation"}


def outcome(found: list[Found], means: str) -> set[str]:
    return {"yes" if each.caught[means] else "no" for each in found}


def possible(word: str) -> set[str]:
    """What a word of the table allows."""
    return {"yes", "no"} if word == "some" else {word}


def tried(store: Campaigns, folder: Path, count: int) -> dict[str, list[Found]]:
    tries: dict[str, list[Found]] = defaultdict(list)
    for k in range(count):
        act = ALL[k % len(ALL)]
        name = manipulated(store, folder / "copy.db", act, np.random.default_rng([18, k]))
        tries[act.__name__.replace("_", " ")].append(examined(store, folder / "copy.db", name))
    return tries


def check(tries: dict[str, list[Found]]) -> None:
    said = table()
    assert set(said) == set(tries)
    for what, found in tries.items():
        for means in BY_MEANS:
            assert outcome(found, means) <= ({said[what][means]} if said[what][means] != "some" else {"yes", "no"}), (
                what
            )
        # Every change of a label, a value or a reason that came before the last head is found with that head.
        for each in found:
            if each.changed and what != "entry added":
                assert each.caught["head"], (what, each.sentences)
            if each.changed:
                assert each.caught["signature"] or what == "last entries dropped", (what, each.sentences)
    assert all("1 entry was added after it" in each.sentences for each in tries["entry added"])


def test_the_store_is_sound_before_anybody_changes_it(store: Campaigns) -> None:
    for name in NAMES:
        found = examined(store, store.path, name)
        assert not found.changed
        assert not any(found.caught.values()), found.sentences


def test_some_60_manipulations_are_found_as_the_page_says(store: Campaigns, tmp_path: Path) -> None:
    check(tried(store, tmp_path, 62))


@pytest.mark.slow
def test_a_thousand_manipulations_are_found_as_the_page_says(store: Campaigns, tmp_path: Path) -> None:
    tries = tried(store, tmp_path, 1000)
    check(tries)
    for what, row in table().items():  # with so many, each word is as strong as it can be
        for means in BY_MEANS:
            assert outcome(tries[what], means) == possible(row[means]), what
