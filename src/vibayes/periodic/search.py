"""Many starts at once, and whether what they found is new.

A solution belongs to a known branch if the plane through it, at right angles to the nearest chord of the branch, cuts
the branch at that very solution. Free oscillations may begin anywhere in their period: they are compared with Σ_n
z_n² real, z_n being the complex amplitudes of the fundamental, and as they are or half a period later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.periodic.attempt import Attempt, Control
from vibayes.periodic.branch import Branch
from vibayes.periodic.continuation import Curves, step_from
from vibayes.periodic.fourier import harmonic, shifted

Array = Any
_BLOCK = 32
"""Starts that are corrected by one call."""
_NEAR = 0.3
"""Distance from a chord, relative to magnitudes, beyond which a solution is on no arc of it."""
_SAME = 1e-4
_PATIENT = Control(np.asarray(1e-9), np.int32(40), np.asarray(0.2))


def corrected(curves: Curves, points: Array, tangents: Array) -> Attempt:
    """Correct many guesses, each in the plane at right angles to its own direction; one lane's structure serves all."""
    wide = curves._replace(
        structures=jax.tree.map(lambda leaf: jnp.repeat(leaf, _BLOCK, axis=0), curves.structures),
        drives=jax.tree.map(lambda leaf: jnp.repeat(leaf, _BLOCK, axis=0), curves.drives),
    )
    found = []
    for first in range(0, len(points), _BLOCK):
        chosen = np.minimum(np.arange(first, first + _BLOCK), len(points) - 1)
        done = step_from(wide, points[chosen], tangents[chosen], np.zeros(_BLOCK), _PATIENT)
        found.append(Attempt(*(each[: len(points) - first] for each in done)))
    return Attempt(*(np.concatenate(each) for each in zip(*found, strict=True)))


def points_of(branch: Branch) -> Array:
    """Unknowns of harmonic balance along a branch, (points, unknowns)."""
    flat = branch.coefficients.reshape(len(branch), -1)
    points = np.concatenate([flat, branch.frequencies[:, None], branch.levels[:, None]], axis=1)
    return np.concatenate([points, points[:1]]) if branch.closed else points


def in_phase(points: Array, masses: int) -> Array:
    """Free oscillations moved in time to where Σ z_n² is real and positive."""
    coefficients = points[:, :-2].reshape(len(points), -1, masses)
    angle = 0.5 * np.angle(np.sum(harmonic(coefficients) ** 2, axis=1))
    return _with_coefficients(points, shifted(coefficients, angle))


def half_a_period_later(points: Array, masses: int) -> Array:
    """The same motions, begun half a period later."""
    coefficients = points[:, :-2].reshape(len(points), -1, masses)
    return _with_coefficients(points, shifted(coefficients, np.full(len(points), np.pi)))


def _with_coefficients(points: Array, coefficients: Array) -> Array:
    return np.concatenate([coefficients.reshape(len(points), -1), points[:, -2:]], axis=1)


def is_known(curves: Curves, candidate: Attempt, known: Sequence[Array], control: Control) -> bool:
    """Whether a solution lies on one of the branches that are known, given as rows of unknowns."""
    masses = curves.drives.force.shape[-1]
    free = bool(np.asarray(curves.drives.moving)[0])
    point, scale = candidate.point, candidate.scale
    forms = [point]
    if free:
        first = in_phase(point[None], masses)
        forms = [first[0], half_a_period_later(first, masses)[0]]
    for rows in known:
        rows = in_phase(rows, masses) if free else rows
        if any(_on_arc(curves, form, scale, rows, control, free) for form in forms):
            return True
    return False


def _on_arc(curves: Curves, point: Array, scale: Array, rows: Array, control: Control, free: bool) -> bool:
    """Whether the branch through rows passes a point, near the chord that is nearest to it."""
    if len(rows) < 2:
        return False
    start, chord = (rows[:-1] - point) / scale, np.diff(rows, axis=0) / scale
    length = np.sum(chord**2, axis=1)
    share = np.clip(-np.sum(start * chord, axis=1) / np.maximum(length, 1e-300), 0.0, 1.0)
    gaps = np.linalg.norm(start + share[:, None] * chord, axis=1)
    nearest = int(np.argmin(gaps))
    if gaps[nearest] > _NEAR or length[nearest] == 0.0:
        return False
    direction = chord[nearest] / np.sqrt(length[nearest])
    foot = point + scale * (start[nearest] + share[nearest] * chord[nearest])
    # The plane goes through the point, so the guess is moved along the chord until it lies in it.
    foot = foot - scale * direction * np.sum(direction * (foot - point) / scale)
    # Magnitudes are those of the guess within the step.
    found = step_from(curves, foot[None], direction[None], np.zeros(1), control)
    landing = in_phase(found.point, curves.drives.force.shape[-1])[0] if free else found.point[0]
    aim = in_phase(point[None], curves.drives.force.shape[-1])[0] if free else point
    turned = half_a_period_later(landing[None], curves.drives.force.shape[-1])[0] if free else landing
    gap = min(np.linalg.norm((each - aim) / scale) for each in (landing, turned))
    return bool(found.converged[0] and gap < _SAME)
