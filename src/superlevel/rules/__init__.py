"""Where to measure next."""

from superlevel.rules.protocol import Rule

__all__ = ["Rule"]
