"""What the measurements say of what was assumed: a record for each assumption that was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How an assumption stands up to the measurements."""

    UNTESTED = "not tested"
    HOLDS = "holds"
    DOUBTED = "doubted"
    CONTRADICTED = "CONTRADICTED"

    @property
    def bad(self) -> bool:
        """Whether it speaks against the assumption."""
        return self in (Verdict.DOUBTED, Verdict.CONTRADICTED)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One assumption, and what the measurements say of it. Code reads the verdict; people read the sentence."""

    assumption: str
    """noise, kernel, norm, bound, ridge, intervals, level or estimate."""
    verdict: Verdict
    number: float
    """What the verdict rests on: a probability, a ratio or a size, as the sentence says."""
    sentence: str


def bad(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that speak against an assumption."""
    return tuple(finding for finding in findings if finding.verdict.bad)


def contradicting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that contradict an assumption."""
    return tuple(finding for finding in findings if finding.verdict is Verdict.CONTRADICTED)


def new(findings: Iterable[Finding], before: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that contradict an assumption which nothing contradicted before."""
    found = contradicting(findings)
    known = {finding.assumption for finding in contradicting(before)} if found else set()
    return tuple(finding for finding in found if finding.assumption not in known)
