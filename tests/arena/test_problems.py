"""The problems of the arena: functions against published values, the split, and files made here byte by byte."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from experiments.arena import functions, measured, problems
from experiments.fields import TUNED, MissingError
from superlevel.errors import InputError

DRAWN = [name for name, source in problems.SOURCES.items() if source.drawn]


def test_the_split_names_every_problem_once() -> None:
    named = [*problems.TUNING, *problems.REPORT]
    assert sorted(named) == sorted(problems.SOURCES)
    assert len(set(named)) == len(named)
    assert set(TUNED) <= set(problems.TUNING)


@pytest.mark.parametrize("name", [*problems.SOURCES])
def test_a_problem_is_what_its_record_says(name: str) -> None:
    try:
        problem = problems.load(name, 1)
    except MissingError as error:
        pytest.skip(str(error))
    n = len(problem.points)
    assert problem.values.shape == (n,)
    assert np.shape(problem.noise) in ((), (n,))
    assert np.isfinite(problem.points).all()
    assert np.isfinite(problem.values).all()
    assert np.all(np.asarray(problem.noise) > 0)
    assert problem.values.min() < problem.level < problem.values.max()
    assert 0.05 < problem.truth.mean() < 0.95
    assert problem.budget % problems.LOOK == 0
    assert problem.split == ("tuning" if name in problems.TUNING else "report")
    assert (np.ptp(problem.points, axis=0) > 0).all()


@pytest.mark.parametrize("name", DRAWN)
def test_a_draw_belongs_to_its_seed(name: str) -> None:
    first, again, other = (problems.load(name, seed).values for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


def test_a_function_in_closed_form_is_the_same_for_each_seed_and_noises_are_shares_of_its_deviation() -> None:
    low, high = problems.load("rosenbrock-0.5", 0), problems.load("rosenbrock-20", 5)
    assert np.array_equal(low.values, high.values)
    assert low.noise == pytest.approx(0.005 * low.values.std())
    assert high.noise == pytest.approx(0.2 * low.values.std())


def test_functions_have_their_published_extremes() -> None:
    branin = functions.branin(np.array([[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]]))
    np.testing.assert_allclose(branin, 0.397887, atol=1e-5)
    roots = np.array([[3.0, 2.0], [-2.805118, 3.131312], [-3.779310, -3.283186], [3.584428, -1.848126]])
    np.testing.assert_allclose(functions.himmelblau(roots), 0.0, atol=1e-8)
    assert functions.rosenbrock(np.array([[1.0, 1.0], [-1.0, 1.0]])).tolist() == [0.0, 4.0]
    three = np.array([[0.114614, 0.555649, 0.852547]])
    six = np.array([[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]])
    assert functions.hartmann(three)[0] == pytest.approx(3.86278, abs=1e-4)
    assert functions.hartmann(six)[0] == pytest.approx(3.32237, abs=1e-4)
    assert functions.ishigami(np.array([[np.pi / 2, np.pi / 2]]))[0] == pytest.approx(8.1)


def test_a_draw_has_the_covariance_of_its_kernel() -> None:
    places = np.array([[0.0], [0.2], [1.0]])
    draws = np.array([functions.draw(RBF(0.2), places, seed) for seed in range(4000)])
    np.testing.assert_allclose(draws.T @ draws / len(draws), RBF(0.2)(places), atol=0.08)


def test_the_step_is_two_deviations_high() -> None:
    places = functions.plane(20)
    step = functions.stepped(places, 3) - functions.draw(RBF(0.2), places, 3)
    np.testing.assert_allclose(np.abs(step), 1.0)
    assert 0.3 < (step > 0).mean() < 0.7


def test_a_table_is_measured_at_no_more_than_half_of_its_places() -> None:
    source = problems.Source(group=problems.REAL, make=lambda _: (np.zeros((1, 1)), np.zeros(1), 0.0, 1.0))
    assert [source.budget(n) for n in (102, 155, 5000)] == [50, 70, 200]
    noisy = problems.Source(group=problems.PAPER, make=source.make, most=400)
    assert noisy.budget(200) == 400


def test_an_unknown_problem_is_a_sentence() -> None:
    with pytest.raises(InputError, match="choose out of branin"):
        problems.load("nothing")


def test_numbers_of_a_dbase_table_are_read_past_its_words() -> None:
    columns = [(b"NAME", b"C", 4), (b"SID74", b"N", 5), (b"BIR74", b"F", 8)]
    rows = [(b"Ashe", 1.0, 1091.0), (b"Lee ", 5.0, 2252.5)]
    start = 32 + 32 * len(columns) + 1
    content = struct.pack("<BBBBIHH20x", 3, 0, 0, 0, len(rows), start, 1 + 4 + 5 + 8)
    for name, kind, size in columns:
        content += name.ljust(11, b"\0") + kind + b"\0" * 4 + bytes([size]) + b"\0" * 15
    content += b"\r" + b"".join(b" " + name + b"%5.1f%8.1f" % (deaths, births) for name, deaths, births in rows)
    table = measured._dbf(content)
    assert {name: column.tolist() for name, column in table.items()} == {"SID74": [1.0, 5.0], "BIR74": [1091.0, 2252.5]}


def test_the_middle_of_a_polygon_s_box_is_read_from_its_record() -> None:
    content = b"\0" * 100
    for k, box in enumerate([(0.0, 1.0, 4.0, 3.0), (-2.0, -2.0, 0.0, 0.0)]):
        body = struct.pack("<i4d", 5, *box) + b"\0" * (8 * (k + 1))
        content += struct.pack(">ii", k + 1, len(body) // 2) + body
    assert measured._middles(content).tolist() == [[2.0, 2.0], [-1.0, -1.0]]


def test_rates_are_known_better_where_more_people_live() -> None:
    try:
        _, rates, level, noise = measured.sids()
    except MissingError as error:
        pytest.skip(str(error))
    assert len(rates) == 100
    assert noise.max() > 5 * noise.min()
    # 1,000 deaths / births of the state: the rates' mean weighted by births, which go as 1 / noise^2
    assert np.average(rates, weights=noise**-2.0) == pytest.approx(level)
