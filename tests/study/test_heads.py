"""Heads are found in whatever they were written down in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.formats.text import parsed, written
from superlevel.report.markup import table
from superlevel.study.heads import Head, headed, heads_in, typed
from tests.study.campaigns import GREEDY

DIGEST = "9f86d081884c7d659a2feaa0c55ad015"
WHOLE, SHORT, BARE = (
    Head(entries=12, digest=DIGEST),
    Head(entries=12, digest=DIGEST[:8]),
    Head(entries=None, digest=DIGEST),
)
DIGESTS = st.text("0123456789abcdef", min_size=32, max_size=32)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        (f"head: {WHOLE}", WHOLE),
        (f"10 results stored\nhead: {WHOLE}\n13 above", WHOLE),
        (f"head          12 9f86d081\n              ({DIGEST})", WHOLE),  # a narrow terminal
        ("lab book, 3 May: Head 12, 9F86D081.", SHORT),
        ("HEAD: 12 - 9f86d081", SHORT),
        (f"ticket,value,log head\n1,,head 12 {DIGEST}\n2,,\n", WHOLE),
        (json.dumps({"name": "sea", "head": str(WHOLE)}), WHOLE),
        (json.dumps({"head": {"entries": 12, "digest": DIGEST}}, indent=2), WHOLE),
        (json.dumps({"head": DIGEST}), BARE),
        (table((), [("head", str(WHOLE)), ("noise", "0.5")]), WHOLE),
        (json.dumps({"seq": 12, "kind": "told", "at": "", "payload": {"head": 1}, "digest": DIGEST}) + "\n", WHOLE),
    ],
)
def test_a_head_is_found_in_any_of_its_forms(text: str, head: Head) -> None:
    assert heads_in(text) == [head]


@pytest.mark.parametrize("text", ["", "ahead 12 9f86d081", "head 12", "<head><title>12</title>", f"digest {DIGEST}"])
def test_what_is_no_head_is_none(text: str) -> None:
    assert heads_in(text) == []


def test_the_word_may_be_left_out_where_a_head_is_typed() -> None:
    assert typed(str(WHOLE)) == [WHOLE]
    assert typed("12 9f86d081") == typed("head: 12 9f86d081") == [SHORT]
    assert typed("notes.txt") == []


def test_a_slip_in_one_of_the_two_forms_leaves_both_to_be_compared() -> None:
    assert heads_in(f"head: 12 00000000 ({DIGEST})") == [Head(entries=12, digest="00000000"), WHOLE]


@given(entries=st.integers(0, 10**9), digest=DIGESTS, before=st.text(max_size=30), after=st.text(max_size=30))
def test_a_printed_head_is_found_among_other_text(entries: int, digest: str, before: str, after: str) -> None:
    head = Head(entries=entries, digest=digest)
    assert head in heads_in(f"{before}\nhead: {head}\n{after}")


def test_a_table_with_a_head_has_all_else_as_it_was() -> None:
    ledger = GREEDY.create().ledger
    found = headed(parsed(b'a,b\n1,"x, y"\n2,\n', name=""), ledger)
    assert written(found) == f'a,b,log head\n1,"x, y",head 1 {ledger.head}\n2,,\n'
    assert headed(found, ledger) == found
