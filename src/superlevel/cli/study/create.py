"""`superlevel study create`: a new campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superlevel import formats, kernels
from superlevel.arrays import as_number
from superlevel.cli.goal import HELP, as_goal
from superlevel.cli.options import Geographic, option
from superlevel.cli.study import common
from superlevel.cli.study.columns import Categories, Choice, Columns, DropIncomplete, Ids, read_domain
from superlevel.cli.study.notes import notes
from superlevel.domain import read_values
from superlevel.errors import InputError
from superlevel.fields import BY_NAME, FIELDS
from superlevel.files import file_name
from superlevel.problem import Problem
from superlevel.transforms import BOX_COX, Transform, box_cox, fitted_box_cox

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge
    from superlevel.study.study import Study

AUTO = "auto"
OPTIONS = {name: f"--{name}" for name in ("confidence", "rule", "objective", "batch", "seed", "sign", *BY_NAME)}
OPTIONS |= {f"problem_{name}": f"--{name}" for name in BY_NAME}
"""Fields of Python, and the options that give them."""
UNITS = "Levels, tolerance and results stay in your units; noise, mean, bound and norm are of the transformed values."
ON_SPHERE = " (degrees; distances are on the sphere, in km)"
CHECKS = "one measurement in ten is at a random place that the model is sure of"


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the study, new in the store.", show_default=False)],
    *,
    points: Annotated[
        Path,
        typer.Option(
            help="File of the points, one in a line, names in the first line: .csv, .xlsx, .parquet, .gpkg, .geojson; "
            "or a raster (.tif, .npy, .npz), whose cells with data are the points."
        ),
    ],
    columns: Columns = None,
    ids: Ids = None,
    categories: Categories = None,
    drop_incomplete: DropIncomplete = False,
    geographic: Geographic = False,
    threshold: Annotated[float | None, typer.Option(help="Find the points with f above this.")] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction-of-max", help="Find the points within this fraction of the maximum: 0.1 is 10 %."),
    ] = None,
    goal: Annotated[str | None, typer.Option(metavar="TEXT", help=HELP)] = None,
    kernel: Annotated[
        str,
        typer.Option(
            metavar="EXPR",
            help="How values at two points go together, as in scikit-learn: RBF(0.4), 9 * Matern([0.4, 2], nu=2.5), "
            "linear; or auto, estimated from the measurements.",
        ),
    ] = AUTO,
    noise: Annotated[str, option("noise", "Here it is a number, or auto.", metavar="S")] = AUTO,
    mean: Annotated[
        str | None,
        option(
            "mean",
            "Here it is a number, or auto: it is estimated. Default: auto if the kernel is, else 0.",
            metavar="M",
        ),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Compute with the logarithm of every value. " + UNITS)] = False,
    sqrt: Annotated[bool, typer.Option("--sqrt", help="Compute with the square root of every value. " + UNITS)] = False,
    power: Annotated[
        str | None,
        typer.Option(
            f"--{BOX_COX}",
            metavar="LAMBDA",
            help="Compute with (y^LAMBDA - 1) / LAMBDA of every value y: a number from 0, the logarithm, to 2; or "
            "FILE:COLUMN, a pilot from whose values it is estimated now, once and for all. " + UNITS,
            show_default=False,
        ),
    ] = None,
    bound: Annotated[float | None, option("bound")] = None,
    delta: Annotated[float, option("delta")] = 0.1,
    method: Annotated[
        str | None,
        typer.Option(help="melk, milk, truvar, lse, ... Default: melk, or milk for a fraction of the maximum."),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="ridge: in batches, all labels right at every moment with probability 1 - delta; rips: the same in "
            "rounds, for noise with heavy tails too; posterior: as right as the kernel is; rkhs: of lse. Default: "
            "ridge for melk and milk with --kernel, --noise and --norm, or --bound for a linear kernel; else posterior."
        ),
    ] = None,
    error_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="On the posterior: the share of the declared points that may be wrong on average. Default: 0.01 if "
            "the kernel is estimated; if it is given, each label is 3 posterior deviations from the level.",
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="What melk and milk aim at on the posterior. label: as few points as possible on the wrong side of "
            "the level. declare: as many points as possible decided. Default: label."
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="In place of --objective, a rule: label, declare, greedy, average or worst."),
    ] = None,
    norm: Annotated[float | None, option("norm")] = None,
    misspecification: Annotated[float, option("misspecification")] = 0.0,
    tolerance: Annotated[float, option("tolerance")] = 0.0,
    ridge: Annotated[float | None, option("ridge")] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            help="Measurements that are suggested at once. Default: 5 if something is estimated, otherwise 10. Rounds "
            "have their own size."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    lease: Annotated[
        float, typer.Option(metavar="HOURS", help="How long a suggestion is reserved for the worker who asked for it.")
    ] = 24.0,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Begin a study: which points there are, which of them are looked for, and what is assumed.

    With kernel, noise and mean left to auto, the first suggestions are a pilot that is spread out; they are estimated
    from its results, and again as more come in.

    Example: superlevel study create harbour --points harbour.csv --threshold 20 --noise 0.5
    """
    wanted = as_goal(threshold, fraction, goal)
    given = _given(kernel, noise, mean)
    transform = _transform(log, sqrt, power)
    seconds = common.hours("--lease", lease)
    choice = Choice(columns=columns, ids=ids, categories=categories or [], drop_incomplete=drop_incomplete)
    with common.working("reading the points"):
        domain, remarks = read_domain(points, choice, levels=wanted.levels)
        if geographic:
            with common.given_as("--points", geographic="--geographic"):
                domain = domain.on_sphere()
    storage = common.storage_of(store)
    loading = common.working("loading scipy and scikit-learn, and looking at the problem")
    asked = "--threshold" if threshold is not None else "--goal" if fraction is None else "--fraction-of-max"
    with loading, common.given_as("--points", goal=asked, **OPTIONS):
        if "kernel" not in given["fit"]:
            domain = domain.with_kernel(kernels.parse(kernel, columns=domain.coordinates.columns_of))
        problem = Problem(
            domain,
            goal=wanted,
            bound=bound,
            norm=norm,
            delta=delta,
            misspecification=misspecification,
            tolerance=tolerance,
            ridge=ridge,
            transform=transform,
            **given,
        )
        from superlevel.study.study import Study  # noqa: PLC0415  slow to import, and --help needs none of it

        _check(method, confidence, problem, batch)
        study = Study.create(
            storage,
            name,
            problem,
            method="melk" if method is None else method,
            confidence=_confidence("melk" if method is None else method, problem, confidence, error_rate),
            rule=rule,
            objective=objective,
            seed=seed,
            batch=batch,
            lease=seconds,
            sign=sign,
        )
        known = study.knowledge
    console = common.screen(as_json)
    common.say(console, f"created study {name!r} in {study.url}")
    promised = known.method.confidence.guarantee(known.method.problem)
    common.say_lines(console, remarks)
    if promised.remark:
        common.say(console, promised.remark)
    if as_json:
        return common.answer(study.status().model_dump(mode="json"))
    console.print(common.facts(_rows(study)))
    common.say_lines(console, (f"doubt: {doubt}" for doubt in known.doubts))
    common.say_lines(console, (f"note: {note}" for note in notes(domain, estimated="kernel" in given["fit"])))
    sheet = _sheet(file_name(name), points)
    common.say(console, f"next: {common.command(store, storage, 'study', 'suggest', name, *sheet)}")
    return None


