"""What the paper claims, what was measured, and whether the one bears out the other.

A claim is tested where it makes a statement about a number of each function: the area under an F1 curve, the logarithm
of a number of measurements. All methods saw the same functions, so tests are on differences d of pairs:

    above a margin m    t tests of mean d > m (for the claim) and of mean d < m (against it)
    alike within m      two one-sided t tests of |mean d| < m for the claim; of mean d > m or mean d < -m against it

Fewer than six pairs decide nothing: even if all of them agreed, chance would agree as often as one time in twenty.
A claim over several settings is tested in each, with Holm's correction for their number, and is confirmed if it is in
all of them and refuted if it is in one. Everything else is undecided: more repetitions may decide it. Beside that
stands the same test of what each seed has on average over the settings, which says less and needs fewer repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import stats

from superlevel.arrays import Array

LEVEL = 0.05
ROUNDING = 1e-12  # relative: what differs by less is equal
FEWEST = 6  # pairs: 2^-5 < 0.05 <= 2^-4, two-sided


class Verdict(StrEnum):
    """What came of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """A claim in one setting."""

    setting: str
    runs: int
    mean: float
    """Of the differences."""
    standard_error: float | None
    """None for a single run, which tests nothing."""
    interval: tuple[float, float] | None
    """95 % of the mean difference."""
    p_for: float
    """Of the test for the claim, corrected for the number of settings."""
    p_against: float
    wilcoxon: float | None
    """Two-sided signed-rank test that the differences lie around the margin (0 for alike), as a second road; not
    corrected. None where there are none to rank."""
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence, and what was found of it."""

    name: str
    claim: str
    source: str
    """"paper", or "here" for what is compared beyond it."""
    measure: str
    """What the differences are differences of."""
    test: str
    evidence: Sequence[Statistics]
    verdict: Verdict
    on_average: Statistics | None
    """Where there are several settings: the same test of each seed's mean difference over all of them."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Numbers that belong to it."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def counts(self) -> str:
        """In how many settings it is what."""
        if self.on_average is None:
            return str(self.verdict)
        found = [f"{sum(e.verdict is v for e in self.evidence)} {v}" for v in Verdict]
        return f"{self.verdict} ({', '.join(found)}; on average {self.on_average.verdict})"


@dataclass(frozen=True)
class Above:
    """mean d > margin, as p-values for and against it."""

    margin: float = 0.0
    may_confirm: bool = True
    """False where some differences are upper bounds only, which cannot speak for it."""
    may_refute: bool = True
    """False where some differences are lower bounds only, which cannot speak against it."""

    @property
    def centre(self) -> float:
        return self.margin

    def __call__(self, differences: Array) -> tuple[float, float]:
        p_for = _beyond(differences - self.margin) if self.may_confirm else 1.0
        return p_for, _beyond(self.margin - differences) if self.may_refute else 1.0

    def __str__(self) -> str:
        return f"one-sided t tests over the functions, of a mean above and below {self.margin:.4g}"


@dataclass(frozen=True)
class Alike:
    """|mean d| < margin, as p-values for and against it."""

    margin: float

    @property
    def centre(self) -> float:
        return 0.0

    def __call__(self, differences: Array) -> tuple[float, float]:
        within = max(_beyond(differences + self.margin), _beyond(self.margin - differences))
        outside = 2 * min(_beyond(differences - self.margin), _beyond(-differences - self.margin))
        return within, min(1.0, outside)

    def __str__(self) -> str:
        return f"two one-sided t tests over the functions, of a mean within ±{self.margin:.4g} (equivalence)"


def judge(
    name: str,
    claim: str,
    differences: Mapping[str, Array],
    test: Above | Alike,
    *,
    measure: str,
    source: str = "paper",
    measured: Mapping[str, Any] | None = None,
) -> Claim:
    """The verdict on a claim, from the differences (runs,) of each setting."""
    assert differences, "a claim is about something"
    each = {setting: np.asarray(d, dtype=np.float64) for setting, d in differences.items()}
    p_values = [test(d) for d in each.values()]
    favour, against = holm([p for p, _ in p_values]), holm([p for _, p in p_values])
    evidence = [
        _evidence(setting, d, test.centre, p_for=p_for, p_against=p_against)
        for (setting, d), p_for, p_against in zip(each.items(), favour, against, strict=True)
    ]
    return Claim(
        name=name,
        claim=claim,
        source=source,
        measure=measure,
        test=f"{test}, at {LEVEL:.0%}" + (f", corrected for {len(each)} settings by Holm" if len(each) > 1 else ""),
        evidence=evidence,
        verdict=_overall([e.verdict for e in evidence]),
        on_average=_on_average(list(each.values()), test) if len(each) > 1 else None,
        measured=measured or {},
    )


def _on_average(each: Sequence[Array], test: Above | Alike) -> Statistics:
    mean = np.mean(each, axis=0)
    p_for, p_against = test(mean)
    return _evidence("mean of all settings", mean, test.centre, p_for=p_for, p_against=p_against)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values that may each be held against one level (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.arange(len(order), 0, -1) * np.asarray(p_values, dtype=np.float64)[order]
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(p) for p in adjusted]


def _beyond(differences: Array) -> float:
    """p-value of the t test that the mean is above 0."""
    if len(differences) < FEWEST:
        return 1.0
    mean, size = float(differences.mean()), float(np.abs(differences).max())
    if np.ptp(differences) <= ROUNDING * size:  # no variance to divide by
        return 0.0 if mean > ROUNDING * size else 1.0
    return float(stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue)


def _evidence(setting: str, d: Array, centre: float, *, p_for: float, p_against: float) -> Statistics:
    runs, mean = len(d), float(d.mean())
    error = float(d.std(ddof=1) / np.sqrt(runs)) if runs > 1 else None
    half = None if error is None else error * float(stats.t.ppf(0.975, runs - 1))
    confirmed, refuted = p_for < LEVEL, p_against < LEVEL
    return Statistics(
        setting=setting,
        runs=runs,
        mean=mean,
        standard_error=error,
        interval=None if half is None else (mean - half, mean + half),
        p_for=p_for,
        p_against=p_against,
        wilcoxon=_signed_ranks(d - centre),
        verdict=Verdict.CONFIRMED if confirmed else Verdict.REFUTED if refuted else Verdict.UNDECIDED,
    )


def _signed_ranks(differences: Array) -> float | None:
    """Two-sided p-value; by the normal law where there are ties or zeros, for which the exact one takes seconds."""
    if len(differences) < 2 or not differences.any():
        return None
    distinct = len(np.unique(np.abs(differences))) == len(differences) and differences.all()
    return float(stats.wilcoxon(differences, method="auto" if distinct else "approx").pvalue)


def _overall(verdicts: Sequence[Verdict]) -> Verdict:
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.CONFIRMED if all(v is Verdict.CONFIRMED for v in verdicts) else Verdict.UNDECIDED
