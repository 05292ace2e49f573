"""Draw what random excitations might have been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import StraightLines, ZeroOrderHold
from vibayes.excitation.concrete import as_key, require_count, require_positive
from vibayes.excitation.sampled import Realisation
from vibayes.forking import require_usable_jax
from vibayes.simulation.settling import require_settling
from vibayes.structure.processes import Process
from vibayes.structure.structure import Structure

_MOST = 4e6
"""Samples before the record."""


def realise(
    key: Any,
    structure: Structure,
    parameters: Mapping[str, Any] | None = None,
    *,
    rate: float,
    samples: int,
    refinement: int = 10,
    given: Any = None,
    settle: float | None = None,
) -> Realisation:
    """One realisation of the random processes that drive a structure, to simulate it with.

    Processes have been going on for ever when the record begins. They are exact at their samples, which are finer than
    those of the record, and straight between them; white noise is constant between them, with the variance that gives
    it its intensity. Where the structure is in motion at the first sample (`Structure.stationary`), the realisation
    also has what came before, and `simulate` begins with that. Inputs that were measured are zero before the record.

    Args:
        key: a whole number or a key of ``jax.random``.
        structure: with processes (`Structure.driven_by`).
        parameters: values of its unknowns, one each.
        rate: samples per second of the record.
        samples: of the record.
        refinement: samples of the excitation per sample of the record: every so many of the response are the record's.
        given: inputs that were measured, (samples, inputs without a process), straight between samples.
        settle: seconds of motion before the record; by default five decay times of the slowest mode, and none of a
            structure that begins at rest.

    Returns:
        All inputs of the structure, at ``rate`` times ``refinement``.

    Examples:
        >>> import vibayes as vb
        >>> storey = vb.Structure.chain([1.0], [[vb.Spring(100.0), vb.Damper(1.0)]])
        >>> tower = storey.driven_by(vb.KanaiTajimi(10.0, 0.35, 0.01))
        >>> ground = vb.realise(0, tower, rate=50.0, samples=101, refinement=4)
        >>> response = vb.simulate(tower, ground).outputs[::4]
        >>> ground.values.shape, response.shape
        ((401, 1), (101, 3))
    """
    require_usable_jax("realise")
    if not (isinstance(structure, Structure) and any(p is not None for p in structure.processes)):
        raise InvalidInput("realise.structure", "a structure with random inputs", "none", "see Structure.driven_by")
    require_positive("realise.rate", rate, "give samples per second")
    require_count("realise.samples", samples, 2, "give more samples")
    require_count("realise.refinement", refinement, 1, "give a whole number")
    bound, fine = structure.bind(parameters), rate * refinement
    if settle is None:
        settle = require_settling(structure, parameters, _MOST / fine) if structure.stationary else 0.0
    if not 0.0 <= settle <= _MOST / fine:
        raise InvalidInput("realise.settle", f"seconds, at most {_MOST / fine:g}", repr(settle), "give fewer, or none")
    measured = structure.processes.count(None)
    known = np.zeros((samples, 0)) if given is None else np.asarray(given, float).reshape(samples, -1)
    if known.shape[1] != measured:
        expected = f"{measured} measured inputs, of shape (samples, inputs)"
        raise InvalidInput("realise.given", expected, f"{known.shape[1]}", "give those without a process, in order")
    count, lead = (samples - 1) * refinement + 1, int(np.ceil(settle * rate)) * refinement
    times = np.arange(count) / fine
    keys = jax.random.split(as_key("realise.key", key), len(structure.inputs))
    channels, earlier, position = [], [], 0
    for each, process in zip(keys, bound.processes, strict=True):
        if process is None:
            channels.append(np.interp(times, np.arange(samples) / rate, known[:, position]))
            earlier.append(np.zeros(lead))
            position += 1
        else:
            values, before = _draw(each, process, times, 1.0 / fine, lead)
            channels.append(values)
            earlier.append(before)
    white = any(p is not None and p.order == 0 for p in structure.processes)
    hold = ZeroOrderHold() if white else StraightLines()
    return Realisation(jnp.stack(channels, axis=1), fine, hold, jnp.stack(earlier, axis=1))


def _draw(key: Any, process: Process, times: np.ndarray, interval: float, lead: int) -> tuple[Any, Any]:
    """Values from time zero on, and those before it."""
    strength = jax.vmap(process.envelope.value)(jnp.asarray(times))
    first = process.envelope.value(jnp.zeros(()))
    order = max(process.order, 1)
    part, noise = process.filter(), jax.random.normal(key, (len(times), order), float)
    past = jax.random.normal(jax.random.fold_in(key, 1), (lead, order), float)
    if not process.order:
        scale = part.D / np.sqrt(interval)
        return strength * scale * noise[:, 0], first * scale * past[:, 0]
    A, drive = np.asarray(part.A), np.outer(part.B, part.B)
    steady = _lyapunov(A, drive)
    step = np.asarray(jax.scipy.linalg.expm(jnp.asarray(A * interval)))
    # What has been added since the last sample: P - F P Fᵀ.
    added = _root(steady - step @ steady @ step.T)
    start = _root(steady) @ noise[0]
    # Backwards in time a Gaussian process in its stationary state has the transition P Fᵀ P⁻¹.
    back = np.linalg.lstsq(steady, step @ steady, rcond=1e-14)[0].T
    taken = _root(steady - back @ steady @ back.T)
    later, earlier = _walk(step, added, start, noise[1:]), _walk(back, taken, start, past)[::-1]
    return strength * (jnp.concatenate([start[None], later]) @ part.C), first * (earlier @ part.C)


@jax.jit
def _walk(transition: Any, root: Any, start: Any, noises: Any) -> Any:
    """States after the start, one step after the other."""

    def advance(state, white):
        after = transition @ state + root @ white
        return after, after

    return jax.lax.scan(advance, start, noises)[1]


def _lyapunov(A: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """P of A P + P Aᵀ + B Bᵀ = 0."""
    m = len(A)
    matrix = np.kron(A, np.eye(m)) + np.kron(np.eye(m), A)
    return -np.linalg.solve(matrix, drive.ravel()).reshape(m, m)


def _root(covariance: np.ndarray) -> np.ndarray:
    """A square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))
