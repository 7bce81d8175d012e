"""Entries of a log: strict JSON, exact to the last bit, and refused with a sentence where they are not as written."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError, SuperlevelError
from superlevel.study import Result, Study
from superlevel.study.events import (
    FORMAT,
    KINDS,
    Asked,
    Certified,
    Closed,
    Corrected,
    Created,
    DamagedError,
    Fit,
    Payload,
    Placed,
    Programmed,
    Sparse,
    Told,
    Withdrawn,
    chained,
    read,
)
from superlevel.study.storage import Entry, Memory
from superlevel.study.verification import verify
from tests.study.campaigns import GREEDY, NAME, bare, entries_of, forged, rechained

finite = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(0, 10**6)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
labels = st.text("+-?", max_size=9)
deviation = finite | st.lists(finite, min_size=1, max_size=4)


@st.composite
def sparse(draw: st.DrawFn) -> Sparse:
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=2)))
    places = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in shape)), max_size=4, unique=True))
    axes = [[place[k] for place in places] for k in range(len(shape))]
    return Sparse(shape=shape, at=axes, values=[draw(finite) for _ in places])


designs = st.builds(
    Certified,
    weights=sparse(),
    dual=sparse(),
    value=finite,
    lower_bound=finite,
    truncation=finite,
    status=text,
    iterations=whole,
    evaluations=whole,
)
fits = st.builds(
    Fit,
    kernel=st.none() | st.just({"kernel": "RBF"}),
    noise=deviation,
    mean=finite,
    samples=whole,
    doubts=st.lists(text),
)
payloads = st.one_of(
    st.builds(
        Asked,
        seen=whole,
        purpose=st.sampled_from(["pilot", "batch", "round", "rest"]),
        phase=whole,
        points=st.lists(whole),
        samples=whole,
        labels=labels,
        fit=st.none() | fits,
        weights=st.none() | sparse(),
        design=st.none() | designs,
    ),
    st.builds(
        Told,
        tickets=st.lists(whole),
        values=st.lists(st.none() | finite),
        noise=st.none() | st.lists(st.none() | finite),
        points=st.lists(whole),
        late=st.lists(whole),
        reasons=st.dictionaries(whole, text, max_size=3),
        worker=text,
    ),
    st.builds(Corrected, ticket=whole, value=finite, noise=st.none() | finite, reason=text),
    st.builds(Withdrawn, tickets=st.lists(whole), reason=text),
    st.builds(Closed, samples=whole, labels=labels, reason=text),
)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@given(payloads)
def test_a_payload_is_strict_json_and_is_read_back_to_the_last_bit(payload: Payload) -> None:
    entry = payload.entry(seq=3, before="d")
    again = type(payload).read(entry)
    assert again == payload
    assert repr(again) == repr(payload)  # which tells -0.0 from 0.0
    json.loads(entry.payload, parse_constant=refuse)
    assert entry.payload.isascii()  # whatever the encoding of a database is
    assert again.entry(seq=3, before="d").payload == entry.payload


@given(st.floats(width=64))
def test_a_value_that_is_no_number_is_no_payload(value: float) -> None:
    if math.isfinite(value):
        assert Corrected.read(Corrected(ticket=1, value=value).entry(seq=1, before="")).value == value
    else:
        with pytest.raises(ValueError, match="finite"):
            Corrected(ticket=1, value=value)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_json_does_not_have_is_refused(constant: str) -> None:
    payload = f'{{"ticket":1,"value":{constant}}}'
    with pytest.raises(DamagedError, match="entry 1, value"):
        Corrected.read(Entry(seq=1, kind="corrected", at="", payload=payload, digest=""))


def test_the_digest_is_of_everything_and_of_all_before() -> None:
    parts = ("before", 7, "told", "now", "{}")
    digest = blake2b(digest_size=16)
    for part in parts:
        data = str(part).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    assert chained(*parts) == digest.hexdigest()
    others = [
        ("befor", 7, "etold", "now", "{}"),
        ("before", 7, "told", "no", "w{}"),
        ("before", 70, "told", "now", "{}"),
    ]
    assert len({chained(*parts), *(chained(*other) for other in others)}) == 4


def log() -> list[Entry]:
    return entries_of(GREEDY.run(GREEDY.create(), 2))


@pytest.mark.parametrize("field", ["kind", "at", "payload", "digest", "seq"])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_any_change_of_any_entry_is_noticed(place: int, field: str) -> None:
    entries = log()
    before = getattr(entries[place], field)
    entries[place] = replace(entries[place], **{field: before + (1 if field == "seq" else "x")})
    with pytest.raises(DamagedError, match=re.escape(f"entry {place % len(entries) + 1} is not as it was written")):
        read(entries, after=0, head="")


@pytest.mark.parametrize(
    "damage",
    [lambda log: log[:2] + log[3:], lambda log: [*log[:1], log[2], log[1], *log[3:]], lambda log: log[1:]],
    ids=["removed", "swapped", "beheaded"],
)
def test_an_entry_that_is_missing_or_out_of_its_place_is_noticed(damage: Any) -> None:
    with pytest.raises(DamagedError, match="is not as it was written"):
        read(damage(log()), after=0, head="")


def test_reading_on_is_the_same_as_reading_all() -> None:
    entries = log()
    whole = read(entries, after=0, head="")
    for cut in range(1, len(entries)):
        rest = read(entries[cut:], after=cut, head=entries[cut - 1].digest)
        assert [payload for _, payload in whole[cut:]] == [payload for _, payload in rest]


def added(kind: str, payload: str) -> Memory:
    lines = [(entry.kind, entry.at, entry.payload) for entry in log()]
    return bare(rechained([*lines, (kind, lines[-1][1], payload)]))


@pytest.mark.parametrize(
    ("kind", "payload", "sentence"),
    [
        ("merged", "{}", "unknown kind 'merged': pip install --upgrade superlevel"),
        ("withdrawn", '{"tickets":[1],"colour":"red"}', "colour: Extra inputs are not permitted"),
        ("withdrawn", "{}", "tickets: Field required"),
        ("withdrawn", "[1]", "the log is damaged"),
        ("withdrawn", '{"tickets":[1]', "the log is damaged"),
        ("withdrawn", '{"tickets":[99]}', "speaks of a ticket that is not there"),
        ("withdrawn", '{"tickets":[0]}', "speaks of a ticket that is not there"),
        ("corrected", '{"ticket":-1,"value":1.0}', "speaks of a ticket that is not there"),
        ("told", '{"tickets":[1,2],"values":[1.0]}', "speaks of a ticket that is not there"),
        ("told", '{"tickets":[9],"values":[1.0],"points":[14]}', "points are from 0 to 13"),
        ("asked", '{"seen":1,"purpose":"batch","phase":1,"points":[-1],"samples":0,"labels":""}', "points are from 0"),
        ("created", None, "can only come first"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused_with_a_sentence(kind: str, payload: str | None, sentence: str) -> None:
    storage = added(kind, log()[0].payload if payload is None else payload)
    with pytest.raises(DamagedError, match=re.escape(sentence)) as caught:
        Study.open(storage, NAME)
    assert "entry 6" in str(caught.value)
    found = verify(NAME, storage)
    assert not found.ok
    assert found.labels is None
    assert sentence in str(found)


@pytest.mark.parametrize("entries", [[], log()[1:2]], ids=["nothing", "no beginning"])
def test_a_log_without_a_beginning_is_refused(entries: list[Entry]) -> None:
    storage = bare(rechained((entry.kind, entry.at, entry.payload) for entry in entries)) if entries else Memory()
    with pytest.raises(SuperlevelError, match=r"not 'created'|there is no study"):
        Study.open(storage, NAME)


@pytest.mark.parametrize("more", [{}, {"colour": "red"}, {"points": "elsewhere"}], ids=["alike", "more", "other"])
def test_a_newer_format_is_refused_and_not_called_damaged(more: dict[str, object]) -> None:
    storage = forged(GREEDY.create(), "created", lambda payload: payload.update(format=FORMAT + 1, **more))
    with pytest.raises(
        InputError, match=f"of format {FORMAT + 1}, and this version reads {FORMAT}: pip install --upgrade superlevel"
    ):
        Study.open(storage, NAME)
    with pytest.raises(InputError, match=f"of format {FORMAT + 1}"):
        verify(NAME, storage)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"confidence": {"name": "posterior", "colour": "red"}},
            "confidence is {'name': 'posterior', 'colour': 'red'}",
        ),
        ({"confidence": {"name": "faith"}}, "confidence is 'faith'"),
        ({"confidence": {}}, "confidence is None"),
        ({"goal": {"kind": "contour"}}, "goal is 'contour': this version knows band"),
        ({"goal": {"kind": "threshold", "colour": "red"}}, "goal is {'kind': 'threshold', 'colour': 'red'}"),
        ({"rule": {"name": "fastest"}}, "rule is 'fastest'"),
    ],
)
def test_parts_that_this_version_does_not_know_are_named(change: dict[str, Any], sentence: str) -> None:
    study = Study.open(forged(GREEDY.create(), "created", lambda payload: payload.update(change)), NAME)
    with pytest.raises(InputError, match=re.escape(sentence)):
        study.status()


def test_a_damaged_beginning_is_called_damaged() -> None:
    for change in (lambda payload: payload.pop("format"), lambda payload: payload.update(colour="red")):
        with pytest.raises(DamagedError, match="entry 1"):
            Study.open(forged(GREEDY.create(), "created", change), NAME)


@pytest.mark.parametrize(
    "values",
    [
        {"shape": (3,), "at": [[3]], "values": [1.0]},
        {"shape": (3,), "at": [[-1]], "values": [1.0]},
        {"shape": (3,), "at": [[0, 1]], "values": [1.0]},
        {"shape": (3,), "at": [[0], [0]], "values": [1.0]},
        {"shape": (3, 3), "at": [[0]], "values": [1.0]},
        {"shape": (3, 2), "at": [[0], [2]], "values": [1.0]},
    ],
)
def test_an_array_has_its_values_in_place(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="out of place"):
        Sparse(**values)


def test_every_kind_of_entry_is_read_by_its_name() -> None:
    assert {
        model.kind: model for model in (Created, Asked, Placed, Told, Corrected, Withdrawn, Programmed, Closed)
    } == KINDS


HALF = "half \ud83d of a smile"


@pytest.mark.parametrize("odd", [HALF, "\udcff", 5, None, b"ice"], ids=["half", "bytes", "number", "nothing", "binary"])
def test_text_that_no_log_can_hold_is_refused_before_it_is_stored(odd: Any) -> None:
    study = GREEDY.run(GREEDY.create(), 1)
    before = entries_of(study)
    point = Result(point=0, value=1.0, reason=odd)
    for act in (
        lambda: study.tell([point]),
        lambda: study.correct(1, 2.0, reason=odd),
        lambda: study.withdraw(1, reason=odd),
        lambda: study.close(reason=odd),
    ):
        with pytest.raises(SuperlevelError, match=r"reason is .*: give text that can be written as UTF-8"):
            act()
    assert entries_of(study) == before


def test_every_other_text_is_kept() -> None:
    study = GREEDY.run(GREEDY.create(), 1)
    odd = 'naïve 温 😀 \0 \n \\ud800 "'
    study.correct(1, 2.0, reason=odd)
    assert Study.open(bare(entries_of(study)), NAME).ledger.reasons == {1: odd}
