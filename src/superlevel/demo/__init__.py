"""The opening example: where is the ground above 600 m? Real elevations, a noisy instrument, nothing set by hand."""

from superlevel.demo.hills import Hills, load
from superlevel.demo.picture import drawn, found, said
from superlevel.demo.scores import Record, Score, read
from superlevel.demo.survey import Survey, check, run

__all__ = ["Hills", "Record", "Score", "Survey", "check", "drawn", "found", "load", "read", "run", "said"]
