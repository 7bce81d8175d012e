"""Transforms and measurements beside the points, as a person types them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from superlevel import transforms
from tests.cli.study.terminal import Terminal, write_points

PLACES = np.random.default_rng(2).uniform(0.1, 1.9, size=(30, 2))
CONCENTRATION = np.exp(np.sin(2 * PLACES[:, 0]) + 0.5 * PLACES[:, 1])
KNOWN = ("--threshold", 3, "--kernel", "RBF(0.8)", "--noise", 0.1, "--mean", 1)


def samples(terminal: Terminal, values: np.ndarray, name: str = "samples.csv") -> None:
    with (terminal.folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["east", "north", "value"], *np.column_stack([PLACES, values]).tolist()])


def test_samples_beside_a_grid_are_told_stored_shown_and_exported(terminal: Terminal) -> None:
    terminal.created("zinc", *KNOWN, "--log")
    samples(terminal, CONCENTRATION)
    refused = terminal("study", "tell", "zinc", "samples.csv")
    assert refused.code == 2
    assert "--elsewhere" in refused.err
    assert "nothing was stored" in refused.err
    dry = terminal.study("tell", "zinc", "samples.csv", "--elsewhere", "--dry-run")
    assert "30 at places that are not among the points" in dry
    told = json.loads(terminal.study("tell", "zinc", "samples.csv", "--elsewhere", "--json"))
    assert (told["stored"], told["elsewhere"], told["entry"]) == (30, 30, 3)
    again = json.loads(terminal.study("tell", "zinc", "samples.csv", "--elsewhere", "--json"))
    assert (again["stored"], again["repeated"]) == (0, 30)
    shown = terminal.study("status", "zinc")
    assert "30 at places that are not among the points" in shown
    assert "0.1 of the logarithm" in shown
    terminal.study("export", "zinc", "--what", "measurements", "--out", "told.csv")
    with (terminal.folder / "told.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([[float(row["east"]), float(row["north"])] for row in rows], PLACES)
    np.testing.assert_array_equal([float(row["value"]) for row in rows], CONCENTRATION)
    terminal.study("export", "zinc", "--out", "labels.csv")
    with (terminal.folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 36
    assert "Nothing in the log speaks against this" in terminal.study("verify", "zinc")


def test_a_log_is_the_same_as_logarithms_by_hand(terminal: Terminal) -> None:
    terminal.created("zinc", *KNOWN, "--log")
    samples(terminal, CONCENTRATION)
    samples(terminal, np.log(CONCENTRATION), "logarithms.csv")
    by_hand = ("--threshold", repr(float(np.log(3.0))), *KNOWN[2:])
    terminal.study("create", "by-hand", "--points", "points.csv", *by_hand)
    terminal.study("tell", "zinc", "samples.csv", "--elsewhere")
    terminal.study("tell", "by-hand", "logarithms.csv", "--elsewhere")
    found = [json.loads(terminal.study("status", name, "--json"))["groups"] for name in ("zinc", "by-hand")]
    assert found[0] == found[1]
    assert found[0]["undecided"] < 36


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--threshold", 3, "--log", "--sqrt"), "--sqrt is given together with --log: give one of them"),
        (("--threshold", 3, "--log", "--box-cox", 0.3), "--box-cox is given together with --log: give one of them"),
        (("--threshold", 3, "--box-cox", -1), "--box-cox is -1.0: give a number >= 0 and <= 2"),
        (("--threshold", 3, "--box-cox", "much"), "--box-cox is 'much': give a number"),
        (("--threshold", 3, "--box-cox", "none.csv:zinc"), "--box-cox is 'none.csv': give a file that can be read"),
        (("--threshold", 3, "--box-cox", "points.csv:zinc"), "zinc"),
        (("--threshold", -3, "--box-cox", 0.3), "--threshold is above -3: the Box-Cox transform needs levels above 0"),
        (("--threshold", -3, "--log"), "--threshold is above -3: the logarithm needs levels above 0"),
        (("--fraction-of-max", 0.1, "--log"), "--fraction-of-max is within 10 % of the maximum: a fraction"),
        (("--goal", "between -1 and 2", "--sqrt"), "--goal is between -1 and 2: the square root needs levels of"),
    ],
)
def test_what_a_transform_cannot_do_is_said_before_anything_is_stored(
    terminal: Terminal, options: tuple[object, ...], sentence: str
) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "zinc", "--points", "points.csv", *options)
    assert ran.code == 2
    assert sentence in " ".join(ran.err.split())
    assert not (terminal.folder / "superlevel.db").exists()


def test_a_value_without_a_logarithm_names_its_line(terminal: Terminal) -> None:
    terminal.created("zinc", *KNOWN, "--log")
    samples(terminal, np.where(np.arange(30) == 4, 0.0, CONCENTRATION))
    ran = terminal("study", "tell", "zinc", "samples.csv", "--elsewhere")
    assert ran.code == 2
    assert "the logarithm needs a value above 0" in ran.err
    assert "nothing was stored: 1 mistake" in ran.err


def test_a_parameter_is_estimated_from_a_pilot_and_shown(terminal: Terminal) -> None:
    samples(terminal, np.square(2 + np.log(CONCENTRATION)), "pilot.csv")
    write_points(terminal.folder / "points.csv")
    given = ("--points", "points.csv", "--threshold", 9, "--box-cox")
    shown = terminal.study("create", "zinc", *given, "pilot.csv:value")
    fitted = transforms.fitted_box_cox(np.square(2 + np.log(CONCENTRATION)))
    assert f"{fitted.name}: labels are computed from the Box-Cox transform of every value" in " ".join(shown.split())
    assert fitted.name in terminal.study("create", "again", *given, fitted.name.split()[1])
    samples(terminal, np.where(np.arange(30) == 4, 0.0, CONCENTRATION), "zero.csv")
    ran = terminal("study", "create", "zero", *given, "zero.csv:value")
    assert "--box-cox is 0: the Box-Cox transform needs a value above 0" in " ".join(ran.err.split())
