from __future__ import annotations

import csv
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.gaussian_process.kernels import (  # type: ignore[import-untyped, unused-ignore]
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Kernel,
    Matern,
    PairwiseKernel,
    WhiteKernel,
)

from superlevel.domain import Domain, read_values
from superlevel.errors import InputError

LINE = np.linspace(0.0, 1.0, 30)
PLANE = np.random.default_rng(0).uniform(size=(40, 2))
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)

GOOD_KERNELS = [
    RBF(0.1),
    RBF([0.1, 0.3]),
    Matern(0.2, nu=1.5),
    Matern(0.2, nu=0.5),
    DotProduct(0.5),
    DotProduct(0.0),
    ConstantKernel(2.0) * RBF(0.1),
    RBF(0.1) + ConstantKernel(3.0) * Matern(1.0, nu=2.5),
    RBF(0.1) + WhiteKernel(0.5),
    ConstantKernel(1e-6) * RBF(0.1),
    1e6 * RBF(10.0),
    PairwiseKernel(metric="rbf", gamma=2.0),
]


class Made(Kernel):  # type: ignore[misc]
    """A kernel of a matrix function of points, and by default a diagonal that agrees with it."""

    def __init__(self, block: Any, diag: Any = None) -> None:
        self.block, self.diagonal = block, diag

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:  # noqa: N803, ARG002
        return self.block(X, X if Y is None else Y)

    def diag(self, X: Any) -> Any:  # noqa: N803
        return np.diag(self.block(X, X)) if self.diagonal is None else self.diagonal(X)

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "Made()"


def sentence(*args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        Domain(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- points


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=FINITE))
def test_points_keep_their_numbers(points: np.ndarray) -> None:
    for given_as in (points, points.tolist(), np.asfortranarray(points)):
        domain = Domain(given_as)
        np.testing.assert_array_equal(domain.points, points)
        assert domain.points.dtype == np.float64
        assert (len(domain), domain.n, domain.dimension) == (*points.shape[:1], *points.shape)


@pytest.mark.parametrize("points", [LINE, LINE.tolist(), tuple(LINE)])
def test_numbers_are_points_on_a_line(points: Any) -> None:
    np.testing.assert_array_equal(Domain(points).points, LINE[:, None])


def test_points_are_a_read_only_copy() -> None:
    given_points = np.ones((3, 2))
    domain = Domain(given_points)
    given_points[0, 0] = 7.0
    assert domain.points[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        domain.points[0, 0] = 7.0


def test_a_domain_stays_as_it_is_and_a_changed_copy_is_checked() -> None:
    domain = Domain(PLANE, names=["east", "north"])
    with pytest.raises(FrozenInstanceError):
        domain.kernel = RBF()  # type: ignore[misc]
    changed = replace(domain, kernel=RBF(0.1))
    assert changed.names == ("east", "north")
    with pytest.raises(InputError, match="kernel is 'rbf'"):
        replace(domain, kernel="rbf")  # type: ignore[arg-type]


def test_domains_are_compared_by_identity_because_they_hold_arrays() -> None:
    assert Domain(LINE) != Domain(LINE)
    assert len({Domain(LINE), Domain(LINE)}) == 2


def test_a_domain_can_be_sent_to_another_process() -> None:
    back = pickle.loads(pickle.dumps(Domain(PLANE, RBF(0.1), names=["east", "north"])))
    np.testing.assert_array_equal(back.points, PLANE)
    assert (back.kernel, back.names) == (RBF(0.1), ("east", "north"))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], "points is of shape (0, 1): give at least one row and one column"),
        (np.ones((0, 2)), "points is of shape (0, 2): give at least one row and one column"),
        (np.ones((2, 2, 2)), "points is of shape (2, 2, 2): give a 2-d array, one row for each point"),
        ([0.0, np.nan], "points[1, 0] is nan: give finite numbers or leave that row out"),
        ([[0.0, 1.0], [0.0, np.inf]], "points[1, 1] is inf: give finite numbers or leave that row out"),
        ([[0.0, 1.0], [2.0]], "points is of type list and holds something other than numbers: give numbers (setting"),
        (["a", "b"], "points is of type ndarray and holds something other than numbers: give numbers (could not"),
        ("points.csv", "points is of type str and holds something other than numbers: give numbers (could not"),
        (np.array([1j]), "points is of type ndarray and holds something other than numbers: give numbers (complex"),
    ],
)
def test_bad_points_are_named(points: Any, expected: str) -> None:
    assert sentence(points).startswith(expected)


