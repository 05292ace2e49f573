"""Short names for long things: two that differ in any number, word or setting have different fingerprints.

A function of yours is known by its name alone, for nothing more of it is the same when the program starts again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

_PLACE_IN_MEMORY = re.compile(r" at 0x[0-9a-fA-F]+")
_CHUNK = 1 << 20


def fingerprint(*things: Any) -> str:
    """Of data, methods, arrays, numbers and words, and of all that they are made of.

    Examples:
        >>> import numpy as np
        >>> fingerprint({"a": np.arange(3)}) == fingerprint({"a": np.arange(3)})
        True
        >>> fingerprint({"a": np.arange(3)}) == fingerprint({"a": np.arange(3.0)})
        False
    """
    hashed = hashlib.blake2b(digest_size=32)
    for thing in things:
        _feed(hashed, thing)
    return hashed.hexdigest()


def fingerprint_of_file(path: str | Path) -> str:
    """SHA-256 of the bytes, as ``sha256sum`` prints it."""
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


def _feed(hashed: Any, thing: Any) -> None:
    if is_dataclass(thing) and not isinstance(thing, type):
        hashed.update(f"<{type(thing).__qualname__} ".encode())
        for field in fields(thing):
            hashed.update(field.name.encode())
            _feed(hashed, getattr(thing, field.name, None))
    elif isinstance(thing, Mapping):
        hashed.update(f"<{len(thing)} named ".encode())
        for name, value in thing.items():
            _feed(hashed, name)
            _feed(hashed, value)
    elif isinstance(thing, list | tuple):
        hashed.update(f"<{len(thing)} of ".encode())
        for each in thing:
            _feed(hashed, each)
    elif isinstance(thing, set | frozenset):
        _feed(hashed, sorted(map(_said, thing)))
    elif hasattr(thing, "__array__"):
        array = np.asarray(thing)
        if array.dtype == object:
            _feed(hashed, array.tolist())
        else:
            hashed.update(f"<{array.dtype.str} {array.shape} ".encode() + array.tobytes())
    else:
        hashed.update(f"<{type(thing).__qualname__} {_said(thing)}".encode())
    hashed.update(b">")


def _said(thing: Any) -> str:
    """What a thing says of itself, without where it happens to be."""
    name = getattr(thing, "__qualname__", None) if callable(thing) else None
    return str(name) if name else _PLACE_IN_MEMORY.sub("", repr(thing))
