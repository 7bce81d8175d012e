"""What a study checks of the names, workers, reasons and tickets that it is given."""

from __future__ import annotations

import getpass
import os
import socket

import numpy as np

from superlevel.errors import InputError
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.storage.refusals import check_text
from superlevel.study.telling import is_text

LONGEST = 100  # letters of a name


def check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        raise InputError("name", repr(name), "give some letters, without blanks around them")
    if name.startswith("-"):
        raise InputError("name", repr(name), "begin it with a letter: a command takes it for an option")
    if len(name) > LONGEST:
        raise InputError("name", f"{len(name)} letters long", f"give at most {LONGEST}")


def checked_worker(worker: str | None) -> str:
    if worker is None:
        return f"{person()}:{os.getpid()}"
    if not isinstance(worker, str) or not worker.strip():
        raise InputError("worker", repr(worker), "give a name, or leave it out")
    check_text("worker", worker)
    return worker


def check_reason(reason: object) -> None:
    if not is_text(reason):
        raise InputError("reason", ascii(reason), "give text that can be written as UTF-8")


def person() -> str:
    """Who runs this, and where."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may know no names
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def fate_of(ledger: Ledger, ticket: object) -> Fate:
    count = len(ledger.point)
    if isinstance(ticket, bool) or not isinstance(ticket, int | np.integer) or not 1 <= ticket <= count:
        raise InputError("ticket", repr(ticket), f"there are tickets 1 to {count:,}" if count else "there is none yet")
    return Fate(int(ledger.fate[ticket - 1]))
