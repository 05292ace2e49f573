"""Heaps of texts in an HDF5 file, checked before its library reads them.

Texts of any length are kept in collections, each a header and objects one behind the other; object 0 is the room that
is left. The library goes from object to object by their sizes, and stays where it is for ever if that room says it has
no size. So every collection is walked here first.

    collection  =  "GCOL" · version 1 · 3 bytes · size (8 bytes) · objects
    object      =  index (2 bytes) · references (2 bytes) · 4 bytes · size (8 bytes) · content, to a multiple of 8 bytes
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from vibayes.errors import InvalidInput

_HEADER, _OBJECT = 16, 16


def require_heaps(where: str, path: Path) -> None:
    """Check that every heap of texts in an HDF5 file comes to an end.

    Args:
        where: the function and file to blame in messages.
        path: the file.

    Raises:
        InvalidInput: one does not.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(b"GCOL\x01")
        while start >= 0:
            if not _ends(content, start):
                got = f"a heap of texts without an end at byte {start:,}"
                raise InvalidInput(where, "a sound HDF5 file", got, "export the file again, it is damaged")
            start = content.find(b"GCOL\x01", start + 4)


def _ends(content: mmap.mmap, start: int) -> bool:
    if start + _HEADER > len(content):
        return True  # the library sees itself that this is none
    stop = start + struct.unpack_from("<Q", content, start + 8)[0]
    if stop > len(content):
        return True
    place = start + _HEADER
    while place + _OBJECT <= stop:
        index = struct.unpack_from("<H", content, place)[0]
        size = struct.unpack_from("<Q", content, place + 8)[0]
        if index == 0:
            return size >= _OBJECT and place + size <= stop
        place += _OBJECT + (size + 7) // 8 * 8
    return True
