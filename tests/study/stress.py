"""Campaigns under stress: processes that are killed, and many that ask and tell at once.

    python -m tests.study.stress all                              # both, on SQLite and on PostgreSQL
    python -m tests.study.stress workers sqlite:///w.db           # or a PostgreSQL URL
    python -m tests.study.stress crash sqlite:///c.db --kills 200

Each prints a JSON document. Processes are forked from one that has imported everything, so that a kill lands in the
work and not in the imports. The tests run the same functions.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.study import planning  # noqa: F401  imported before anything is forked
from superlevel.study.events import Told
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.storage import Memory
from tests.postgres import started

POINTS = 40
TRUTH = np.sin(7 * np.linspace(0, 1, POINTS))


def problem() -> sl.Problem:
    """Where is a sine above a half?"""
    domain = sl.Domain(np.linspace(0, 1, POINTS), kernel=RBF(0.2))
    return sl.Problem(domain, goal=sl.Threshold(0.5), noise=0.5)


def measure(ticket: int, point: int) -> float:
    """What an instrument reads: the same for the same ticket, whoever asks it and how often."""
    return float(TRUTH[point] + 0.5 * np.random.default_rng([1, ticket]).normal())


def forked(work: Callable[[], None]) -> int:
    """The id of a process that does this and ends."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:  # whatever it is, the parent must hear of it and not go on twice
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


# -------------------------------------------------------------------------------------------- crash


def crash(store: str, acknowledged: Path, *, kills: int, batches: int, seed: int) -> dict[str, Any]:
    """Kill a campaign again and again, let it end, and compare its log with that of one that nobody killed."""
    sl.Study.create(store, "crash", problem(), batch=3, seed=seed)
    rng = np.random.default_rng(seed)
    killed, total = 0, 3 * batches
    child = _begun(store, acknowledged, 3)
    pace = time.perf_counter()
    os.waitpid(child, 0)
    pace = time.perf_counter() - pace  # of one batch
    while killed < kills:
        child = _begun(store, acknowledged, total)
        time.sleep(rng.uniform(0, 3 * pace))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise RuntimeError("a campaign failed instead of being killed")
            if sl.Study.open(store, "crash").ledger.samples < total:
                break  # all is decided, and nothing is left to kill
            total *= 2  # it was faster than the kills
            continue
        killed += 1
    meanwhile = sl.Study.open(store, "crash").ledger.samples
    _, status = os.waitpid(forked(partial(_campaign, store, acknowledged, total)), 0)
    if status:
        raise RuntimeError("the campaign could not go on")
    calm = Memory()
    sl.Study.create(calm, "crash", problem(), batch=3, seed=seed)
    steady = sl.Study.open(calm, "crash", worker="boat")
    _until(steady, total, lambda _: None)
    found = sl.Study.open(store, "crash")
    safe = [pair for line in acknowledged.read_text().splitlines() for pair in _heard(line)]
    return {
        "kills": killed,
        "told meanwhile": meanwhile - 3,
        "tickets": len(found.ledger.point),
        "acknowledged": len(safe),
        "lost": sum(not _is_there(found.ledger, *item) for item in safe),
        "same suggestions": bool(np.array_equal(found.ledger.point, steady.ledger.point)),
        "same values": bool(np.array_equal(found.ledger.value, steady.ledger.value, equal_nan=True)),
        "same plans": [a.asked for a in found.ledger.askings] == [a.asked for a in steady.ledger.askings],
        "same labels": bool(np.array_equal(found.labels, steady.labels)),
        "verified": found.verify().ok,
    }


def _begun(store: str, acknowledged: Path, total: int) -> int:
    """A process that goes on with it, and has read the log."""
    heard, begun = os.pipe()
    child = forked(partial(_campaign, store, acknowledged, total, begun))
    os.close(begun)
    os.read(heard, 1)  # nothing, if it ended first
    os.close(heard)
    return child


