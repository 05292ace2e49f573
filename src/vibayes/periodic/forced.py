"""Forced responses: the periodic answers of a damped structure to harmonic forces, over a range of frequencies."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.periodic.assembly import branch_of
from vibayes.periodic.attempt import Attempt, Control, bodies_of, sizes_of
from vibayes.periodic.branch import Branch
from vibayes.periodic.checks import (
    Forcing,
    Values,
    check_bound,
    check_forcing,
    check_method,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Curves, Limits, Path, follow, step_from
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.linear import Linear, linear_of
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import forced_drive, lanes_of, oscillation_of
from vibayes.structure.structure import Structure

Array = Any
_RAMP = (0.0625, 0.125, 0.25, 0.5, 0.75, 1.0)
"""Levels by which forces are raised where Newton's method does not take them at once."""


def forced_response(
    structure: Structure,
    values: Values,
    forcing: Forcing,
    frequency_range: tuple[float, float],
    method: PeriodicMethod | None = None,
    arclength: Arclength | None = None,
) -> Branch:
    """Follow the response to harmonic forces from the lower end of a range of frequencies.

    Args:
        structure: what vibrates; its inputs and sensors do not matter.
        values: of its unknowns.
        forcing: amplitude P of the force on each mass, P cos Ωt; complex for another phase, Re(P e^{iΩt}); several for
            multiples of Ω; "ground" for an acceleration of the ground.
        frequency_range: in rad/s.
        method: `HarmonicBalance` or `Shooting`.
        arclength: how the branch is followed.

    Returns:
        The branch that begins at the lower frequency with the answer that grows from rest. Responses that are not
        connected to it are found by `isolas`.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper(0.05)])
        >>> branch = vb.forced_response(oscillator, {"k3": 0.1}, {"mass": 0.1}, (0.5, 1.6))
        >>> branch.complete, [special.kind for special in branch.specials]
        (True, ['fold', 'fold'])
    """
    where = "forced_response"
    check_structure(structure, where)
    amplitudes = check_forcing(forcing, structure, where)
    limits = check_range(frequency_range, where)
    how = check_method(HarmonicBalance() if method is None else method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    curves = forced_curves(how, bound, force_coefficients(bound, amplitudes), limits)
    path = main_path(curves, linear_of(bound), arclength, limits)
    return branch_of(curves, path, arclength, structure.mass_names)


def forced_curves(method: PeriodicMethod, bound: Structure, force: Array, limits: tuple[float, float]) -> Curves:
    """Equations of the response of one structure to forces."""
    linear = linear_of(bound)
    size = method.size(oscillation_of(bound))
    ends = [linear.response(force, frequency, method.harmonics) for frequency in limits]
    floor = 1e-3 * min(float(np.linalg.norm(each)) for each in ends)
    sizes = sizes_of(floor, limits[1] - limits[0], 1.0)
    return Curves(method, lanes_of(bound, 1), lanes_of(forced_drive(size, force), 1), sizes)


def main_path(curves: Curves, linear: Linear, settings: Arclength, limits: tuple[float, float]) -> Path:
    """The response that grows from rest at the lower end of the range, followed upwards."""
    begun = from_rest(curves, linear, limits[0], settings.control())
    path = follow(curves, begun, settings, Limits(limits[0] * (1.0 - 1e-9), limits[1]))[0]
    return landed(curves, path, settings, limits)


def from_rest(curves: Curves, linear: Linear, frequency: float, control: Control) -> Attempt:
    """The answer at one frequency, from the linear one; by raising the forces where that is too far away."""
    force = np.asarray(curves.drives.force[0])
    guess = linear.response(force, frequency, curves.method.harmonics)
    begun = at_frequency(curves, guess, frequency, control)
    if begun.converged[0]:
        return begun
    for level in _RAMP:
        raised = curves._replace(drives=curves.drives._replace(level=jnp.full(1, float(level))))
        point = begun.point if begun.converged[0] else None
        begun = at_frequency(raised, level * guess, frequency, control, point)
    return begun


def at_frequency(
    curves: Curves, coefficients: Array, frequency: float, control: Control, point: Array | None = None
) -> Attempt:
    """Correct a guess at a fixed frequency; the tangent then points to higher ones."""
    level = np.asarray(curves.drives.level)[0]
    if point is None:
        body = bodies_of(
            curves.method, curves.structures, curves.drives, jnp.asarray(coefficients)[None], jnp.full(1, frequency)
        )
        point = np.concatenate([np.asarray(body)[0], [frequency, level]])[None]
    point = np.concatenate([point[:, :-1], [[level]]], axis=1)
    upwards = np.zeros_like(point)
    upwards[:, -2] = 1.0
    return step_from(curves, point, upwards, np.zeros(1), control)


def landed(curves: Curves, path: Path, settings: Arclength, limits: tuple[float, float]) -> Path:
    """The path with its last point moved to the end of the range that it stepped over."""
    if len(path.points) < 2 or limits[0] <= path.points[-1, -2] <= limits[1]:
        return path
    before, beyond = path.points[-2:]
    end = limits[0] if beyond[-2] < limits[0] else limits[1]
    share = (end - before[-2]) / (beyond[-2] - before[-2])
    guess = before + share * (beyond - before)
    guess[-2] = end
    row = np.zeros_like(guess)
    row[-2] = np.sign(beyond[-2] - before[-2])
    found = step_from(curves, guess[None], row[None], np.zeros(1), settings.control())
    if not found.converged[0]:
        return path
    last = (found.point, found.tangent, found.scale, found.orientation)
    rows = (path.points, path.tangents, path.scales, path.orientations)
    points, tangents, scales, signs = (np.concatenate([a[:-1], b]) for a, b in zip(rows, last, strict=True))
    return Path(points, tangents, scales, signs, path.status)
