"""Random kernels of every kind, and everything that a kernel computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from superlevel.kernels import On, Tanimoto

POINTS = np.random.default_rng(0).normal(size=(6, 2))
OTHERS = np.random.default_rng(1).normal(size=(4, 2))

positive = st.floats(1e-3, 1e3).flatmap(lambda x: st.sampled_from([x, np.float64(x), math.ceil(x), np.array(x)]))
pair = st.tuples(st.floats(0, 1), st.floats(1, 1e6) | st.just(math.inf))
one_bound = pair.filter(lambda p: p != (1e-5, 1e5)).flatmap(lambda p: st.sampled_from([p, list(p), np.array(p)]))
bounds = st.just((1e-5, 1e5)) | st.just("fixed") | one_bound


@st.composite
def lengths(draw: st.DrawFn) -> tuple[Any, Any]:
    """A length scale or two, and bounds that suit them."""
    if draw(st.booleans()):
        return draw(positive), draw(bounds)
    both = draw(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=2))
    each = st.lists(pair, min_size=2, max_size=2).flatmap(lambda rows: st.sampled_from([rows, np.array(rows)]))
    return draw(st.sampled_from([both, tuple(both), np.array(both)])), draw(bounds | each)


leaves = st.one_of(
    st.builds(lambda length: sk.RBF(*length), lengths()),
    st.builds(lambda length, nu: sk.Matern(*length, nu), lengths(), st.sampled_from([0.5, 1.5, 2.5, math.inf, 0.7])),
    st.builds(sk.RationalQuadratic, positive, positive, bounds, bounds),
    st.builds(sk.ExpSineSquared, positive, positive, bounds, bounds),
    st.builds(sk.DotProduct, positive | st.just(0.0), bounds),
    st.builds(sk.ConstantKernel, positive | st.just(0), bounds),
    st.builds(sk.WhiteKernel, positive | st.just(0.0), bounds),
    st.builds(Tanimoto),
)
trees = st.recursive(
    leaves,
    lambda part: (
        st.builds(sk.Sum, part, part)
        | st.builds(sk.Product, part, part)
        | st.builds(sk.Exponentiation, part, st.sampled_from([0.5, 2.0, 3.0, 1 / 3]))
        | st.builds(On, st.sampled_from([[0, 1], (1, 0), np.array([0, 1])]), part)
    ),
    max_leaves=6,
)


def values(kernel: Any) -> tuple[bytes, ...]:
    """Everything that a kernel computes, bit for bit."""
    with np.errstate(all="ignore"):
        blocks = kernel(POINTS), kernel(POINTS, OTHERS), kernel.diag(POINTS)
    return tuple(np.asarray(block, dtype=np.float64).tobytes() for block in blocks)
