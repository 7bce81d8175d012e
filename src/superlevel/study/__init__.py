"""Campaigns that survive: an append-only log, a fold from it to what is known, and stores that hold it."""

from superlevel.study.results import Receipt, Result, ResultsError, Ticket, Tickets
from superlevel.study.study import Study

__all__ = ["Receipt", "Result", "ResultsError", "Study", "Ticket", "Tickets"]
