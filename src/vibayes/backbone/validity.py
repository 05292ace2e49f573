r"""How far the expansion of a normal form can be trusted: its frequencies against those of the structure itself.

An expansion in the amplitude is asymptotic: at small amplitudes every order is better than the one before, and beyond
some amplitude none is any good. The periodic motions of the conservative structure, without any expansion, come from
harmonic balance: with q_n(t) = Σ_k X_nk cos kΩt and F_nk the Fourier coefficients of the nonlinear forces,

    (ω_n² − k² Ω²) X_nk + F_nk = 0,        X of the leading mode at its ratio: the measured amplitude.

Its frequency, minus that of the normal form at the same amplitude of the leading mode, is the error of the expansion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.optimize import root

from vibayes.backbone.expansion import ModalEquations, Subset, expand
from vibayes.backbone.form import NormalForm
from vibayes.backbone.points import BackbonePoints

_ORDERS = 1, 2, 3
_PLACES = 8
"""Amplitudes of each backbone that are looked at, the largest among them."""
_HARMONICS = 12
"""Multiples of the highest ratio that are balanced."""
_SOLVED = 1e-9
"""Residual, in parts of Ω² V, of an equation that is solved."""
_NEAR = 0.3
"""Share of the measured frequency within which a motion is the one that was measured."""


@dataclass(frozen=True)
class ExpansionErrors:
    """Errors of a normal form's frequencies at amplitudes of measured backbones; by `expansion_errors`.

    Attributes:
        backbone: name of the backbone of every place, (places,).
        mode: that leads there, the lowest being 1, (places,).
        amplitude: of the leading mode, (places,), ascending for each backbone.
        frequency: Ω of the structure's own periodic motion, radians per second; NaN where none was found, (places,).
        errors: Ω of the normal form of each order less that, (3, places); NaN where it has no solution nearby.
        point: number of the measured point, (places,).
    """

    backbone: tuple[str, ...]
    mode: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray
    errors: np.ndarray
    point: np.ndarray


class _Place(NamedTuple):
    """A measured point: frequency, amplitudes, and which of the modes leads."""

    frequency: float
    amplitudes: np.ndarray
    lead: int


def expansion_errors(
    form: NormalForm, points: BackbonePoints, values: Mapping[str, Any] | None = None
) -> ExpansionErrors:
    """Compare normal forms of all three orders with the periodic motions of the structure, at measured amplitudes.

    Args:
        form: without damping.
        points: of its backbones; some amplitudes of each are looked at.
        values: of the unknowns.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> spring = vb.PolynomialSpring((1.0, 0.5), (1, 3))
        >>> form = vb.normal_form(vb.Structure.single_dof(1.0, [spring]))
        >>> sizes = np.array([0.2, 1.0])
        >>> found = vb.expansion_errors(form, vb.BackbonePoints(np.sqrt(1.0 + 0.375 * sizes**2), sizes))
        >>> bool(abs(found.errors[1, 0]) < abs(found.errors[0, 0]) < abs(found.errors[0, 1]))
        True
    """
    equations = jax.tree.map(np.asarray, form.equations(dict(values or {})))
    chosen, leads = _places(points)
    frequency, errors = np.full(len(chosen), np.nan), np.full((len(_ORDERS), len(chosen)), np.nan)
    for i, (number, lead) in enumerate(zip(chosen, leads, strict=True)):
        place = _Place(float(points.frequency[number]), points.amplitudes[number], lead)
        frequency[i] = _balanced(equations, form.subset, place)
        errors[:, i] = [_expanded(equations, form.subset, place, order) - frequency[i] for order in _ORDERS]
    return ExpansionErrors(
        tuple(points.backbone[number] for number in chosen),
        np.array([points.modes[lead] for lead in leads]),
        np.array([abs(points.amplitudes[number, lead]) for number, lead in zip(chosen, leads, strict=True)]),
        frequency, errors, np.array(chosen),
    )  # fmt: skip


def _places(points: BackbonePoints) -> tuple[list[int], list[int]]:
    """Numbers of points to look at, and the mode that leads each: the one that moves most along its backbone."""
    chosen, leads = [], []
    for name in dict.fromkeys(points.backbone):
        mine = np.flatnonzero(np.array(points.backbone) == name)
        lead = int(np.argmax(np.abs(points.amplitudes[mine]).sum(axis=0)))
        order = mine[np.argsort(np.abs(points.amplitudes[mine, lead]), kind="stable")]
        picked = order[np.unique(np.linspace(0, len(order) - 1, min(_PLACES, len(order))).round().astype(int))]
        picked = [int(each) for each in picked if points.amplitudes[each, lead] != 0.0]
        chosen, leads = chosen + picked, leads + [lead] * len(picked)
    return chosen, leads


def _balanced(equations: ModalEquations, subset: Subset, place: _Place) -> float:
    """Frequency of the periodic motion with this amplitude of the leading mode, by harmonic balance."""
    top = _HARMONICS * max(subset.ratios)
    numbers, instants = np.arange(top + 1), max(equations.degree, 2) * top + top + 1
    waves = np.cos(np.outer(numbers, 2.0 * np.pi * np.arange(instants) / instants))
    back = waves.T * (2.0 - (numbers == 0)) / instants
    size, modes = len(equations.squares), list(subset.modes)
    own, lead = (modes, list(subset.ratios)), (modes[place.lead], subset.ratios[place.lead])
    held = place.amplitudes[place.lead]
    scaled = (equations.directions / equations.masses).T

    def residual(unknown):
        frequency, spectrum = unknown[0], unknown[1:].reshape(size, top + 1)
        moved = equations.directions @ spectrum @ waves
        powers = np.array(equations.powers).reshape(-1, 1)
        forces = scaled @ (equations.coefficients[:, None] * moved**powers)
        left = (equations.squares[:, None] - (numbers * frequency) ** 2) * spectrum + forces @ back
        return np.append(left.ravel(), (spectrum[lead] - held) * frequency**2)

    start = np.zeros((size, top + 1))
    start[own] = place.amplitudes
    found = root(residual, np.append(place.frequency, start.ravel()), tol=1e-13)
    return _accepted(found, place)


def _expanded(equations: ModalEquations, subset: Subset, place: _Place, order: int) -> float:
    """Frequency that a normal form of some order gives the same amplitude."""
    others = [i for i in range(len(subset.modes)) if i != place.lead]

    def residual(unknown):
        amplitudes = place.amplitudes.copy()
        amplitudes[others] = unknown[1:]
        found = expand(equations, subset, order, np.atleast_1d(unknown[0]), amplitudes[None])
        return np.asarray(found.detuning + sum(found.resonant))[0]

    return _accepted(root(residual, np.append(place.frequency, place.amplitudes[others]), tol=1e-13), place)


def _accepted(found: Any, place: _Place) -> float:
    """A frequency, if the equations are solved and it is near the measured one."""
    solved = np.abs(found.fun).max() < _SOLVED * place.frequency**2 * np.abs(place.amplitudes).max()
    near = abs(found.x[0] / place.frequency - 1.0) < _NEAR
    return float(found.x[0]) if solved and near else np.nan
