"""Draw what random excitations might have been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import Sampled, StraightLines, ZeroOrderHold
from vibayes.excitation.concrete import as_key, require_count, require_positive
from vibayes.forking import require_unforked
from vibayes.structure.processes import Process
from vibayes.structure.structure import Structure


def realise(
    key: Any,
    structure: Structure,
    parameters: Mapping[str, Any] | None = None,
    *,
    rate: float,
    samples: int,
    refinement: int = 10,
    given: Any = None,
) -> Sampled:
    """One realisation of the random processes that drive a structure, to simulate it with.

    Processes have been going on for ever when the record begins. They are exact at their samples, which are finer than
    those of the record, and straight between them; white noise is constant between them, with the variance that gives
    it its intensity.

    Args:
        key: a whole number or a key of ``jax.random``.
        structure: with processes (`Structure.driven_by`).
        parameters: values of its unknowns, one each.
        rate: samples per second of the record.
        samples: of the record.
        refinement: samples of the excitation per sample of the record: every so many of the response are the record's.
        given: inputs that were measured, (samples, inputs without a process), straight between samples.

    Returns:
        All inputs of the structure, at ``rate`` times ``refinement``.

    Examples:
        >>> import vibayes as vb
        >>> tower = vb.Structure.chain([1.0], [vb.Spring(100.0)]).driven_by(vb.KanaiTajimi(10.0, 0.35, 0.01))
        >>> ground = vb.realise(0, tower, rate=50.0, samples=101, refinement=4)
        >>> response = vb.simulate(tower, ground).outputs[::4]
        >>> ground.values.shape, response.shape
        ((401, 1), (101, 3))
    """
    require_unforked("realise")
    if not (isinstance(structure, Structure) and any(p is not None for p in structure.processes)):
        raise InvalidInput("realise.structure", "a structure with random inputs", "none", "see Structure.driven_by")
    require_positive("realise.rate", rate, "give samples per second")
    require_count("realise.samples", samples, 2, "give more samples")
    require_count("realise.refinement", refinement, 1, "give a whole number")
    bound = structure.bind(parameters)
    measured = structure.processes.count(None)
    known = np.zeros((samples, 0)) if given is None else np.asarray(given, float).reshape(samples, -1)
    if known.shape[1] != measured:
        expected = f"{measured} measured inputs, of shape (samples, inputs)"
        raise InvalidInput("realise.given", expected, f"{known.shape[1]}", "give those without a process, in order")
    count, fine = (samples - 1) * refinement + 1, rate * refinement
    times = np.arange(count) / fine
    keys = jax.random.split(as_key("realise.key", key), len(structure.inputs))
    channels, position = [], 0
    for each, process in zip(keys, bound.processes, strict=True):
        if process is None:
            channels.append(np.interp(times, np.arange(samples) / rate, known[:, position]))
            position += 1
        else:
            channels.append(_draw(each, process, times, 1.0 / fine))
    white = any(p is not None and p.order == 0 for p in structure.processes)
    return Sampled(jnp.stack(channels, axis=1), fine, ZeroOrderHold() if white else StraightLines())


def _draw(key: Any, process: Process, times: np.ndarray, interval: float) -> Any:
    strength = jax.vmap(process.envelope.value)(jnp.asarray(times))
    part, noise = process.filter(), jax.random.normal(key, (len(times), max(process.order, 1)), float)
    if not process.order:
        return strength * part.D * noise[:, 0] / np.sqrt(interval)
    A, drive = np.asarray(part.A), np.outer(part.B, part.B)
    steady = _lyapunov(A, drive)
    step = np.asarray(jax.scipy.linalg.expm(jnp.asarray(A * interval)))
    # What has been added since the last sample: P - F P Fᵀ.
    added = _root(steady - step @ steady @ step.T)
    start = _root(steady) @ noise[0]

    def advance(state, white):
        after = step @ state + added @ white
        return after, after

    _, later = jax.lax.scan(advance, start, noise[1:])
    return strength * (jnp.concatenate([start[None], later]) @ part.C)


def _lyapunov(A: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """P of A P + P Aᵀ + B Bᵀ = 0."""
    m = len(A)
    matrix = np.kron(A, np.eye(m)) + np.kron(np.eye(m), A)
    return -np.linalg.solve(matrix, drive.ravel()).reshape(m, m)


def _root(covariance: np.ndarray) -> np.ndarray:
    """A square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))
