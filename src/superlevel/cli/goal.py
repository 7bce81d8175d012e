"""What is looked for, as the command line takes it."""

from __future__ import annotations

from superlevel.arrays import as_number
from superlevel.errors import InputError
from superlevel.goals import KINDS, Goal, parse, restore

FORMS = ", ".join(f'"{kind.form}"' for kind in KINDS.values())
HELP = f"Which points to find, in words, in place of --threshold or --fraction-of-max: {FORMS}."


def as_goal(threshold: float | None, fraction: float | None, text: str | None) -> Goal:
    """The goal of --threshold, --fraction-of-max or --goal, of which exactly one is given."""
    options = {"--threshold": threshold, "--fraction-of-max": fraction, "--goal": text}
    given = [option for option, value in options.items() if value is not None]
    if len(given) != 1:
        got = f"there together with {' and '.join(given[1:])}" if given else "missing"
        remedy = "give one of --threshold, --fraction-of-max and --goal"
        raise InputError(given[0] if given else "--threshold", got, remedy)
    if threshold is not None:
        return restore({"kind": "threshold", "value": as_number("--threshold", threshold)})
    if fraction is not None:
        epsilon = as_number("--fraction-of-max", fraction, above=0, below=1)
        return restore({"kind": "fraction of max", "epsilon": epsilon})
    return _parsed(str(text))


def _parsed(text: str) -> Goal:
    """The goal that the words of --goal describe."""
    try:
        return parse(text)
    except InputError as error:
        raise InputError("--goal", repr(text), error.remedy) from error