# --- names


def test_names() -> None:
    assert Domain(PLANE).names == ("x0", "x1")
    assert Domain(PLANE, names=["east", "north"]).names == ("east", "north")
    from_array: Any = np.array(["east", "north"])
    assert Domain(PLANE, names=from_array).names == ("east", "north")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a"], "names is ('a',): give 2 names, one for each coordinate of the points"),
        (["a", "b", "c"], "names is ('a', 'b', 'c'): give 2 names, one for each coordinate of the points"),
        ("ab", "names is 'ab': give 2 names, one for each coordinate of the points"),
        (2, "names is 2: give 2 names, one for each coordinate of the points"),
        (["a", "a"], "names[1] is 'a' again: give every name once"),
        (["a", " "], "names[1] is ' ': give a name of at least one letter"),
        ([0, "b"], "names[0] is 0: give a name of at least one letter"),
    ],
)
def test_bad_names_are_named(names: Any, expected: str) -> None:
    assert sentence(PLANE, names=names) == expected


# --- frames


def test_a_frame_gives_points_and_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"east": [1, 2, 3], "north": [0.5, 0.25, 0.0]}, index=[7, 8, 9])
    domain = Domain(frame)
    assert domain.names == ("east", "north")
    np.testing.assert_array_equal(domain.points, [[1.0, 0.5], [2.0, 0.25], [3.0, 0.0]])
    assert Domain(frame, names=["e", "n"]).names == ("e", "n")
    frame.loc[7, "east"] = 99
    assert domain.points[0, 0] == 1.0


def test_frames_of_every_numeric_type_and_of_unnamed_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({0: pandas.array([1, 2], dtype="Int64"), 1: np.array([3, 4], dtype=np.uint8)})
    domain = Domain(frame)
    assert domain.names == ("0", "1")
    np.testing.assert_array_equal(domain.points, [[1.0, 3.0], [2.0, 4.0]])
    np.testing.assert_array_equal(Domain(frame[1]).points, [[3.0], [4.0]])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["a", "b"], r"points\['site'\] is a column of type (str|object): turn it into numbers or leave it out"),
        ([True, False], r"points\['site'\] is a column of type bool: turn it into numbers or leave it out"),
        ([1j, 2j], r"points\['site'\] is a column of type complex128: turn it into numbers or leave it out"),
        ([1.0, None], r"points\[1, 1\] is nan: give finite numbers or leave that row out"),
    ],
)
def test_bad_columns_of_a_frame_are_named(column: list[object], expected: str) -> None:
    pandas = pytest.importorskip("pandas")
    assert re.fullmatch(expected, sentence(pandas.DataFrame({"depth": [1.0, 2.0], "site": column})))


def test_missing_whole_numbers_and_dates_of_a_frame_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    missing = pandas.DataFrame({"depth": pandas.array([1, None], dtype="Int64")})
    assert sentence(missing) == "points[1, 0] is nan: give finite numbers or leave that row out"
    dates = pandas.DataFrame({"day": pandas.to_datetime(["2020-01-01", "2020-01-02"])})
    assert sentence(dates).startswith("points['day'] is a column of type datetime64")


def test_equal_columns_of_a_frame_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    assert sentence(pandas.DataFrame(np.eye(2), columns=["a", "a"])) == "names[1] is 'a' again: give every name once"


# --- kernels


@pytest.mark.parametrize("kernel", GOOD_KERNELS, ids=repr)
def test_blocks_and_diagonal_are_those_of_the_whole_kernel_matrix(kernel: Any) -> None:
    domain = Domain(PLANE, kernel)
    whole = kernel(PLANE)
    every = np.arange(len(PLANE))
    np.testing.assert_allclose(domain.gram(every), whole, rtol=1e-12)
    np.testing.assert_allclose(domain.diagonal(), np.diag(whole), rtol=1e-12)
    rows, columns = np.array([5, 3, 3, -1]), np.array([3, 0, 5])
    np.testing.assert_allclose(domain.gram(rows, columns), whole[np.ix_(rows, columns)], rtol=1e-12)
    np.testing.assert_allclose(domain.gram(rows.tolist()), whole[np.ix_(rows, rows)], rtol=1e-12)
    np.testing.assert_allclose(domain.gram([0, 1], [2]), whole[:2, 2:3], rtol=1e-12)
    mask = every % 3 == 0
    np.testing.assert_allclose(domain.gram(mask, (1,)), whole[mask][:, [1]], rtol=1e-12)


