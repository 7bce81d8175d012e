"""`superlevel study create`: a new campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superlevel import kernels
from superlevel.cli.goal import as_goal
from superlevel.cli.study import common
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.files import file_name
from superlevel.goals import FractionOfMax, Goal
from superlevel.problem import Problem

if TYPE_CHECKING:
    from superlevel.study.study import Study

AUTO = "auto"
STANDING_IN = 1.0  # noise of a problem whose noise is estimated
SPANNED = (
    "without --norm the kernel's smoothness is only used through the span of its features, so that more measurements "
    "are needed; `superlevel plan --norm` helps"
)


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the study, new in the store.", show_default=False)],
    *,
    points: Annotated[Path, typer.Option(help="CSV file: one line a point, names in the first line.")],
    columns: Annotated[
        list[str] | None, typer.Option("--column", help="A coordinate; once for each. Default: all columns.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Find the points with f above this.")] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction-of-max", help="Find the points within this fraction of the maximum: 0.1 is 10 %."),
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            metavar="EXPR",
            help="How values at two points go together, as in scikit-learn: RBF(0.4), 9 * Matern([0.4, 2], nu=2.5), "
            "linear; or auto, estimated from the measurements.",
        ),
    ] = AUTO,
    noise: Annotated[
        str, typer.Option(metavar="S", help="Standard deviation of one measurement, or auto: estimated.")
    ] = AUTO,
    mean: Annotated[
        str | None,
        typer.Option(
            metavar="M", help="Mean of f, taken off first, or auto: estimated. Default: auto if the kernel is, else 0."
        ),
    ] = None,
    bound: Annotated[
        float | None, typer.Option(help="B with |f - mean| <= B; for rips, and for ridge where there is no --norm.")
    ] = None,
    delta: Annotated[
        float, typer.Option(help="Allowed probability of any wrong label, with ridge, rips and rkhs.")
    ] = 0.1,
    method: Annotated[
        str | None,
        typer.Option(help="melk, milk, truvar, lse, ... Default: melk, or milk for a fraction of the maximum."),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="ridge: in batches, all labels right at every moment with probability 1 - delta; rips: the same in "
            "rounds, for noise with heavy tails too; posterior: as right as the kernel is; rkhs: of lse. Default: "
            "ridge for melk and milk with --kernel, --noise and a --norm or --bound, else posterior."
        ),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="Of melk and milk: greedy, average or worst. Default: greedy.")
    ] = None,
    norm: Annotated[
        float | None, typer.Option(help="S with ||theta|| <= S in the kernel's space; for ridge and rkhs.")
    ] = None,
    misspecification: Annotated[float, typer.Option(help="How far f may be from every function of the kernel.")] = 0.0,
    tolerance: Annotated[float, typer.Option(help="Points this near to the level may get either label.")] = 0.0,
    ridge: Annotated[float | None, typer.Option(help="Regularisation; larger is cheaper and blurs more.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Measurements that are suggested at once. Default: 10; rounds have their own.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    lease: Annotated[
        float, typer.Option(metavar="HOURS", help="How long a suggestion is kept for who asked for it.")
    ] = 24.0,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Begin a study: which points there are, which of them are looked for, and what is assumed.

    With kernel, noise and mean left to auto, the first suggestions are a pilot that is spread out; they are estimated
    from its results, and again as more come in.

    Example: superlevel study create harbour --points harbour.csv --threshold 20 --noise 0.5
    """
    goal = as_goal(threshold, fraction)
    fit, deviation, middle = _fitted(kernel, noise, mean)
    options = {"confidence": confidence, "criterion": criterion}
    _check_guarantee(confidence, fit, batch)
    seconds = common.hours("--lease", lease)
    with common.given_as("--points"):
        domain = Domain.read(points, columns=columns)
    storage = common.storage_of(store)
    with common.working("loading scipy and scikit-learn, and looking at the problem"):
        if "kernel" not in fit:
            domain = Domain(domain.points, kernels.parse(kernel), names=domain.names)
        problem = Problem(
            domain,
            goal=goal,
            noise=deviation,
            bound=bound,
            delta=delta,
            mean=middle,
            norm=norm,
            misspecification=misspecification,
            tolerance=tolerance,
            ridge=ridge,
        )
        from superlevel.study.study import Study  # noqa: PLC0415  slow to import, and --help needs none of it

        chosen = _method(method, goal)
        given: dict[str, Any] = {"seed": seed, "batch": batch, "fit": fit, "lease": seconds, **options}
        with common.given_as("--points", problem_bound="--bound", problem_norm="--norm"):
            study = Study.create(storage, name, problem, method=chosen, **given)
        study.note()  # for a quick `status`
    console = common.screen(as_json)
    common.say(console, f"created study {name!r} in {study.url}")
    if _only_spanned(study):
        common.say(console, SPANNED)
    if as_json:
        return common.answer(study.status(fresh=False).model_dump(mode="json"))
    console.print(common.facts(_rows(study)))
    common.say_lines(console, (f"doubt: {doubt}" for doubt in study.knowledge.doubts))
    sheet = f"{file_name(name)}-sheet.csv"
    common.say(console, f"next: {common.command(store, storage, 'study', 'suggest', name, '--csv', sheet)}")
    return None


