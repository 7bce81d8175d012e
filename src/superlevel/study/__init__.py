"""Campaigns that survive: an append-only log, a fold from it to what is known, and stores that hold it."""

from superlevel.study.backups import backup, restore
from superlevel.study.results import Receipt, Result, ResultsError, Ticket, Tickets
from superlevel.study.storage.protocol import ReplacedError
from superlevel.study.study import Study

__all__ = [
    "Receipt",
    "ReplacedError",
    "Result",
    "ResultsError",
    "Study",
    "Ticket",
    "Tickets",
    "backup",
    "restore",
]
