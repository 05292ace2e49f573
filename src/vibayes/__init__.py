"""vibayes: Bayesian identification of nonlinear vibrating structures."""

import jax

# A posterior in single precision is a wrong posterior.
jax.config.update("jax_enable_x64", True)

from vibayes.errors import InvalidInput as InvalidInput  # noqa: E402
from vibayes.excitation import *  # noqa: E402, F403
from vibayes.io import *  # noqa: E402, F403
from vibayes.record import Record as Record  # noqa: E402
from vibayes.simulation import *  # noqa: E402, F403
from vibayes.structure import *  # noqa: E402, F403

__all__ = [name for name in dir() if not name.startswith("_") and name != "jax"]
