"""What a structure's declaration and its values must be: everything that is refused before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from vibayes.errors import InvalidInput
from vibayes.naming import nearest, quoted, require_names
from vibayes.structure.element import Element, Link, is_name, raise_if

GROUND = "ground"


# ---- parts ----------------------------------------------------------------------------------------------------


def require_masses(masses: Any) -> None:
    """Masses by name, at least one, none called like the ground."""
    if not isinstance(masses, Mapping):
        raise InvalidInput("Structure.masses", "masses by name", shown(masses), 'write them as {"m1": 1.0}')
    if not masses:
        raise InvalidInput("Structure.masses", "at least one mass", "none", "give masses by name")
    if GROUND in masses:
        raise InvalidInput(
            "Structure.masses", "names other than 'ground'", "'ground'", "rename the mass; the ground is fixed"
        )
    require_names("Structure.masses", tuple(masses))
    for name, value in masses.items():
        require_parameter(value, f"Structure.masses[{name!r}]")


def several(parts: Any, kinds: type | tuple[type, ...], where: str, example: str) -> tuple[Any, ...]:
    """Parts of one kind as a tuple, when each of them is of that kind."""
    single = isinstance(parts, kinds) and type(parts) not in (list, tuple)
    if single or isinstance(parts, str) or not isinstance(parts, Iterable):
        raise InvalidInput(where, "a list", shown(parts), f"write it as [{example}]")
    parts = tuple(parts)
    for part in parts:
        if not isinstance(part, kinds):
            raise InvalidInput(where, f"entries such as {example}", shown(part), "give objects of this kind")
    return parts


def named_links(elements: Any) -> tuple[Link, ...]:
    """Give every link a unique name: its own, or its element's kind and a running number."""
    example = 'Spring("k").between("ground", "m1")'
    if not isinstance(elements, Link | Element) and isinstance(elements, Iterable):
        elements = tuple(elements)
        bare = next((e for e in elements if isinstance(e, Element)), None)
        if bare is not None:
            raise InvalidInput(
                "Structure.elements", "elements in their places", f"a bare {type(bare).__name__}",
                'say where it lies: element.between("ground", "m1")',
            )  # fmt: skip
    declared = several(elements, Link, "Structure.elements", example)
    links, taken = [], {link.name for link in declared if link.name}
    for link in declared:
        name = link.name
        if name is None:
            kind = "".join("_" + c.lower() if c.isupper() else c for c in type(link.element).__name__).strip("_")
            number = 1
            while (name := f"{kind}_{number}") in taken:
                number += 1
            taken.add(name)
        require_parameters(link.element, name)
        links.append(Link(link.element, link.start, link.stop, name))
    require_names("Structure.elements", tuple(str(link.name) for link in links))
    return tuple(links)


def placed(element: Any, start: str, stop: str) -> Link:
    """An element between two points, unless it already has its place."""
    if isinstance(element, Link):
        return element
    if not isinstance(element, Element):
        raise InvalidInput("Structure.elements", 'elements such as Spring("k")', shown(element), "give such an object")
    return element.between(start, stop)


def require_ends(links: Iterable[Link], mass_names: Sequence[str]) -> None:
    """Every link joins two different points that exist."""
    points = (GROUND, *mass_names)
    for link in links:
        where = f"Structure.elements[{link.name!r}]"
        for point in (link.start, link.stop):
            position(point, points, "a point", where)
        if link.start == link.stop:
            raise InvalidInput(
                where, "two different points", f"{link.start!r} twice", "join it to another mass or to the ground"
            )


def require_determined_friction(links: Iterable[Link], ends: Iterable[tuple[int, int]], masses: int) -> None:
    """Sliders in a closed loop share their load in a way the model does not determine."""
    sliders, rows = [], []
    for link, joined in zip(links, ends, strict=True):
        if link.element.sticks:
            row = np.zeros(masses)
            for point, sign in zip(joined, (-1.0, 1.0), strict=True):
                if point >= 0:
                    row[point] = sign
            rows.append(row)
            sliders.append(str(link.name))
    if rows and np.linalg.matrix_rank(np.array(rows)) < len(rows):
        raise InvalidInput(
            "Structure.elements", "friction elements whose sticking forces are determined",
            f"some among {quoted(sliders)} in parallel or in a loop", "merge those that lie between the same masses",
        )  # fmt: skip


