"""What `simulate` refuses before it starts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.simulate.exact import Exact
from vibayes.simulate.lanes import Clock
from vibayes.simulate.method import Method
from vibayes.simulate.runge_kutta import FixedStep
from vibayes.structure.structure import Structure

_STABLE_RADIUS = 2.6
"""The classical method is stable for |λ h| up to about 2.8 in the left half-plane."""


def check_method(method: Method, structure: Structure, excitation: Any, clock: Clock) -> None:
    """Refuse a method that cannot treat the structure."""
    if not isinstance(method, Method):
        raise InvalidInput("simulate.method", "a method object", repr(method), "try Exact() or EventLocated()")
    if isinstance(method, Exact):
        curved = [str(link.name) for link in structure.links if not link.element.affine]
        if curved:
            raise InvalidInput(
                "Exact", "piecewise-linear elements only", f"{curved}", "use EventLocated() or FixedStep()"
            )
    if not method.locates:
        blind = [str(link.name) for link in structure.links if link.element.needs_events]
        if blind:
            raise InvalidInput(
                type(method).__name__, "elements that can do without located events", f"{blind}", "set events=True"
            )
    if isinstance(method, FixedStep) and not any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(structure)):
        _check_stability(method, structure, clock)


def _check_stability(method: FixedStep, structure: Structure, clock: Clock) -> None:
    """Compare the step with the fastest rate of the structure at rest."""
    fastest = float(np.max(np.asarray(_fastest(structure))))
    step = clock.interval / method.substeps
    if fastest * step > _STABLE_RADIUS:
        needed = int(np.ceil(fastest * clock.interval / _STABLE_RADIUS))
        raise InvalidInput(
            "FixedStep.substeps",
            f"at least {needed} (the structure's fastest rate is {fastest:.4g} per second)",
            str(method.substeps),
            "raise it, or use EventLocated(); the step would be unstable",
        )


def _fastest(structure: Structure) -> Any:
    """A bound on the largest |λ| of the flow at rest, from its row sums after balancing x against v."""
    leaves = jax.tree.leaves(structure)
    axes = jax.tree.map(lambda leaf: 0 if jnp.ndim(leaf) else None, structure)
    count = max((jnp.shape(leaf)[0] for leaf in leaves if jnp.ndim(leaf)), default=1)

    def jacobian(structure, _):
        system = structure.compile()
        zero = tuple(jnp.zeros(()) for _ in system.inverse_masses)
        state = tuple(jnp.asarray(s, float) for s in system.start(zero, zero))
        inputs = tuple(jnp.zeros(()) for _ in system.forced_masses)
        rows = jax.jacfwd(lambda y: jnp.stack(system.flow(tuple(y), None, inputs)))(jnp.stack(state))
        return rows

    matrices = np.asarray(jax.jit(jax.vmap(jacobian, in_axes=(axes, 0)))(structure, jnp.zeros(count)))
    if not np.isfinite(matrices).all():
        return 0.0
    return np.abs(np.linalg.eigvals(matrices)).max(axis=-1)


def check_start(structure: Structure, displacement: Any, velocity: Any) -> tuple[Any, int | None]:
    """Initial displacements and velocities per mass, and how many sets of them there are."""
    masses, sets, start = len(structure.masses), None, []
    for name, value in (("displacement", displacement), ("velocity", velocity)):
        array = np.asarray(value, float)
        if array.ndim == 0:
            array = np.full(masses, float(array))
        if array.ndim > 2 or array.shape[-1] != masses:
            raise InvalidInput(
                f"simulate.{name}", f"a number or one per mass ({masses})", f"shape {array.shape}", "reshape it"
            )
        if not np.isfinite(array).all():
            raise InvalidInput(f"simulate.{name}", "finite numbers", "NaN or infinity", "check the initial state")
        if array.ndim == 2:
            sets = array.shape[0]
        start.append(tuple(jnp.asarray(array[..., i]) for i in range(masses)))
    at_rest = not np.any(np.asarray(displacement, float))
    return (None if at_rest else start[0], start[1]), sets
