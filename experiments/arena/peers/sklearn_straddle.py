"""scikit-learn with Straddle (Bryan et al. 2005): the largest 1.96 s(x) - |m(x) - level|."""

from __future__ import annotations

import numpy as np

from experiments.arena.peers.loop import main
from experiments.arena.peers.sklearn_model import Model


class Straddle(Model):
    def choose(self) -> int:
        return int(np.argmax(1.96 * self.deviation - np.abs(self.mean - self.level)))


if __name__ == "__main__":
    main(Straddle)
