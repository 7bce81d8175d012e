"""Kernels by name, as the command line takes them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from superlevel.arrays import as_number
from superlevel.errors import InputError


class KernelName(StrEnum):
    """What `--kernel` takes."""

    LINEAR = "linear"
    RBF = "rbf"
    MATERN = "matern"


def make_kernel(name: KernelName, *, length_scales: Sequence[float], amplitude: float, dimension: int) -> Any:
    """A scikit-learn kernel, or None for the linear one: amplitude^2 times RBF, or Matern with nu = 5/2."""
    amplitude = as_number("--amplitude", amplitude, above=0)
    scales = [as_number("--length-scale", scale, above=0) for scale in length_scales]
    if name is KernelName.LINEAR:
        if scales or amplitude != 1.0:
            raise InputError("--kernel", "linear", "leave --length-scale and --amplitude out, or choose rbf or matern")
        return None
    if len(scales) not in {1, dimension}:
        remedy = f"give it once, or {dimension} times, once for each coordinate"
        raise InputError("--length-scale", f"there {len(scales)} times", remedy)
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern  # noqa: PLC0415  slow to import

    scale = scales[0] if len(scales) == 1 else scales
    kernel = RBF(scale) if name is KernelName.RBF else Matern(scale, nu=2.5)
    return kernel if amplitude == 1.0 else ConstantKernel(amplitude**2) * kernel
