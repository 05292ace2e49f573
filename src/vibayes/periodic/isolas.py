"""Isolas: closed curves of forced responses that nothing joins to the response that grows from rest.

They are sought from three sides. Backbones, isolated ones included, with forces and damping in balance give starts
where a lightly damped structure must respond; a grid of frequencies, amplitudes, shapes and phases gives starts
elsewhere; and `isola_levels` follows their folds over the level of the forces. Whatever starts lead to that lies on
no known branch is followed until it closes or leaves the range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.periodic.assembly import branch_of
from vibayes.periodic.attempt import Attempt
from vibayes.periodic.branch import Branch
from vibayes.periodic.checks import (
    Forcing,
    Values,
    check_balance,
    check_bound,
    check_forcing,
    check_positive,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Curves, Limits
from vibayes.periodic.energy import balanced_starts, dissipation
from vibayes.periodic.forced import forced_curves, main_path
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolated import Backbones, backbones, unknown_branches
from vibayes.periodic.linear import Linear, linear_of
from vibayes.periodic.oscillation import forced_drive, oscillation_of
from vibayes.periodic.search import corrected, points_of
from vibayes.structure.structure import Structure

Array = Any
_PER_BACKBONE = 24
"""Points of a backbone that are used as starts."""


@dataclass(frozen=True)
class ForcedResponses:
    """All responses that were found to one forcing.

    Args:
        main: the one that grows from rest.
        isolas: closed curves.
        others: branches that are not connected to the main one within the range, and leave it.
        backbones: of the structure without damping; None where laws have memory.
    """

    main: Branch
    isolas: tuple[Branch, ...]
    others: tuple[Branch, ...]
    backbones: Backbones | None

    @property
    def all(self) -> tuple[Branch, ...]:
        """The main one first."""
        return (self.main, *self.isolas, *self.others)

    def summary(self) -> str:
        """A few lines for people."""
        named = [("main", self.main), *(("isola", b) for b in self.isolas), *(("other", b) for b in self.others)]
        return "\n".join(f"{name}: {branch.summary()}" for name, branch in named)


def isolas(
    structure: Structure,
    values: Values,
    forcing: Forcing,
    frequency_range: tuple[float, float],
    amplitude: float | None = None,
    starts: int = 0,
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> ForcedResponses:
    """Find the forced response of a structure and all isolas beside it.

    Args:
        structure: what vibrates.
        values: of its unknowns.
        forcing: amplitudes of forces by mass, as for `forced_response`.
        frequency_range: in rad/s.
        amplitude: about the largest displacement up to which to look; by default twice what a linear structure with
            these forces, dampers and frequencies could reach.
        starts: number of starts from a grid over frequencies, amplitudes, shapes and phases, beside those from
            backbones.
        method: harmonic balance and its settings.
        arclength: how branches are followed.

    Returns:
        The main response, isolas, and other branches.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.1), vb.Damper(0.05)])
        >>> found = vb.isolas(oscillator, {}, {"mass": 0.1}, (0.5, 1.6))
        >>> len(found.isolas)
        0
    """
    where = "isolas"
    check_structure(structure, where)
    amplitudes = check_forcing(forcing, structure, where)
    span = check_range(frequency_range, where)
    how = check_balance(method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    force, linear = force_coefficients(bound, amplitudes), linear_of(bound)
    reach = (
        default_reach(linear, force, span)
        if amplitude is None
        else check_positive(amplitude, f"{where}.amplitude", "raise it")
    )
    curves = forced_curves(how, bound, force, span)
    main = branch_of(curves, main_path(curves, linear, arclength, span), arclength, structure.mass_names)
    free = None
    guesses = [_grid(linear, span, reach, starts, how.harmonics)]
    if not any(link.element.states for link in structure.links):
        free = backbones(structure, values, reach, span, how, arclength)
        guesses.insert(0, _near_backbones(how, bound, force, free, span))
    found = _detached(curves, np.concatenate(guesses), main, arclength, Limits(*span), structure.mass_names)
    closed = tuple(branch for branch in found if branch.closed)
    return ForcedResponses(main, closed, tuple(b for b in found if not b.closed), free)


def default_reach(linear: Linear, force: Array, span: tuple[float, float]) -> float:
    """Twice the displacement at which the least damped mode takes all that the forces can give."""
    frequencies, shapes = linear.modes()
    modal = np.einsum("ni,nm,mi->i", shapes, linear.damping, shapes)
    modal_force = np.abs(shapes.T @ (force[1] - 1j * force[2])).max()
    total = float(np.sum(np.hypot(force[1], force[2])))
    damping = float(np.min(modal[modal > 0.0], initial=np.inf))
    bound = (
        max(float(modal_force), total) / (damping * max(span[0], float(frequencies[0]))) if np.isfinite(damping) else 0
    )
    static = float(np.abs(linear.response(force, 1e-6 * span[0], 1)).max())
    return 2.0 * max(bound, static)


def _near_backbones(
    method: HarmonicBalance, bound: Structure, force: Array, free: Backbones, span: tuple[float, float]
) -> Array:
    """Starts on backbones, where forces and damping balance."""
    drive = forced_drive(method.size(oscillation_of(bound)), force)
    size = method.size(oscillation_of(bound)) + 2
    starts = [np.zeros((0, size))]
    for branch in free.all:
        points = points_of(branch)
        points = points[(points[:, -2] > span[0]) & (points[:, -2] < span[1])]
        if len(points):
            lost = dissipation(method, bound, drive, points)
            usable = balanced_starts(points, force, lost)
            chosen = np.unique(np.linspace(0, len(usable) - 1, 2 * _PER_BACKBONE).astype(int)) if len(usable) else []
            starts.append(usable[chosen])
    return np.concatenate(starts)


def _grid(linear: Linear, span: tuple[float, float], reach: float, count: int, harmonics: int) -> Array:
    """Starts all over: frequencies, amplitudes, shapes and phases of the fundamental, always the same."""
    masses = len(linear.masses)
    draw = np.random.default_rng(0)
    coefficients = np.zeros((count, 2 * harmonics + 1, masses))
    _, shapes = linear.modes()
    motion = (draw.normal(size=(count, masses)) + 1j * draw.normal(size=(count, masses))) @ shapes.T
    motion *= (reach * draw.uniform(0.02, 1.0, count) / np.maximum(np.abs(motion).max(axis=1, initial=0.0), 1e-300))[
        :, None
    ]
    coefficients[:, 1], coefficients[:, 2] = motion.real, -motion.imag
    frequency = draw.uniform(*span, count)
    flat = coefficients.reshape(count, (2 * harmonics + 1) * masses)
    return np.concatenate([flat, frequency[:, None], np.ones((count, 1))], axis=1)


def _detached(
    curves: Curves, guesses: Array, main: Branch, settings: Arclength, limits: Limits, names: tuple[str, ...]
) -> list[Branch]:
    """Branches through solutions that starts lead to and that lie on no branch found before."""
    if not len(guesses):
        return []
    upwards = np.zeros_like(guesses)
    upwards[:, -2] = 1.0
    done = corrected(curves, guesses, upwards)
    candidates = (Attempt(*(each[number] for each in done)) for number in np.flatnonzero(done.converged))
    return unknown_branches(curves, candidates, [main], settings, limits, names)
