"""Files of MATLAB 7.3, which are HDF5 within: structures are groups, and matrices lie on their side.

What a variable is to MATLAB is in its attribute ``MATLAB_class``. An array of structures is a group of arrays of
references, one array for each field.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.io.arrays import Arrays, Found, plain, sort_out
from vibayes.io.content import foreign
from vibayes.io.hdf5 import attributes_of, sound
from vibayes.io.packages import package

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
    h5py = package("h5py", where, "formats")
    with foreign(where, "a MAT file (7.3)"), h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]  # where MATLAB keeps what references refer to
        return sort_out(where, (each for name in names for each in _walk(where, h5py, file[name], name)), ".")


def _walk(where: str, h5py: Any, item: Any, path: str, seen: frozenset[int] = frozenset()) -> Iterator[Found]:
    if isinstance(item, h5py.Group):
        here = h5py.h5o.get_info(item.id).addr
        if here in seen or len(seen) > _DEEPEST:  # in a damaged file, a structure may hold itself
            yield Found(path, unfit="a link")
            return
        for name in item:
            yield from _field(where, h5py, item[name], path, name, seen | {here})
        return
    attributes = attributes_of(item)
    kind = plain(attributes.get(_CLASS))
    if kind == "cell":
        yield Found(path, unfit="a cell array")
    elif _EMPTY in attributes:
        yield Found(path, unfit="an empty array")
    elif kind == "char":
        yield Found(path, "".join(map(chr, np.ravel(sound(where, item)))))
    elif kind in (*_NUMBERS, None) and item.dtype.kind in "fiub":
        yield Found(path, np.transpose(sound(where, item)))
    elif item.dtype.names is not None and set(item.dtype.names) == {"real", "imag"}:
        yield Found(path, unfit="complex numbers")
    else:
        yield Found(path, unfit="an object that only MATLAB can read (a table, a datetime, a function)")


def _field(where: str, h5py: Any, item: Any, path: str, name: str, seen: frozenset[int]) -> Iterator[Found]:
    """A field of a structure, or of every structure of an array."""
    references = isinstance(item, h5py.Dataset) and _CLASS not in item.attrs and item.dtype.kind == "O"
    if not references:
        yield from _walk(where, h5py, item, f"{path}.{name}", seen)
        return
    for number, reference in enumerate(np.ravel(sound(where, item))):
        yield from _walk(where, h5py, item.file[reference], f"{path}[{number}].{name}", seen)
