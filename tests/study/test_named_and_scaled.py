"""Names of points, scales, places elsewhere, maps and transforms in one study: none of them is lost on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel import formats
from superlevel.certificates import check
from superlevel.confidence.transformed import Transformed
from superlevel.errors import InputError
from superlevel.formats.text import parsed
from superlevel.kernels import Tanimoto, describe
from superlevel.scales import Choice, Range
from superlevel.study import Study
from superlevel.study.sheets import SheetError, read_sheet
from superlevel.study.storage import Memory

PLACES = np.array([[x, k] for x in np.linspace(0.0, 1.0, 6) for k in (0.0, 1.0)])
NAMES = tuple(f"P{k:02d}" for k in range(1, 13))
SCALES = (Range(0.0, 1.0), Choice("sand", "loam"))


def domain(**options: Any) -> sl.Domain:
    given: dict[str, Any] = {
        "names": ("x", "soil"),
        "scales": SCALES,
        "ids": NAMES,
        "id_name": "sample",
        "elsewhere": [[0.33, 1.0]],
        "reference": "EPSG:25832",
    }
    return sl.Domain(PLACES, RBF(0.3), **given | options)


def truth(place: Any) -> float:
    return float(2.0 + np.sin(5 * place[0]) + 0.3 * place[1])


def study(**options: Any) -> Study:
    problem = sl.Problem(domain(elsewhere=None), goal=sl.Threshold(2.2), noise=0.1, mean=2.0, **options)
    made = Study.create(Memory(), "soil", problem, batch=4, seed=1)
    tickets = made.ask()
    made.tell(tickets.measured([truth(place) for place in tickets.points]))
    return made


# ------------------------------------------------------------------------------------------- domains


def test_another_kernel_changes_nothing_else() -> None:
    before = domain()
    assert before.everywhere.n == 13  # computed once, and not to be taken for that of another kernel
    after = before.with_kernel(Matern(0.7, nu=1.5))
    for name in ("names", "ids", "id_name", "reference", "coordinates"):
        assert getattr(after, name) == getattr(before, name)
    for name in ("places", "points", "elsewhere"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    everywhere = after.everywhere
    assert everywhere.kernel is after.kernel
    assert everywhere.reference == before.reference
    np.testing.assert_array_equal(everywhere.points[:12], after.points)


def test_points_on_the_sphere_keep_their_names_and_places_elsewhere() -> None:
    degrees = [[10.0, 50.0], [11.0, 51.0]]
    plain = sl.Domain(degrees, names=("lon", "lat"), ids=["a", "b"], elsewhere=[[12.0, 52.0]], reference="EPSG:4326")
    assert plain.everywhere.dimension == 2
    sphere = plain.on_sphere()
    assert (sphere.ids, sphere.reference) == (("a", "b"), "EPSG:4326")
    assert sphere.everywhere.points.shape == (3, 3)
    with pytest.raises(sl.InputError, match="elsewhere"):
        sl.Domain(degrees, names=("lon", "lat"), elsewhere=[[12.0, 92.0]]).on_sphere()


# ------------------------------------------------------------------------------------------- studies


def test_a_log_opens_with_all_of_it() -> None:
    made = study()
    said = json.loads(made.log()[0].payload)
    assert (said["ids"], said["id_name"], said["reference"]) == (list(NAMES), "sample", "EPSG:25832")
    assert [scale["kind"] for scale in said["scales"]] == ["range", "choice"]
    made.tell(at=[[0.33, 1.0]], values=[truth((0.33, 1.0))])
    again = Study.open(made._storage, "soil")
    found = again.knowledge.method.problem.domain
    assert (found.ids, found.id_name, found.reference) == (NAMES, "sample", "EPSG:25832")
    assert found.coordinates.scales == SCALES
    np.testing.assert_array_equal(found.elsewhere, [[0.33, 1.0]])
    assert again.verify().ok


def test_a_study_without_names_stores_no_field_of_them() -> None:
    problem = sl.Problem(sl.Domain([0.0, 1.0]), goal=sl.Threshold(0.5), noise=0.1)
    said = json.loads(Study.create("memory:", "plain", problem).log()[0].payload)
    assert not {"ids", "id_name", "reference", "scales", "transform"} & set(said)


def test_points_that_are_added_get_names_that_nobody_has() -> None:
    taken = (*NAMES[:-1], "new 2")
    problem = sl.Problem(domain(elsewhere=None, ids=taken), goal=sl.Threshold(2.2), noise=0.1, mean=2.0)
    made = Study.create(Memory(), "soil", problem, batch=8, seed=1)
    tickets = made.ask()
    made.tell(tickets.measured([truth(place) for place in tickets.points]))
    made.tell(at=[[0.33, 1.0]], values=[2.9])
    added = made.refine(3)
    assert added == 3
    names = (*taken, "new 1", "new 3", "new 4")
    assert made.ledger.ids == made.knowledge.method.problem.domain.ids == names
    assert made.point_of("new 3") == 13
    assert made.ledger.id_of(made.ledger.n) == ""  # a place elsewhere
    assert made.view().points.id == list(names)
    assert made.verify().ok
    assert Study.open(made._storage, "soil").ledger.ids == names


def test_views_and_tables_have_names_and_choices() -> None:
    pandas = pytest.importorskip("pandas")
    made = study()
    frame = made.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["sample"].tolist() == list(NAMES)
    assert set(frame["soil"]) == {"sand", "loam"}
    ticket = made.ask()[0]
    assert ticket.id == NAMES[ticket.point]


def test_measurements_elsewhere_count_as_no_repeats_of_points() -> None:
    made = study()
    made.tell(at=[[0.33, 1.0], [0.33, 1.0]], values=[2.0, 2.1])
    assert made.ledger.repeats[-2:].tolist() == [False, True]


# -------------------------------------------------------------------------------------------- sheets


def read(text: str, *, elsewhere: bool = False) -> Any:
    return read_sheet(
        parsed(text.encode(), name="sheet.csv"),
        points=PLACES,
        names=("x", "soil"),
        scales=SCALES,
        ids=NAMES,
        id_name="sample",
        elsewhere=elsewhere,
    ).lines


def test_a_line_elsewhere_may_have_a_name_of_its_own() -> None:
    lines = read("sample,x,soil,value\nP02,,,1\nQ9,0.33,loam,2\n,0.4,loam,3\n,0.55,sand,4\n", elsewhere=True)
    assert [line.point for line in lines] == [1, None, 5, None]
    assert [line.at for line in lines] == [None, (0.33, 1.0), None, (0.55, 0.0)]


def test_a_name_and_coordinates_must_agree() -> None:
    with pytest.raises(SheetError, match=r"column 'sample' is 'P02': its coordinates are x = 0.0, soil = loam"):
        read("sample,x,soil,value\nP02,0.4,loam,2\n", elsewhere=True)
    with pytest.raises(SheetError, match="give a point of the domain"):
        read("sample,x,soil,value\nP02,0.33,loam,2\n", elsewhere=True)
    with pytest.raises(SheetError, match=r"column 'sample' is 'P99': give a name of the domain"):
        read("sample,x,soil,value\nP99,0.4,loam,2\n", elsewhere=True)


def test_points_of_a_map_have_names_and_a_reference_system(tmp_path: Path) -> None:
    pytest.importorskip("rasterio")
    pytest.importorskip("pyogrio")
    rows = [[f"P{k}", 0.5 * k, 1.5 * (k % 3), 7.0] for k in range(6)]
    table = formats.table_of(["sample", "x", "y", "depth"], rows)
    path = tmp_path / "points.gpkg"
    formats.write(path, replace(table, reference="EPSG:25832", coordinates=("x", "y")))
    found = sl.Domain.read(path, ids="sample")
    assert (found.names, found.ids, found.id_name) == (("x", "y"), tuple(row[0] for row in rows), "sample")
    assert found.reference == "EPSG:25832"


# ------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("transform", ["log", "sqrt"])
def test_the_deviation_of_transformed_values_is_half_of_what_one_deviation_spans(transform: str) -> None:
    """Two roads: e^m sinh(s) and 2 m s in closed form, and the belief."""
    problem = sl.Problem(sl.Domain(np.linspace(0, 1, 7), RBF(0.3)), goal=sl.Threshold(2.0), noise=0.05, mean=1.0)
    problem = sl.Problem(problem.domain, goal=problem.goal, noise=0.05, mean=1.0, transform=transform)
    method = sl.methods.make("melk", problem, batch=7)
    assert isinstance(method.confidence, Transformed)
    state, _ = method.observe(method.init(seed=0), np.arange(7), np.linspace(1.5, 3.0, 7))
    inner = state.belief.inner  # type: ignore[attr-defined]
    m, s = inner.estimate, inner.deviation
    expected = np.exp(m) * np.sinh(s) if transform == "log" else 2.0 * m * s
    assert state.belief.deviation == pytest.approx(expected)


def test_a_certificate_of_named_points_on_a_map_is_proved() -> None:
    x = np.linspace(0.0, 1.0, 12)
    points = sl.Domain(x, RBF(0.3), ids=NAMES, id_name="sample", reference="EPSG:25832")
    problem = sl.Problem(points, goal=sl.Threshold(0.2), noise=0.1, norm=6.0)
    made = Study.create(Memory(), "sea", problem, confidence="ridge", batch=6, seed=0)
    for _ in range(6):
        tickets = made.ask()
        made.tell(tickets.measured(np.sin(6 * x[tickets.indices]).tolist()))
    accepted, sentence = check.check(json.dumps(made.certificate()))
    assert accepted, sentence


def test_a_certificate_and_the_second_verifier_say_which_kernels_are_known() -> None:
    bits = np.eye(8) + np.eye(8, k=1)
    problem = sl.Problem(sl.Domain(bits, Tanimoto()), goal=sl.Threshold(0.2), noise=0.1)
    made = Study.create(Memory(), "bits", problem, confidence="posterior", batch=8, seed=0)
    for _ in range(3):
        tickets = made.ask()
        made.tell(tickets.measured(np.linspace(-3, 3, 8)[tickets.indices].tolist()))
    with pytest.raises(InputError, match="the second verifier knows the kernels linear, RBF"):
        made.certificate()
    with pytest.raises(check.NotProvedError, match="does not know Tanimoto"):
        check.kernel_of(bits, describe(Tanimoto()))
