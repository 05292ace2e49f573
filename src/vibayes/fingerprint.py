"""Short names for long things: two that differ in any number, word, setting or line of code of one's own have
different fingerprints.

A function of one's own is known by what it says and by all that it refers to: functions, classes and modules of one's
own, numbers and arrays, in its module or around it. What vibayes, Python and packages provide is known by its name.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from vibayes.own_code import is_own, names_in, own_files, source_of

_PLACE_IN_MEMORY = re.compile(r" at 0x[0-9a-fA-F]+")
_CHUNK = 1 << 20
_PLAIN = bool | int | float | complex | str | bytes | None | tuple | list | dict | np.ndarray


def fingerprint(*things: Any) -> str:
    """Of data, methods, arrays, numbers and words, and of all that they are made of.

    Examples:
        >>> import numpy as np
        >>> fingerprint({"a": np.arange(3)}) == fingerprint({"a": np.arange(3)})
        True
        >>> fingerprint({"a": np.arange(3)}) == fingerprint({"a": np.arange(3.0)})
        False
    """
    walk = _Walk()
    for thing in things:
        walk.feed(thing)
    return walk.hashed.hexdigest()


def fingerprints_of_code(*things: Any) -> dict[Path, str]:
    """SHA-256 of every file of one's own code that things are made of, files that these import included.

    Examples:
        >>> import vibayes as vb
        >>> fingerprints_of_code(vb.Spring("k"))
        {}
    """
    walk = _Walk()
    for thing in things:
        walk.feed(thing)
    return {path: fingerprint_of_file(path) for path in own_files(walk.own)}


def fingerprint_of_file(path: str | Path) -> str:
    """SHA-256 of the bytes, as ``sha256sum`` prints it."""
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


class _Walk:
    """Goes through all that things are made of, feeding a hash, and notes the code of one's own on the way."""

    def __init__(self) -> None:
        self.hashed = hashlib.blake2b(digest_size=32)
        self.own: list[Any] = []
        self._seen: dict[int, Any] = {}

    def feed(self, thing: Any) -> None:
        """Data, or code."""
        if isinstance(thing, FunctionType | MethodType | ModuleType | type | functools.partial):
            self._feed_code(thing)
        elif is_dataclass(thing):
            self._say(f"<{type(thing).__qualname__} ")
            self._feed_class(type(thing))
            for field in fields(thing):
                self._say(field.name)
                self.feed(getattr(thing, field.name, None))
        elif isinstance(thing, Mapping):
            self._say(f"<{len(thing)} named ")
            for name, value in list(thing.items()):
                self.feed(name)
                self.feed(value)
        elif isinstance(thing, list | tuple):
            self._say(f"<{len(thing)} of ")
            for each in thing:
                self.feed(each)
        elif isinstance(thing, set | frozenset):
            self.feed(sorted(map(_said, thing)))
        elif hasattr(thing, "__array__"):
            self._feed_array(np.asarray(thing))
        else:
            self._say(f"<{type(thing).__qualname__} {_said(thing)}")
            self._feed_object(thing)
        self._say(">")

    def _say(self, text: str) -> None:
        self.hashed.update(text.encode())

    def _feed_array(self, array: np.ndarray) -> None:
        if array.dtype == object:
            self.feed(array.tolist())
        else:
            self.hashed.update(f"<{array.dtype.str} {array.shape} ".encode() + array.tobytes())

    def _feed_code(self, thing: Any) -> None:
        if isinstance(thing, functools.partial):
            self.feed((thing.func, thing.args, thing.keywords))
        elif isinstance(thing, MethodType):
            self.feed((thing.__func__, thing.__self__))
        elif isinstance(thing, ModuleType):
            self._feed_module(thing)
        else:
            self._say(f"<{type(thing).__qualname__} {thing.__qualname__}")
            (self._feed_class if isinstance(thing, type) else self._feed_function)(thing)

    def _is_new(self, thing: Any) -> bool:
        """Whether code is one's own and was not met before; it may refer to itself."""
        if id(thing) in self._seen or not is_own(thing):
            return False
        self._seen[id(thing)] = thing
        self.own.append(thing)
        return True

    def _feed_function(self, function: Any) -> None:
        if not self._is_new(function):
            return
        self._say(source_of(function))
        self.feed((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            try:
                self.feed(cell.cell_contents)
            except ValueError:  # not filled yet
                self._say("<empty>")
        for name in sorted(names_in(function.__code__)):
            if name in function.__globals__ and not name.startswith("__"):
                self._say(name)
                self.feed(function.__globals__[name])

    def _feed_class(self, kind: type) -> None:
        if not self._is_new(kind):
            return
        for base in kind.__mro__[1:]:
            self._feed_class(base)
        for name, value in sorted(vars(kind).items()):
            function = getattr(value, "__func__", getattr(value, "fget", getattr(value, "__wrapped__", value)))
            if isinstance(function, FunctionType) or (isinstance(value, _PLAIN) and not name.startswith("_")):
                self._say(name)
                self.feed(function)

    def _feed_module(self, module: ModuleType) -> None:
        if not self._is_new(module):
            self._say(f"<module {module.__name__.rpartition('.')[2] if is_own(module) else module.__name__}")
            return
        for path in own_files([module]):
            self._say(f"<{path.name} {fingerprint_of_file(path)}>")

    def _feed_object(self, thing: Any) -> None:
        """Code and data of an object of one's own class, or of one that holds functions, as a compiled one does."""
        wrapped = getattr(thing, "__wrapped__", None)
        if callable(wrapped):
            self.feed(wrapped)
            return
        own = is_own(type(thing))
        if not own and not callable(thing):
            return
        self._feed_class(type(thing))
        for name, value in sorted(getattr(thing, "__dict__", {}).items()):
            if id(value) not in self._seen and (callable(value) or isinstance(value, _PLAIN)):
                self._say(name)
                self.feed(value)


def _said(thing: Any) -> str:
    """What a thing says of itself, without where it happens to be."""
    name = getattr(thing, "__qualname__", None) if callable(thing) else None
    return str(name) if name else _PLACE_IN_MEMORY.sub("", repr(thing))
