"""What a word in a study file stands for: ``Spring`` and ``Structure.chain`` are names of vibayes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.study.mistakes import shown


@functools.cache
def public_names() -> Mapping[str, Any]:
    """Everything of vibayes that a study file may name: plain data, methods, and functions.

    Classes whose making does something, as `Journal` opens a file, are not among them.

    Examples:
        >>> "Spring" in public_names(), "Structure" in public_names()
        (True, True)
    """
    import vibayes

    found = {name: getattr(vibayes, name) for name in vibayes.__all__}
    return {name: value for name, value in found.items() if _nameable(value)}


def resolved(where: str, name: Any, known: Mapping[str, Any]) -> Callable[..., Any]:
    """The class or function of vibayes that a word stands for.

    Args:
        where: path of the key, for the message.
        name: the word.
        known: names of vibayes that make sense here.

    Examples:
        >>> resolved("type", "Structure.chain", public_names()).__name__
        'chain'
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(where, "a name as text", shown(name), 'write it in quotes, as "Spring"')
    head, *rest = name.split(".")
    found = known.get(head)
    for each in rest:
        found = inspect.getattr_static(found, each, None)
        found = found.__get__(None, known[head]) if isinstance(found, classmethod | staticmethod) else None
    if found is None:
        everything = [*known, *_ways(known)]
        raise InvalidInput(where, "a name of vibayes or an import path", repr(name), nearest(name, everything))
    return found


def _nameable(value: Any) -> bool:
    if inspect.isclass(value):
        return is_dataclass(value) or issubclass(value, tuple)
    return inspect.isfunction(value)


def _ways(known: Mapping[str, Any]) -> list[str]:
    """Other constructors, such as ``Structure.chain``."""
    found = []
    for name, value in known.items():
        if inspect.isclass(value):
            for base in value.__mro__:
                if base.__module__.startswith("vibayes"):
                    own = [each for each, way in vars(base).items() if isinstance(way, classmethod)]
                    found += [f"{name}.{each}" for each in own if not each.startswith("_")]
    return found