def _sheet(name: str, points: Path) -> tuple[str, str]:
    """The option for the first sheet, in the format that the points came in; a raster has no room for one."""
    ending = points.suffix.lower()
    if ending not in formats.endings() or ending in formats.RASTERS:
        ending = ".csv"
    return "--csv" if ending == ".csv" else "--sheet", f"{name}-sheet{ending}"


def _given(kernel: str, noise: str, mean: str | None) -> dict[str, Any]:
    """What is to be estimated, noise and mean."""
    if mean is None:
        mean = AUTO if _is_auto(kernel) else "0"
    fit = [field for field, text in (("kernel", kernel), ("noise", noise), ("mean", mean)) if _is_auto(text)]
    return {
        "fit": tuple(fit),
        "noise": None if "noise" in fit else common.number("--noise", noise),
        "mean": 0.0 if "mean" in fit else common.number("--mean", mean),
    }


def _transform(log: bool, sqrt: bool, power: str | None) -> Transform | str | None:
    """The transform of the values, at most one of those that the options name."""
    given = [option for option, there in (("--log", log), ("--sqrt", sqrt), (f"--{BOX_COX}", power)) if there]
    if len(given) > 1:
        raise InputError(given[1], f"given together with {given[0]}", "give one of them")
    if power is None:
        return given[0].removeprefix("--") if given else None
    return _box_cox(power)