def _method(method: str | None, goal: Goal) -> str:
    from superlevel.methods import NAMES  # noqa: PLC0415

    if method is None:
        return "milk" if isinstance(goal, FractionOfMax) else "melk"
    if method not in NAMES:
        raise InputError("--method", repr(method), f"choose out of {', '.join(NAMES)}")
    return method


def _fitted(kernel: str, noise: str, mean: str | None) -> tuple[list[str], float, float]:
    """What is to be estimated, and noise and mean with something harmless in place of that."""
    if mean is None:
        mean = AUTO if _is_auto(kernel) else "0"
    fit = [field for field, text in (("kernel", kernel), ("noise", noise), ("mean", mean)) if _is_auto(text)]
    deviation = STANDING_IN if "noise" in fit else common.number("--noise", noise)
    return fit, deviation, 0.0 if "mean" in fit else common.number("--mean", mean)


def _is_auto(text: str) -> bool:
    return text.strip().lower() == AUTO


def _check_guarantee(confidence: str | None, fit: list[str], batch: int | None) -> None:
    """A guarantee rests on what is given, and rounds know how long they are."""
    if confidence in ("rips", "ridge") and fit:
        raise InputError(f"--{fit[0]}", AUTO, "a guarantee needs kernel, noise and mean: give a value")
    if confidence == "rips" and batch is not None:
        raise InputError("--batch", batch, "rounds are as long as their guarantee needs: leave it out")


def _only_spanned(study: Study) -> bool:
    """Whether a guarantee makes no use of how smooth the kernel is."""
    given = study.ledger.created
    return given.options["confidence"] == "ridge" and given.norm is None and given.kernel is not None


def _rows(study: Study) -> list[tuple[str, str]]:
    """What was given, and in which sense labels will be right."""
    from superlevel.study.assumptions import guarantee  # noqa: PLC0415
    from superlevel.study.configuration import question  # noqa: PLC0415

    given = study.ledger.created
    shown = {"kernel": kernels.phrase(given.kernel), "noise": f"{given.noise:g}", "mean": f"{given.mean:g}"}
    for field in given.fit:
        shown[field] = "auto: estimated from the measurements, first from a pilot"
    optional = ("bound", "norm", "misspecification", "tolerance", "ridge")
    batches = "rounds" if given.options["confidence"] == "rips" else f"batches of {given.batch:,}"
    return [
        ("question", f"which of {common.plural(study.ledger.n, 'point')} are {question(given)}"),
        ("coordinates", ", ".join(given.names)),
        ("method", f"{given.method}, {given.options['confidence']} confidence, {batches}, seed {given.seed}"),
        *shown.items(),
        *((field, f"{getattr(given, field):g}") for field in optional if getattr(given, field)),
        *([("delta", f"{given.delta:g}")] if given.options["confidence"] != "posterior" else []),
        ("guarantee", guarantee(study.ledger, study.knowledge.method)),
    ]
