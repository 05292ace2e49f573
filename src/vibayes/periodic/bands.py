"""Bands of backbones and of forced responses over draws of a posterior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.periodic.assembly import joined
from vibayes.periodic.backbones import free_curves
from vibayes.periodic.branch import Branch
from vibayes.periodic.checks import (
    Forcing,
    check_balance,
    check_forcing,
    check_positive,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Limits, Path
from vibayes.periodic.draws import BranchDraws, centre_of, check_draws, corrected, draws_of, follow_draws, turned
from vibayes.periodic.forced import forced_curves, from_rest
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.linear import linear_of
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.search import points_of
from vibayes.structure.declaration import shown
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

Array = Any
_SMALL = 0.02
"""Amplitude of the first point of a branch, relative to the largest, below which it began as a linear mode."""


def response_draws(
    structure: Structure,
    draws: Mapping[str, Any],
    forcing: Forcing,
    frequency_range: tuple[float, float],
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> BranchDraws:
    """Forced responses of many draws, followed together.

    Args:
        structure: what vibrates.
        draws: values of its unknowns by name, one per draw.
        forcing: amplitudes of forces by mass, as for `forced_response`.
        frequency_range: in rad/s.
        method: harmonic balance and its settings.
        arclength: how branches are followed.

    Returns:
        One branch per draw; `BranchDraws.amplitude_band` gives their band.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper(0.05)])
        >>> found = vb.response_draws(oscillator, {"k3": np.array([0.1, 0.2])}, {"mass": 0.1}, (0.5, 1.6))
        >>> [bool(f[-1] > 1.6) for f in found.frequencies]
        [True, True]
    """
    where = "response_draws"
    check_structure(structure, where)
    kept = check_draws(draws, structure, where)
    amplitudes = check_forcing(forcing, structure, where)
    span = check_range(frequency_range, where)
    how = check_balance(method, structure, where)
    settings = Arclength() if arclength is None else arclength
    bound = as_arrays(structure.bind(centre_of(kept)))
    curves = forced_curves(how, bound, force_coefficients(bound, amplitudes), span)
    start = from_rest(curves, linear_of(bound), span[0], settings.control())
    row = np.zeros(start.point.shape[1])
    row[-2] = 1.0
    limits = Limits(span[0] * (1.0 - 1e-9), span[1])
    paths = follow_draws(
        curves, structure, kept, corrected(start.point[0], row, settings), settings, limits, amplitudes
    )
    return draws_of(paths, structure.mass_names)


def backbone_draws(
    structure: Structure,
    draws: Mapping[str, Any],
    start: Branch,
    amplitude: float,
    frequency_range: tuple[float, float],
    arclength: Arclength | None = None,
) -> BranchDraws:
    """Backbones of many draws, followed together from the beginning of a known one.

    Args:
        structure: what vibrates; laws without memory only.
        draws: values of its unknowns by name, one per draw.
        start: a backbone by harmonic balance of values among the draws, as their means: by `nonlinear_mode` or
            `backbones`; every draw begins near its first point, or, where it begins at large amplitude, in its middle.
        amplitude: about the largest displacement up to which to go.
        frequency_range: in rad/s, in which to stay.
        arclength: how branches are followed.

    Returns:
        One branch per draw; `BranchDraws.frequency_band` gives their band.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3")])
        >>> mean = vb.nonlinear_mode(oscillator, {"k3": 0.15}, mode=1, amplitude=1.0)
        >>> found = vb.backbone_draws(oscillator, {"k3": np.array([0.1, 0.2])}, mean, 1.0, (0.5, 2.0))
        >>> bool(found.frequencies[0][-1] < found.frequencies[1][-1])
        True
    """
    where = "backbone_draws"
    check_structure(structure, where, conservative=True)
    kept = check_draws(draws, structure, where)
    amplitude = check_positive(amplitude, f"{where}.amplitude", "give a displacement")
    span = check_range(frequency_range, where)
    settings = Arclength() if arclength is None else arclength
    if not isinstance(start, Branch) or len(start) < 2:
        raise InvalidInput(f"{where}.start", "a branch with points", shown(start), "take one by nonlinear_mode")
    how = check_balance(HarmonicBalance(start.coefficients.shape[1] // 2), structure, where)
    paths = followed_backbones(structure, kept, start, how, settings, Limits(*span, amplitude))
    return draws_of(paths, structure.mass_names)


def followed_backbones(
    structure: Structure,
    draws: Mapping[str, Array],
    start: Branch,
    method: PeriodicMethod,
    settings: Arclength,
    limits: Limits,
) -> list[Path]:
    """A known backbone for every draw: from its small end, or from its middle both ways."""
    curves = free_curves(method, as_arrays(structure.bind(centre_of(draws))), limits)
    points = points_of(start)
    from_mode = start.amplitudes[0].max() < _SMALL * start.amplitudes.max()
    number = 0 if from_mode else len(points) // 2
    row = points[number + 1] - points[number]
    row[-2:] = 0.0
    begin = corrected(points[number], row / np.linalg.norm(row), settings)
    onwards = follow_draws(curves, structure, draws, begin, settings, limits)
    if from_mode:
        return onwards
    backwards = follow_draws(curves, structure, draws, turned(begin), settings, limits)
    return [joined(b, a) if len(a.points) else a for b, a in zip(backwards, onwards, strict=True)]
