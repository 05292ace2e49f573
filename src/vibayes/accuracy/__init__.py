"""How accurate a simulation is and what that costs: tolerance proportionality, work–accuracy, constancy of events."""

from vibayes.accuracy.study import AccuracyRun, AccuracyStudy
from vibayes.accuracy.verb import accuracy

__all__ = ["AccuracyRun", "AccuracyStudy", "accuracy"]
