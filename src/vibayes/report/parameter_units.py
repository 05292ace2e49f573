"""Units of parameters, from those of the record.

A simulation counts in seconds and in the record's own units of length L and force F, so a mass is in F s²/L, a
stiffness in F/L, a damping coefficient in F s/L and a displacement in L. What cannot be told so has none.
"""

from __future__ import annotations

from typing import Any

from vibayes.posterior import ModelPosterior
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.structure import Damper, PiecewiseLinearDamper, Structure
from vibayes.structure.inputs import Force
from vibayes.structure.sensors import AbsoluteAcceleration, Displacement, RelativeAcceleration, Velocity

_KINDS = {
    "stiffness": "{F}/{L}", "yield_displacement": "{L}", "yield_force": "{F}", "limit": "{F}", "offset": "{F}",
    "viscosity": "{F}·s/{L}", "coefficient": "{F}·s/{L}", "slopes": "{F}/{L}", "breaks": "{L}",
}  # fmt: skip
"""By the field of an element."""
_OF_DAMPERS = {"slopes": "{F}·s/{L}", "breaks": "{L}/s"}


def units_of(model: ModelPosterior) -> dict[str, str]:
    """Units of a model's parameters by name, where they can be told."""
    problem = model.problem
    if not isinstance(problem.record, Record) or not isinstance(problem.model, Structure):
        return {}
    record, structure = problem.record, problem.model
    length, force = base_units(problem)
    found: dict[str, str] = {}
    if length and force:
        mass = "kg" if (force, length) == ("N", "m") else f"{force}·s²/{length}"
        found |= {name: mass for name in structure.masses if isinstance(name, str)}
    for link in structure.links:
        for name, kind in _fields(link.element):
            pattern = kind.format(F=force, L=length)
            if ("{F}" not in kind or force) and ("{L}" not in kind or length):
                found.setdefault(name, pattern)
    if problem.noise is not None:
        given = problem.noise if isinstance(problem.noise, list | tuple) else [problem.noise] * len(record.output_units)
        found |= {n: unit for n, unit in zip(given, record.output_units, strict=False) if isinstance(n, str) and unit}
    return found


def base_units(problem: Problem) -> tuple[str, str]:
    """Units of length and of force; empty where they are not stated."""
    if not isinstance(problem.record, Record) or not isinstance(problem.model, Structure):
        return "", ""
    return _length(problem.model, problem.record), _force(problem.model, problem.record)


def _fields(element: Any) -> list[tuple[str, str]]:
    kinds = _KINDS | (_OF_DAMPERS if isinstance(element, PiecewiseLinearDamper) else {})
    if isinstance(element, Damper):
        kinds = {"coefficient": _KINDS["coefficient"]}
    found = []
    for field, kind in kinds.items():
        value = getattr(element, field, None)
        for name in value if isinstance(value, tuple | list) else (value,):
            if isinstance(name, str):
                found.append((name, kind))
    return found


def _length(structure: Structure, record: Record) -> str:
    """Unit of length, from the unit of any output that has one in it."""
    ends = {Displacement: "", Velocity: "/s", RelativeAcceleration: "/s^2", AbsoluteAcceleration: "/s^2"}
    for sensor, unit in zip(structure.sensors, record.output_units, strict=False):
        end = ends.get(type(sensor))
        if end is not None and unit and unit.endswith(end):
            return unit.removesuffix(end)
    return ""


def _force(structure: Structure, record: Record) -> str:
    inputs = zip(structure.inputs, record.input_units, strict=False)
    return next((unit for each, unit in inputs if isinstance(each, Force) and unit), "")
