from __future__ import annotations

import pickle

import pytest

from superlevel.errors import InputError, SuperlevelError


def test_the_sentence_names_field_value_and_remedy() -> None:
    error = InputError("ridge", -1.0, "give a number >= 0")
    assert str(error) == "ridge is -1.0: give a number >= 0"
    assert (error.field, error.got, error.remedy) == ("ridge", -1.0, "give a number >= 0")


@pytest.mark.parametrize("kind", [SuperlevelError, ValueError])
def test_is_caught_as_the_library_s_error_and_as_a_value_error(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="ridge is -1"):
        raise InputError("ridge", -1.0, "give a number >= 0")


def test_survives_the_way_back_from_a_worker_process() -> None:
    error = InputError("ridge", -1.0, "give a number >= 0")
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error)
    assert (back.field, back.got, back.remedy) == (error.field, error.got, error.remedy)
