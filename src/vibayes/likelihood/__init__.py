"""Log-likelihoods and distances of a problem as samplers see them."""

from vibayes.likelihood.distance import DistanceTarget
from vibayes.likelihood.target import PrefixTarget
from vibayes.likelihood.trajectory import TrajectoryTarget

__all__ = ["DistanceTarget", "PrefixTarget", "TrajectoryTarget"]
