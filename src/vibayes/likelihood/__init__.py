"""Log-likelihoods of a problem as samplers see them."""

from vibayes.likelihood.trajectory import TrajectoryTarget

__all__ = ["TrajectoryTarget"]
