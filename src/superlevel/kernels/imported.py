"""Kernel classes of other people, by their import path: ``mypackage.kernels:MyKernel``.

A study stores the path and the parameters. Whoever opens it imports that module, and a log may come from anybody. So

- a path names a class that derives from scikit-learn's ``Kernel``, at the top of its module; nothing else is called;
- its parameters are plain data: numbers, text, True, False, None, lists of these, and kernels;
- a module is imported if it was imported before, or if it is installed or on PYTHONPATH. One that lies in the current
  folder is not: a study and a module that arrive in one folder would run the module. Import it yourself before the
  study is opened, or name the folder in PYTHONPATH;
- the standard library, scikit-learn and this package have no such classes: what of theirs is known is in the table.
"""

from __future__ import annotations

import math
import os
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from superlevel.errors import NotInstalledError
from superlevel.kernels.table import MADE_OF, KernelError, shown

_PATH = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*:[A-Za-z]\w*", re.ASCII)
_CLOSED = {*sys.stdlib_module_names, "sklearn", "superlevel"}
_OWN_CLASS = (
    "or an object of a class of your own, at the top of an installed module, that derives from sklearn's Kernel"
)


def is_path(name: object) -> bool:
    """Whether a name is the import path of a class that may be a kernel."""
    return isinstance(name, str) and bool(_PATH.fullmatch(name)) and name.split(".")[0].split(":")[0] not in _CLOSED


def path_of(kernel: Any) -> str:
    """The import path of a kernel's class."""
    from sklearn.gaussian_process.kernels import Kernel  # noqa: PLC0415  slow to import

    kind = type(kernel)
    path = f"{kind.__module__}:{kind.__qualname__}"
    if not isinstance(kernel, Kernel) or kind.__module__.split(".")[0] in _CLOSED:
        raise KernelError(
            f"where {kind.__module__}.{kind.__qualname__} is not in the table", f"{MADE_OF}, {_OWN_CLASS}"
        )
    if not is_path(path) or kind.__module__ == "__main__":
        remedy = "define the class at the top of a module that can be imported, so that the study opens again"
        raise KernelError(f"where {path} cannot be imported by others", remedy)
    return path


def plain(where: str, value: Any) -> Any:
    """A parameter as strict JSON has it, without the loss of a digit; arrays and tuples become lists."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype in (np.float64, np.int64, np.bool_):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(where, item) for item in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    remedy = "give finite numbers, text, True, False, None or lists of them: a study stores them as JSON"
    raise KernelError(f"where {where} is {shown(value)}", remedy)


def frozen_plain(value: Any) -> Any:
    """A parameter as the class gets it: lists as tuples."""
    return tuple(frozen_plain(item) for item in value) if isinstance(value, list) else value


def made_from(path: str, parameters: dict[str, Any]) -> Any:
    """The kernel of that class; a sentence where it cannot be loaded or made."""
    from sklearn.gaussian_process.kernels import Kernel  # noqa: PLC0415  slow to import

    module, _, name = path.partition(":")
    try:
        kind = getattr(_module(module), name)
    except (ImportError, AttributeError) as error:
        remedy = f"install the package that has it, or put it on PYTHONPATH ({_reason(error)})"
        raise NotInstalledError("kernel", f"{path}, which cannot be loaded", remedy) from error
    if not isinstance(kind, type) or not issubclass(kind, Kernel):
        raise KernelError(f"where {path} is no kernel", "name a class that derives from sklearn's Kernel")
    try:
        return kind(**parameters)
    except Exception as error:  # the constructor is anybody's code
        raise KernelError(
            f"where {path} cannot be made", f"give the parameters that it takes ({_reason(error)})"
        ) from error


def _module(name: str) -> Any:
    top = name.partition(".")[0]
    if top not in sys.modules and not _is_installed(top):
        raise ImportError(f"no module {top!r} is installed; import one of the current folder yourself before this")
    return import_module(name)


def _is_installed(top: str) -> bool:
    """Whether a module would be imported from elsewhere than the current folder, or PYTHONPATH names that folder."""
    spec = find_spec(top)  # of a name without dots: nothing is imported
    if spec is None:
        return False
    here = Path.cwd().resolve()
    asked = {Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry}
    packages = [Path(folder) for folder in spec.submodule_search_locations or ()]
    places = packages or [Path(spec.origin or "")]
    return here in asked or all(place.resolve().parent != here for place in places)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
