"""Samplers, one per file. They see callables and arrays only, and know nothing of mechanics."""

from vibayes.samplers.data_annealed import DataAnnealedSMC
from vibayes.samplers.data_annealed_abc import DataAnnealedABC
from vibayes.samplers.follow_and_weigh import FollowAndWeigh
from vibayes.samplers.ibis import IBIS
from vibayes.samplers.laplace import Laplace
from vibayes.samplers.metropolis import AdaptiveMetropolis, Metropolis
from vibayes.samplers.nested import ABCNestedSampling
from vibayes.samplers.nuts import NUTS
from vibayes.samplers.rejection import ABCRejection
from vibayes.samplers.resampling import multinomial, residual, stratified, systematic
from vibayes.samplers.smc import ABCSMC
from vibayes.samplers.tempered import TemperedSMC

__all__ = [
    "ABCSMC",
    "IBIS",
    "NUTS",
    "ABCNestedSampling",
    "ABCRejection",
    "AdaptiveMetropolis",
    "DataAnnealedABC",
    "DataAnnealedSMC",
    "FollowAndWeigh",
    "Laplace",
    "Metropolis",
    "TemperedSMC",
    "multinomial",
    "residual",
    "stratified",
    "systematic",
]
