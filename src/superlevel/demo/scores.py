"""What a campaign got right, from its log and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superlevel import kernels
from superlevel.arrays import Indices, Labels, Mask
from superlevel.goals import ABOVE, UNDECIDED
from superlevel.study import Study


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a campaign stood after some pings."""

    pings: int
    mislabelled: int
    """Cells whose likelier side is the wrong one."""
    undecided: int
    """Cells that are not declared deep or shallow, because the interval holds the level."""
    declared: int
    wrong: int
    """Declared cells that are on the other side."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """A campaign from the pilot to the last ping."""

    label: str
    study: str
    """Its name in the store."""
    kernel: str
    """In words."""
    scores: tuple[Score, ...]
    """After the pilot, and after each batch."""
    guess: Labels
    """(n,) the likelier side in the end."""
    labels: Labels
    """(n,) what is declared in the end."""
    pinged: Indices
    """(N,) cells, in the order of the pings."""

    def at(self, pings: int) -> Score:
        """The last score with no more pings than that; one that has decided everything makes no more."""
        return [score for score in self.scores if score.pings <= pings][-1]


def read(study: Study, label: str, deep: Mask, pings: int) -> Record:
    """The log once more from the beginning, as far as so many pings: ``deep`` (n,) is the truth."""
    known = study.knowledge
    ledger, method = known.ledger, known.method
    state = method.init(seed=ledger.created.seed)
    scores, order = [], []
    for entry in np.unique(ledger.told[ledger.measured]):
        at = ledger.measured[ledger.told[ledger.measured] == entry]
        if state.samples + len(at) > pings:
            break
        state, _ = method.observe(state, ledger.point[at], ledger.value[at])
        scores.append(_score(state.samples, method.guess(state), state.labels, deep))
        order.append(ledger.point[at])
    return Record(
        label=label,
        study=study.name,
        kernel=_in_words(kernels.restore(ledger.created.kernel)),
        scores=tuple(scores),
        guess=method.guess(state),
        labels=state.labels,
        pinged=np.concatenate(order),
    )


def _in_words(kernel: Any) -> str:
    """A constant times a Matern kernel."""
    deviation = float(np.sqrt(kernel.k1.constant_value))
    return f"Matérn {kernel.k2.nu:g}, length {kernel.k2.length_scale:.0f} km, deviation {deviation:.1f}"


def _score(pings: int, guess: Labels, labels: Labels, deep: Mask) -> Score:
    declared = labels != UNDECIDED
    return Score(
        pings=pings,
        mislabelled=int(((guess == ABOVE) != deep).sum()),
        undecided=int((~declared).sum()),
        declared=int(declared.sum()),
        wrong=int((declared & ((labels == ABOVE) != deep)).sum()),
    )
