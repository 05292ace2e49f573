"""How long a structure takes to forget how it began, and responses without that time.

Modes of the structure at rest decay as exp(−σ t), and what is left of the variance at the start as exp(−2 σ t). Springs
that yield are softer: modes with their memory held are asked too. After five decay times of the slowest mode the
variance is that of a vibration that has been going on for ever, within 0.005 %. Residual drifts after rare yielding
last longer; how long nobody knows beforehand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.excitation import Sampled
from vibayes.excitation.sampled import Realisation
from vibayes.simulation.solution import EventTable, Solution
from vibayes.structure.element import UNBOUNDED, as_arrays, bind
from vibayes.structure.sensors import HystereticEnergy
from vibayes.structure.structure import Structure

_TIMES = 5.0
"""Decay times of the slowest mode."""
_NOTHING = 1e-9
"""Share of the fastest rate that is rounding."""


def settling_time(structure: Structure, values: Any = None) -> np.ndarray:
    """Seconds until the start is forgotten, one for each of several sets of values; infinite if never.

    Examples:
        >>> import vibayes as vb
        >>> tower = vb.Structure.single_dof(2.0, [vb.Spring(100.0), vb.Damper("c")])
        >>> settling_time(tower, {"c": [0.4, 0.0]})  # 5 · 2 m / c
        array([50., inf])
    """
    given = {name: jnp.atleast_1d(jnp.asarray(value, float)) for name, value in (values or {}).items()}
    given = {name: value for name, value in given.items() if name in structure.parameters}
    sets = max((len(value) for value in given.values()), default=1)
    matrices = np.asarray(_flows_at_rest(structure, given, jnp.zeros(sets)))
    masses = 2 * len(structure.masses)
    bound = bind(structure, {name: value[0] for name, value in given.items()})
    bounded = any(pair is not UNBOUNDED for link in bound.links for pair in link.element.bounds())
    linear = all(link.element.linear for link in structure.links)
    times = [_longest(np.linalg.eigvals(matrices), linear)]
    if bounded:
        times.append(_longest(np.linalg.eigvals(matrices[:, :masses, :masses]), False))
    return _TIMES * np.max(times, axis=0)


def _longest(values: np.ndarray, all_of_them: bool) -> np.ndarray:
    """Decay time of the slowest mode; of those that move at all, unless all are asked for."""
    fastest = np.abs(values).max(axis=1, keepdims=True)
    decay, still = -np.real(values), np.abs(values) <= _NOTHING * fastest
    times = np.where(decay > _NOTHING * fastest, 1.0 / np.maximum(decay, 1e-300), np.inf)
    return np.where(still & (not all_of_them), 0.0, times).max(axis=1)


@compiled_soon
def _flows_at_rest(structure: Structure, values: Any, lanes: Any) -> Any:
    """Derivatives of the flow at rest with respect to the state, one matrix per set."""

    def flow_at_rest(some, _):
        system = as_arrays(bind(structure, some)).compile()
        zero = tuple(jnp.zeros(()) for _ in system.inverse_masses)
        state = tuple(jnp.asarray(s, float) for s in system.start(None, zero))
        state = state[: len(state) - len(system.metered)]
        energy, inputs = (jnp.zeros(()),) * len(system.metered), tuple(jnp.zeros(()) for _ in system.forced_masses)

        def flow(y):
            whole = (*y, *energy)
            return jnp.stack(system.flow(whole, system.free_modes(whole), inputs)[: len(state)])

        return jax.jacfwd(flow)(jnp.stack(state))

    return jax.vmap(flow_at_rest)(values, lanes)


def require_settling(structure: Structure, values: Any, most: float) -> float:
    """The settling time of one set of values, in seconds; refuses what never settles, or only after too long."""
    time = float(settling_time(structure, values)[0])
    if not np.isfinite(time):
        got = "a mode without damping, or a mass that nothing draws back: it moves ever farther"
        remedy = 'add damping or a spring, or begin at rest: driven_by(..., start="rest")'
        raise InvalidInput("Structure.driven_by.start", "a structure with a stationary state", got, remedy)
    if time > most:
        got = f"{time:.4g} s"
        remedy = 'give settle= seconds, or begin at rest: driven_by(..., start="rest")'
        raise InvalidInput("realise.settle", f"a start that is forgotten within {most:.4g} s", got, remedy)
    return time


def whole_signal(excitation: Realisation) -> Sampled:
    """With what came before the record, from time zero on."""
    values = jnp.concatenate([excitation.before, excitation.values], axis=-2)
    return Sampled(values, excitation.rate, excitation.hold)


def without_lead(solution: Solution, structure: Structure, lead: int) -> Solution:
    """A response from a sample on, which is time zero and where absorbed energy is counted from."""
    start = solution.times[lead]
    metered = [isinstance(sensor, HystereticEnergy) for sensor in structure.sensors]
    outputs = solution.outputs[..., lead:, :]
    outputs = outputs - outputs[..., :1, :] * np.array(metered, float) if any(metered) else outputs
    states, names = solution.states, solution.state_names
    if states is not None:
        states = states[..., lead:, :]
        states = states - states[..., :1, :] * np.array([name.startswith("absorbed by ") for name in names], float)
    return replace(
        solution,
        times=solution.times[: len(solution.times) - lead],
        outputs=outputs,
        states=states,
        modes=None if solution.modes is None else solution.modes[..., lead:, :],
        events=None if solution.events is None else _since(solution.events, start),
    )


def _since(events: EventTable, start: float) -> EventTable:
    kept = np.flatnonzero(events.time >= start)
    words = ([column[i] for i in kept] for column in (events.element, events.kind, events.before, events.after))
    return EventTable(events.time[kept] - start, events.parameter_set[kept], *map(tuple, words))
