"""Plain values of a study file, fitted to the type that an argument asks for."""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.study.mistakes import Deferred, Mistakes, UntrustedModule, require_table, shown
from vibayes.study.signatures import NumberOrName, Numbers

_LARGEST = 2**63 - 1
_PLAIN = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "text",
    NumberOrName: "a number or the name of an unknown",
    Numbers: "a number or a list of numbers",
    np.ndarray: "a list of numbers",
}


class Refer(Protocol):
    """How values that are no plain data are found."""

    def made(self, value: Any, where: str, kinds: tuple[type, ...]) -> Any:
        """The object of one of these kinds that a table or a word stands for."""
        ...

    def function(self, value: Any, where: str) -> Callable[..., Any]:
        """The function that a word stands for."""
        ...


def fitted(value: Any, hint: Any, where: str, refer: Refer, default: Any = None) -> Any:
    """A value of the file as the type that is asked for.

    Args:
        value: as TOML has it.
        hint: the type.
        where: path of the key.
        refer: what makes objects of tables and finds functions.
        default: of the argument; where that is infinite, infinity is a value too.
    """
    if hint in _PLAIN:
        return _plain(value, hint, where, default)
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _any_of(value, [each for each in inside if each is not types.NoneType], where, refer, default)
    if origin is Callable or hint is Callable:
        return refer.function(value, where)
    if is_class(origin) and issubclass(origin, Mapping):
        table = require_table(where, value)
        found = Mistakes()
        made = {key: found.attempt(fitted, each, inside[1], f"{where}.{key}", refer) for key, each in table.items()}
        found.end()
        return made
    if is_class(origin) and issubclass(origin, Sequence):
        return _several(value, inside, where, refer)
    if is_class(hint) and hint.__module__ != "builtins":
        if not isinstance(value, dict | str):
            raise InvalidInput(
                where, f"a table that declares a {hint.__name__}", shown(value), "give its type and keys"
            )
        return refer.made(value, where, (hint,))
    return anything(value, where, refer)


def is_class(hint: Any) -> bool:
    """Whether a hint is a class to test instances with, and no list[...] of something."""
    return inspect.isclass(hint) and typing.get_origin(hint) is None and hint is not Any


def _any_of(value: Any, options: list[Any], where: str, refer: Refer, default: Any) -> Any:
    """The value as the first of several types that it fits."""
    if Any in options:
        return anything(value, where, refer)
    objects = tuple(each for each in options if each not in _PLAIN and is_class(each))
    functions = any(each not in _PLAIN and typing.get_origin(each) is Callable for each in options)
    if isinstance(value, dict) and (objects or functions):
        made = refer.made(value, where, () if functions else objects)
        if functions and not (callable(made) or isinstance(made, objects)):
            raise InvalidInput(f"{where}.type", _listed([], objects) or "a function", shown(made), "choose another")
        return made
    problems = []
    for option in [each for each in options if each not in objects]:
        try:
            return fitted(value, option, where, refer, default)
        except (Deferred, UntrustedModule):
            raise
        except InvalidInput as problem:
            problems.append(problem)
    if isinstance(value, str) and objects:
        return refer.made(value, where, objects)
    if len(problems) == 1:
        raise problems[0]
    deeper = [each for each in problems if each.where != where]
    if deeper:
        raise deeper[0]
    raise InvalidInput(where, _listed(problems, objects), shown(value), "give one of these")


def _listed(problems: list[InvalidInput], objects: tuple[type, ...]) -> str:
    """Everything that would have been accepted."""
    return " or ".join(dict.fromkeys([*(each.expected for each in problems), *(f"a {o.__name__}" for o in objects)]))


def _several(value: Any, inside: tuple[Any, ...], where: str, refer: Refer) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(where, "a list", shown(value), "put it in square brackets")
    fixed = len(inside) > 1 and inside[-1] is not Ellipsis
    if fixed and len(value) != len(inside):
        raise InvalidInput(where, f"{len(inside)} entries", f"{len(value)}", "give as many")
    hints: Iterable[Any] = inside if fixed else [inside[0] if inside else Any] * len(value)
    found = Mistakes()
    pairs = enumerate(zip(value, hints, strict=True))
    made = [found.attempt(fitted, each, hint, f"{where}[{i}]", refer) for i, (each, hint) in pairs]
    found.end()
    return tuple(made)


def anything(value: Any, where: str, refer: Refer) -> Any:
    """A value whose type nobody states: tables with a type become objects, the rest stays as it is."""
    if isinstance(value, dict):
        if "type" in value:
            return refer.made(value, where, ())
        return {key: anything(each, f"{where}.{key}", refer) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(anything(each, f"{where}[{i}]", refer) for i, each in enumerate(value))
    if isinstance(value, bool | str):
        return value
    return _number(value, where, "text or a number", None)


def _plain(value: Any, hint: Any, where: str, default: Any) -> Any:
    expected = _PLAIN[hint]
    if hint is bool or hint is str:
        if isinstance(value, hint):
            return value
        remedy = "write it in quotes" if hint is str else "write it without quotes"
        raise InvalidInput(where, expected, shown(value), remedy)
    if hint is NumberOrName and isinstance(value, str):
        if value.strip() == value and value.isprintable() and value:
            return value
        raise InvalidInput(where, expected, shown(value), "give it a name that can be read")
    if hint in (Numbers, np.ndarray) and isinstance(value, list | tuple):
        return _array(value, where)
    number = _number(value, where, expected, default)
    if hint is int and not isinstance(number, int):
        raise InvalidInput(where, expected, shown(value), "write it without a decimal point")
    return float(number) if hint is float else number


def _number(value: Any, where: str, expected: str, default: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        remedy = "write it without quotes" if _reads_as_number(value) else "write a number"
        raise InvalidInput(where, expected, shown(value), remedy)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise InvalidInput(where, "a number of ordinary size", "a larger one", "write it as 1e20")
    endless = isinstance(default, float) and math.isinf(default)
    if math.isnan(value) or (math.isinf(value) and not endless):
        raise InvalidInput(where, "a finite number", shown(value), "leave the key out if there is no limit")
    return value


def _array(value: Sequence[Any], where: str) -> np.ndarray:
    def checked(each: Any, path: str) -> Any:
        if isinstance(each, list | tuple):
            return [checked(inner, f"{path}[{i}]") for i, inner in enumerate(each)]
        return float(_number(each, path, "a number", None))

    try:
        return np.asarray(checked(value, where), float)
    except ValueError as problem:
        if isinstance(problem, InvalidInput):
            raise
        raise InvalidInput(where, "rows of equal length", "others", "give as many numbers in each") from None


def _reads_as_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, str)