@given(hnp.arrays(np.float64, (6, 3), elements=st.floats(-10, 10)), st.lists(st.integers(0, 5)))
def test_without_a_kernel_features_are_the_points(points: np.ndarray, rows: list[int]) -> None:
    linear, product = Domain(points), Domain(points, DotProduct(0.0))
    np.testing.assert_allclose(linear.gram(rows, [0, 1]), product.gram(rows, [0, 1]), atol=1e-9)
    np.testing.assert_allclose(linear.gram(rows), product.gram(rows), atol=1e-9)
    np.testing.assert_allclose(linear.diagonal(), product.diagonal(), atol=1e-9)


def test_no_rows_give_an_empty_block() -> None:
    assert Domain(PLANE, RBF(0.1)).gram([], [1, 2]).shape == (0, 2)
    assert Domain(PLANE).gram([]).shape == (0, 0)


@pytest.mark.parametrize("rows", [[40], [-41], np.ones(3, dtype=bool)])
def test_an_index_outside_the_domain_is_an_error(rows: Any) -> None:
    with pytest.raises(IndexError):
        Domain(PLANE, RBF(0.1)).gram(rows)


@pytest.mark.parametrize("kernel", [None, RBF(0.1), RBF(0.1) + WhiteKernel(0.5)], ids=repr)
def test_points_may_occur_more_than_once(kernel: Any) -> None:
    domain = Domain(np.repeat(LINE, 10), kernel)
    assert domain.n == 300
    assert domain.gram([0, 1])[0, 1] == pytest.approx(0.0 if kernel is None else 1.0)


@pytest.mark.parametrize(
    "kernel", ["rbf", 0.1, RBF, lambda x, y: x @ y.T, np.eye(30)], ids=["name", "number", "class", "function", "matrix"]
)
def test_what_is_no_kernel_is_named(kernel: Any) -> None:
    said = sentence(LINE, kernel)
    assert re.match(r"kernel is ('rbf'|0\.1|<class '.*RBF'>|<function <la.*>|array\(.*\)): give a scikit-learn", said)
    assert said.endswith(": give a scikit-learn kernel such as RBF(0.1), or None for the linear kernel")


@pytest.mark.parametrize(("points", "coordinates"), [(LINE, "1 coordinate"), (np.ones((2, 3)), "3 coordinates")])
@pytest.mark.parametrize("kernel", [RBF([0.1, 0.2]), 2.0 * Matern([0.1, 0.2])], ids=["plain", "product"])
def test_length_scales_of_another_dimension_are_named(points: Any, coordinates: str, kernel: Any) -> None:
    said = sentence(points, kernel)
    assert said.startswith(f"kernel is {kernel!r}: give a kernel for points with {coordinates} (Anisotropic kernel")


def test_what_a_kernel_raises_is_kept() -> None:
    def block(*_: Any) -> Any:
        raise RuntimeError("needs\n  a licence")

    with pytest.raises(InputError, match=r"kernel is Made\(\): .* \(needs a licence\)$") as caught:
        Domain(LINE, Made(block))
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("points", "kernel", "value"),
    [
        (LINE, RBF(np.nan), "nan"),
        (LINE, RBF(0.0), "nan"),
        (LINE, ConstantKernel(np.inf), "inf"),
        (LINE * 1e200, DotProduct(), "inf"),
        (LINE * 1e200, None, "inf"),
    ],
)
def test_a_kernel_that_is_not_finite_is_named(points: Any, kernel: Any, value: str) -> None:
    expected = f"kernel is {kernel!r}, which gives {value} at some of the points"
    assert sentence(points, kernel) == f"{expected}: check its parameters and the scale of the points"


def negative(x: Any, y: Any) -> Any:
    return -RBF()(x, y)


@pytest.mark.parametrize(
    ("points", "kernel"),
    [
        (LINE, Made(negative)),
        (LINE, PairwiseKernel(metric="sigmoid", gamma=5.0)),
        (np.stack(np.meshgrid(LINE, LINE), axis=-1).reshape(-1, 2), ExpSineSquared(1.0, 0.3)),
        ([0.0, 0.0], Made(negative)),
    ],
    ids=["negative", "sigmoid", "periodic in the plane", "one point"],
)
def test_an_indefinite_kernel_is_named_with_its_eigenvalue(points: Any, kernel: Any) -> None:
    found = re.fullmatch(
        re.escape(f"kernel is {kernel!r} with an eigenvalue of ") + r"(\S+) on (\d+) of the points: "
        r"give a positive semi-definite kernel such as RBF, or change its parameters(; periods are for one col.*)?",
        sentence(points, kernel),
    )
    assert found is not None
    different = np.unique(Domain(points).points, axis=0)
    assert int(found[2]) == min(len(different), 200)
    lowest = np.linalg.eigvalsh(kernel(different))[0]  # of the whole matrix: below that of any block (Cauchy)
    assert lowest * 1.01 <= float(found[1]) < 0.0


