"""What a solver returns."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

from superlevel.arrays import Array, Indices
from superlevel.design.certificate import Proof
from superlevel.design.problem import DesignProblem
from superlevel.design.targets import Dual, as_dual
from superlevel.errors import InputError
from superlevel.files import whole

FORMAT = 1  # of saved designs


class Status(StrEnum):
    """Why a solver stopped."""

    CERTIFIED = "certified"
    """The gap is at most what was asked for."""
    ITERATIONS = "iterations"
    """The iterations ran out; the gap is what was reached."""
    FEATURES = "features"
    """The weights are good enough; the rest of the gap is what the features miss: embed with a smaller tol."""
    ROUNDING = "rounding"
    """Double precision ended the progress; the gap is what was reached."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Where to measure, in which proportions, and how far from the best that can be at most."""

    weights: Array
    """(n,) a distribution on the arms."""
    value: float
    """max_v v' A^-1 v at the weights, or the average over a given mixture; what the features miss included."""
    lower_bound: float
    """No distribution on the arms has a smaller value."""
    dual: Dual
    """The mixture of targets, found or given, that proves the bound: `certify` recomputes it from weights and dual."""
    status: Status
    iterations: int
    """Steps that changed the weights."""
    evaluations: int
    """Full evaluations: value and bound over all arms and targets."""
    truncation: float
    """The part of the value that is owed to what the features miss."""

    @property
    def gap(self) -> float:
        """value / lower_bound - 1: nobody can do better by more than this."""
        return self.value / self.lower_bound - 1.0 if self.lower_bound > 0 else np.inf

    @property
    def support(self) -> Indices:
        """The arms with positive weight."""
        return np.flatnonzero(self.weights)

    def save(self, path: str | Path) -> None:
        """Write everything to one .npz file: arrays and numbers, no pickles."""
        dual = sparse.coo_array(self.dual)
        with whole(path) as beside, beside.open("wb") as file:  # numpy would add .npz to a name that lacks it
            np.savez_compressed(
                file,
                format=FORMAT,
                weights=self.weights,
                dual_at=np.stack(dual.coords),
                dual_weights=dual.data,
                dual_shape=self.dual.shape,
                numbers=[self.value, self.lower_bound, self.truncation],
                counts=[self.iterations, self.evaluations],
                status=self.status.value,
            )

    @classmethod
    def load(cls, path: str | Path) -> Design:
        """What `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                if int(file["format"]) != FORMAT:
                    raise InputError("format", int(file["format"]), f"this version reads format {FORMAT}")
                value, lower_bound, truncation = (float(x) for x in file["numbers"])
                iterations, evaluations = (int(x) for x in file["counts"])
                shape = tuple(int(n) for n in file["dual_shape"])
                dual = sparse.coo_array((file["dual_weights"], tuple(file["dual_at"])), shape=shape)
                return cls(
                    weights=file["weights"],
                    value=value,
                    lower_bound=lower_bound,
                    dual=dual.toarray() if len(shape) == 1 else dual.tocsr(),
                    status=Status(str(file["status"])),
                    iterations=iterations,
                    evaluations=evaluations,
                    truncation=truncation,
                )
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("path", repr(str(path)), f"give a file that Design.save wrote ({error})") from error

    def __repr__(self) -> str:
        return (
            f"Design({self.status.value}: value {self.value:.6g}, gap {self.gap:.2%}, "
            f"{len(self.support)} of {len(self.weights)} arms, {self.iterations} iterations)"
        )


Watch: TypeAlias = Callable[[Design], None]
"""Called with the best design so far."""


def found(problem: DesignProblem, weights: Array, mixture: tuple[Indices, Array], seen: Proof) -> Design:
    """A design as an evaluation saw it, not yet judged."""
    return Design(
        weights=weights,
        value=seen.value,
        lower_bound=seen.lower_bound,
        dual=as_dual(problem.targets, *mixture),
        status=Status.ITERATIONS,
        iterations=0,
        evaluations=1,
        truncation=seen.truncation,
    )
