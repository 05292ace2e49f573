"""The skeleton of a MAT file of version 5, checked before SciPy reads it.

Such a file is a row of elements, each with a tag of its type and size; an element of type matrix holds more of them.
SciPy looks types up without asking whether there is such a type, and believes what it is told of sizes, so that one
wrong byte can end the whole process. Here every tag is looked at first, also those within compressed elements.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_DATA = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18})  # numbers, and letters in three encodings
_FLAGS, _DIMENSIONS, _NAME = 6, (5, 6), (1, 16)  # some programs write sizes without sign, and names in UTF-8
_CELL, _STRUCTURE, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_COMPLEX = 0x0800
_UTF_8 = 16
_BLANKS = 10_000  # MATLAB keeps no letters of a text that is all blank
_CLASSES = range(1, 18)
_DEEPEST = 50
_LARGEST = 2**30


class Element(NamedTuple):
    """An element: its type, and where its content begins and ends."""

    type: int
    start: int
    stop: int


class Damaged(ValueError):
    """The file is no sound MAT file of version 5."""


class TooLarge(ValueError):
    """The file unpacks to more than so many bytes."""


def require_skeleton(content: bytes, most: int = 2**31) -> None:
    """Check every tag of a MAT file of version 5; files of version 4 have none and pass.

    Args:
        content: the whole file.
        most: bytes that its compressed elements may have together when they are unpacked.

    Raises:
        Damaged: a tag cannot be right.
        TooLarge: it unpacks to more.

    Examples:
        >>> import io, scipy.io
        >>> memory = io.BytesIO()
        >>> scipy.io.savemat(memory, {"force": [1.0, 2.0]})
        >>> require_skeleton(memory.getvalue())
        >>> require_skeleton(memory.getvalue()[:-4])
        Traceback (most recent call last):
        ...
        vibayes.io.mat5.Damaged: an element beyond the end of the file
    """
    if 0 in content[:4]:
        return  # of version 4, as SciPy decides it
    if len(content) < _HEADER:
        raise Damaged("less than a header")
    order = "<" if content[126:127] == b"I" else ">"
    unpacked = 0
    for element in _elements(content, order, _HEADER, len(content)):
        if element.type == _COMPRESSED:
            packed = zlib.decompressobj()
            inner = packed.decompress(content[element.start : element.stop], max(1, most - unpacked))
            unpacked += len(inner)
            if packed.unconsumed_tail:
                raise TooLarge(unpacked)
            for each in _elements(inner, order, 0, len(inner)):
                _require_matrix(inner, order, each, 0)
        else:
            _require_matrix(content, order, element, 0)


def _elements(content: bytes, order: str, start: int, stop: int) -> Iterator[Element]:
    while start < stop:
        if start + 8 > stop:
            raise Damaged("a tag cut short")
        kind, size = struct.unpack_from(f"{order}II", content, start)
        if kind >> 16:  # up to four bytes are kept within the tag itself
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise Damaged("a small element of more than four bytes")
            yield Element(kind, start + 4, start + 4 + size)
            start += 8
            continue
        if start + 8 + size > stop:
            raise Damaged("an element beyond the end of the file")
        yield Element(kind, start + 8, start + 8 + size)
        start += 8 + size + (0 if kind == _COMPRESSED else -size % 8)


def _require_matrix(content: bytes, order: str, element: Element, depth: int) -> None:
    if element.type != _MATRIX or depth > _DEEPEST:
        raise Damaged(f"an element of type {element.type} where a matrix should be")
    if element.start == element.stop:
        return  # how an empty cell is written
    inner = list(_elements(content, order, element.start, element.stop))
    if inner[0].type != _FLAGS or inner[0].stop - inner[0].start != 8:
        raise Damaged("a matrix without flags")
    (flags,) = struct.unpack_from(f"{order}I", content, inner[0].start)
    kind, parts = flags & 0xFF, inner[3:]
    if kind not in _CLASSES:
        raise Damaged(f"a matrix of class {kind}")
    if kind not in (_FUNCTION, _OPAQUE):
        if not _named(inner[1:3]):
            raise Damaged("a matrix without dimensions or name")
        size = _size(content, order, inner[1])
        _require_parts(content, order, kind, size, bool(flags & _COMPLEX), parts)
    for each in inner[1:]:
        if each.type == _MATRIX:
            _require_matrix(content, order, each, depth + 1)
        elif each.type not in _DATA:
            raise Damaged(f"an element of type {each.type} in a matrix")


def _named(parts: list[Element]) -> bool:
    return len(parts) == 2 and parts[0].type in _DIMENSIONS and parts[1].type in _NAME


def _size(content: bytes, order: str, element: Element) -> int:
    """How many entries a matrix has by its dimensions."""
    count = (element.stop - element.start) // 4
    dimensions = struct.unpack_from(f"{order}{count}i", content, element.start)
    if min(dimensions, default=-1) < 0:
        raise Damaged(f"dimensions {dimensions}")
    size = math.prod(dimensions)
    if max(dimensions) > _LARGEST or (size == 0 and math.prod(each for each in dimensions if each) > _LARGEST):
        raise Damaged(f"dimensions {dimensions}")
    return size


def _require_parts(content: bytes, order: str, kind: int, size: int, imaginary: bool, parts: list[Element]) -> None:
    """Check that a matrix has as many parts of the right types as its class and size ask for."""
    if kind in (_CELL, _STRUCTURE, _OBJECT):
        own = {_CELL: 0, _STRUCTURE: 2, _OBJECT: 3}[kind]  # names of fields and their length, and of a class
        if size > len(content):  # also of structures without fields
            raise Damaged(f"a matrix of {size} entries")
        fields = 1 if kind == _CELL else _fields(content, order, parts[own - 2 : own])
        wanted = [_MATRIX] * (size * fields) if size * fields <= len(parts) else None
        if wanted is None or [each.type for each in parts[own:]] != wanted:
            raise Damaged(f"{len(parts) - own} parts in a matrix of {size} entries with {fields} parts each")
        return
    # Of a sparse matrix, rows and columns come before the values.
    expected = {_SPARSE: 3, _TEXT: 1}.get(kind, 1) + (imaginary and kind != _TEXT)
    if len(parts) != expected or any(each.type not in _DATA for each in parts):
        raise Damaged(f"parts of types {[each.type for each in parts]} in a matrix of numbers")
    if kind == _TEXT:
        letters = _letters(content, parts[0])
        if letters < size and (letters or size > _BLANKS):
            raise Damaged("less letters than a text should have")


def _fields(content: bytes, order: str, parts: list[Element]) -> int:
    if not _named(parts) or parts[0].stop - parts[0].start != 4:
        raise Damaged("a structure without names of fields")
    (length,) = struct.unpack_from(f"{order}i", content, parts[0].start)
    if length <= 0:
        raise Damaged(f"names of {length} letters")
    return (parts[1].stop - parts[1].start) // length


def _letters(content: bytes, element: Element) -> int:
    """How many letters a text has."""
    text, wide = content[element.start : element.stop], {3: 2, 4: 2, 17: 2, 18: 4}.get(element.type, 1)
    if element.type == _UTF_8:
        return len(text.decode("utf-8", errors="replace"))
    return len(text) // wide
