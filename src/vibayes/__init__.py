"""vibayes: Bayesian identification of nonlinear vibrating structures."""

import jax

# A posterior in single precision is a wrong posterior.
jax.config.update("jax_enable_x64", True)

from vibayes import excitation, io, simulation, structure  # noqa: E402
from vibayes.errors import InvalidInput  # noqa: E402
from vibayes.excitation import *  # noqa: E402, F403
from vibayes.io import *  # noqa: E402, F403
from vibayes.priors import LogNormal, LogUniform, Normal, Uniform  # noqa: E402
from vibayes.record import Record  # noqa: E402
from vibayes.simulation import *  # noqa: E402, F403
from vibayes.structure import *  # noqa: E402, F403

__all__ = [
    "InvalidInput",
    "LogNormal",
    "LogUniform",
    "Normal",
    "Record",
    "Uniform",
    *excitation.__all__,
    *io.__all__,
    *simulation.__all__,
    *structure.__all__,
]
