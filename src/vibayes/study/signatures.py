"""What a constructor asks for, read from its signature: names, types and defaults.

Study files need no list of classes: a new one is declared by the names of its constructor's arguments.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


class NumberOrName:
    """Stands for `Parameter` in annotations: a number, or the name of an unknown."""


class Numbers:
    """Stands for `ArrayLike` in annotations: a number, or lists of numbers."""


_MEANINGS = {
    "Parameter": NumberOrName,
    "ArrayLike": Numbers,
    "npt": SimpleNamespace(ArrayLike=Numbers),
}
"""Aliases that say more than the types they stand for."""


@dataclass(frozen=True)
class Argument:
    """One argument of a constructor."""

    name: str
    hint: Any
    default: Any
    several: bool
    """Whether it takes any number of positional values."""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty and not self.several


def arguments_of(make: Callable[..., Any]) -> dict[str, Argument]:
    """Arguments by name; none where a signature cannot be read.

    Examples:
        >>> import vibayes as vb
        >>> [(each.name, each.required) for each in arguments_of(vb.BilinearHysteresis).values()]
        [('stiffness', True), ('yield_displacement', True), ('ratio', False)]
        >>> arguments_of(vb.Spring)["stiffness"].hint.__name__
        'NumberOrName'
    """
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return {}
    namespaces = _namespaces(make)
    found = {}
    for name, parameter in parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            hint = _meaning(parameter.annotation, namespaces)
            if hint is Any and inspect.isclass(make):
                hint = _field(make, name)
            several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            found[name] = Argument(name, hint, parameter.default, several)
    return found


def result_of(make: Callable[..., Any]) -> Any:
    """What a function says that it returns, or the class itself."""
    if inspect.isclass(make):
        return make
    bound = getattr(make, "__self__", None)
    try:
        hint = _meaning(inspect.signature(make).return_annotation, _namespaces(make))
    except (TypeError, ValueError):
        return Any
    return bound if hint is typing.Self and inspect.isclass(bound) else hint


def _namespaces(make: Callable[..., Any]) -> list[Mapping[str, Any]]:
    """Where names in annotations may have been defined."""
    if inspect.isclass(make):
        modules = [sys.modules.get(base.__module__) for base in make.__mro__]
        return [vars(module) for module in modules if module is not None]
    return [getattr(inspect.unwrap(make), "__globals__", {})]


def _field(owner: type, name: str) -> Any:
    """The annotation of a field, where that of the constructor says nothing."""
    for base in owner.__mro__:
        annotation = inspect.get_annotations(base).get(name)
        module = sys.modules.get(base.__module__)
        if annotation is not None and module is not None:
            return _meaning(annotation, [vars(module)])
    return Any


def _meaning(annotation: Any, namespaces: list[Mapping[str, Any]]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return annotation
    for namespace in namespaces:
        try:
            return eval(text, {**namespace, **_MEANINGS})  # annotations of imported code, not of the file
        except Exception:  # a name that only type checkers see
            continue
    return Any
