"""Sentences on amplitudes at which the expansion of a normal form is further off than the points scatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.backbone.likelihood import BackboneLikelihood
from vibayes.backbone.method import BackboneResidual
from vibayes.backbone.points import BackbonePoints
from vibayes.backbone.validity import ExpansionErrors, expansion_errors

_MULTIPLES = 2.0
"""Of the next term that a remainder allows for: two standard deviations."""


def trust_notes(prepared: BackboneLikelihood, points: BackbonePoints, values: Mapping[str, Any]) -> tuple[str, ...]:
    """For each backbone, from which amplitude on the error of the expansion exceeds the scatter of the points.

    Nothing is said where a remainder allows for the error and the next order is closer to the structure.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.backbone.trust import trust_notes
        >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
        >>> sizes = np.linspace(0.2, 1.0, 9)
        >>> points = vb.BackbonePoints(np.sqrt(1.0 + 0.375 * sizes**2), sizes)
        >>> prepared = vb.fitting(duffing, points, 1e-5, vb.BackboneResidual(1, remainder=False))
        >>> trust_notes(prepared, points, {"a": 0.5})[0][:72]
        'the normal form of order 1 is off in frequency by more than the points o'
    """
    with np.errstate(all="ignore"):
        found = expansion_errors(prepared.form, points, {name: values[name] for name in prepared.form.parameters})
        scatter, remainder = _scatter(prepared, points, values, found), _remainder(prepared, values, found)
    said = []
    for name in dict.fromkeys(found.backbone):
        mine = np.flatnonzero(np.array(found.backbone) == name)
        known = mine[np.isfinite(found.frequency[mine])]
        if len(known) < len(mine):
            lost = f"at {len(mine) - len(known)} of {len(mine)} amplitudes of {name} no periodic motion was found"
            said.append(f"{lost}: how far the normal form can be trusted there is not known")
        if len(known):
            said += _sentence(prepared, found, name, known, scatter, remainder)
    return tuple(said)


def _sentence(
    prepared: BackboneLikelihood, found: ExpansionErrors, name: str, known: np.ndarray, scatter: Any, remainder: Any
) -> list[str]:
    order = prepared.method.order
    sizes = np.where(np.isnan(found.errors), np.inf, np.abs(found.errors))[:, known]
    own = sizes[order - 1]
    exceeds = own > scatter[known]
    if not exceeds.any():
        return []
    covered = bool(np.all(own[exceeds] <= np.hypot(scatter, _MULTIPLES * remainder)[known][exceeds]))
    diverging = bool(sizes[2, -1] > sizes[1, -1] and exceeds[-1])
    if covered and not diverging:
        return []
    last, first = known[-1], known[np.argmax(exceeds)]
    by = ", ".join(_share(float(found.errors[i, last]), float(found.frequency[last])) for i in range(3))
    words = (
        f"the normal form of order {order} is off in frequency by more than the points of {name} scatter from an "
        f"amplitude of {found.amplitude[first]:.3g} of mode {found.mode[first]} on; at {found.amplitude[last]:.3g} "
        f"orders 1, 2 and 3 are off by {by}"
    )
    if diverging:
        words += ", the third by more than the second: the expansion does not converge there"
    if covered:
        words += "; the remainder allows for the error"
    return [f"{words}. Leave points of larger amplitude out, or compare with nonlinear_mode()"]


def _share(error: float, frequency: float) -> str:
    return "no solution" if np.isnan(error) else f"{100.0 * error / frequency:+.2g} %"


def _scatter(
    prepared: BackboneLikelihood, points: BackbonePoints, values: Mapping[str, Any], found: ExpansionErrors
) -> np.ndarray:
    """Standard deviation of the frequency at every place: by the points' own standard errors where they are known, for
    a fitted σ would hide the error in question; else by the scatter of the equations.
    """
    lead = [points.modes.index(mode) for mode in found.mode]
    slope, ratio = _slopes(found), np.array(points.ratios)[lead]
    errors = np.hypot(points.frequency_errors[found.point], slope * points.amplitude_errors[found.point, lead])
    if np.isfinite(errors).all():
        return errors
    levels = prepared.noise.deviations(lambda n: jnp.asarray(values[n] if isinstance(n, str) else n, float))
    variances = np.asarray(
        prepared.method.scatter.variances(levels, prepared.points, values, lambda: prepared._spread(values))
    )
    deviation = np.sqrt(variances[found.point, lead] if variances.ndim == 2 else variances[found.point, lead, lead])
    if isinstance(prepared.method, BackboneResidual):
        return deviation / (2.0 * ratio**2 * found.frequency * found.amplitude)
    return deviation * np.abs(slope)


def _slopes(found: ExpansionErrors) -> np.ndarray:
    """dΩ/dV along each backbone."""
    slopes = np.zeros(len(found.frequency))
    for name in dict.fromkeys(found.backbone):
        mine = np.flatnonzero((np.array(found.backbone) == name) & np.isfinite(found.frequency))
        if len(np.unique(found.amplitude[mine])) == len(mine) > 1:
            slopes[mine] = np.gradient(found.frequency[mine], found.amplitude[mine])
    return slopes


def _remainder(prepared: BackboneLikelihood, values: Mapping[str, Any], found: ExpansionErrors) -> np.ndarray:
    """What the likelihood allows for besides, as a frequency: the next order's term."""
    method = prepared.method
    if not (isinstance(method, BackboneResidual) and method.remainder):
        return np.zeros(len(found.frequency))
    change = found.errors[method.order] - found.errors[method.order - 1]
    return np.where(np.isfinite(change), np.abs(change), np.inf)
