"""Numbers at the end of what a float can hold: they are taken and everything works, or they are refused at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern

import superlevel as sl
from superlevel.bounds import explicit
from superlevel.errors import InputError
from superlevel.study import Result
from tests.cli.study.terminal import GIVEN, Terminal, fill, read, terminal, write  # noqa: F401

POINTS = np.random.default_rng(0).random((40, 2))


@pytest.mark.parametrize(("value", "places"), [(9e99, 1), (-9e99, 5)])
def test_a_value_that_is_taken_does_not_break_the_report(tmp_path: Path, value: float, places: int) -> None:
    problem = sl.Problem(sl.Domain(POINTS, kernel=RBF(0.3)), goal=sl.Threshold(0.0), noise=0.1)
    study = sl.Study.create("memory:", "sea", problem, seed=0)
    tickets = study.ask(5)
    study.tell([Result(ticket=ticket.number, value=value if k < places else 1.0) for k, ticket in enumerate(tickets)])
    page = study.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "lower bound" in page
    assert ">nan<" not in page


@pytest.mark.parametrize("value", ["9e99", pytest.param("-9e99", marks=pytest.mark.slow)])
def test_every_command_works_with_such_a_value(terminal: Terminal, value: str) -> None:  # noqa: F811
    terminal.created("harbour", *GIVEN)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    rows[0]["value"] = value
    write(terminal.folder / "sheet.csv", rows)
    terminal.study("tell", "harbour", "sheet.csv")
    for command in (
        ("report", "harbour"),
        ("status", "harbour"),
        ("plot", "harbour", "--probability", "--out", "p.png"),
        ("export", "harbour", "--out", "labels.csv"),
        ("export", "harbour", "--what", "stopping", "--out", "stopping.csv"),
        ("suggest", "harbour"),
    ):
        terminal.study(*command)


@pytest.mark.parametrize("power", [0, 20, 60, 99, -60, -99])
def test_a_lower_bound_is_in_the_unit_of_the_values(power: int) -> None:
    """H of c f is H of f divided by c^2, for every c."""
    domain = sl.Domain(POINTS, kernel=RBF(0.3))
    values = np.sin(5 * POINTS[:, 0])
    plain = explicit(domain, values, threshold=0.0, noise=1.0)
    scaled = explicit(domain, values * 10.0**power, threshold=0.0, noise=1.0)
    np.testing.assert_allclose(scaled.complexity * 10.0 ** (2 * power), plain.complexity, rtol=0.02)
    assert scaled.lower_bound <= scaled.complexity


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e-160])
def test_coordinates_that_cannot_be_squared_are_refused_where_the_kernel_is_estimated(
    terminal: Terminal,  # noqa: F811
    scale: float,
) -> None:
    rows = "".join(f"{east!r},{north!r}\n" for east, north in (POINTS * scale).tolist())
    (terminal.folder / "points.csv").write_text("east,north\n" + rows)
    ran = terminal("study", "create", "sea", "--points", "points.csv", "--threshold", 0)
    assert ran.code == 2
    assert "'east'" in ran.err
    assert "give that coordinate in another unit" in ran.err
    assert "Traceback" not in ran.err
    assert not (terminal.folder / "superlevel.db").exists()


@pytest.mark.parametrize("scale", [1e120, 1e160, 1e300])
def test_coordinates_that_are_too_large_are_refused(terminal: Terminal, scale: float) -> None:  # noqa: F811
    rows = "".join(f"{east!r},{north!r}\n" for east, north in (POINTS * scale).tolist())
    (terminal.folder / "points.csv").write_text("east,north\n" + rows)
    ran = terminal("study", "create", "sea", "--points", "points.csv", "--threshold", 0)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert not (terminal.folder / "superlevel.db").exists()


def test_an_estimated_kernel_works_in_a_very_small_unit() -> None:
    problem = sl.Problem(sl.Domain(POINTS * 1e-120), goal=sl.Threshold(0.0), fit=("kernel", "noise", "mean"))
    study = sl.Study.create("memory:", "sea", problem, seed=0)
    for _ in range(5):
        tickets = study.ask()
        values = [float(np.sin(5e120 * ticket.coordinates[0])) for ticket in tickets]
        study.tell([Result(ticket=t.number, value=v) for t, v in zip(tickets, values, strict=True)])
    mean = study.campaign().mean
    assert mean is not None
    assert np.isfinite(mean).all()


@pytest.mark.parametrize("kernel", [Matern(1.0, nu=160), ConstantKernel(2.0) * Matern(0.3, nu=1000) + RBF(1.0)])
def test_a_kernel_that_underflows_is_refused(kernel: Kernel) -> None:
    with pytest.raises(InputError, match="every value comes out as 0: give at most 50, or nu=inf"):
        sl.Domain(POINTS, kernel=kernel)


@pytest.mark.parametrize("nu", [0.5, 2.5, 10.0, 50.0, np.inf])
def test_a_kernel_that_is_computed_is_taken(nu: float) -> None:
    block = sl.Domain(POINTS, kernel=Matern(1.0, nu=nu)).gram(np.arange(5), np.arange(5, 9))
    if nu >= 50:  # another road: the limit of large nu
        np.testing.assert_allclose(block, RBF(1.0)(POINTS[:5], POINTS[5:9]), atol=0.01)
