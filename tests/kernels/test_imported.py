"""Kernel classes by their import path: they come back as they were, and nothing else is imported or called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import superlevel as sl
from superlevel.errors import InputError, NotInstalledError
from superlevel.kernels import describe, expression, parse, phrase, restore
from tests.kernels.mine import Around, NotAKernel, Scaled
from tests.kernels.trees import values

MINE = "tests.kernels.mine"


@pytest.mark.parametrize(
    "kernel",
    [
        Scaled(0.1 + 0.2),
        2.0 * Scaled(0.3, "fixed", "größer") + sk.WhiteKernel(0.1),
        Scaled(np.array([0.1, 2.0])),
        Around(sk.RBF(0.3), degree=3, flags=[True, None, ["x", 2]]),
        Around(Around(Scaled(0.2), flags=-3)) * sk.RBF(2.0),
    ],
    ids=repr,
)
def test_a_class_of_one_s_own_comes_back_from_json_and_from_text(kernel: Any) -> None:
    description = json.loads(json.dumps(describe(kernel), allow_nan=False))
    assert f"{MINE}:" in json.dumps(description)
    for again in (restore(description), parse(expression(kernel))):
        assert describe(again) == description
        assert values(again) == values(kernel)
    assert phrase(description)


def test_whole_numbers_stay_whole_and_lists_cannot_be_changed() -> None:
    again = restore(describe(Around(sk.RBF(), degree=3, flags=[1, 2])))
    assert isinstance(again.degree, int)
    assert again.flags == (1, 2)


def local() -> Any:
    class Local(sk.RBF):  # type: ignore[misc]
        pass

    return Local()


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (local(), "cannot be imported by others: define the class at the top of a module"),
        (NotAKernel(), "NotAKernel is not in the table: give one made of RBF"),
        (Around(sk.RBF(), degree=np.inf), f"where degree of {MINE}:Around is inf: give finite numbers"),  # type: ignore[arg-type]
        (Around(sk.RBF(), flags={"a": 1}), f"where flags of {MINE}:Around is {{'a': 1}}"),
        (Around(sk.RBF(), flags=[np.float32(1)]), f"where flags of {MINE}:Around is"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_a_sentence(kernel: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        describe(kernel)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("path", "parameters", "sentence"),
    [
        (f"{MINE}:NotAKernel", {}, "is no kernel: name a class that derives from sklearn's Kernel"),
        (f"{MINE}:NOT_A_CLASS", {}, "is no kernel"),
        (f"{MINE}:Missing", {}, "cannot be loaded: install the package that has it, or put it on PYTHONPATH"),
        ("nowhere_at_all.kernels:Mine", {}, "no module 'nowhere_at_all' is installed"),
        (f"{MINE}:Refusing", {}, "cannot be made: give the parameters that it takes (no licence)"),
        (f"{MINE}:Scaled", {"size": 3}, "cannot be made: give the parameters that it takes"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_a_sentence(path: str, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        restore({"kernel": path, "parameters": parameters})
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


SOURCE = """
import pathlib
from sklearn.gaussian_process.kernels import RBF
class Ours(RBF):
    pass
pathlib.Path("imported").touch()
"""


def test_a_module_is_imported_where_it_is_installed_and_not_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, elsewhere = tmp_path / "library", tmp_path / "elsewhere"
    for folder in (library, elsewhere):
        folder.mkdir()
    (library / "our_kernels.py").write_text(SOURCE)
    description = {"kernel": "our_kernels:Ours", "parameters": {"length_scale": 0.25}}
    monkeypatch.chdir(elsewhere)
    with pytest.raises(NotInstalledError, match="no module 'our_kernels' is installed"):
        restore(description)
    monkeypatch.syspath_prepend(library)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(library)
    with pytest.raises(NotInstalledError, match="import one of the current folder yourself"):
        restore(description)
    assert not (library / "imported").exists()
    monkeypatch.setenv("PYTHONPATH", str(library))
    try:
        assert restore(description).length_scale == 0.25
        monkeypatch.delenv("PYTHONPATH")
        assert restore(description).length_scale == 0.25  # it is imported by now
    finally:
        sys.modules.pop("our_kernels", None)


def test_a_study_keeps_a_kernel_of_one_s_own(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    problem = sl.Problem(
        sl.Domain([0.0, 0.5, 1.0], sk.ConstantKernel(2.0) * Scaled(0.3)), goal=sl.Threshold(0.5), noise=0.1
    )
    sl.Study.create(url, "mine", problem, method="lse")
    again = sl.Study.open(url, "mine")
    assert again.knowledge.method.problem.domain.kernel == problem.domain.kernel
    assert again.status().kernel == f"2.0 * {MINE}:Scaled(length_scale=0.3, word='plain')"
    assert again.verify().ok


def test_a_path_is_looked_up_only_where_a_kernel_is_made() -> None:
    description = {"kernel": "nowhere_at_all:Mine", "parameters": {"length_scale": 0.25}}
    assert phrase(description) == "nowhere_at_all:Mine(length_scale=0.25)"
    with pytest.raises(NotInstalledError):
        restore(description)


def test_a_domain_takes_it() -> None:
    domain = sl.Domain([[0.0, 1.0], [2.0, 3.0]], parse(f"{MINE}:Around(kernel=RBF(2), degree=4)"))
    np.testing.assert_allclose(domain.gram([0, 1]), 4 * sk.RBF(2.0)(domain.points))
