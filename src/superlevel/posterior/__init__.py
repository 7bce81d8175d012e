"""The exact Gaussian posterior of a function on a finite domain, updated instead of refitted.

>>> import numpy as np
>>> import superlevel as sl
>>> from sklearn.gaussian_process.kernels import RBF
>>> domain = sl.Domain(np.linspace(0, 1, 5), kernel=RBF(0.3))
>>> posterior = sl.posterior.begin(domain, noise=0.1)
>>> posterior = posterior.told([0, 2, 2], [1.0, 0.2, 0.4])
>>> posterior.mean.round(2)
array([0.99, 0.73, 0.3 , 0.08, 0.02])
"""

from superlevel.posterior.covariance import by_rows
from superlevel.posterior.gaussian import GaussianPosterior, Planned, begin

__all__ = ["GaussianPosterior", "Planned", "begin", "by_rows"]
