"""Other people's tools: which there are, the environment of each, and one run of one of them.

An environment is made below ``out/arena/envs`` when it is first needed, with the versions of its file in
``peers/requirements``. One that cannot be made costs its peers their place, and a sentence says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from experiments.arena.ours import columns
from superlevel.reproduce.settings import Setting, Values

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = Path("out/arena/envs")
LONGEST = 3600  # seconds of a run
ONE_THREAD = dict.fromkeys(
    (
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        *("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"),
    ),
    "1",
)


class UnavailableError(Exception):
    """An environment could not be made; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A script of `experiments.arena.peers`, run by a Python that has its package."""

    script: str
    environment: str
    requirements: str = ""
    """Digest of the pinned versions: rows of other versions are other rows. Our own version does not matter here."""
    python: str = field(default=sys.executable, repr=False)
    declares: bool = field(default=False, repr=False)
    """Whether the tool has labels of its own. For the others the loop declares, at a rate of 1 %."""
    revision: int = 2
    """Raise it if the script's numbers change."""

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        problem = world.problem
        (level,) = problem.goal.levels
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "problem.npz"
            np.savez(path, points=problem.domain.points, values=world.values, level=level, noise=problem.deviations)
            done = self._run([str(path), str(seed), str(setting.samples[-1])], folder)
        facts = {"points": problem.domain.n, "positives": int(world.truth.sum())}
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            return {**facts, "failed": (done.stderr.strip().splitlines() or ["no word"])[-1][:300]}
        return {**columns([json.loads(line) for line in lines]), **facts}

    def _run(self, arguments: list[str], folder: str) -> subprocess.CompletedProcess[str]:
        """Run the script in a folder of its own, because some tools write log files where they are started."""
        command = [self.python, "-m", f"experiments.arena.peers.{self.script}", *arguments]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        try:
            return subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, stdout="", stderr=f"it took longer than {LONGEST} seconds")


PEERS: dict[str, Peer] = {
    "scikit-learn Straddle": Peer(script="sklearn_straddle", environment="sklearn"),
    "scikit-learn random": Peer(script="sklearn_random", environment="sklearn"),
    "AEPsych": Peer(script="aepsych_straddle", environment="aepsych"),
    "Trieste": Peer(script="trieste_feasibility", environment="trieste"),
    "gpmp-contrib": Peer(script="gpmp_wmse", environment="gpmp", revision=3),
    "stopping_LSE": Peer(script="stopping_lse", environment="sklearn", declares=True),
}
REFERENCE = "scikit-learn Straddle"


def requirements_of(environment: str) -> str:
    """The pinned versions, one a line."""
    return (HERE / "peers" / "requirements" / f"{environment}.txt").read_text(encoding="utf-8")


def digest_of(environment: str) -> str:
    return sha256(requirements_of(environment).encode()).hexdigest()[:12]


def python_of(environment: str, folder: Path = ENVIRONMENTS) -> str:
    """The Python of an environment, which is made if it is not there. `UnavailableError` if that fails."""
    home = (folder / environment).absolute()
    python, ready = home / "bin" / "python", home / ".ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == digest_of(environment):
        return str(python)
    _check([sys.executable, "-m", "venv", "--clear", str(home)])
    wanted = HERE / "peers" / "requirements" / f"{environment}.txt"
    _check([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(wanted)])
    ready.write_text(digest_of(environment), encoding="utf-8")
    return str(python)


def _check(command: list[Any]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UnavailableError(str(error)) from error
    if done.returncode:
        raise UnavailableError((done.stderr.strip().splitlines() or ["no word"])[-1])
