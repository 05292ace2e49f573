"""The models of a study: each `[[model]]` is a `Problem`, and what several share stands above them.

Keys of a model are the arguments of `Problem`, but for `structure` or `simulator` in place of `model`. `[structure]`
and `[priors]` at the top of the file serve every model that has none of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from vibayes.backbone import BackbonePoints
from vibayes.errors import InvalidInput
from vibayes.naming import quoted
from vibayes.priors import Prior
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.structure import Process, Structure
from vibayes.study.declaration import Reference, Surroundings, declared, guarded
from vibayes.study.mistakes import Mistakes, require_known, require_table, shown
from vibayes.study.signatures import arguments_of
from vibayes.study.values import fitted

_OF_ELEMENTS = ("constraints",)
"""Keys that may name elements of the structure, and mean nothing without it."""
_MEASURED = "measured"
"""In place of a random process: an input that is in the record."""


def model_tables(tables: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Tables of the models and their paths."""
    given = tables.get("model")
    if given is None and "structure" in tables:
        return [("model", {})]
    if given is None:
        remedy = "describe the candidates, each under [[model]]"
        raise InvalidInput("model", "at least one model", "none", remedy)
    if isinstance(given, dict):
        return [("model", given)]
    if not isinstance(given, list) or not given:
        raise InvalidInput("model", "tables of models", shown(given), "write [[model]] above the keys of each")
    return [(f"model[{number}]", require_table(f"model[{number}]", each)) for number, each in enumerate(given)]


def problems_of(
    tables: Mapping[str, Any], record: Record | BackbonePoints, around: Surroundings
) -> tuple[Problem, ...]:
    """The problems that the models of a study pose.

    Args:
        tables: of the whole study.
        record: what was measured.
        around: what tables may refer to.
    """
    found = Mistakes()
    shared = found.attempt(require_table, "priors", tables.get("priors", {})) or {}
    used: set[str] = set()
    problems = [
        found.attempt(_problem, table, where, record, tables.get("structure"), shared, used, around)
        for where, table in model_tables(tables)
    ]
    if found.deferred:  # what is shared is looked at before anything is imported, although nobody knows who wants it
        reference = Reference(around, lambda each, path, kinds: declared(each, path, kinds, around))
        for name in [each for each in shared if each not in used]:
            found.attempt(fitted, shared[name], Prior, f"priors.{name}", reference)
    if not found.all:
        found.attempt(require_known, "priors", shared, used, "the name of an unknown of some model")
        found.attempt(_names_of_their_own, problems)
    found.end()
    return tuple(each for each in problems if each is not None)


def structure_of(table: Any, where: str, around: Surroundings) -> Structure:
    """The structure that a table declares.

    Without a `type` it is one mass where there is a `mass`, a chain where `masses` are a list, and any structure where
    they are a table. `driven_by` says which inputs are random, and `start` how the structure begins then.

    Examples:
        >>> table = {"masses": [1.0, "m"], "elements": [{"type": "Spring", "stiffness": "k"}] * 2}
        >>> structure_of(table, "structure", Surroundings()).parameters
        ('m', 'k')
    """
    table = dict(table) if isinstance(table, dict) else table
    drive, start = (table.pop(key, None) if isinstance(table, dict) else None for key in ("driven_by", "start"))
    way = _way_of(table)
    if isinstance(table, dict) and isinstance(table.get("elements"), list):
        table["elements"] = _with_places(table["elements"], way)
    structure = declared(table, where, (Structure,), around, default=way)
    if drive is None:
        if start is not None:
            got, remedy = shown(start), "say what drives it with driven_by, or leave the start out"
            raise InvalidInput(f"{where}.start", "no start of a structure whose inputs were measured", got, remedy)
        return structure
    drives = drive if isinstance(drive, list) else [drive]
    processes = [
        None if each == _MEASURED else declared(each, f"{where}.driven_by[{i}]", (Process,), around)
        for i, each in enumerate(drives)
    ]
    return guarded(f"{where}.driven_by", {}, lambda: structure.driven_by(*processes, start=start))


def _way_of(table: Any) -> str:
    if not isinstance(table, dict) or "type" in table:
        return str(table.get("type")) if isinstance(table, dict) else ""
    if "mass" in table:
        return "Structure.single_dof"
    return "Structure.chain" if isinstance(table.get("masses"), list) else "Structure"


