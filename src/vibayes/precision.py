"""Double precision, which JAX may lose after vibayes has asked for it."""

from __future__ import annotations

import jax
import numpy as np

from vibayes.errors import InvalidInput


def require_double_precision(where: str) -> None:
    """Refuse to compute where other code has switched JAX to single precision since vibayes was imported.

    JAX compiles anew for the other precision, so that whatever traces a structure comes by here.

    Examples:
        >>> require_double_precision("simulate")
    """
    if jax.dtypes.canonicalize_dtype(np.float64) != np.float64:
        raise InvalidInput(
            where,
            "JAX in double precision",
            "single precision, to which other code has switched JAX since vibayes was imported",
            'call jax.config.update("jax_enable_x64", True) before you go on, or take the other call out',
        )
