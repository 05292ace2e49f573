"""One step along a branch of periodic solutions, for many branches at once.

The unknowns z = (body, Ω, λ) obey the equations of the method and a closing one, together one fewer than there are
unknowns: the solutions are curves. With the unit tangent t at a solution, in variables divided by their magnitudes, a
step of length s predicts z + s t and corrects it by Newton's method at right angles to t:

    G(z) = 0,      t · (z − z_predicted) = 0.

A step of length zero corrects a guess; with t along one unknown that unknown is kept.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vibayes.compilation import compiled_soon
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import Drive, Oscillation, oscillation_of
from vibayes.structure.structure import Structure

Array = Any


class Sizes(NamedTuple):
    """Magnitudes of what changes along a branch: a floor for that of the body, and those of Ω and λ."""

    body: Array
    frequency: Array
    level: Array


def sizes_of(body: float, frequency: float, level: float) -> Sizes:
    """Magnitudes as arrays."""
    return Sizes(*(jnp.asarray(each, float) for each in (body, frequency, level)))


class Control(NamedTuple):
    """Of Newton's method: when to stop, and how far a single update may go, relative to magnitudes."""

    tolerance: Array
    iterations: Array
    reach: Array


class Attempt(NamedTuple):
    """Where a step led."""

    point: Array
    tangent: Array
    """Unit vector in scaled variables."""
    scale: Array
    """Magnitudes of the unknowns, by which they are scaled."""
    converged: Array
    iterations: Array
    correction: Array
    """Distance of the solution from its prediction, in scaled variables."""
    extent: Array
    """About the largest displacement of any mass."""
    orientation: Array
    """Sign of the determinant of the equations with the tangent; it changes at branch points."""


@compiled_soon
def attempt(
    method: PeriodicMethod,
    structures: Structure,
    drives: Drive,
    points: Array,
    tangents: Array,
    steps: Array,
    sizes: Sizes,
    control: Control,
) -> Attempt:
    """Take a step from every point; structures, drives, points, tangents and steps have one entry per lane."""
    one = partial(_attempt, method)
    return jax.vmap(one, in_axes=(0, 0, 0, 0, 0, None, None))(
        structures, drives, points, tangents, steps, sizes, control
    )


def _attempt(method, structure, drive, point, tangent, step, sizes, control) -> Attempt:
    which = oscillation_of(structure)
    drive = _anchored(method, which, drive, point)
    scale = magnitudes(method, which, point, sizes)
    predicted = point + step * scale * tangent

    def equations(z):
        left = balance(method, which, drive, z)
        return left, left

    def update(carry):
        z, _, count, _ = carry
        slope, left = jax.jacfwd(equations, has_aux=True)(z)
        matrix = jnp.concatenate([slope * scale, tangent[None]])
        change = -jnp.linalg.solve(matrix, jnp.append(left, jnp.sum(tangent * (z - predicted) / scale)))
        length = jnp.sqrt(jnp.sum(change**2))
        change = change * jnp.minimum(1.0, control.reach / jnp.maximum(length, 1e-300))
        return z + scale * change, length, count + 1, slope

    def going(carry):
        _, length, count, _ = carry
        return (length > control.tolerance) & (count < control.iterations) & jnp.isfinite(length)

    begin = predicted, jnp.full((), 1e30), jnp.int32(0), jnp.zeros((len(point) - 1, len(point)))
    # The last derivatives are those of a point that was within the tolerance already: good enough for the tangent.
    z, length, count, slope = jax.lax.while_loop(going, update, begin)
    anew = magnitudes(method, which, z, sizes)
    along = tangent * scale / anew
    matrix = jnp.concatenate([slope * anew, (along / jnp.sqrt(jnp.sum(along**2)))[None]])
    new = jnp.linalg.solve(matrix, jnp.zeros(len(z)).at[-1].set(1.0))
    new = new / jnp.sqrt(jnp.sum(new**2))
    orientation = jnp.linalg.slogdet(matrix.at[-1].set(new))[0]
    correction = jnp.sqrt(jnp.sum(((z - predicted) / scale) ** 2))
    converged = (length <= control.tolerance) & jnp.all(jnp.isfinite(z)) & jnp.all(jnp.isfinite(new))
    extent = method.extent(z[:-2], z[-2], which.system.masses)
    return Attempt(z, new, anew, converged, count, correction, extent, orientation)


def balance(method: PeriodicMethod, which: Oscillation, drive: Drive, z: Array) -> Array:
    """The equations of the method and the closing one."""
    body, frequency, level = z[:-2], z[-2], z[-1]
    closing = drive.pinned * (level - drive.level) + (1.0 - drive.pinned) * jnp.sum(drive.phase * (body - drive.anchor))
    return jnp.concatenate([method.residual(which, drive, body, frequency, level), closing[None]])


def magnitudes(method: PeriodicMethod, which: Oscillation, z: Array, sizes: Sizes) -> Array:
    """Of all unknowns at a point."""
    body, frequency = z[:-2], z[-2]
    own = jnp.maximum(method.sizes(body, frequency, which.system.masses), sizes.body)
    return jnp.concatenate([own, sizes.frequency[None], jnp.maximum(jnp.abs(z[-1]), sizes.level)[None]])


def _anchored(method: PeriodicMethod, which: Oscillation, drive: Drive, z: Array) -> Drive:
    """With the phase held by the point that a step starts from, where it is to be."""
    body, frequency, level = z[:-2], z[-2], z[-1]
    turning = method.turning(which, drive, body, frequency, level)
    turning = turning / jnp.maximum(jnp.sqrt(jnp.sum(turning**2)), 1e-300)
    return drive._replace(
        phase=jnp.where(drive.moving > 0, turning, drive.phase), anchor=jnp.where(drive.moving > 0, body, drive.anchor)
    )


@compiled_soon
def bodies_of(method: PeriodicMethod, structures: Structure, drives: Drive, coefficients: Array, frequency: Array):
    """Bodies of Fourier series, one per lane."""

    def one(structure, drive, coefficients, frequency):
        return method.body(oscillation_of(structure), drive, coefficients, frequency)

    return jax.vmap(one)(structures, drives, coefficients, frequency)


class Appearance(NamedTuple):
    """What is shown of points of one branch."""

    coefficients: Array
    monodromy: Array


@compiled_soon
def appearance(method: PeriodicMethod, structure: Structure, drive: Drive, points: Array) -> Appearance:
    """Fourier coefficients and monodromy matrices of the points of a branch."""
    which = oscillation_of(structure)

    def one(z):
        state = z[:-2], z[-2], z[-1]
        return Appearance(method.coefficients(which, drive, *state), method.monodromy(which, drive, *state))

    return jax.vmap(one)(points)
