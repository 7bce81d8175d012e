"""How long the second verifier takes for certificates of 100,000 points: `python benchmarks/certificate.py`.

It prints the time of each confidence beside the time that `study.verify()` takes for the same study.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.certificates import check
from superlevel.study import Result, Study
from superlevel.study.storage import Memory

POINTS, MEASURED = 100_000, 400


def main() -> None:
    """One study for each confidence, and one audit."""
    rng = np.random.default_rng(0)
    places = rng.random((POINTS, 2))
    truth = np.sin(5 * places[:, 0]) * np.cos(4 * places[:, 1])
    smooth, rough = sl.Domain(places, RBF(0.3)), sl.Domain(places, Matern(0.3, nu=2.5))
    given: dict[str, Any] = {"goal": sl.Threshold(0.2), "noise": 0.05, "norm": 5.0}
    for name, domain, method, confidence in (
        ("posterior", rough, "melk", "posterior"),
        ("error rate", rough, "melk", sl.Posterior(error_rate=0.01)),
        ("rkhs", smooth, "lse", sl.Rkhs()),
        ("ridge", smooth, "melk", "ridge"),
    ):
        study = Study.create(Memory(), name, sl.Problem(domain, **given), method=method, confidence=confidence)
        chosen = rng.choice(POINTS, MEASURED, replace=False)
        values = truth[chosen] + 0.05 * rng.standard_normal(MEASURED)
        study.tell([Result(point=int(k), value=float(value)) for k, value in zip(chosen, values, strict=True)])
        report(name, study)
    plane = sl.Domain(places - 0.5)
    problem = sl.Problem(plane, goal=sl.Threshold(0.1), noise=0.05, bound=1.0, tolerance=0.5)
    study = Study.create(Memory(), "rips", problem, confidence=sl.Rips(schedule="tight"))
    linear = (places - 0.5) @ np.array([1.0, -0.8])
    for _ in range(2):
        tickets = study.ask()
        points = np.array([ticket.point for ticket in tickets])
        study.tell(tickets.measured((linear[points] + 0.05 * rng.standard_normal(len(points))).tolist()))
    report("rips", study)


def report(name: str, study: Study) -> None:
    """Print how long making and checking its certificate took."""
    begun = time.perf_counter()
    document = study.certificate()
    made = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "claim.json")
        file.write_text(json.dumps(document))
        size = file.stat().st_size / 1e6
        begun = time.perf_counter()
        command = [sys.executable, check.__file__, str(file), document["head"]["digest"]]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.perf_counter() - begun
    print(f"{name}: {POINTS:,} points, {study.ledger.samples:,} measurements, {size:.1f} MB, made in {made:.1f} s")
    print(f"  checked in {took:.1f} s: {ran.stdout[:150].strip()}", flush=True)


if __name__ == "__main__":
    main()
