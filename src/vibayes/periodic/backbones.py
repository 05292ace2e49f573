"""Backbones: frequencies of free oscillations over their amplitudes, and of responses in quadrature to forces.

A *nonlinear mode* is a family of periodic free oscillations of the structure without damping; it begins as a linear
mode. In *phase resonance* forces do nothing but make up for damping: the part of the response along them lags by a
quarter of a period,

    Σ_n Re(z_n P̄_n) = 0,      x_n = Re(z_n e^{iΩt} + …),   forces λ Re(P_n e^{iΩt}).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.periodic.assembly import branch_of
from vibayes.periodic.attempt import Attempt, Sizes, bodies_of, sizes_of
from vibayes.periodic.branch import Branch
from vibayes.periodic.checks import (
    Forcing,
    Values,
    check_balance,
    check_bound,
    check_forcing,
    check_method,
    check_mode,
    check_positive,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Curves, Limits, follow, step_from
from vibayes.periodic.fourier import resized
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.linear import Linear, linear_of
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import free_drive, lanes_of, oscillation_of, quadrature_drive
from vibayes.structure.structure import Structure

Array = Any
_SMALL = 1e-3
"""Amplitude at which a branch begins, relative to that at which it ends."""


def nonlinear_mode(
    structure: Structure,
    values: Values,
    mode: int,
    amplitude: float,
    frequency_range: tuple[float, float] | None = None,
    method: PeriodicMethod | None = None,
    arclength: Arclength | None = None,
    start: tuple[float, Array] | None = None,
) -> Branch:
    """Follow free oscillations of the structure without damping, from a linear mode or from a given one.

    Args:
        structure: what vibrates; laws without memory only. Dampers are left out.
        values: of its unknowns.
        mode: number of the linear mode to begin with, the lowest being 1.
        amplitude: about the largest displacement of any mass up to which to go.
        frequency_range: in rad/s, in which to stay; by default from a tenth of the lowest to ten times the highest
            natural frequency.
        method: `HarmonicBalance` or `Shooting`.
        arclength: how the branch is followed.
        start: frequency and Fourier coefficients (2H + 1, masses) of an oscillation to begin with instead; the branch
            is then followed both ways. Isolated backbones begin so.

    Returns:
        The branch; its levels are zero.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5)])
        >>> backbone = vb.nonlinear_mode(oscillator, {}, mode=1, amplitude=1.0)
        >>> round(float(backbone.amplitudes_at(1.1, "mass")[0]), 2)
        0.75
    """
    where = "nonlinear_mode"
    check_structure(structure, where, conservative=True)
    check_mode(mode, structure, where)
    amplitude = check_positive(amplitude, f"{where}.amplitude", "give a displacement")
    how = check_method(HarmonicBalance() if method is None else method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    linear = linear_of(bound)
    limits = free_limits(linear, frequency_range, amplitude, where)
    curves = free_curves(how, bound, limits)
    if start is None:
        begun = _from_mode(curves, linear, mode, amplitude, arclength)
        return branch_of(curves, follow(curves, begun, arclength, limits)[0], arclength, structure.mass_names)
    begun = _from_oscillation(curves, start, arclength)
    return both_ways(curves, begun, arclength, limits, structure.mass_names)


def phase_resonance(
    structure: Structure,
    values: Values,
    forcing: Forcing,
    mode: int,
    amplitude: float,
    frequency_range: tuple[float, float] | None = None,
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> Branch:
    """Follow the damped structure under forces in quadrature to its response, from a linear mode at small amplitude.

    Args:
        structure: what vibrates, laws with memory included.
        values: of its unknowns.
        forcing: amplitudes P of forces by mass; only their ratios and phases matter.
        mode: number of the linear mode to begin with, the lowest being 1.
        amplitude: about the largest displacement of any mass up to which to go.
        frequency_range: in rad/s, in which to stay.
        method: harmonic balance and its settings.
        arclength: how the branch is followed.

    Returns:
        The branch; its levels are the factor of ``forcing`` that each point takes.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5), vb.Damper(0.02)])
        >>> backbone = vb.phase_resonance(oscillator, {}, {"mass": 1.0}, mode=1, amplitude=1.0)
        >>> round(float(backbone.levels[-1] / backbone.amplitude("mass")[-1] / backbone.frequencies[-1]), 3)
        0.02
    """
    where = "phase_resonance"
    check_structure(structure, where)
    check_mode(mode, structure, where)
    amplitudes = check_forcing(forcing, structure, where)
    amplitude = check_positive(amplitude, f"{where}.amplitude", "give a displacement")
    how = check_balance(method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    linear = linear_of(bound)
    limits = free_limits(linear, frequency_range, amplitude, where)
    force = force_coefficients(bound, amplitudes)
    curves = _quadrature_curves(how, bound, force, limits)
    begun = _in_quadrature(curves, linear, force, mode, amplitude, arclength)
    return branch_of(curves, follow(curves, begun, arclength, limits)[0], arclength, structure.mass_names)


def free_limits(linear: Linear, frequency_range: Any, amplitude: float, where: str) -> Limits:
    """The range of frequencies and amplitudes in which to stay."""
    frequencies, _ = linear.modes()
    if frequency_range is None:
        if not np.any(frequencies > 0.0):
            got = "none, for a structure without stiffness at rest"
            raise InvalidInput(f"{where}.frequency_range", "two frequencies", got, "give (low, high) in rad/s")
        frequency_range = 0.1 * float(frequencies[frequencies > 0][0]), 10.0 * float(frequencies[-1])
    return Limits(*check_range(frequency_range, where), amplitude)


def free_curves(method: PeriodicMethod, bound: Structure, limits: Limits) -> Curves:
    """Equations of free oscillations of the conservative part."""
    drive = free_drive(method.size(oscillation_of(bound)), (3, len(bound.masses)))
    return Curves(method, lanes_of(bound, 1), lanes_of(drive, 1), _sizes(limits, 1.0))


def _quadrature_curves(method: PeriodicMethod, bound: Structure, force: Array, limits: Limits) -> Curves:
    """Equations of responses in quadrature to their forces."""
    phase = quadrature(method.harmonics, force)
    drive = quadrature_drive(force, phase)
    return Curves(method, lanes_of(bound, 1), lanes_of(drive, 1), _sizes(limits, 1e-9))


def quadrature(harmonics: int, force: Array) -> Array:
    """Vector whose product with the coefficients is that part of the response which is in phase with the forces."""
    phase = np.zeros((2 * harmonics + 1, force.shape[1]))
    phase[1:3] = force[1:3]
    return (phase / np.linalg.norm(phase)).reshape(-1)


def _sizes(limits: Limits, level: float) -> Sizes:
    width = min(limits.high - limits.low, limits.low * 10.0)
    return sizes_of(1e-3 * _SMALL * min(limits.amplitude, 1e30), width, level)


def _from_mode(curves: Curves, linear: Linear, mode: int, amplitude: float, settings: Arclength) -> Attempt:
    """A small oscillation in a linear mode, and the direction of larger ones."""
    frequency, shape = _mode(linear, mode, "nonlinear_mode")
    coefficients = np.zeros((2 * curves.method.harmonics + 1, len(shape)))
    coefficients[1] = _SMALL * amplitude * shape
    return _corrected(curves, coefficients, frequency, 0.0, settings)


def _mode(linear: Linear, mode: int, where: str) -> tuple[float, Array]:
    frequencies, shapes = linear.modes()
    if not frequencies[mode - 1] > 1e-9 * frequencies[-1]:
        got = f"mode {mode}, whose frequency at rest is zero"
        remedy = "choose another mode, or give a start"
        raise InvalidInput(f"{where}.mode", "a mode that oscillates at small amplitude", got, remedy)
    return float(frequencies[mode - 1]), shapes[:, mode - 1]


def _from_oscillation(curves: Curves, start: tuple[float, Array], settings: Arclength) -> Attempt:
    frequency, coefficients = start
    coefficients = np.asarray(coefficients, float)
    masses = curves.drives.force.shape[-1]
    if coefficients.ndim != 2 or coefficients.shape[1] != masses or coefficients.shape[0] % 2 == 0:
        expected = f"Fourier coefficients of shape (2H + 1, {masses})"
        raise InvalidInput("nonlinear_mode.start", expected, f"shape {coefficients.shape}", "take those of a Branch")
    return _corrected(curves, resized(coefficients, curves.method.harmonics), frequency, 0.0, settings)


def _corrected(curves: Curves, coefficients: Array, frequency: float, level: float, settings: Arclength) -> Attempt:
    """Correct a guess without changing its size; the tangent then points to larger ones."""
    body = bodies_of(
        curves.method, curves.structures, curves.drives, jnp.asarray(coefficients)[None], jnp.full(1, frequency)
    )
    point = np.concatenate([np.asarray(body)[0], [frequency, level]])[None]
    outwards = point.copy()
    outwards[:, -2:] = 0.0
    outwards /= np.linalg.norm(outwards)
    return step_from(curves, point, outwards, np.zeros(1), settings.control())


def _in_quadrature(
    curves: Curves, linear: Linear, force: Array, mode: int, amplitude: float, settings: Arclength
) -> Attempt:
    """A small response in a linear mode that lags its forces by a quarter, and the direction of larger ones."""
    frequency, shape = _mode(linear, mode, "phase_resonance")
    applied = force[1] - 1j * force[2]
    share = complex(np.sum(shape * applied))
    if abs(share) <= 1e-9 * np.linalg.norm(applied) * np.linalg.norm(shape):
        remedy = "force other masses, or change signs"
        raise InvalidInput("phase_resonance.forcing", f"forces that work on mode {mode}", "forces that do not", remedy)
    coefficients = np.zeros((2 * curves.method.harmonics + 1, len(shape)))
    answer = _SMALL * amplitude * shape * (-1j * share / abs(share))
    coefficients[1], coefficients[2] = answer.real, -answer.imag
    level = _SMALL * amplitude * frequency * float(shape @ linear.damping @ shape) / abs(share)
    return _corrected(curves, coefficients, frequency, max(level, 1e-12), settings)


def both_ways(
    curves: Curves, begun: Attempt, settings: Arclength, limits: Limits, mass_names: tuple[str, ...]
) -> Branch:
    """The branch through a point, followed in both directions."""
    (onwards,) = follow(curves, begun, settings, limits)
    if onwards.status.name == "CLOSED":
        return branch_of(curves, onwards, settings, mass_names)
    back = begun._replace(tangent=-begun.tangent, orientation=-begun.orientation)
    (backwards,) = follow(curves, back, settings, limits)
    return branch_of(curves, onwards, settings, mass_names, backwards)