@pytest.mark.parametrize(
    "kernel",
    [
        Made(RBF(), diag=lambda x: np.full(len(x), 2.0)),
        Made(lambda x, y: np.exp(x - 2.0 * y.T)),
        Made(lambda x, y: RBF()(x, y) + (x is y)),
    ],
    ids=["diagonal", "asymmetric", "one argument"],
)
def test_a_kernel_that_contradicts_itself_is_named(kernel: Any) -> None:
    expected = "kernel is Made(), which contradicts itself: make k(X), k(X, X) and diag(X) agree and k(x, y) equal"
    assert sentence(LINE, kernel) == f"{expected} k(y, x)"


@pytest.mark.parametrize(
    ("kernel", "got", "wanted"),
    [
        (CompoundKernel([RBF(1.0), RBF(2.0)]), "(30, 2)", "(30,)"),
        (Made(lambda x, _: RBF()(x, x[:1]), diag=lambda x: np.ones(len(x))), "(30, 1)", "(30, 30)"),
    ],
    ids=["compound", "one column"],
)
def test_values_of_another_shape_are_named(kernel: Any, got: str, wanted: str) -> None:
    expected = f"kernel is {kernel!r}, which gives shape {got}: give a kernel with values of shape {wanted} here"
    assert sentence(LINE, kernel) == expected


# --- showing


@pytest.mark.parametrize(
    ("domain", "shown"),
    [
        (Domain([2.0]), "Domain(1 point, x0 in [2, 2], linear kernel)"),
        (Domain(LINE, RBF(0.1)), "Domain(30 points, x0 in [0, 1], kernel=RBF(length_scale=0.1))"),
        (
            Domain(np.eye(25), names=[f"e{j}" for j in range(25)]),
            "Domain(25 points, e0 in [0, 1], e1 in [0, 1], e2 in [0, 1], e3 in [0, 1], 21 more, linear kernel)",
        ),
    ],
)
def test_a_domain_shows_its_size_its_box_and_its_kernel(domain: Domain, shown: str) -> None:
    assert repr(domain) == shown


# --- tables

NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])).map(str.strip).filter(bool),
    min_size=2,
    max_size=2,
    unique=True,
).map(lambda names: ["a column that is no number", *names])


@given(NAMES, hnp.arrays(np.float64, (4, 3), elements=FINITE), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_a_table_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], points: np.ndarray, encoding: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "points.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([names, *points.tolist()])
    domain = Domain.read(path)
    np.testing.assert_array_equal(domain.points, points)
    assert domain.names == tuple(names)
    chosen = Domain.read(str(path), columns=[names[2], names[0]])
    np.testing.assert_array_equal(chosen.points, points[:, [2, 0]])
    assert chosen.names == (names[2], names[0])


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "points.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4\n",
        "\ufeffx,y\r\n1,2\r\n3,4\r\n",
        "x,y\n1,2\n3,4\n\n\n",
        "x,y\n1,2\n3,4\n,\n  \n",
        "x,y\n1,2\n3,4",
        ' x , "y"\n 1 , 2.0\n3e0,+4\n',
    ],
    ids=["plain", "BOM", "blank lines", "empty cells at the end", "no last newline", "blanks around cells"],
)
def test_tables_as_programs_and_people_write_them(tmp_path: Path, text: str) -> None:
    domain = Domain.read(write(tmp_path, text), kernel=RBF([1.0, 2.0]))
    np.testing.assert_array_equal(domain.points, [[1.0, 2.0], [3.0, 4.0]])
    assert domain.names == ("x", "y")
    assert domain.kernel == RBF([1.0, 2.0])


def test_columns_that_are_not_chosen_may_hold_anything(tmp_path: Path) -> None:
    path = write(tmp_path, ",site,x\n0,pier,1.5\n1,,2.5\n")
    np.testing.assert_array_equal(Domain.read(path, columns=["x"]).points, [[1.5], [2.5]])


CELL = "give a finite number with a decimal point, or choose other columns with columns=[...]"

