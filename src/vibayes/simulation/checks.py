"""What `simulate` refuses before it starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic, Sampled
from vibayes.excitation.concrete import require_count
from vibayes.forking import require_usable_jax
from vibayes.naming import quoted
from vibayes.record import Record
from vibayes.simulation.exact import Exact
from vibayes.simulation.lanes import Clock
from vibayes.simulation.method import Method
from vibayes.simulation.run import batch_axes
from vibayes.simulation.runge_kutta import FixedStep
from vibayes.structure.declaration import numbers, shown
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

_STABLE_RADIUS = 2.6
"""The classical method is stable for |λ h| up to about 2.8 in the left half-plane."""


def check_structure(structure: Any) -> None:
    """Refuse what is not a structure."""
    require_usable_jax("simulate")
    if not isinstance(structure, Structure):
        raise InvalidInput(
            "simulate.structure", "a Structure", shown(structure), "make one, as Structure.single_dof(...)"
        )


def check_excitation(excitation: Any, inputs: int) -> Sampled | tuple[Analytic, ...]:
    """A sampled signal, or smooth ones, with one channel per input of the structure."""
    where = "simulate.excitation"
    if isinstance(excitation, Sampled):
        if excitation.channels != inputs:
            expected = f"one channel per input of the structure ({inputs})"
            raise InvalidInput(where, expected, f"{excitation.channels}", "add or remove channels")
        return excitation
    smooth = isinstance(excitation, Analytic) or (
        isinstance(excitation, list | tuple) and all(isinstance(each, Analytic) for each in excitation)
    )
    if not smooth:
        expected = f"a sampled signal, or one smooth signal per input ({inputs})"
        raise InvalidInput(where, expected, shown(excitation), _as_sampled(excitation))
    signals = (excitation,) if isinstance(excitation, Analytic) else tuple(excitation)
    if len(signals) != inputs:
        raise InvalidInput(
            where, f"one signal per input of the structure ({inputs})", f"{len(signals)}", "list them all"
        )
    for signal in signals:
        shape = jax.eval_shape(signal.value, 0.0).shape
        if shape:
            expected = "signals of one value at a time"
            got = f"a {type(signal).__name__} with values of shape {shape}"
            raise InvalidInput(where, expected, got, "batch a Sampled of shape (sets, samples, channels) instead")
    return signals


def _as_sampled(excitation: Any) -> str:
    """How to make a sampled signal of what came."""
    if isinstance(excitation, Record):
        return "give Sampled(record.input, record.rate, StraightLines()), or another hold"
    if isinstance(excitation, list | tuple) and excitation and all(isinstance(each, Sampled) for each in excitation):
        return "join them as the channels of one Sampled"
    return "make it Sampled(values, rate, StraightLines()), or another hold"


def check_sampling(excitation: Sampled | tuple[Analytic, ...], rate: Any, samples: Any) -> tuple[float, int]:
    """Rate and number of samples: the signal's own, or those given beside smooth signals."""
    if isinstance(excitation, Sampled):
        if rate is not None or samples is not None:
            got = f"rate={shown(rate)}, samples={shown(samples)} beside a sampled signal"
            raise InvalidInput("simulate.rate, samples", "neither, for the signal has its own", got, "leave them out")
        return excitation.rate, excitation.samples
    if rate is None or samples is None:
        raise InvalidInput(
            "simulate.rate, samples", "both with a smooth signal", f"rate={rate}, samples={samples}", "give both"
        )
    known = numbers(rate)
    if known is None or known.ndim or not (np.isfinite(known) and known > 0):
        raise InvalidInput("simulate.rate", "a positive number", shown(rate), "give samples per second")
    require_count("simulate.samples", samples, 2, "count the first, at time zero, and the last")
    return float(known), int(samples)


def check_max_steps(max_steps: Any) -> None:
    """A limit of steps counts."""
    if max_steps is not None:
        require_count("simulate.max_steps", max_steps, 1, "leave it out for a generous one")


def check_method(method: Method, structure: Structure, excitation: Any, clock: Clock) -> None:
    """Refuse a method that cannot treat the structure, as far as its values are known."""
    check_kind(method, structure)
    known = not any(isinstance(leaf, Tracer | str) for leaf in jax.tree.leaves(structure))
    if isinstance(method, FixedStep) and known:
        check_stability(method, structure, clock.interval, np.max)


