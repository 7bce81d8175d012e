"""scikit-learn with points drawn at random, each with the same chance."""

from __future__ import annotations

from typing import Any

from experiments.arena.peers.loop import main
from experiments.arena.peers.sklearn_model import Model


class Random(Model):
    def choose(self) -> int:
        return int(self.rng.integers(len(self.points)))

    def add(self, places: Any, values: Any) -> None:
        """A point drawn at random needs no posterior: it is computed at looks only."""
        if len(places) % 10 == 0:
            super().add(places, values)


if __name__ == "__main__":
    main(Random)
