"""One thread of BLAS and no doubts about the model while tasks run, and only then."""

from __future__ import annotations

import warnings

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from superlevel.errors import AssumptionWarning
from superlevel.worker_setup import quiet


def threads() -> int:
    return max(int(library["num_threads"]) for library in threadpool_info())


def test_blas_has_one_thread_for_a_while() -> None:
    with threadpool_limits(limits=2):
        if threads() < 2:
            pytest.skip("this BLAS has one thread only")
        with quiet():
            assert threads() == 1
        assert threads() == 2


def test_a_function_that_contradicts_its_model_is_no_warning_for_a_while_and_everything_else_is() -> None:
    with quiet():
        warnings.warn("as simulated", AssumptionWarning, stacklevel=1)
        with pytest.raises(RuntimeWarning, match="other"):
            warnings.warn("other", RuntimeWarning, stacklevel=1)
    with pytest.raises(AssumptionWarning, match="as measured"):
        warnings.warn("as measured", AssumptionWarning, stacklevel=1)
