"""Rounds of a campaign with the paper's guarantee: each is told as a whole, and speaks of what it was planned for.

A round's precision holds for the directions that were undecided when it was planned. If something is corrected later,
so that others are undecided at that point, the round proves nothing of them: it is passed over, and its place is taken
by a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from superlevel.arrays import Indices, Mask, normalised
from superlevel.methods import Method
from superlevel.records import Batch, Choice, Info, Plan, State
from superlevel.study import designs
from superlevel.study.events import REST, ROUND
from superlevel.study.ledger import Asking, Fate, Ledger


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """A plan, and the plans that make up for what failed of it."""

    asking: Asking
    places: tuple[int, ...]
    """Positions in the ledger's askings."""

    def planned(self, ledger: Ledger) -> Indices:
        """(n,) measurements at each point."""
        return np.bincount(self.asking.asked.points, minlength=ledger.n).astype(np.int64)

    def measured(self, ledger: Ledger) -> Indices:
        """Positions of the measurements that count, by point and ticket: as many at each point as were planned."""
        at = np.flatnonzero(np.isin(ledger.asking, self.places) & (ledger.fate == Fate.MEASURED))
        at = at[np.argsort(ledger.point[at], kind="stable")]
        points = ledger.point[at]
        place = np.arange(len(at)) - np.searchsorted(points, points)  # how many of the same point come before
        return np.asarray(at[place < self.planned(ledger)[points]])

    def missing(self, ledger: Ledger) -> Indices:
        """(n,) measurements that failed or were withdrawn, and that no open ticket makes up for."""
        alive = (ledger.fate == Fate.MEASURED) | (ledger.fate == Fate.OPEN)
        there = np.bincount(ledger.point[np.isin(ledger.asking, self.places) & alive], minlength=ledger.n)
        return np.asarray(np.maximum(self.planned(ledger) - there, 0))

    def choice(self, ledger: Ledger) -> Choice:
        """As it was made."""
        asked, counts = self.asking.asked, self.planned(ledger)
        certificate = None if asked.design is None else designs.restored(asked.design)
        weights = normalised(counts.astype(np.float64)) if asked.weights is None else designs.dense(asked.weights)
        return Choice(weights=weights, counts=counts, certificate=certificate)


def rounds(ledger: Ledger) -> list[Round]:
    """All of them, in order."""
    found: dict[int, list[int]] = {}
    for place, item in enumerate(ledger.askings):
        if item.asked.purpose == ROUND:
            found[item.seq] = [place]
        elif item.asked.purpose == REST:
            found[item.asked.completes].append(place)
    return [Round(asking=ledger.askings[places[0]], places=tuple(places)) for places in found.values()]


def told(method: Method, state: State, ledger: Ledger) -> tuple[State, tuple[Info, ...], int]:
    """What the rounds decide, what each showed, and how many of them are over: told, or passed over."""
    infos: list[Info] = []
    over = 0
    for each in _steps(method, state, ledger):
        state, over = each.state, each.over
        infos += [] if each.info is None else [each.info]
    return state, tuple(infos), over


def states(method: Method, state: State, ledger: Ledger) -> Iterator[State]:
    """The state after each round that was told."""
    return (each.state for each in _steps(method, state, ledger) if each.info is not None)


class _Step(NamedTuple):
    """The state after a round that is over."""

    state: State
    info: Info | None
    """None where the round was passed over."""
    over: int
    """Rounds that are over."""


def _steps(method: Method, state: State, ledger: Ledger) -> Iterator[_Step]:
    for over, each in enumerate(rounds(ledger), start=1):
        if state.stop is not None:  # by what was corrected since: nothing was left to ask
            return
        info = None
        if each.asking.asked.undecided == fingerprint(state.undecided):
            choice, at = each.choice(ledger), each.measured(ledger)
            if len(at) < choice.counts.sum():
                return
            state, info = method.update(state, _batch(method.planned(state, choice), ledger, at))
        yield _Step(state, info, over)


def _batch(plan: Plan, ledger: Ledger, at: Indices) -> Batch:
    """A round as a whole; what measurements say of their own noise is checked against what is assumed."""
    own = ledger.noise[at]
    noise = None if np.isnan(own).all() else np.where(np.isnan(own), 0.0, own)
    return Batch(points=plan.indices, values=ledger.value[at], noise=noise, plan=plan, whole=True)


def fingerprint(undecided: Mask) -> str:
    """Of what a round is planned for."""
    return blake2b(np.packbits(undecided).tobytes(), digest_size=8).hexdigest()
