"""Kernels as text. Python with scikit-learn's names is the second road to what an expression means."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from superlevel.errors import InputError
from superlevel.kernels import On, Tanimoto, describe, expression, parse, phrase, restore
from superlevel.kernels.descriptions import class_of
from superlevel.kernels.table import KERNELS, LEAVES
from tests.kernels.trees import trees, values


def evaluated(text: str) -> Any:
    ranges = re.sub(r'"(\d+) to (\d+)"', lambda ends: f"*range({ends[1]}, {ends[2]} + 1)", text)
    starred = re.sub(r"On\((\*range\([^)]*\))", r"On([\1]", ranges)
    return eval(starred, {"inf": math.inf} | {name: class_of(name) for name in LEAVES})


@given(trees)
def test_an_expression_is_read_back_as_the_same_kernel(kernel: Any) -> None:
    text = expression(kernel)
    again = parse(text)
    assert again == kernel
    assert values(again) == values(kernel)
    for road in (again, evaluated(text)):  # scikit-learn's == takes a + b for b + a, and [1, 2] not for (1, 2)
        assert describe(road) == describe(kernel)
    assert expression(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "RBF()",
        "RBF(0.1)",
        "RBF(1)",
        "4 * Matern(length_scale=0.2, nu=1.5) + WhiteKernel(0.01)",
        "2.5**2 * RBF([0.1, 2])",
        "RBF((0.1, 2))",
        'RBF(0.1, "fixed")',
        "RBF(0.1, 'fixed')",
        "RBF(0.1, length_scale_bounds=(0.01, 1))",
        "RBF(length_scale_bounds=[(0.01, 1), [1, inf]], length_scale=[0.1, 2])",
        "Matern(0.2, (0.1, 1), inf)",
        "RationalQuadratic(0.5, 2, 'fixed', (0, 1e3))",
        "ExpSineSquared(periodicity=1e-2)",
        "3 + RBF(1) * DotProduct(0) ** 2 + 2 * 3",
        "2 * 3 * RBF(+0.1) + 2 + 3",
        "(RBF(1) + 2) * ConstantKernel(4) ** 0.5",
        "(RBF(1) ** 2) ** 3",
        "RBF(1) ** 2 ** 3",
        "RBF(1) * (RBF(2) * RBF(3))",
        "10**-2 * RBF(-2 + 3 * 1_0)",
        "RBF(1)+ RBF(  2 )",
        "2 * Tanimoto() ** 2",
        "On(0, RBF(1)) * On([1, 2], Tanimoto()) + On(columns=(3, 4), kernel=RBF([1, 2]))",
        'On("0 to 99", RBF(1))',
    ],
)
def test_an_expression_means_what_it_means_in_python(text: str) -> None:
    assert parse(text) == evaluated(text)
    assert describe(parse(text)) == describe(evaluated(text))


def test_letters_may_be_small_and_lines_may_be_broken() -> None:
    assert parse(" 4 * rbf(0.1)\n  + WHITEKERNEL(1)\n") == 4 * sk.RBF(0.1) + sk.WhiteKernel(1)


@pytest.mark.parametrize("text", ["linear", " Linear\n"])
def test_the_linear_kernel_is_none(text: str) -> None:
    assert parse(text) is None
    assert expression(None) == "linear"
    assert describe(None) is None
    assert restore(None) is None


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (4 * sk.RBF(0.1), "4.0 * RBF(0.1)"),
        (sk.RBF(0.1) * 4, "RBF(0.1) * 4.0"),
        (sk.ConstantKernel(4), "ConstantKernel(4.0)"),
        (sk.ConstantKernel(4) * sk.ConstantKernel(2), "4.0 * ConstantKernel(2.0)"),
        (sk.ConstantKernel(4) ** 2, "ConstantKernel(4.0) ** 2.0"),
        (sk.ConstantKernel(4, "fixed") * sk.RBF(), 'ConstantKernel(4.0, "fixed") * RBF(1.0)'),
        (sk.RBF([0.1, 2], (0.01, 1)), "RBF([0.1, 2.0], (0.01, 1.0))"),
        (sk.Matern(nu=math.inf), "Matern(1.0, nu=inf)"),
        (sk.RationalQuadratic(alpha=2), "RationalQuadratic(1.0, alpha=2.0)"),
        (sk.RBF(1) + (sk.RBF(2) + sk.RBF(3)), "RBF(1.0) + (RBF(2.0) + RBF(3.0))"),
        (sk.RBF(1) + sk.RBF(2) + 3 * sk.RBF(3), "RBF(1.0) + RBF(2.0) + 3.0 * RBF(3.0)"),
        ((2 + sk.RBF(1)) ** 2 * sk.RBF(2), "(2.0 + RBF(1.0)) ** 2.0 * RBF(2.0)"),
        ((sk.RBF(1) ** 2) ** 3, "(RBF(1.0) ** 2.0) ** 3.0"),
        (sk.RBF(np.float64(1) / 3), "RBF(0.3333333333333333)"),
        (Tanimoto(), "Tanimoto()"),
        (2 * On(1, sk.RBF(1)), "2.0 * On(1, RBF(1.0))"),
        (On((0, 2), sk.RBF(1) + sk.RBF(2)), "On([0, 2], RBF(1.0) + RBF(2.0))"),
        (On(range(1024), Tanimoto()), 'On("0 to 1023", Tanimoto())'),
        (On([7, 0, 1, 2, 3, 9], sk.RBF(1)), 'On([7, "0 to 3", 9], RBF(1.0))'),
    ],
)
def test_expressions_are_for_people(kernel: Any, text: str) -> None:
    assert expression(kernel) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "--kernel is empty: give a kernel such as 4 * RBF"),
        ("  \n", "--kernel is empty"),
        ("RFB(0.1)", "--kernel is 'RFB(0.1)', where RFB is no known kernel: did you mean RBF?"),
        ("white(0.1)", "did you mean WhiteKernel?"),
        ("Gaussian(0.1)", "where Gaussian is no known kernel: give one made of RBF, Matern, RationalQuadratic"),
        ("rbf", "where rbf has no brackets: write RBF(...) with its numbers"),
        ("RBF(scale=1)", "where RBF has no scale: give length_scale or length_scale_bounds"),
        ("RBF(1, 'fixed', 2)", "where RBF has 3 arguments: give at most length_scale and length_scale_bounds"),
        ("RBF(1, length_scale=2)", "where RBF has length_scale twice: give it once"),
        ("RBF(nu=1, nu=2)", "where RBF has no nu"),
        ("Matern(nu=1, nu=2)", "where Matern has nu twice"),
        ("RBF(0)", "where length_scale of RBF is 0.0: give a finite number > 0"),
        ("RBF(-0.1)", "where length_scale of RBF is -0.1: give a finite number > 0, or a list of them"),
        ("RBF([1, -2])", "where length_scale of RBF is [1.0, -2.0]"),
        ("RBF([])", "where length_scale of RBF is []"),
        ("RBF([[1, 2]])", "where length_scale of RBF is [[1.0, 2.0]]"),
        ("RBF(nan)", "where length_scale of RBF is nan"),
        ("RBF(inf)", "where length_scale of RBF is inf"),
        ("RBF(RBF(1))", "where length_scale of RBF is a kernel"),
        ("RBF('fixed')", "where length_scale of RBF is 'fixed'"),
        ("RBF('inf')", "where 'inf' is in quotes: put nothing in quotes but \"fixed\""),
        (
            "RationalQuadratic([1, 2])",
            "length_scale of RationalQuadratic is [1.0, 2.0]: give a finite number > 0",
        ),
        ("Matern(1, nu=-inf)", "where nu of Matern is -inf: give a number > 0"),
        ("RBF(1, (2, 1))", 'is [2.0, 1.0]: give "fixed" or a pair (low, high) with 0 <= low <= high'),
        ("RBF(1, (1, 2, 3))", "length_scale_bounds of RBF is [1.0, 2.0, 3.0]"),
        ("RBF(1, 2)", "length_scale_bounds of RBF is 2.0"),
        ("RBF(1, ((1, 2), (1, 2)))", "where length_scale_bounds of RBF is 2 pairs: give one pair"),
        ("RBF([1, 2, 3], ((1, 2), (1, 2)))", "is 2 pairs: give one pair, or 3"),
        ("-1 * RBF(1)", "where constant_value of ConstantKernel is -1.0: give a finite number >= 0"),
        ("inf * RBF(1)", "where constant_value of ConstantKernel is inf"),
        ("RBF(1) ** -1", "where exponent of Exponentiation is -1.0"),
        ("RBF(1) ** RBF(1)", "where a kernel is an exponent: raise kernels to numbers only"),
        ("2 ** RBF(1)", "where a kernel is an exponent"),
        ("4", "--kernel is '4', which is a number: write ConstantKernel(...)"),
        ("-RBF(1)", "where '-RBF(1)' is no part of a kernel: use kernels, numbers, lists, +, * and ** only"),
        ("RBF(1) - RBF(2)", "where 'RBF(1) - RBF(2)' is no part of a kernel"),
        ("RBF(1) / 2", "which has '/' in it"),
        ("RBF(True)", "where 'True' is no part of a kernel"),
        ("[RBF(1)]", "where '[RBF(1)]' is no part of a kernel"),
        ("RBF(1", "--kernel is 'RBF(1', which is not an expression: write one such as 4 * RBF"),
        ("4 RBF(1)", "which is not an expression"),
        ("RBF 1", "which is not an expression"),
        ("Sum(RBF(1), RBF(2))", "where Sum is written as a function: write RBF(0.1) + RBF(1)"),
        ("2 * linear", 'where linear is not alone: write linear alone, or DotProduct(0, "fixed") in its place'),
        ("(-8) ** 0.5 * RBF(1)", "where a number is too large, or none"),
        ("0 ** -1 * RBF(1)", "where a number is too large, or none"),
        ("RBF(1e999)", "where a number is too large"),
        ("RBF(" + "9" * 400 + ")", "where a number is too large"),
        ("Tanimoto(1)", "where Tanimoto has 1 arguments: give none"),
        ("Tanimoto(length=1)", "where Tanimoto has no length: give none"),
        ("On(RBF(1))", "where 'RBF(1)' is no column: give names or numbers of columns"),
        ("On(0)", "where None stands for a kernel"),
        ("On(kernel=RBF(1))", "where columns of On is []: give names or numbers"),
        ("On([0, 0.5], RBF(1))", "where '0.5' is no column"),
        ("On(-1, RBF(1))", "where '-1' is no column"),
        ("On(depth, RBF(1))", "where 'depth' is no column: give numbers, such as [0, 1]"),
        ("On('9 to 1', RBF(1))", "where columns of On is []"),
        ("On(0, 4)", "where 4.0 stands for a kernel"),
        ("mine.Kernel(3)", "where mine:Kernel has a parameter without a name: write mine:Kernel(name=value)"),
        ("os:system(command='true')", "where 'os:system' is no kernel's class"),
        ("nowhere.kernels:Mine(a=1)", "kernel is nowhere.kernels:Mine, which cannot be loaded: install the package"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_text_and_the_remedy(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_sentence_names_the_field_that_was_asked_for() -> None:
    with pytest.raises(InputError, match=r"^study\.kernel is 'x\(1\)', where x is no known kernel"):
        parse("x(1)", field="study.kernel")
    with pytest.raises(InputError, match=r"^--kernel is of type int: give text"):
        parse(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "__import__('os').system('true')",
        "RBF.__class__",
        "RBF(1).__class__",
        "RBF(1).theta",
        "RBF(np.inf)",
        "(lambda: 1)()",
        "(lambda: RBF(1))()",
        "f'{RBF(1)}'",
        "RBF(f'fixed')",
        "RBF(b'fixed')",
        "[RBF(1) for x in (1, 2)]",
        "RBF([x for x in (1, 2)])",
        "RBF(x for x in (1, 2))",
        "(x := RBF(1))",
        "RBF(x := 1)",
        "RBF(0.1) if 1 else 2",
        "1if 1else 2",
        "RBF(1) or RBF(2)",
        "not RBF(1)",
        "RBF(1) < RBF(2)",
        "RBF(1) @ RBF(2)",
        "RBF(1)[0]",
        "[RBF(1), RBF(2)][0]",
        "RBF(1)(2)",
        "RBF(1), RBF(2)",
        "(yield)",
        "await RBF(1)",
        "RBF(1); RBF(2)",
        "x = RBF(1)",
        "import os",
        "RBF(1) # the rest",
        "RBF(*[1])",
        "RBF(**{})",
        "RBF(**RBF)",
        "RBF(*RBF)",
        "RBF(1, *[1])",
        "RBF({1: 2})",
        "RBF({1, 2})",
        "RBF(...)",
        "RBF(None)",
        "RBF(1j)",
        "RBF('\\x66ixed')",
        "On('\\x66', RBF(1))",
        "On('\u202e', RBF(1))",
        "os.system('true')",
        "os:system('true')",
        "subprocess:Popen(args='true')",
        "builtins:exec(source='1')",
        "numpy:fromfile(file='x')",
        "numpy.ndarray(shape=3)",
        "numpy._core:x(a=1)",
        "a:b:c(d=1)",
        "RBF(1):RBF(2)",
        "On(0 to 3, RBF(1))",
        "On('0 to 99999999999', RBF(1))",
        "getattr(RBF, 'x')",
        "eval('RBF(1)')",
        "kernel(1)",
        "Kernel(1)",
        "PairwiseKernel(1)",
        "CompoundKernel([RBF(1)])",
        "9**9**9",
        "9**9**9**9",
        "RBF(9**9**9**9)",
        "RBF(1) ** 9**9**9**9",
        "RBF(9" + "**9" * 10_000 + ")",
        "2" + "**2" * 16_000,
        "-" * 40_000 + "1",
        "RBF(" + "9" * 5_000 + ")",
        "RBF(0x" + "f" * 40_000 + ")",
        "RBF(1)" + " + RBF(1)" * 5_000,
        "RBF(1)" + "(1)" * 10_000,
        "RBF(" * 10_000,
        "(" * 10_000 + "RBF(1)" + ")" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "RBF(" + "[" * 80 + "1" + "]" * 80 + ")",
        "RBF(1)" + " " * 100_000,
        "RBF(1) + " * 100_000,
        "RBF(0.1)\0",
        "\0",
        "\x1b[31mRBF(1)",
        "ＲＢＦ(0.1)",  # noqa: RUF001
        "RВF(0.1)",  # noqa: RUF001  a Cyrillic letter
        "Matérn(0.1)",
        "RBF(0.１)",  # noqa: RUF001
        "RBF(−0.1)",  # noqa: RUF001
        "RBF(0.1, “fixed”)",
        "RBF(0.1)\u202e",
        "RBF(\udc80)",
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert len(str(caught.value)) < 500
    str(caught.value).encode()


WORDS = [
    *KERNELS,
    "linear",
    "rbf",
    "inf",
    "nan",
    "length_scale",
    "length_scale_bounds",
    "nu",
    "'fixed'",
    "0.1",
    "2",
    "1e9",
]
SIGNS = ["(", ")", "(", ")", "[", "]", ",", "=", "+", "*", "**", "-", ".", ":", "if", "for", "in", "lambda", "True"]
tokens = st.sampled_from([*WORDS, *SIGNS, " "])


@settings(max_examples=300)
@given(st.lists(tokens, max_size=12).map("".join) | st.text(max_size=20))
def test_any_text_is_a_kernel_or_a_sentence(text: str) -> None:
    try:
        kernel = parse(text)
    except InputError:  # and nothing else
        return
    assert parse(expression(kernel)) == kernel


def test_a_length_scale_for_each_of_a_thousand_coordinates_is_read_back() -> None:
    kernel = sk.RBF(np.random.default_rng(0).uniform(size=1000))
    assert parse(expression(kernel)) == kernel
    assert restore(describe(kernel)) == kernel


@given(trees)
def test_a_phrase_is_an_expression_with_four_digits_and_without_ranges(kernel: Any) -> None:
    text = phrase(describe(kernel))
    assert "bounds" not in text
    assert "fixed" not in text
    again = parse(text)
    assert phrase(describe(again)) == text
    one, two = (kernel.get_params(), again.get_params())
    for name, value in one.items():
        if not name.endswith("_bounds") and not isinstance(value, sk.Kernel):
            np.testing.assert_allclose(np.asarray(two[name], dtype=float), np.asarray(value, dtype=float), rtol=5e-4)


def test_a_phrase_is_for_people() -> None:
    kernel = 1.23456 * sk.RBF([0.1 + 0.2, 20.0], "fixed") + sk.Matern(1 / 3, (0.1, 1), nu=1.5) ** 2
    assert phrase(describe(kernel)) == "1.235 * RBF([0.3, 20.0]) + Matern(0.3333) ** 2.0"
    assert phrase(describe(sk.Matern(0.5, nu=2.5))) == "Matern(0.5, nu=2.5)"
    assert phrase(None) == "linear"


def test_a_mistake_is_found_before_scikit_learn_is_loaded() -> None:
    script = """
import sys
from superlevel import kernels
for text in ["RBF(-1)", "RFB(1)", "RBF(1) + WhiteKernel(-1)", "9**9**9"]:
    try:
        kernels.parse(text)
    except ValueError:
        continue
    raise SystemExit(f"{text} was taken")
assert kernels.parse("linear") is None
assert kernels.phrase({"kernel": "RBF", "length_scale": 0.25, "length_scale_bounds": "fixed"}) == "RBF(0.25)"
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
