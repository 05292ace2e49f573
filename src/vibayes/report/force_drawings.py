"""Drawings of what the elements do: force over deformation, as the structure went through it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.excitation import Sampled
from vibayes.filters import estimate
from vibayes.posterior import ModelPosterior
from vibayes.report.drawing import Drawing, Line, Panel
from vibayes.report.parameter_units import base_units
from vibayes.simulation import simulate
from vibayes.structure import ElementDeformation, ElementForce, PiecewiseLinearDamper, Structure

_DRAWS = 12
_ELEMENTS = 4
_POINTS = 2500
"""Of a curve; what comes after in a longer record is left out, and that is said."""
_ESTIMATED = 8
"""Draws over which a loop that was never measured is averaged."""


def of_forces(model: ModelPosterior) -> list[Drawing]:
    """A figure for every element that is not linear: loops or maps of its force."""
    structure = model.problem.model
    if not isinstance(structure, Structure) or model.problem.of_backbones:
        return []
    bent = [str(link.name) for link in structure.links if not link.element.linear]
    bent = [name for name in bent if not _of_velocity(structure, name)][:_ELEMENTS]
    if not bent:
        return []
    sensors = [kind(name) for name in bent for kind in (ElementDeformation, ElementForce)]
    found = _estimated(model, sensors) if model.problem.random else _simulated(model, structure, sensors)
    return [] if found is None else [_drawing(model, name, found, i) for i, name in enumerate(bent)]


def _of_velocity(structure: Structure, name: str) -> bool:
    """Whether deformation says nothing of the force."""
    return isinstance(structure.links[structure.element_index(name)].element, PiecewiseLinearDamper)


def _simulated(model: ModelPosterior, structure: Structure, sensors: list[Any]) -> np.ndarray | None:
    """Readings with the means of the parameters and some draws, (sets, samples, sensors)."""
    problem, values, means = model.problem, model.resampled(0, _DRAWS), model.mean()
    together = {name: np.append(means[name], values[name]) for name in structure.parameters}
    record = problem.motions
    signal = Sampled(record.input[:_POINTS], record.rate, problem.hold)
    seen = structure.measuring(*sensors)
    outputs = np.asarray(simulate(seen, signal, together, method=problem.method, states=False).outputs)
    outputs = outputs[np.isfinite(outputs).all(axis=(1, 2))]
    return outputs if len(outputs) else None


def _estimated(model: ModelPosterior, sensors: list[Any]) -> np.ndarray:
    """Readings that nobody measured, given the record, averaged over draws."""
    values = model.resampled(0, _ESTIMATED)
    return estimate(model.problem.filtering(), values, sensors).mean[None, :_POINTS]


def _drawing(model: ModelPosterior, name: str, found: np.ndarray, number: int) -> Drawing:
    across, up = found[:, :, 2 * number], found[:, :, 2 * number + 1]
    structure: Any = model.problem.model
    if not structure.links[structure.element_index(name)].element.states:  # one force for every deformation
        order = np.argsort(across, axis=1)
        across, up = (np.take_along_axis(each, order, axis=1) for each in (across, up))
    gap = np.full((len(across) - 1, 1), np.nan)
    marks = []
    if len(across) > 1:
        x, y = (np.hstack([each[1:], gap]).ravel() for each in (across, up))
        marks.append(Line(x, y, "draws", "faint"))
    label = "estimate" if model.problem.random else "means of the parameters"
    marks.append(Line(across[0], up[0], label, "other"))
    says = f"Force of {name} over its deformation, as the structure went through it"
    says += (
        ", estimated from the outputs up to each sample"
        if model.problem.random
        else f", for {len(across) - 1} draws too"
    )
    if model.problem.motions.samples > _POINTS:
        says += f"; the first {_POINTS:,} of {model.problem.motions.samples:,} samples"
    length, force = base_units(model.problem)
    x, y = (f"{word} ({unit})" if unit else word for word, unit in (("deformation", length), ("force", force)))
    return Drawing(f"force-{number + 1}", f"Force of {name}", says + ".", [Panel(marks, x, y)], square=True)
