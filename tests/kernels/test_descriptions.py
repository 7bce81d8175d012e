"""Kernels as data: nothing is lost, and nothing else gets in."""

from __future__ import annotations

import inspect
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.gaussian_process import kernels as sk

from superlevel.errors import InputError
from superlevel.kernels import On, describe, expression, parse, restore
from superlevel.kernels.descriptions import class_of
from superlevel.kernels.table import DEEPEST, KERNELS, LEAVES, OWN, Columns, Operand
from tests.kernels.trees import trees, values


@given(trees)
def test_a_description_survives_json_and_gives_the_same_kernel(kernel: Any) -> None:
    description = describe(kernel)
    kept = json.loads(json.dumps(description, allow_nan=False))
    assert kept == description
    again = restore(kept)
    assert again == kernel
    assert describe(again) == description
    assert values(again) == values(kernel)


@given(trees)
def test_what_was_restored_looks_the_same_however_often(kernel: Any) -> None:
    once = restore(describe(kernel))
    assert repr(restore(describe(once)).get_params()) == repr(once.get_params())
    assert repr(parse(expression(kernel)).get_params()) == repr(once.get_params())


def test_a_fitted_kernel_loses_no_digit() -> None:
    begun = 2.0 * sk.Matern([0.1, 2], nu=2.5) + sk.WhiteKernel(0.1)
    fitted = begun.clone_with_theta(np.random.default_rng(0).normal(size=4))
    for again in (restore(json.loads(json.dumps(describe(fitted)))), parse(expression(fitted))):
        assert (again.theta == fitted.theta).all()
        assert values(again) == values(fitted)


def test_the_table_is_scikit_learn_s() -> None:
    for name in (name for name in LEAVES if name not in OWN):
        arguments = inspect.signature(getattr(sk, name)).parameters
        assert list(arguments) == list(KERNELS[name])
        for argument, kind in KERNELS[name].items():
            assert not isinstance(kind, Operand | Columns)
            assert arguments[argument].default == kind.default


def test_our_own_classes_have_the_arguments_of_the_table() -> None:
    for name in OWN:
        arguments = list(inspect.signature(class_of(name)).parameters)
        assert arguments == ["kernel" if argument == "base" else argument for argument in KERNELS[name]]


class Foreign:
    """Only called like a kernel of scikit-learn."""


Foreign.__name__ = "RBF"


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (Foreign(), "Foreign is not in the table: give one made of RBF, Matern,"),
        (sk.Sum(Foreign(), sk.RBF()), "Foreign is not in the table"),
        (On([], sk.RBF()), "where columns of On is []: give names or numbers of columns, each once"),
        (On([0, 0], sk.RBF()), "where columns of On is [0, 0]"),
        (On(-1, sk.RBF()), "where columns of On is [-1]"),
        (On([0.5], sk.RBF()), "where columns of On is [0.5]"),  # type: ignore[list-item]
        (On(True, sk.RBF()), "where columns of On is True"),
        (On([0], 3), "where builtins.int is not in the table"),
        (sk.PairwiseKernel(), "where sklearn.gaussian_process.kernels.PairwiseKernel is not in the table"),
        (sk.CompoundKernel([sk.RBF()]), "CompoundKernel is not in the table"),
        (Foreign(), "Foreign is not in the table"),
        (sk.RBF, "where abc.ABCMeta is not in the table"),
        ("RBF(0.1)", "kernel is 'RBF(0.1)', where builtins.str is not in the table"),
        (sk.Sum(sk.RBF(), 3), "where builtins.int is not in the table"),
        (sk.RBF(np.float32(0.1)), "where length_scale of RBF is"),
        (sk.RBF(np.array([0.1], dtype=np.float32)), "where length_scale of RBF is"),
        (sk.RBF("0.1"), "where length_scale of RBF is '0.1'"),
        (sk.RBF(None), "where length_scale of RBF is None"),
        (sk.RBF(True), "where length_scale of RBF is True"),
        (sk.RBF(math.nan), "where length_scale of RBF is nan"),
        (sk.RBF([[0.1, 0.2]]), "where length_scale of RBF is [[0.1, 0.2]]"),
        (sk.ConstantKernel(2**53 + 1), "where constant_value of ConstantKernel is 9007199254740993"),
        (sk.ConstantKernel(10**400), "where constant_value of ConstantKernel is 1000"),
        (sk.RBF(0.1, "free"), "where length_scale_bounds of RBF is 'free'"),
        (sk.RBF(0.1, np.array(["fixed"])), "where length_scale_bounds of RBF is"),
    ],
)
def test_a_kernel_that_cannot_be_written_down_is_refused(kernel: Any, sentence: str) -> None:
    for write in (describe, expression):
        with pytest.raises(InputError, match=r"^kernel is ") as caught:
            write(kernel)
        assert sentence in str(caught.value)


GOOD = {"kernel": "RBF", "length_scale": 0.1, "length_scale_bounds": [0.01, 1.0]}


