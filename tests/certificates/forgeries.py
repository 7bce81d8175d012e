"""What a forger can do to a certificate: one random change, with everything that hides it computed anew."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

Document = dict[str, Any]
Rng = np.random.Generator


def rechained(document: Document) -> Document:
    """With digests, head and assumptions as they would be if the entries were honest."""
    before = ""
    for entry in document["entries"]:
        parts = [before, str(entry["seq"]), entry["kind"], entry["at"], entry["payload"]]
        joined = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in parts)
        entry["digest"] = before = blake2b(joined, digest_size=16).hexdigest()
    document["head"] = {"entries": len(document["entries"]), "digest": before}
    first = json.loads(document["entries"][0]["payload"])
    document["assumptions"] = {name: first.get(name) for name in document["assumptions"]}
    return document


def forged(honest: Document, rng: Rng) -> tuple[str, str]:
    """The kind of a random forgery, and its text. It always differs from the honest certificate."""
    name = list(FORGERIES)[int(rng.integers(len(FORGERIES)))]
    changed = FORGERIES[name](copy.deepcopy(honest), rng)
    return name, changed if isinstance(changed, str) else json.dumps(changed)


def _label(document: Document, rng: Rng) -> Document:
    """Another label; in some forgeries the interval says so too."""
    stated = _statement(document, "labels", rng)
    if stated is None:
        return _audit(document, rng)
    at = int(rng.integers(len(stated["labels"])))
    sign = str(rng.choice([sign for sign in "+-?" if sign != stated["labels"][at]]))
    stated["labels"] = stated["labels"][:at] + sign + stated["labels"][at + 1 :]
    if rng.random() < 0.5:
        ends = {"+": (1e3, 1e4), "-": (-1e4, -1e3), "?": (-1e4, 1e4)}[sign]
        for name, value in zip(("lower", "upper"), ends, strict=True):
            _replace(stated, name, at % (len(base64.b64decode(stated[name])) // 8), value)
    return document


def _interval(document: Document, rng: Rng) -> Document:
    """Another end of one interval, or another length of the arrays."""
    stated = _statement(document, "labels", rng)
    if stated is None:
        return _audit(document, rng)
    name = str(rng.choice(["lower", "upper"]))
    count = len(base64.b64decode(stated[name])) // 8
    _replace(stated, name, int(rng.integers(count)), float(rng.choice([np.nan, np.inf, -np.inf, 12.0, -12.0, 0.0])))
    if rng.random() < 0.2:
        stated[name] = stated[name][:-12]
    return document


def _hint(document: Document, rng: Rng) -> Document:
    """Other pivots, another rank, or a field that nobody knows."""
    stated = document["statements"][0]
    if stated["kind"] == "audit":
        return _audit(document, rng)
    if "pivots" not in stated:
        stated["rank"] = [0, -1, 1, True, "9"][int(rng.integers(5))]
    else:
        stated["pivots"] = [[0], [0, 0], [-1], None, [True]][int(rng.integers(5))]
    if rng.random() < 0.3:
        stated["sure"] = True
    return document


def _audit(document: Document, rng: Rng) -> Document:
    """A smaller bound, fewer contradictions, another audit; or one that never was."""
    stated = _statement(document, "audit", rng)
    if stated is None:
        document["statements"].append(
            {"kind": "audit", "audit": 1, "level": 0, "draws": 60, "contradictions": 0, "bound": 0.01}
        )
        return document
    name = str(rng.choice(["audit", "level", "draws", "contradictions", "bound"]))
    stated[name] = [stated[name] + 1, -1, stated[name] / 2 - 0.3, None][int(rng.integers(4))]
    return document


def _statements(document: Document, rng: Rng) -> Document:
    """A statement twice, or none."""
    document["statements"] = [[], document["statements"] * 2][int(rng.integers(2))]
    return document


def _payload(document: Document, rng: Rng) -> Document:
    """A number, anywhere in the payload of any entry, becomes another one."""
    entry = document["entries"][int(rng.integers(len(document["entries"])))]
    said = json.loads(entry["payload"])
    _number(said, rng)
    entry["payload"] = json.dumps(said, separators=(",", ":"))
    return _again(document, rng)


def _problem(document: Document, rng: Rng) -> Document:
    """Another assumption."""
    entry = document["entries"][0]
    said = json.loads(entry["payload"])
    name = str(rng.choice(["noise", "norm", "delta", "tolerance", "mean", "goal", "kernel", "points"]))
    if name in said["problem"]:
        said["problem"][name] = [0.5, 1e300, 1e-300, -1.0, 3.0][int(rng.integers(5))]
    else:
        _number(said.get(name), rng)
    entry["payload"] = json.dumps(said | {"lease": 17.5}, separators=(",", ":"))
    return _again(document, rng)


def _removed(document: Document, rng: Rng) -> Document:
    """An entry less."""
    del document["entries"][int(rng.integers(len(document["entries"])))]
    for seq, entry in enumerate(document["entries"], start=1):
        entry["seq"] = seq
    return _again(document, rng)


def _head(document: Document, rng: Rng) -> Document:
    if rng.random() < 0.5:
        document["head"]["entries"] += 1
    else:
        document["entries"][-1]["digest"] = document["head"]["digest"] = "0" * 32
    return document


def _text(document: Document, rng: Rng) -> str:
    """Text that was cut, or that has something in it."""
    text = json.dumps(document)
    at = int(rng.integers(1, len(text)))
    return [text[:at], text[:at] + "NaN" + text[at:], text[:at] + "[" + text[at:]][int(rng.integers(3))]


def _field(document: Document, rng: Rng) -> Document:
    name = str(rng.choice(sorted(document)))
    document[name] = [None, [], {}, 1e308, "x", [[1], [1, 2]], True][int(rng.integers(7))]
    return document


FORGERIES: dict[str, Callable[[Document, Rng], Document | str]] = {
    "label": _label, "interval": _interval, "hint": _hint, "audit": _audit, "statements": _statements,
    "payload": _payload, "problem": _problem, "removed": _removed, "head": _head, "text": _text, "field": _field,
}  # fmt: skip


def _statement(document: Document, kind: str, rng: Rng) -> Document | None:
    found = [stated for stated in document["statements"] if stated["kind"] == kind]
    return found[int(rng.integers(len(found)))] if found else None


def _replace(stated: Document, name: str, at: int, value: float) -> None:
    array = np.frombuffer(base64.b64decode(stated[name]), dtype="<f8").copy()
    array[at] = value if array[at] != value else value + 7.0
    stated[name] = base64.b64encode(array.tobytes()).decode()


def _again(document: Document, rng: Rng) -> Document:
    """A clever forger computes the digests again, and leaves the statements."""
    return rechained(document) if document["entries"] and rng.random() < 0.7 else document


def _number(said: Any, rng: Rng) -> None:
    places = list(_places(said))
    if places:
        holder, key = places[int(rng.integers(len(places)))]
        old = holder[key]
        holder[key] = [old + 1, -old - 1, old * 1e6 + 1, 1e308, 1e-308, [old]][int(rng.integers(6))]


def _places(said: Any) -> Any:
    items = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    for key, value in items:
        if type(value) in (int, float):
            yield said, key
        yield from _places(value)
