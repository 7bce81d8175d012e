"""The first entry of a log as the version before wrote it, in the words of this one.

Nothing of it means anything else than it did: batches of the ridge confidence had a fixed size, and only the ellipsoids
were used there, with half of delta.
"""

from __future__ import annotations

from typing import Any

PROBLEM = ("noise", "mean", "bound", "norm", "delta", "misspecification", "tolerance", "ridge", "cost")
RULES = {
    "greedy": None,
    "average": "superlevel.rules.covariances:AverageCase",
    "worst": "superlevel.rules.design:WorstCase",
}
OWN = {"ridge": "superlevel.rules.gap_weighted:GapWeighted", "rips": "superlevel.rules.design:OptimalDesign"}
INTERSECTED = ("lse", "lse-imp")
GREEDY = ("melk", "milk")  # methods whose rule on the posterior was greedy by default


def from_format_1(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of this version; what is damaged stays so, and is refused where it is read."""
    known = dict(given)
    threshold, epsilon = known.pop("threshold", None), known.pop("epsilon", None)
    options = known.pop("options", {})
    if not isinstance(options, dict):
        return given
    if epsilon is None:
        known["goal"] = {"kind": "threshold", "value": threshold}
    else:
        known["goal"] = {"kind": "fraction of max", "epsilon": epsilon}
    known["problem"] = {name: known.pop(name) for name in PROBLEM if name in known}
    known["confidence"] = _confidence(options, str(known.get("method")))
    known["rule"] = _rule(options, str(known.get("method")))
    known["permanent"] = options.get("permanent")
    return known


def _confidence(options: dict[str, Any], method: str) -> dict[str, Any]:
    name = str(options.get("confidence", "posterior"))
    parameters: dict[str, Any] = {"name": name}
    if name == "ridge":
        parameters |= {"growth": 1.0, "shares": [0.5, 0.0]}
    if name in ("posterior", "rkhs"):
        parameters["intersected"] = options.get("intersected", method in INTERSECTED)
    for option in ("beta", "schedule"):
        if option in options:
            parameters[option] = options[option]
    return parameters


def _rule(options: dict[str, Any], method: str) -> dict[str, Any] | None:
    """None for the method's own rule; one with another rtol is named with it."""
    criterion, rtol = str(options.get("criterion", "greedy")), options.get("rtol")
    if criterion == "greedy" and method in GREEDY and options.get("confidence", "posterior") == "posterior":
        return {"name": "greedy"}
    name = RULES.get(criterion) or OWN.get(str(options.get("confidence")))
    if rtol is None or name is None:
        return None if criterion == "greedy" else {"name": criterion}
    return {"name": name, "rtol": rtol}
