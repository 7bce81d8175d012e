"""How far a study is from the truth, which only the demonstration knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import pilots
from superlevel.arrays import Array, Indices, Labels, Mask
from superlevel.demo.hills import Hills
from superlevel.demo.survey import TOLERANCE, Survey
from superlevel.goals import ABOVE, UNDECIDED
from superlevel.study import Study
from superlevel.study.auditing import Accuracy, audits_of
from superlevel.study.ledger import Asking, Ledger, fold
from superlevel.study.replay import Knowledge, Methods, know
from superlevel.worker_setup import quiet

LOOKS = 6  # rows of the table


@dataclass(frozen=True, kw_only=True)
class Score:
    """The labels after some measurements, compared with the truth."""

    measurements: int
    declared: int
    """Cells that are declared above or below the level."""
    wrong: int
    """Declared cells that are on the other side."""
    mislabelled: int
    """Cells whose likelier side, declared or not, is the wrong one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """What a study found, compared with the truth. The map is the one that was audited."""

    study: str
    scores: tuple[Score, ...]
    """Of about `LOOKS` moments; the last one is the map."""
    labels: Labels
    """(n,) +1 declared above, -1 declared below, 0 not declared."""
    chance: Array
    """(n,) probability of being above the level."""
    truth: Mask
    """(n,) whether the ground is above the level."""
    beyond: int
    """Declared cells that are wrong by more than the tolerance: the audit bounds their share."""
    measured: Indices
    """(N,) cells that were measured for the map."""
    accuracy: Accuracy | None
    """What the audit proves; None if nothing was declared."""

    @property
    def last(self) -> Score:
        """Of the map."""
        return self.scores[-1]


def read(study: Study, hills: Hills, survey: Survey) -> Record:
    """Replay the log of a study up to its audit, and compare it with the truth."""
    entries, makers, truth = study.log(), Methods(), hills.heights > survey.level
    audit = next(iter(audits_of(study.ledger)), None)
    with quiet():
        looks = [know(fold(entries[:seen]), makers) for seen in _moments(study.ledger, audit)]
    last = looks[-1]
    chance = last.state.belief.probability(survey.level)
    assert chance is not None  # the pilot is over
    wrong = (last.labels != UNDECIDED) & ((last.labels == ABOVE) != truth)
    return Record(
        study=study.name,
        scores=tuple(_score(known, truth) for known in looks),
        labels=last.labels,
        chance=chance,
        truth=truth,
        beyond=int((wrong & (np.abs(hills.heights - survey.level) > TOLERANCE)).sum()),
        measured=last.ledger.point[last.ledger.measured],
        accuracy=None if audit is None else study.accuracy()[0],
    )


def _moments(ledger: Ledger, audit: Asking | None) -> list[int]:
    """How many entries the log had at about `LOOKS` moments that are evenly spread: the last one is the map."""
    plans = {item.asked.samples: item.asked.seen for item in ledger.askings if item.asked.audit is None}
    last = (ledger.samples, ledger.length) if audit is None else (audit.asked.samples, audit.asked.seen)
    known = {samples: seen for samples, seen in plans.items() if pilots.size(ledger.n) <= samples < last[0]}
    known |= dict([last])
    wanted = [last[0] * k / LOOKS for k in range(1, LOOKS + 1)]
    nearest = {min(known, key=lambda samples: abs(samples - count)) for count in wanted}
    return [known[samples] for samples in sorted(nearest)]


def _score(known: Knowledge, truth: Mask) -> Score:
    declared, above = known.labels != UNDECIDED, known.method.guess(known.state) == ABOVE
    return Score(
        measurements=known.ledger.samples,
        declared=int(declared.sum()),
        wrong=int((declared & ((known.labels == ABOVE) != truth)).sum()),
        mislabelled=int((above != truth).sum()),
    )
