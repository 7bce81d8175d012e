"""What is estimated where kernel, noise or mean are not given: a weighted handful of kernels instead of one."""

from superlevel.averaging.estimate import NO_DATA, Average, Data, Shortlist, average
from superlevel.averaging.predictive import Predictive
from superlevel.averaging.warps import Warp

__all__ = ["NO_DATA", "Average", "Data", "Predictive", "Shortlist", "Warp", "average"]
