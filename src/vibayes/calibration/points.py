"""Points of backbones as a problem describes them.

`BackboneResidual` says that measured points leave errors e of the equations ε(Ω, V; θ) = e: with the amplitude of the
leading mode as it was measured, frequency and the other amplitudes solve that for errors that are drawn. The density of
the points is that of e times |∂ε/∂(Ω, V)|, which the likelihood leaves out; with one mode and a first-order form it is
2 Ω V whatever θ, and nothing is lost. `BackboneAmplitudes` says that amplitudes at the measured frequencies have
errors, which are added to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.backbone import BackboneAmplitudes, BackboneLikelihood, BackbonePoints, backbone_curve
from vibayes.backbone.scatter import Measured, carried
from vibayes.compilation import compiled_soon
from vibayes.problem import Problem

Array = Any
_ROUNDS, _CLOSE = 12, 1e-9
"""Steps of Newton's method, and what they may leave of the equations, relative to Ω² V."""


def points_simulator(problem: Problem) -> Callable[[Any, Mapping[str, float]], BackbonePoints | None]:
    """A function of a key and of values that simulates the points of a problem; None where there is no such branch."""
    prepared, points = problem.filtering(), problem.record
    assert isinstance(prepared, BackboneLikelihood) and isinstance(points, BackbonePoints)
    solved = _with_amplitude_errors if isinstance(prepared.method, BackboneAmplitudes) else _with_equation_errors

    def simulated(key: Any, values: Mapping[str, float]) -> BackbonePoints | None:
        found = solved(key, prepared, points, {name: jnp.asarray(value) for name, value in values.items()})
        if found is None or not all(np.isfinite(each).all() for each in found) or not (found[0] > 0).all():
            return None
        return replace(points, frequency=found[0], amplitudes=found[1])

    return simulated


def _with_equation_errors(
    key: Any, prepared: BackboneLikelihood, points: BackbonePoints, values: dict[str, Array]
) -> tuple[np.ndarray, np.ndarray] | None:
    leads, clean = _branches(prepared, points, values)
    if clean is None:
        return None
    noises, multiples = _noises(key, clean.amplitudes.shape)
    errors = _errors(prepared, clean, values, noises)
    frequency, amplitudes, left = _solved(prepared, clean, values, errors, multiples, jnp.asarray(leads))
    if not np.all(np.asarray(left) < _CLOSE):
        return None
    return np.asarray(frequency), np.asarray(amplitudes)


def _with_amplitude_errors(
    key: Any, prepared: BackboneLikelihood, points: BackbonePoints, values: dict[str, Array]
) -> tuple[np.ndarray, np.ndarray] | None:
    clean = prepared.points._replace(amplitudes=_amplitudes(prepared, values))
    if not np.isfinite(clean.amplitudes).all():
        return None
    noises, _ = _noises(key, clean.amplitudes.shape)
    return points.frequency, np.asarray(clean.amplitudes + _errors(prepared, clean, values, noises))


def _noises(key: Any, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Standard normals: one for each equation of each point, and one for each equation."""
    return jax.random.normal(key, shape), jax.random.normal(jax.random.fold_in(key, 1), shape[1:])


def _branches(
    prepared: BackboneLikelihood, points: BackbonePoints, values: dict[str, Array]
) -> tuple[np.ndarray, Measured | None]:
    """The leading mode of every point, and the branches on which errors vanish, each followed from its linear mode."""
    frequency, amplitudes = np.full(points.samples, np.nan), np.full(points.amplitudes.shape, np.nan)
    leads = np.zeros(points.samples, int)
    own = {name: values[name] for name in prepared.form.parameters}
    for name in dict.fromkeys(points.backbone):
        chosen = np.flatnonzero([each == name for each in points.backbone])
        lead = int(np.argmax(np.abs(points.amplitudes[chosen]).max(axis=0)))
        order = chosen[np.argsort(np.abs(points.amplitudes[chosen, lead]))]
        curve = backbone_curve(prepared.form, points.amplitudes[order, lead], own, mode=points.modes[lead])
        frequency[order], amplitudes[order], leads[chosen] = curve.frequency, curve.amplitudes, lead
    if not (np.isfinite(frequency).all() and np.isfinite(amplitudes).all()):
        return leads, None
    return leads, prepared.points._replace(frequency=jnp.asarray(frequency), amplitudes=jnp.asarray(amplitudes))


@compiled_soon
def _errors(prepared: BackboneLikelihood, clean: Measured, values: dict[str, Array], noises: Array) -> Array:
    """Errors of the equations, (points, equations), from standard normals."""
    method = prepared.method

    def residuals(frequency, amplitudes):
        return method.errors(prepared.form, values, clean._replace(frequency=frequency, amplitudes=amplitudes))[0]

    levels = prepared.noise.deviations(lambda n: jnp.asarray(values[n] if isinstance(n, str) else n, float))
    variances = method.scatter.variances(levels, clean, values, lambda: carried(residuals, clean))
    if variances.ndim == 2:
        return jnp.sqrt(variances) * noises
    return jnp.einsum("pij,pj->pi", jnp.linalg.cholesky(variances), noises)


@compiled_soon
def _amplitudes(prepared: BackboneLikelihood, values: dict[str, Array]) -> Array:
    """That solve the equations at the measured frequencies; NaN where no solution is near what was measured."""
    return prepared.points.amplitudes - prepared.method.errors(prepared.form, values, prepared.points)[0]


@compiled_soon
def _solved(
    prepared: BackboneLikelihood, clean: Measured, values: dict[str, Array], errors: Array, multiples: Array,
    leads: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Frequencies and amplitudes with given errors, by Newton's method from the branches; and what it leaves of them.

    Frequency takes the place of the leading amplitude among the unknowns of a point.
    """

    def point(frequency, amplitudes, error, lead):
        size = amplitudes[lead]

        def placed(unknown):
            return unknown[lead], unknown.at[lead].set(size)

        def residual(unknown):
            frequency, amplitudes = placed(unknown)
            one = Measured(frequency[None], amplitudes[None], jnp.zeros(1), jnp.zeros((1, len(amplitudes))))
            found, shape = prepared.method.errors(prepared.form, values, one)
            return found[0] - error - (0.0 if shape is None else multiples * shape[0])

        def newton(_, unknown):
            return unknown - jnp.linalg.solve(jax.jacfwd(residual)(unknown), residual(unknown))

        found = jax.lax.fori_loop(0, _ROUNDS, newton, amplitudes.at[lead].set(frequency))
        left = jnp.max(jnp.abs(residual(found))) / (frequency**2 * jnp.abs(size))
        return *placed(found), left

    return jax.vmap(point)(clean.frequency, clean.amplitudes, errors, leads)
