"""`superlevel study certificate`: what a study proves, as a file that a stranger can check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from superlevel.cli.study import common
from superlevel.files import file_name, replacing


def run(
    name: common.Name,
    *,
    out: Annotated[
        Path | None, typer.Option(help="File to write. Default: NAME-certificate.json.", show_default=False)
    ] = None,
    verifier: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the second verifier: one Python file that needs only numpy."),
    ] = None,
    force: common.Force = False,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Write what a study proves, with its log and the numbers that prove it, so that a stranger can check it.

    The second verifier shares no code with superlevel. This command runs it on the certificate and prints its answer.
    The certificate contains the whole log, with the names of workers and their remarks.

    Example: superlevel study certificate harbour --out claim.json --verifier check.py, then python check.py claim.json
    """
    target = Path(f"{file_name(name)}-certificate.json") if out is None else out
    common.check_writable("--out", target, force=force)
    if verifier is not None:
        common.check_writable("--verifier", verifier, force=force)
    _, study = common.opened(store, name)
    with common.working("computing every interval, and checking the certificate"):
        from superlevel.certificates import check  # noqa: PLC0415  numpy takes a while to import

        text = json.dumps(study.certificate(), allow_nan=False)
        proved, sentence = check.check(text)
    with replacing("--out", target, force=force) as beside:
        beside.write_text(text, encoding="utf-8")
    lines = [f"wrote the certificate to {target}"]
    if verifier is not None:
        with replacing("--verifier", verifier, force=force) as beside:
            beside.write_text(Path(check.__file__).read_text(encoding="utf-8"), encoding="utf-8")
        lines.append(f"wrote the second verifier to {verifier}")
    common.say_lines(common.screen(), (*lines, f"{'proved' if proved else 'not proved'}: {sentence}"))
    if not proved:
        raise typer.Exit(1)
