"""What the labels of a campaign rest on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superlevel.kernels import phrase
from superlevel.methods import Method
from superlevel.study.events import Created
from superlevel.study.ledger import Ledger

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge


def assumptions(ledger: Ledger, known: Knowledge) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that was given or estimated, used or not."""
    given, confidence = ledger.created, ledger.created.options["confidence"]
    values = known.fit or given
    used = {
        "bound": confidence in ("rips", "ridge"),
        "norm": confidence in ("ridge", "rkhs"),
        "delta": confidence != "posterior",
    }
    rows = [
        ("method", f"{given.method}, {confidence} confidence, seed {given.seed}"),
        ("kernel", _from(known, "kernel", phrase(values.kernel))),
        ("noise", _from(known, "noise", _range(values.noise))),
        ("mean", _from(known, "mean", f"{values.mean:.6g}")),
        ("bound", "none" if given.bound is None else f"|f - mean| <= {given.bound:g}"),
        ("norm", "none" if given.norm is None else f"||theta|| <= {given.norm:g}"),
        ("delta", f"{given.delta:g}"),
        ("misspecification", f"{given.misspecification:g}"),
        ("tolerance", f"{given.tolerance:g}"),
    ]
    unused = f", which the {confidence} confidence does not use"
    said = [(name, text + unused * (not used.get(name, True) and text != "none")) for name, text in rows]
    return tuple((name, text) for name, text in said if name != "norm" or text != "none")


def _from(known: Knowledge, name: str, text: str) -> str:
    """A value, and where it comes from."""
    if name not in known.ledger.created.fit:
        return f"{text}, given"
    return "not estimated yet" if known.fit is None else f"{text}, estimated from {known.fit.samples:,} measurements"


def guarantee(ledger: Ledger, method: Method | None) -> str:
    """In which sense the labels are right."""
    given = ledger.created
    if method is None:
        return "none yet: the pilot comes first"
    near = f", except within {given.tolerance:g} of the level" if given.tolerance else ""
    match given.options["confidence"]:
        case "ridge":
            right = f"all labels are right at every moment with probability {1 - given.delta:g}"
            return f"{right}, for sub-Gaussian noise{_smooth(given)}{near}"
        case "rips":
            return f"all labels are right with probability {1 - given.delta:g}, for any noise of that variance{near}"
        case "rkhs":
            right = f"all labels are right with probability {1 - given.delta:g}"
            return f"{right}, for Gaussian noise and a norm as given{near}"
        case _:
            beta = given.options.get("beta", 3.0)
            wide = f", give or take {given.tolerance:g}" if given.tolerance else ""
            return (
                f"every label is {beta:g} posterior deviations from the level{wide}: as right as kernel and noise are"
            )


def _smooth(given: Created) -> str:
    """What is assumed of f by the ridge confidence."""
    limits = ["norm" if given.norm is not None else "bound"] + ["misspecification"] * bool(given.misspecification)
    spanned = "" if given.norm is not None else ", with f in the span of the kernel's features"
    return f" and a {' and a '.join(limits)} as given{spanned}"


def _range(noise: object) -> str:
    smallest, largest = float(np.min(noise)), float(np.max(noise))  # type: ignore[call-overload]
    return f"{smallest:.4g}" if smallest == largest else f"{smallest:.4g} to {largest:.4g}"
