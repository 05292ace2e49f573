"""Readings of solved structures, with what solver and parameters leave open, apart from each other.

With mean m_θ and deviation s_θ of a reading under each set of values θ (the draws of a posterior),

    Var  =  Var_θ[m_θ]  +  E_θ[s_θ²]  +  σ²:        parameters, solver, measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import FEW, compiled_soon
from vibayes.errors import InvalidInput
from vibayes.solvers.verb import Solving
from vibayes.structure.sensors import HystereticEnergy, Sensor

Array = Any


@dataclass(frozen=True)
class Solutions:
    """Mean and solver's standard deviation of readings at every sample under every set, (sets, samples, readings)."""

    names: tuple[str, ...]
    times: np.ndarray
    means: np.ndarray
    deviations: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Over all sets, (samples, readings)."""
        return self.means.mean(axis=0)

    @property
    def parameters(self) -> np.ndarray:
        """Standard deviation that not knowing the parameters leaves, (samples, readings)."""
        return self.means.std(axis=0)

    @property
    def solver(self) -> np.ndarray:
        """Standard deviation that the solver's error leaves, (samples, readings)."""
        return np.sqrt(np.mean(self.deviations**2, axis=0))


def solve(
    prepared: Solving, values: Mapping[str, Any], of: Sequence[Sensor] | None = None, *, ahead: bool = False
) -> Solutions:
    """Solve for many sets of values.

    Args:
        prepared: structure, record and solver; see `solving`.
        values: of all unknowns, numbers or arrays with one entry per set.
        of: sensors to be read, whether they were there or not; by default those of the record.
        ahead: one step ahead of each sample, before that sample corrects the solution; without, after it.

    Returns:
        Readings with the deviation that the solver itself gives them. A solver that measured samples correct knows all
        of them up to each sample.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.3)], sensors=[vb.Velocity("mass")])
        >>> record = vb.Record.from_arrays(rate=4.0, input=np.sin(np.arange(40.0)), output=np.cos(np.arange(40.0)))
        >>> prepared = vb.solving(oscillator, record, noise=0.1, method=vb.ODEFilter(order=2, corrected=False))
        >>> found = vb.solve(prepared, {"k": np.array([9.0, 9.5, 10.0])}, of=[vb.Displacement("mass")])
        >>> found.means.shape, bool(np.all(found.solver[1:] > 0.0))
        ((3, 40, 1), True)
    """
    if not isinstance(prepared, Solving):
        remedy = "use estimate, if inputs are random"
        raise InvalidInput("solve.prepared", "a record prepared by solving", type(prepared).__name__, remedy)
    sensors = prepared.structure.sensors if of is None else prepared.structure.measuring(*of).sensors
    if any(isinstance(s, HystereticEnergy) and s not in prepared.structure.sensors for s in sensors):
        remedy = "add the sensor to the structure, with missing values in the record"
        raise InvalidInput("solve.of", "readings of the state", "absorbed energy, which is summed up", remedy)
    missing = [name for name in prepared.parameters if name not in values]
    if missing:
        raise InvalidInput("solve.values", f"values of {', '.join(prepared.parameters)}", f"no {missing[0]}", "give it")
    arrays = {name: np.atleast_1d(np.asarray(values[name], float)) for name in prepared.parameters}
    count = max(len(value) for value in arrays.values())
    arrays = {name: np.broadcast_to(value, (count,)) for name, value in arrays.items()}
    size, means, deviations = min(prepared.at_once, count), [], []
    for first in range(0, count, size):
        chosen = np.minimum(np.arange(first, first + size), count - 1)  # parts of one size are compiled once
        some = {name: jnp.asarray(value[chosen]) for name, value in arrays.items()}
        found = (_solved_few if size <= FEW else _solved)(prepared, sensors, some, ahead)
        for parts, each in zip((means, deviations), found, strict=True):
            parts.append(np.moveaxis(np.asarray(each), -1, 0)[: count - first])
    times = prepared.interval * np.arange(prepared.outputs.shape[0])
    names = tuple(sensor.name for sensor in sensors)
    return Solutions(names, times, np.concatenate(means), np.concatenate(deviations))


def _solutions(
    prepared: Solving, sensors: tuple[Sensor, ...], values: Mapping[str, Array], ahead: bool
) -> tuple[Array, Array]:
    return prepared.solutions(values, sensors, ahead)


_solved, _solved_few = eqx.filter_jit(_solutions), compiled_soon(_solutions)