FILL = "fill them in, or leave these rows out with drop_incomplete=True"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "{path}, line 1 is empty: give a header and further lines"),
        ("\n \n", "{path}, line 1 is empty: give a header and further lines"),
        ("x,y\n\n", "path is {path!r}, which has a header only: add one line for each point"),
        ("x,y\n1,2\n3,deep\n", "{path}, line 3, column 'y' is 'deep': " + CELL),
        ("x,y\n1,2\n3,\n,4\n", "path is {path!r}, where 2 of 3 rows lack a coordinate (lines 3, 4): " + FILL),
        ("x,y\nnan,2\n3,4\n", "path is {path!r}, where 1 of 2 rows lacks a coordinate (line 2): " + FILL),
        (
            "x,y\n1,a\n3,b\n",
            "{path}, line 1, column 'y' is text: name the points by it with ids='y', make it one of "
            "categories=[...], or choose other columns with columns=[...]",
        ),
        ("x,y\n1,-inf\n", "{path}, line 2, column 'y' is '-inf': " + CELL),
        ("x,y\n1\n", "{path}, line 2, column 'y' is missing: give 2 cells, as in the header"),
        ("x,y\n1,2,3\n", "{path}, line 2 is 3 cells long: give 2 cells, as in the header"),
        ("x,y,x\n1,2,3\n", "{path}, line 1, column 'x' is there more than once: give every column its own name"),
        ("1.0,2\n3,4\n", "{path}, line 1 is '1.0,2': put the names of the columns there"),
        (",x\n0,1\n", "{path}, line 1, column 1 is without a name: name it, or choose the others with columns=[...]"),
        ('x,y\n"1,2\n3,4\n', "{path}, line 2 is not CSV: check its quotes (unexpected end of data)"),
        (b"x\n\xff\n", "{path}, line 2 is not UTF-8 text: save the file as CSV in UTF-8"),
    ],
)
def test_a_bad_table_is_named_with_file_line_and_column(tmp_path: Path, text: str | bytes, expected: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Domain.read(path)
    assert str(caught.value) == expected.format(path=str(path))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["x", "z"], "{path}, line 1, column 'z' is missing: choose out of 'x', 'y'"),
        ([""], "{path}, line 1, column '' is missing: choose out of 'x', 'y'"),
        ([0], "{path}, line 1, column 0 is missing: choose out of 'x', 'y'"),
        ("x", "columns is 'x': give a list of names out of 'x', 'y'"),
        ([], "columns is empty: give a list of names out of 'x', 'y'"),
        (1, "columns is 1: give a list of names out of 'x', 'y'"),
        (["x", "x"], "columns[1] is 'x' again: give every name once"),
    ],
)
def test_bad_columns_are_named(tmp_path: Path, columns: Any, expected: str) -> None:
    path = write(tmp_path, "x,,y\n1,2,3\n")
    with pytest.raises(InputError) as caught:
        Domain.read(path, columns=columns)
    assert str(caught.value) == expected.format(path=str(path))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(InputError) as caught:
            Domain.read(path)
        reason = caught.value.__cause__
        assert isinstance(reason, OSError)
        assert str(caught.value) == f"path is {str(path)!r}: give a file that can be read ({reason.strerror})"
    with pytest.raises(InputError, match=r"^path is 0: give the name of a file$"):
        Domain.read(0)  # type: ignore[arg-type]


# --- imports


def test_importing_needs_neither_scikit_learn_nor_pandas() -> None:
    code = "import sys, superlevel.problem, superlevel.domain; print({'sklearn', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- a column of values


def test_a_column_is_read_with_its_blanks(tmp_path: Path) -> None:
    path = tmp_path / "pilot.csv"
    path.write_text("x,y,depth\n0,0,1.5\n0,1,\n1,0, -2e3 \n")
    np.testing.assert_array_equal(read_values(path, "depth"), [1.5, np.nan, -2000.0])
    assert Domain.read(path, columns=["x", "y"]).n == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,depth\n0,deep\n", r"pilot.csv, line 2, column 'depth' is 'deep': give a finite number"),
        ("x,depth\n0,nan\n", r"column 'depth' is 'nan'"),
        ("x,depth\n0\n", r"line 2, column 'depth' is missing"),
        ("x,height\n0,1\n", r"line 1, column 'depth' is missing: choose out of 'x', 'height'"),
    ],
)
def test_a_bad_column_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "pilot.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_values(path, "depth")
