"""The force of an element under prescribed motion, without any dynamics."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.forking import require_usable_jax
from vibayes.structure.element import Element, Local, parameter_names


def static_force(element: Element, deformation: Any = 0.0, velocity: Any = 0.0) -> Any:
    """Force of an element without memory as a function of deformation and velocity.

    Args:
        element: a bound element (no unknowns) without internal states.
        deformation: numbers, broadcast against velocity.
        velocity: numbers.

    Returns:
        Forces, an array.

    Examples:
        >>> import vibayes as vb
        >>> vb.static_force(vb.Spring(2.0), deformation=[1.0, 2.0]).tolist()
        [2.0, 4.0]
    """
    require_usable_jax("static_force")
    if parameter_names(element):
        raise InvalidInput(
            "static_force", "known parameters", f"unknowns {list(parameter_names(element))}", "bind them to values"
        )
    if element.states:
        raise InvalidInput(
            "static_force",
            "an element without memory",
            f"{type(element).__name__} with states {list(element.states)}",
            "simulate it instead",
        )
    ready = element.prepare()
    d, v = jnp.broadcast_arrays(jnp.asarray(deformation, float), jnp.asarray(velocity, float))

    def law(d, v):
        local = Local(d, v)
        return jnp.asarray(ready.force(local._replace(mode=ready.mode_at(local))), float)

    return np.asarray(jax.vmap(law)(d.ravel(), v.ravel()).reshape(d.shape))
