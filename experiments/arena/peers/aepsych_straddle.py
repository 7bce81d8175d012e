"""AEPsych's level set estimation: its regression model, and `MCLevelSetEstimation` evaluated on the list.

Model, priors and the acquisition's beta are AEPsych's defaults. Its default link is for answers of yes or no; for
continuous outcomes it is left out, as AEPsych does.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

import torch
from aepsych.acquisition.lse import MCLevelSetEstimation
from aepsych.models import GPRegressionModel
from botorch.acquisition.objective import GenericMCObjective

from experiments.arena.peers.loop import Declared, Task, main

CHUNK = 256  # points whose acquisition is computed at once
LINK = GenericMCObjective(lambda samples, X: samples[..., 0])  # noqa: ARG005, N803  botorch's names


class Aepsych(Declared):
    def __init__(self, task: Task) -> None:
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(1)
        torch.manual_seed(task.seed)
        self.points = torch.tensor(task.points)

    def fit(self, places: Any, values: Any, level: float) -> None:
        self.level = level
        self.model = GPRegressionModel(dim=self.points.shape[1])
        self.model.fit(self.points[places], torch.tensor(values))

    def add(self, places: Any, values: Any) -> None:
        self.model.train()  # forgets what was computed for the data before
        self.model.set_train_data(self.points[places], torch.tensor(values))
        self.model.eval()

    def posterior(self) -> tuple[Any, Any]:
        with torch.no_grad():
            found = [self.model.posterior(chunk) for chunk in self.points.split(CHUNK)]
            mean = torch.cat([each.mean.flatten() for each in found])
            variance = torch.cat([each.variance.flatten() for each in found])
        return mean.numpy(), variance.clamp_min(0).sqrt().numpy()

    def choose(self) -> int:
        acquisition = MCLevelSetEstimation(self.model, target=self.level, objective=LINK)
        with torch.no_grad():
            found = torch.cat([acquisition(chunk[:, None, :]) for chunk in self.points.split(CHUNK)])
        return int(found.argmax())


if __name__ == "__main__":
    main(Aepsych)