def check_kind(method: Any, structure: Structure) -> None:
    """Refuse a method for what the structure is made of, whatever its values."""
    if not isinstance(method, Method):
        raise InvalidInput("simulate.method", "a method object", shown(method), "try Exact() or EventLocated()")
    if isinstance(method, Exact):
        curved = [str(link.name) for link in structure.links if not link.element.affine]
        if curved:
            raise InvalidInput(
                "Exact", "piecewise-linear elements only", quoted(curved), "use EventLocated() or FixedStep()"
            )
    if not method.locates:
        blind = [str(link.name) for link in structure.links if link.element.needs_events]
        if blind:
            raise InvalidInput(
                type(method).__name__, "elements that can do without located events", quoted(blind), "set events=True"
            )


def check_stability(method: FixedStep, structure: Structure, interval: float, of_sets: Callable) -> None:
    """Compare the step with the fastest rate of the structure at rest: of several sets the largest, say."""
    fastest = float(of_sets(np.asarray(_fastest(structure))))
    step = interval / method.substeps
    if fastest * step > _STABLE_RADIUS:
        needed = int(np.ceil(fastest * interval / _STABLE_RADIUS))
        raise InvalidInput(
            "FixedStep.substeps",
            f"at least {needed} (the structure's fastest rate is {fastest:.4g} per second)",
            str(method.substeps),
            "raise it, or use EventLocated(); the step would be unstable",
        )


def _fastest(structure: Structure) -> Any:
    """The largest |λ| of the flow at rest."""
    shapes = [jnp.shape(leaf) for leaf in jax.tree.leaves(structure)]
    sets = max((shape[0] for shape in shapes if shape), default=1)
    matrices = np.asarray(_jacobians(as_arrays(structure), jnp.zeros(sets)))
    return np.abs(np.linalg.eigvals(matrices)).max(axis=-1) if np.isfinite(matrices).all() else 0.0


@compiled_soon
def _jacobians(structure: Structure, lanes: Any) -> Any:
    """Derivatives of the flow at rest with respect to the state, one matrix per parameter set."""

    def jacobian(structure, _):
        system = structure.compile()
        zero = tuple(jnp.zeros(()) for _ in system.inverse_masses)
        state = tuple(jnp.asarray(s, float) for s in system.start(zero, zero))
        inputs = tuple(jnp.zeros(()) for _ in system.forced_masses)
        return jax.jacfwd(lambda y: jnp.stack(system.flow(tuple(y), None, inputs)))(jnp.stack(state))

    return jax.vmap(jacobian, in_axes=(batch_axes(structure), 0))(structure, lanes)


def check_start(structure: Structure, displacement: Any, velocity: Any) -> tuple[Any, dict[str, int]]:
    """Initial displacements and velocities per mass, and how many sets there are of which."""
    masses, start = len(structure.masses), []
    sets: dict[str, int] = {}
    for name, value in (("displacement", displacement), ("velocity", velocity)):
        where = f"simulate.{name}"
        if isinstance(value, Tracer):
            remedy = "differentiate and batch with respect to parameters"
            raise InvalidInput(where, "known numbers", "a traced value", remedy)
        array = numbers(value)
        if array is None:
            raise InvalidInput(where, "numbers", shown(value), "give a number, or one per mass")
        if array.ndim == 0:
            array = np.full(masses, float(array))
        if array.ndim > 2 or array.shape[-1] != masses or 0 in array.shape:
            expected = f"a number, one per mass ({masses}), or shape (sets, {masses})"
            raise InvalidInput(where, expected, f"shape {array.shape}", "reshape it")
        if not np.isfinite(array).all():
            raise InvalidInput(where, "finite numbers", "NaN or infinity", "check the initial state")
        if array.ndim == 2:
            sets[where] = array.shape[0]
        start.append(tuple(jnp.asarray(array[..., i]) for i in range(masses)))
    at_rest = not np.any(np.asarray(displacement, float))
    return (None if at_rest else start[0], start[1]), sets