def _box_cox(text: str) -> Transform:
    """A Box-Cox transform with the parameter that was typed, or the likeliest one for a column of a file."""
    path, colon, column = text.rpartition(":")
    option = f"--{BOX_COX}"
    with common.given_as(option, values=option, transform=option):
        return fitted_box_cox(read_values(path, column)) if colon else box_cox(common.number(option, text))


def _is_auto(text: str) -> bool:
    return text.strip().lower() == AUTO


def _confidence(method: str, problem: Problem, name: str | None, error_rate: float | None) -> Any:
    """As it was given; an error rate is a parameter of the confidence that is given, or of the default."""
    from superlevel.methods.make import choose_confidence  # noqa: PLC0415
    from superlevel.methods.table import row_of  # noqa: PLC0415

    if error_rate is None:
        return name
    used, row = row_of(method, problem.goal)
    _, chosen = choose_confidence(used, row, problem, name)
    rate = as_number("--error-rate", error_rate, above=0.0, below=0.2)
    try:
        return replace(chosen, error_rate=rate)  # type: ignore[type-var]
    except TypeError as error:  # it has no such parameter
        remedy = f"the {chosen.name} confidence has none: leave it out, or choose --confidence posterior"
        raise InputError("--error-rate", rate, remedy) from error


def _check(method: str | None, confidence: str | None, problem: Problem, batch: int | None) -> None:
    """Mistakes that concern several options, in the words of the command line."""
    from superlevel.methods import CONFIDENCES  # noqa: PLC0415
    from superlevel.methods.make import as_confidence  # noqa: PLC0415
    from superlevel.methods.table import row_of  # noqa: PLC0415

    try:
        row_of("melk" if method is None else method, problem.goal)
    except InputError as error:
        raise InputError("--method", repr(method), error.remedy) from error
    kind = as_confidence(confidence) if confidence in CONFIDENCES else None
    if kind is not None and kind.given_only and problem.fit:
        raise InputError(f"--{problem.fit[0]}", AUTO, "a guarantee needs kernel, noise and mean: give a value")
    if kind is not None and kind.in_rounds and batch is not None:
        raise InputError("--batch", batch, "rounds are as long as their guarantee needs: leave it out")


def _rows(study: Study) -> list[tuple[str, str]]:
    """What was given, and in which sense labels will be right."""
    from superlevel.study.assumptions import assumptions, guarantee  # noqa: PLC0415
    from superlevel.study.matching import shown_names  # noqa: PLC0415

    ledger, known = study.ledger, study.knowledge
    given = ledger.created
    confidence = known.method.confidence
    usual = {field.name for field in FIELDS if given.problem[field.name] == field.default} - {"noise", "mean"}
    usual -= confidence.uses & {"delta"}  # a promise states its probability
    return [
        ("question", ledger.goal.ask(ledger.n)),
        ("coordinates", shown_names(given.names) + ON_SPHERE * (given.coordinates.sphere is not None)),
        *([("ids", f"{given.id_name}: {given.ids[0]} to {given.ids[-1]}")] if given.ids else []),
        *((name, text) for name, text in assumptions(known) if name not in usual),
        *([("pilot", _pilot(known))] if known.state.belief.pilot else []),
        *([("checks", CHECKS)] if "kernel" in given.fit else []),
        ("batches", "rounds" if confidence.in_rounds else f"of {given.batch:,}"),
        ("guarantee", guarantee(known)),
    ]


def _pilot(known: Knowledge) -> str:
    """How many measurements come before the first estimate, and how they are handed out."""
    size, batch = known.state.belief.pilot, known.ledger.created.batch
    parts = "at once" if batch >= size else f"{batch:,} at a time"
    return f"the first {size:,} measurements are spread out, {parts}"