def _with_places(elements: list[Any], way: str) -> list[Any]:
    """Elements that have a name get the place that their position in the list means."""

    def placed(element: Any, start: str, stop: str) -> Any:
        if isinstance(element, list):
            return [placed(each, start, stop) for each in element]
        bare = isinstance(element, dict) and "name" in element and "between" not in element
        return element | {"between": [start, stop]} if bare else element

    if way == "Structure.single_dof":
        return [placed(each, "ground", "mass") for each in elements]
    if way == "Structure.chain":
        points = ["ground", *(f"m{i + 1}" for i in range(len(elements)))]
        # A list, for a chain takes elements in their places only within lists.
        listed = [each if isinstance(each, list) else [each] for each in elements]
        return [placed(each, *ends) for each, ends in zip(listed, pairwise(points), strict=True)]
    return elements


def _problem(
    table: Mapping[str, Any],
    where: str,
    record: Record | BackbonePoints,
    common: Any,
    shared: Mapping[str, Any],
    used: set[str],
    around: Surroundings,
) -> Problem:
    arguments = arguments_of(Problem)
    own = {key: value for key, value in table.items() if key not in ("structure", "simulator")}
    known = [*(key for key in arguments if key not in ("model", "record")), "structure", "simulator"]
    require_known(where, table, known, "a key of a model")
    found = Mistakes()
    model, around = found.attempt(_model, table, where, common, around) or (None, around)
    reference = Reference(around, lambda each, path, kinds: declared(each, path, kinds, around))
    values: dict[str, Any] = {
        key: found.attempt(fitted, value, arguments[key].hint, f"{where}.{key}", reference, arguments[key].default)
        for key, value in own.items()
        if key != "priors" and (model is not None or key not in _OF_ELEMENTS)
    }
    given = found.attempt(require_table, f"{where}.priors", own.get("priors", {})) or {}
    if model is None:
        for name, each in given.items():
            found.attempt(fitted, each, Prior, f"{where}.priors.{name}", reference)
    found.end()
    assert model is not None
    names = _unknowns(model, values)
    priors = {name: (f"priors.{name}", shared[name]) for name in names if name in shared}
    used.update(priors)
    priors |= {name: (f"{where}.priors.{name}", each) for name, each in given.items()}
    made = {name: found.attempt(fitted, each, Prior, path, reference) for name, (path, each) in priors.items()}
    found.end()
    values["priors"] = made
    if isinstance(model, Structure):
        _require_priors(where, values["priors"], names)
    return guarded(where, {**table, "priors": {}}, lambda: Problem(model, record, **values))


def _model(table: Mapping[str, Any], where: str, common: Any, around: Surroundings) -> tuple[Any, Surroundings]:
    """The structure or the simulator of a model, and what its other keys may refer to."""
    if "structure" in table and "simulator" in table:
        raise InvalidInput(where, "a structure or a simulator", "both", "leave one out")
    if "simulator" in table:
        nothing = Reference(around, lambda each, path, kinds: declared(each, path, kinds, around))
        return nothing.function(table["simulator"], f"{where}.simulator"), around
    if "structure" not in table and common is None:
        raise InvalidInput(where, "a structure or a simulator", "neither", f"describe it under [{where}.structure]")
    path = f"{where}.structure" if "structure" in table else "structure"
    structure = structure_of(table.get("structure", common), path, around)
    elements = {str(link.name): link.element for link in structure.links}
    return structure, replace(around, elements=elements)


def _unknowns(model: Any, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Names for which a model wants priors, in the order in which it wants them."""
    if not isinstance(model, Structure):
        try:
            return tuple(inspect.signature(model).parameters)
        except (TypeError, ValueError):
            return ()
    noise, method = values.get("noise"), values.get("filter")
    levels = noise if isinstance(noise, tuple) else (noise,)
    own = getattr(getattr(method, "scatter", method), "names", ())
    names = (*model.parameters, *own, *(each for each in levels if isinstance(each, str)))
    return tuple(dict.fromkeys(names))


def _require_priors(where: str, priors: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Priors for all unknowns of a structure and for nothing else."""
    require_known(f"{where}.priors", priors, names, "the name of an unknown")
    missing = [name for name in names if name not in priors]
    if missing:
        got = f"none for {quoted(missing)}"
        example = f'{missing[0]} = {{ type = "Uniform", low = ..., high = ... }}'
        raise InvalidInput(f"{where}.priors", f"a prior for each of {quoted(names)}", got, f"add {example}")


def _names_of_their_own(problems: list[Problem | None]) -> None:
    names = [each.name for each in problems if each is not None]
    twice = next((number for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        got, remedy = f"{names[twice]!r} again", "give each model a name of its own"
        raise InvalidInput(f"model[{twice}].name", "a name that no other model has", got, remedy)
