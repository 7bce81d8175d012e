"""`superlevel study plot`: how a campaign stands, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superlevel.cli.study import common
from superlevel.errors import InputError
from superlevel.files import file_name, replacing
from superlevel.outputs import metadata

if TYPE_CHECKING:
    from superlevel.report.campaign import Campaign
    from superlevel.study.study import Study


def run(
    name: common.Name,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Picture to write: .png, .pdf or .svg. Default: NAME.png.", show_default=False),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Draw the probability of being above each level at every point, decided or not, in place of the "
            "labels. The confidences ridge and rips have no model of f, and so no probabilities.",
        ),
    ] = False,
    unit: common.Unit = "",
    force: common.Force = False,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Draw what is decided, what was measured and what comes next.

    A map of two coordinates, a profile along one, a ranking of the points where there are more.

    Example: superlevel study plot harbour --out harbour.png
    """
    picture = Path(f"{file_name(name)}.png") if out is None else out
    common.check_writable("--out", picture, suffixes=(".png", ".pdf", ".svg"), force=force)
    _, study = common.opened(store, name)
    with common.working("drawing"):
        from superlevel.report.drawing import draw  # noqa: PLC0415  slow to import, and --help needs none of it
        from superlevel.report.probabilities import draw_probabilities  # noqa: PLC0415

        campaign = study.campaign(unit=unit)
        if probability:
            _check_probabilities(study, campaign)
        figure = draw_probabilities(campaign) if probability else draw(campaign)
        with replacing("--out", picture, force=force) as beside:
            figure.savefig(beside, dpi=150, bbox_inches="tight", metadata=metadata(picture))
    common.say(common.screen(), f"wrote {picture}")


def _check_probabilities(study: Study, campaign: Campaign) -> None:
    """Raise an InputError if there are none, or none yet."""
    if campaign.chances is not None:
        return
    known = study.knowledge
    pilot = known.state.belief.pilot
    if not pilot and known.state.belief.probability(0.0) is None:
        got = f"on, but the confidence {known.method.confidence.name} has no model of f and so no probabilities"
        raise InputError("--probability", got, "leave the option out, or create a study with --confidence posterior")
    left = f"{common.plural(pilot, 'more measurement')} of the pilot" if pilot else "the first measurement"
    remedy = f"leave the option out until the study has {left}"
    raise InputError("--probability", "on, but there is no estimate of f yet", remedy)
