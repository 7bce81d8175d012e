"""`superlevel study key`: a key to sign entries with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from superlevel.cli.study import common


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file, for your eyes only.", show_default=False)],
    *,
    as_json: common.Json = False,
) -> None:
    """Make a private key, with which the entries of a study are signed, and print its public key.

    Keep the file where the store is not. Give the public key to whoever checks the study: `superlevel study verify NAME
    --key PUBLIC`.

    Example: superlevel study key harbour.key, then superlevel study create harbour --sign harbour.key ...
    """
    from superlevel.study.signatures import make_key  # noqa: PLC0415

    with common.given_as("path", key="FILE", sign="FILE"):
        public = make_key(file).public
    if as_json:
        return common.answer({"file": str(file), "public": public})
    common.say(common.screen(), f"wrote {file}, which only you can read")
    common.say(common.screen(), f"public key: {public}")
    return None