def position(name: Any, names: Sequence[str], what: str, where: str) -> int:
    """Where a name stands among the known ones."""
    if name not in names:
        raise InvalidInput(where, f"{what} among {quoted(names)}", shown(name), nearest(str(name), names))
    return list(names).index(name)


# ---- parameters -----------------------------------------------------------------------------------------------


def require_parameters(part: Any, where: str) -> None:
    """Every parameter of an element, damping or frame is a number or a name."""
    for field in fields(part):
        value, place = getattr(part, field.name), f"{where}.{field.name}"
        if field.type == "Parameter":
            require_parameter(value, place)
        elif field.metadata.get("static", False):
            continue
        else:
            for path, leaf in jax.tree_util.tree_leaves_with_path(value):
                require_parameter(leaf, place + jax.tree_util.keystr(path))


def require_parameter(value: Any, where: str) -> None:
    """A finite number, or the name of an unknown."""
    if isinstance(value, Tracer):
        return
    expected = "a number or the name of an unknown"
    if is_name(value):
        if not value.strip():
            raise InvalidInput(where, expected, repr(value), "give it a name that can be read")
        return
    array = numbers(value)
    if array is None:
        raise InvalidInput(where, expected, shown(value), "give one of the two")
    if array.ndim:
        raise InvalidInput(where, expected, shown(value), "give a name, and its values when simulating")
    if not np.isfinite(array):
        raise InvalidInput(where, "a finite number", repr(float(array)), "remove NaN and infinity")


def require_values(values: Any, names: Sequence[str]) -> dict[str, Any]:
    """Values for all unknowns and nothing else: numbers, or arrays with one entry per parameter set."""
    if not isinstance(values, Mapping):
        raise InvalidInput("parameters", "values by name", shown(values), 'write them as {"k": 1.0}')
    for name in values:
        if name not in names:
            expected = f"the unknowns {quoted(names)}" if names else "none, for the structure has no unknowns"
            remedy = nearest(str(name), names) if names else "leave them out"
            raise InvalidInput("parameters", expected, shown(name), remedy)
    missing = [name for name in names if name not in values]
    if missing:
        raise InvalidInput(
            "parameters", f"a value for each of {quoted(names)}", f"none for {quoted(missing)}", "add the missing ones"
        )
    checked = {name: _value(name, value) for name, value in values.items()}
    lengths = {name: value.shape[0] for name, value in checked.items() if value.ndim}
    if len(set(lengths.values())) > 1:
        listing = [f"{length} for {name!r}" for name, length in lengths.items()]
        raise InvalidInput(
            "parameters", "arrays of equal length", ", ".join(listing[:6]), "give one entry per parameter set"
        )
    return checked


def _value(name: str, value: Any) -> Any:
    where = f"parameters[{name!r}]"
    array = value if isinstance(value, Tracer) else numbers(value)
    if array is None:
        raise InvalidInput(where, "numbers", shown(value), "give a number or an array of them")
    if array.ndim > 1 or 0 in array.shape:
        raise InvalidInput(
            where, "a number or a one-dimensional array (one entry per parameter set)",
            f"shape {array.shape}", "reshape it",
        )  # fmt: skip
    if isinstance(array, Tracer):
        return array
    raise_if(~np.isfinite(array), where, "finite values", "remove NaN and infinity", array)
    return jnp.asarray(array)


def numbers(value: Any) -> np.ndarray | None:
    """Real numbers as an array in double precision; None for anything else, truth values and text included."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array.astype(float) if array.dtype.kind in "fiu" else None


def shown(value: Any) -> str:
    """What came, in a few words."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and np.ndim(value):
        return f"an array of shape {np.shape(value)}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