def _campaign(store: str, acknowledged: Path, total: int, begun: int | None = None) -> None:
    """Goes on with it, and says when it has read the log and the work begins."""
    study = sl.Study.open(store, "crash", worker="boat")
    if begun is not None:
        os.write(begun, b".")
    with acknowledged.open("a", encoding="utf-8") as heard:

        def hear(pairs: list[tuple[int, float]]) -> None:
            """What the person at the instrument was told to be safe."""
            heard.write("".join("\n" + json.dumps(pair) for pair in pairs))
            heard.flush()

        _until(study, total, hear)


def _until(study: sl.Study, total: int, hear: Callable[[list[tuple[int, float]]], None]) -> None:
    while study.ledger.samples < total:
        tickets = study.ask()
        if not tickets:
            return
        values = [measure(ticket.number, ticket.point) for ticket in tickets]
        study.tell(tickets.measured(values))
        hear([(ticket.number, value) for ticket, value in zip(tickets, values, strict=True)])


def _heard(line: str) -> list[tuple[int, float]]:
    """An acknowledgement; a kill may tear one apart, and then it did not get out."""
    try:
        ticket, value = json.loads(line)
    except ValueError:
        return []
    return [(ticket, value)]


def _is_there(ledger: Ledger, ticket: int, value: float) -> bool:
    return bool(ledger.value[ticket - 1] == value)


# ------------------------------------------------------------------------------------------ workers


def workers(store: str, *, processes: int, tickets: int, batch: int) -> dict[str, Any]:
    """Many processes ask and tell at once, until so many tickets are told."""
    sl.Study.create(store, "workers", problem(), method="max-variance", batch=batch)
    begun = time.perf_counter()
    children = [forked(lambda k=k: _work(store, f"worker {k}", tickets)) for k in range(processes)]  # type: ignore[misc]
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    seconds = time.perf_counter() - begun
    study = sl.Study.open(store, "workers")
    ledger, told = study.ledger, [Told.read(entry) for entry in study.log() if entry.kind == Told.kind]
    counts = Counter(ticket for entry in told for ticket in entry.tickets)
    measured = np.flatnonzero(ledger.fate == Fate.MEASURED)
    return {
        "processes": processes,
        "failed": failed,
        "planned": len(ledger.point),
        "told": len(measured),
        "told more than once": sum(count > 1 for count in counts.values()),
        "wrong values": sum(bool(ledger.value[k] != measure(k + 1, ledger.point[k])) for k in measured.tolist()),
        "tellers": len({entry.worker for entry in told}),
        "late": int(ledger.late.sum()),
        "verified": study.verify().ok,
        "seconds": round(seconds, 2),
        "tickets a second": round(len(counts) / seconds, 1),
    }


def _work(store: str, worker: str, total: int) -> None:
    study = sl.Study.open(store, "workers", worker=worker)
    while study.ledger.samples < total:
        for ticket in study.ask(1):
            study.tell([ticket.measured(measure(ticket.number, ticket.point))])


def everything(given: argparse.Namespace) -> None:
    """Both, on a file and on a server."""
    with tempfile.TemporaryDirectory() as folder, started() as server:
        stores = {"SQLite": f"sqlite:///{folder}/stress.db", "PostgreSQL": server.schema()}
        for database, store in stores.items():
            heard = Path(folder) / f"{database}.jsonl"
            killed = crash(store, heard, kills=given.kills, batches=given.batches, seed=given.seed)
            sys.stdout.write(f"{database}, killed: {json.dumps(killed)}\n")
            many = workers(store, processes=given.processes, tickets=given.tickets, batch=given.batch)
            sys.stdout.write(f"{database}, {given.processes} at once: {json.dumps(many)}\n")
            sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["all", "crash", "workers"])
    parser.add_argument("store", nargs="?", help="none for all, which makes its own")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--tickets", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--acknowledged", type=Path, default=Path("acknowledged.jsonl"))
    given = parser.parse_args()
    if given.what == "all":
        everything(given)
        return
    if given.what == "crash":
        found = crash(given.store, given.acknowledged, kills=given.kills, batches=given.batches, seed=given.seed)
    else:
        found = workers(given.store, processes=given.processes, tickets=given.tickets, batch=given.batch)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
