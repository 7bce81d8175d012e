"""The opening example: a noisy sonar over a real strait, and the question where it is deep enough."""

from superlevel.demo.picture import drawn, said
from superlevel.demo.scores import Record, Score
from superlevel.demo.sea import Sea, load
from superlevel.demo.survey import LABELS, Survey, check, run

__all__ = ["LABELS", "Record", "Score", "Sea", "Survey", "check", "drawn", "load", "run", "said"]
