"""Files of MATLAB 7.3, which are HDF5 within: structures are groups, and matrices lie on their side.

What a variable is to MATLAB is in its attribute ``MATLAB_class``. An array of structures is a group of arrays of
references, one array for each field.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vibayes.io.apart import Item
from vibayes.io.arrays import Arrays, Found, sort_out
from vibayes.io.content import foreign
from vibayes.io.hdf5 import items_of

_CLASS, _EMPTY = "MATLAB_class", "MATLAB_empty"
_NUMBERS = ("double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_DEEPEST = 20


def load_mat73(where: str, path: Path) -> Arrays:
    """What a MAT file of version 7.3 holds.

    Args:
        where: the function and file to blame in messages.
        path: the file.

    Returns:
        Its variables.

    Raises:
        InvalidInput: it cannot be read, or ``h5py`` is not installed.
    """
    tree = _tree(items_of(where, path))
    with foreign(where, "a MAT file (7.3)"):
        # Those with a # are where MATLAB keeps what references refer to.
        names = [place for place in tree.inside[()] if not place[0].startswith("#")]
        return sort_out(where, (each for place in names for each in _walk(tree, place, place[0])), ".")


class _Tree(NamedTuple):
    """What a file holds, by its place, and which places are inside which."""

    items: dict[tuple[str, ...], Item]
    inside: dict[tuple[str, ...], list[tuple[str, ...]]]


def _tree(items: list[Item]) -> _Tree:
    inside: dict[tuple[str, ...], list[tuple[str, ...]]] = {(): []}
    for each in items:
        if each.path:
            inside.setdefault(each.path[:-1], []).append(each.path)
    return _Tree({each.path: each for each in items}, inside)


def _walk(tree: _Tree, place: tuple[str, ...], path: str, depth: int = 0) -> Iterator[Found]:
    item = tree.items.get(place)
    if item is None or depth > _DEEPEST:  # in a damaged file, a structure may hold itself
        yield Found(path, unfit="a link")
    elif item.what == "group":
        for inner in tree.inside.get(place, ()):
            yield from _field(tree, inner, path, inner[-1], depth + 1)
    else:
        yield _variable(item, path)


def _variable(item: Item, path: str) -> Found:
    """One variable, by what it is to MATLAB."""
    kind = item.attributes.get(_CLASS)
    if item.what in ("link", "outside"):
        return Found(path, unfit=item.unfit)
    if kind == "cell":
        return Found(path, unfit="a cell array")
    if _EMPTY in item.attributes:
        return Found(path, unfit="an empty array")
    if isinstance(item.value, np.ndarray) and item.value.size and kind == "char":
        return Found(path, "".join(map(chr, np.ravel(item.value))))
    if isinstance(item.value, np.ndarray) and not item.fields and kind in (*_NUMBERS, None):
        return Found(path, np.transpose(item.value))
    if set(item.fields) == {"real", "imag"}:
        return Found(path, unfit="complex numbers")
    return Found(path, unfit="an object that only MATLAB can read (a table, a datetime, a function)")


def _field(tree: _Tree, place: tuple[str, ...], path: str, name: str, depth: int) -> Iterator[Found]:
    """A field of a structure, or of every structure of an array."""
    item = tree.items[place]
    if item.what != "objects" or _CLASS in item.attributes:
        yield from _walk(tree, place, f"{path}.{name}", depth)
        return
    for number, lead in enumerate(item.leads):
        yield from _walk(tree, tuple(lead.strip("/").split("/")), f"{path}[{number}].{name}", depth)
