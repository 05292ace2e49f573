"""State estimation over the same structures: likelihoods and states where inputs were not measured."""

from vibayes.filters.estimate import Estimate, estimate
from vibayes.filters.method import ExtendedFilter, Filter, KalmanFilter, UnscentedFilter
from vibayes.filters.verb import Filtering, filtering

__all__ = [
    "Estimate",
    "ExtendedFilter",
    "Filter",
    "Filtering",
    "KalmanFilter",
    "UnscentedFilter",
    "estimate",
    "filtering",
]
