"""Modes that a harmonic meets although nobody said that they respond to it.

A normal form divides by β = k² Ω² − ω_n². Where that is nearly zero mode n resonates at k Ω, and is no small harmonic
of anything: it belongs among the modes of the normal form, at the ratio k.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vibayes.backbone.expansion import Subset
from vibayes.backbone.modes import LinearModes
from vibayes.backbone.polynomials import terms_of
from vibayes.errors import InvalidInput
from vibayes.structure.structure import Structure

_NOTHING = 1e-12
"""Share of the largest coefficient that is rounding."""


def undeclared(
    structure: Structure, modes: LinearModes, subset: Subset, frequencies: Any, clearance: float
) -> Iterator[tuple[int, int, float]]:
    """Mode, harmonic and frequency Ω of every encounter within so small a share of the mode's frequency."""
    own = np.asarray(modes.frequencies)
    harmonics = excited(structure, modes, subset)
    for mode, found in enumerate(harmonics):
        declared = subset.ratios[subset.modes.index(mode)] if mode in subset.modes else None
        for harmonic in sorted(found):
            if harmonic in (0, declared):
                continue
            for frequency in np.atleast_1d(frequencies):
                if abs(harmonic * frequency - own[mode]) < clearance * own[mode]:
                    yield mode, harmonic, float(frequency)


def excited(structure: Structure, modes: LinearModes, subset: Subset) -> list[set[int]]:
    """Harmonics of Ω by which the nonlinear terms push each mode, at first order. Unknown coefficients count as any."""
    shapes, found = np.asarray(modes.shapes), [set() for _ in structure.masses]
    for term in terms_of(structure):
        if term.power == 1 or (not isinstance(term.coefficient, str) and np.all(np.asarray(term.coefficient) == 0.0)):
            continue
        direction = shapes.T @ term.signs
        moved = np.abs(direction) > _NOTHING * np.abs(shapes).max()
        ratios = [r for mode, r in zip(subset.modes, subset.ratios, strict=True) if moved[mode]]
        sums = {0}
        for _ in range(term.power):
            sums = {s + sign * r for s in sums for r in ratios for sign in (1, -1)}
        for mode in np.flatnonzero(moved):
            found[mode] |= {abs(s) for s in sums}
    return found


def refuse_undeclared(
    structure: Structure, modes: LinearModes, subset: Subset, frequencies: Any, clearance: float
) -> None:
    """Raise for the first encounter."""
    for mode, harmonic, frequency in undeclared(structure, modes, subset, frequencies, clearance):
        expected = "modes of which none is met by a harmonic that was not declared"
        own = float(np.asarray(modes.frequencies)[mode])
        got = f"mode {mode + 1} at {own:.4g} rad/s, which {harmonic} times Ω = {frequency:.4g} rad/s meets"
        remedy = f"declare it, as modes=(…, {mode + 1}), ratios=(…, {harmonic}), or lower the clearance"
        raise InvalidInput("normal_form.ratios", expected, got, remedy)
