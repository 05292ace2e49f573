"""All backbones of a structure: those that begin as linear modes, and those that nothing joins to them.

Isolated backbones are sought by many starts: shapes all around between the linear modes, at several amplitudes, each
with the frequency that balances kinetic and restoring forces on average,

    Ω² = Σ ∮ x · f(x) / Σ ∮ x · M x.

Whatever they lead to that lies on no known backbone is followed both ways. Motions in which all masses stop at once are
sought; others are found only where they branch off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.periodic.attempt import Attempt
from vibayes.periodic.backbones import both_ways, free_curves, free_limits, nonlinear_mode
from vibayes.periodic.branch import Branch
from vibayes.periodic.checks import Values, check_balance, check_bound, check_positive, check_structure
from vibayes.periodic.continuation import Arclength, Curves, Limits
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.linear import Linear, linear_of
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import oscillation_of
from vibayes.periodic.search import corrected, is_known, points_of
from vibayes.structure.structure import Structure

Array = Any
_DIRECTIONS, _LEVELS = 24, 8
_LEAST = 0.05
"""Smallest amplitude of a start, relative to the largest."""
_FUNDAMENTAL = 0.7
"""Share of a motion that its fundamental must have; what has less is a motion of another frequency."""


@dataclass(frozen=True)
class Backbones:
    """Free oscillations of a structure without damping.

    Args:
        modes: branches that begin as linear modes.
        mode_numbers: which mode each of them is, the lowest being 1; modes outside the range are left out.
        isolated: branches that are connected to no other.
        crossing: branches that cross others at branch points, as those of structures with a symmetry do.
    """

    modes: tuple[Branch, ...]
    mode_numbers: tuple[int, ...]
    isolated: tuple[Branch, ...]
    crossing: tuple[Branch, ...]

    @property
    def all(self) -> tuple[Branch, ...]:
        """Modes first."""
        return (*self.modes, *self.isolated, *self.crossing)

    def summary(self) -> str:
        """A few lines for people."""
        named = [(f"mode {i}", b) for i, b in zip(self.mode_numbers, self.modes, strict=True)]
        named += [(f"isolated {i + 1}", b) for i, b in enumerate(self.isolated)]
        named += [(f"crossing {i + 1}", b) for i, b in enumerate(self.crossing)]
        return "\n".join(f"{name}: {branch.summary()}" for name, branch in named)


def backbones(
    structure: Structure,
    values: Values,
    amplitude: float,
    frequency_range: tuple[float, float] | None = None,
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> Backbones:
    """Find the backbones of a structure without damping, isolated ones included.

    Args:
        structure: what vibrates; laws without memory only.
        values: of its unknowns.
        amplitude: about the largest displacement of any mass up to which to look.
        frequency_range: in rad/s, in which to look.
        method: harmonic balance and its settings.
        arclength: how branches are followed.

    Returns:
        A branch per linear mode within the range, and other branches.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5)])
        >>> found = vb.backbones(oscillator, {}, amplitude=1.0)
        >>> len(found.modes), len(found.isolated)
        (1, 0)
    """
    where = "backbones"
    check_structure(structure, where, conservative=True)
    amplitude = check_positive(amplitude, f"{where}.amplitude", "give a displacement")
    how = check_balance(method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    linear = linear_of(bound)
    limits = free_limits(linear, frequency_range, amplitude, where)
    curves = free_curves(how, bound, limits)
    frequencies, _ = linear.modes()
    within = [i for i, f in enumerate(frequencies, start=1) if limits.low < f < limits.high]
    span = (limits.low, limits.high)
    modes = tuple(nonlinear_mode(structure, values, i, amplitude, span, how, arclength) for i in within)
    others = _others(curves, linear, modes, arclength, limits, structure.mass_names)
    crosses = [any(special.kind == "branch point" for special in branch.specials) for branch in others]
    isolated = tuple(branch for branch, crossing in zip(others, crosses, strict=True) if not crossing)
    crossing = tuple(branch for branch, crossing in zip(others, crosses, strict=True) if crossing)
    return Backbones(modes, tuple(within), isolated, crossing)


def _others(
    curves: Curves,
    linear: Linear,
    modes: tuple[Branch, ...],
    settings: Arclength,
    limits: Limits,
    names: tuple[str, ...],
) -> tuple[Branch, ...]:
    """Branches through solutions that lie on no mode."""
    return tuple(unknown_branches(curves, _candidates(curves, linear, limits), modes, settings, limits, names))


def unknown_branches(
    curves: Curves,
    candidates: Iterable[Attempt],
    known: Iterable[Branch],
    settings: Arclength,
    limits: Limits,
    names: tuple[str, ...],
) -> list[Branch]:
    """Branches through solutions that lie neither on those known nor on one another."""
    rows = [points_of(branch) for branch in known if len(branch)]
    found: list[Branch] = []
    for candidate in candidates:
        if is_known(curves, candidate, rows, settings.control()):
            continue
        begun = Attempt(*(np.asarray(each)[None] for each in candidate))
        branch = both_ways(curves, begun, settings, limits, names)
        if len(branch) > 2:
            rows.append(points_of(branch))
            found.append(branch)
    return found


def _candidates(curves: Curves, linear: Linear, limits: Limits) -> list[Attempt]:
    """Solutions that many starts lead to, small ones first, each once."""
    _, shapes = linear.modes()
    directions = _directions(shapes.shape[1]) @ shapes.T
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    levels = limits.amplitude * np.geomspace(_LEAST, 1.0, _LEVELS)
    starts = (levels[:, None, None] * directions).reshape(-1, len(shapes))
    coefficients = np.zeros((len(starts), 2 * curves.method.harmonics + 1, len(shapes)))
    coefficients[:, 1] = starts
    bodies = coefficients.reshape(len(starts), -1)
    frequency = np.asarray(_balanced(curves.method, curves.structures, curves.drives, jnp.asarray(bodies)))
    points = np.concatenate([bodies, frequency[:, None], np.zeros((len(starts), 1))], axis=1)
    usable = np.isfinite(frequency) & (frequency > 0.5 * limits.low) & (frequency < 2.0 * limits.high)
    outwards = points.copy()
    outwards[:, -2:] = 0.0
    outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
    if not usable.any():
        return []
    done = corrected(curves, points[usable], outwards[usable])
    rows = done.point[:, :-2].reshape(len(done.point), -1, len(shapes))
    share = np.linalg.norm(rows[:, 1:3], axis=(1, 2)) / np.maximum(np.linalg.norm(rows, axis=(1, 2)), 1e-300)
    inside = (done.point[:, -2] > limits.low) & (done.point[:, -2] < limits.high) & (done.extent < limits.amplitude)
    good = done.converged & inside & (share > _FUNDAMENTAL) & (done.extent > 0.5 * levels[0])
    order = [i for i in np.argsort(done.extent) if good[i]]
    return [Attempt(*(each[i] for each in done)) for i in order]


def _directions(modes: int) -> Array:
    """Mixtures of modes: evenly around half a circle for two, at random (always the same) for more."""
    if modes == 1:
        return np.ones((1, 1))
    if modes == 2:
        angle = np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.random.default_rng(0).normal(size=(_DIRECTIONS * (modes - 1), modes))


@compiled_soon
def _balanced(method: PeriodicMethod, structures: Structure, drives: Any, bodies: Array) -> Array:
    """Frequencies that balance kinetic and restoring forces of bodies on average."""
    structure, drive = jax.tree.map(lambda leaf: leaf[0], (structures, drives))
    which = oscillation_of(structure)

    def one(body):
        restoring = method.residual(which, drive, body, jnp.zeros(()), jnp.zeros(()))
        kinetic = jnp.sum(body.reshape(-1, which.system.masses) ** 2 * which.masses)
        return jnp.sqrt(jnp.sum(body * restoring) / kinetic)

    return jax.vmap(one)(bodies)