@pytest.mark.parametrize(
    "description",
    [
        "RBF",
        4.0,
        [],
        [GOOD],
        {},
        {"kernel": None},
        {"kernel": "Kernel"},
        {"kernel": "rbf"},
        {"kernel": ["RBF"]},
        {"kernel": "PairwiseKernel", "gamma": 1.0},
        {"kernel": "RBF"},
        {"kernel": "RBF", "length_scale": 0.1},
        GOOD | {"nu": 1.5},
        GOOD | {3: 4},
        GOOD | {"length_scale": "inf"},
        GOOD | {"length_scale": "0.1"},
        GOOD | {"length_scale": math.inf},
        GOOD | {"length_scale": math.nan},
        GOOD | {"length_scale": 10**400},
        GOOD | {"length_scale": False},
        GOOD | {"length_scale": None},
        GOOD | {"length_scale": [0.1, None]},
        GOOD | {"length_scale": (0.1, 0.2)},
        GOOD | {"length_scale": GOOD},
        GOOD | {"length_scale_bounds": "free"},
        GOOD | {"length_scale_bounds": []},
        GOOD | {"length_scale_bounds": [[]]},
        GOOD | {"length_scale_bounds": [0.1, [0.2]]},
        GOOD | {"length_scale_bounds": [[0.1, 0.2], 0.3]},
        GOOD | {"length_scale_bounds": ["inf", "inf"]},
        GOOD | {"length_scale_bounds": [-1.0, 1.0]},
        GOOD | {"length_scale_bounds": [[0.1, 0.2]] * 3},
        {"kernel": "Sum", "k1": GOOD},
        {"kernel": "Sum", "k1": GOOD, "k2": 4.0},
        {"kernel": "Sum", "k1": GOOD, "k2": None},
        {"kernel": "Exponentiation", "base": GOOD, "exponent": GOOD},
        {"kernel": "Exponentiation", "base": GOOD, "exponent": -1.0},
        {"kernel": "Tanimoto", "length_scale": 1.0},
        {"kernel": "On", "base": GOOD},
        {"kernel": "On", "columns": 0.0, "base": GOOD},
        {"kernel": "On", "columns": ["lon"], "base": GOOD},
        {"kernel": "On", "columns": [True], "base": GOOD},
        {"kernel": "On", "columns": [0], "base": 3.0},
        {"kernel": "os:system", "parameters": {"command": "true"}},
        {"kernel": "subprocess:Popen", "parameters": {"args": "true"}},
        {"kernel": "sklearn.gaussian_process.kernels:RBF", "parameters": {}},
        {"kernel": "superlevel.kernels.own:Tanimoto", "parameters": {}},
        {"kernel": "numpy:_core", "parameters": {}},
        {"kernel": "numpy:array.dot", "parameters": {}},
        {"kernel": "numpy:ndarray", "parameters": {"shape": 3}},
        {"kernel": "numpy:array", "parameters": {"object": 3}},
        {"kernel": "nowhere.kernels:Mine", "parameters": {}},
        {"kernel": "mine:Mine"},
        {"kernel": "mine:Mine", "length_scale": 1.0},
        {"kernel": "mine:Mine", "parameters": [1.0]},
        {"kernel": "mine:Mine", "parameters": {"a b": 1.0}},
        {"kernel": "mine:Mine", "parameters": {"a": math.nan}},
    ],
    ids=str,
)
def test_a_malformed_description_is_refused(description: Any) -> None:
    with pytest.raises(InputError, match=r"^kernel is ") as caught:
        restore(description)
    assert "\n" not in str(caught.value)


def test_what_is_restored_cannot_be_changed_by_whoever_holds_the_description() -> None:
    description = {"kernel": "RBF", "length_scale": [0.1, 2.0], "length_scale_bounds": "fixed"}
    kernel = restore(description)
    description["length_scale"] = [5.0, 5.0]
    assert kernel.length_scale.tolist() == [0.1, 2.0]
    assert not kernel.length_scale.flags.writeable


@pytest.mark.parametrize(
    "nest",
    [lambda k: k + sk.RBF(2), lambda k: sk.RBF(2) + k, lambda k: 2 * k, lambda k: sk.Exponentiation(k, 2.0)],
    ids=["left", "right", "scaled", "powers"],
)
def test_kernels_within_kernels_are_limited(nest: Any) -> None:
    kernel = sk.Matern([0.1, 2], [(0.01, 1), (1, 2)], nu=2.5)
    for _ in range(DEEPEST - 1):
        kernel = nest(kernel)
    description = describe(kernel)
    assert describe(restore(description)) == description
    assert describe(parse(expression(kernel))) == description
    deeper = {"kernel": "Exponentiation", "base": description, "exponent": 2.0}
    attempts: list[tuple[Any, Any]] = [
        (describe, nest(kernel)),
        (restore, deeper),
        (parse, f"({expression(kernel)}) ** 2"),
    ]
    for read, too_deep in attempts:
        with pytest.raises(InputError, match="nested too deeply: give at most 50 kernels within each other"):
            read(too_deep)
