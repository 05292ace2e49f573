"""Objects from tables: the key `type` names a class or a function, the other keys are its arguments.

    { type = "LogUniform", low = 1e3, high = 1e5 }       vb.LogUniform(low=1e3, high=1e5)

Values are fitted to the types that the signature asks for; tables within tables become objects on the way. An element
may have the keys `between` and `name` besides, which put it in its place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vibayes.constraints import Constraint
from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic, Sampled
from vibayes.naming import quoted
from vibayes.structure import Element, Link
from vibayes.study.imports import imported
from vibayes.study.mistakes import (
    Deferred,
    Mistakes,
    SeveralMistakes,
    at_key,
    require_known,
    require_table,
    shown,
)
from vibayes.study.names import public_names, resolved
from vibayes.study.signatures import Argument, arguments_of, result_of
from vibayes.study.trust import Trust
from vibayes.study.values import anything, fitted, is_class

_PLACE = ("between", "name")
_MOST_SAMPLES = 10_000_000
"""Of a signal that a study declares; they are made while it is read."""


@dataclass(frozen=True)
class Surroundings:
    """What a table may refer to: files and modules beside the study, trusted modules, elements of its structure.

    Data that are not where the study says have their path here.
    """

    folder: Path = Path()
    elements: Mapping[str, Element] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)
    importing: bool = True
    """Whether modules are imported; if not, what needs one is `Deferred`."""
    data: Path | None = None

    def found(self, where: str, name: Any, known: Mapping[str, Any]) -> Callable[..., Any]:
        """What a word stands for: a name of vibayes, or something of a module that is trusted."""
        if isinstance(name, str) and ":" in name:
            return imported(where, name, self.folder, self.trust, self.importing)
        return resolved(where, name, known)


def declared(
    table: Any, where: str, kinds: tuple[type, ...] = (), surroundings: Surroundings | None = None, default: str = ""
) -> Any:
    """The object that a table declares.

    Args:
        table: with a key `type` and the arguments of what it names; a name alone stands for a table without any.
        where: path of its key, for messages.
        kinds: classes that it may be of; any, if there are none.
        surroundings: what it may refer to.
        default: the type of a table that names none.

    Raises:
        InvalidInput: something does not fit; the message has the path of the key at fault.

    Examples:
        >>> declared({"type": "Uniform", "low": 0, "high": 2.5}, "priors.k")
        Uniform(low=0.0, high=2.5)
        >>> declared({"type": "Uniform", "low": 0, "hihg": 2.5}, "priors.k")
        Traceback (most recent call last):
        vibayes.study.mistakes.SeveralMistakes: priors.k.hihg: expected an argument of Uniform that is known here,
        got 'hihg'; did you mean 'high'.
    """
    surroundings = surroundings or Surroundings()
    table = {"type": table} if isinstance(table, str) else require_table(where, table)
    known = _suitable(kinds)
    if "type" not in table and not default:
        expected = f"a key `type`, such as {quoted(list(known), 5)}"
        raise InvalidInput(where, expected, shown(table), 'say what it is, as type = "..."')
    name = table.get("type", default)
    rest = {key: value for key, value in table.items() if key != "type"}
    make = _maker(where, name, rest, kinds, known, surroundings)
    arguments = arguments_of(make)
    place = {key: rest.pop(key) for key in _PLACE if key in rest and key not in arguments and _is_element(make)}
    made = called(make, str(name), rest, arguments, where, surroundings)
    if place:
        made = _placed(made, place, where)
    if kinds and not isinstance(made, _wanted(kinds)):
        expected = f"something such as {quoted(list(known), 5)}"
        raise InvalidInput(
            f"{where}.type", expected, f"{name!r}", "choose one of these, or derive yours from their base"
        )
    return made


def _maker(
    where: str,
    name: Any,
    rest: Mapping[str, Any],
    kinds: tuple[type, ...],
    known: Mapping[str, Any],
    around: Surroundings,
) -> Callable[..., Any]:
    """What makes the object: nothing is called that is not of the kinds that belong here."""
    try:
        make = around.found(f"{where}.type", name, known)
    except Deferred as waiting:
        found = Mistakes()
        refer = Reference(around, lambda each, path, inner: declared(each, path, inner, around))
        for key, value in rest.items():
            found.attempt(anything, value, f"{where}.{key}", refer)
        found.all.append(waiting)
        raise SeveralMistakes(found.all) from None
    if ":" not in str(name):
        return make
    result = result_of(make)
    fits = is_class(result) and (_is_of(result, _wanted(kinds)) if kinds else _is_a_part(result))
    if not fits and not inspect.isclass(make):
        remedy = "name a class, or annotate what the function returns"
        raise InvalidInput(f"{where}.type", "a class that fits here", f"{name!r}, a function", remedy)
    if not fits:
        expected = f"something such as {quoted(list(known), 5)}"
        remedy = "choose one of these, or derive yours from their base"
        raise InvalidInput(f"{where}.type", expected, f"{name!r}", remedy)
    return make


def _wanted(kinds: tuple[type, ...]) -> tuple[type, ...]:
    """Kinds that will do: an element may come with its place, and in its place without."""
    if Link in kinds:
        return (*kinds, Element)
    return (*kinds, Link) if any(is_class(kind) and issubclass(kind, Element) for kind in kinds) else kinds


def _is_a_part(result: type) -> bool:
    """Whether objects of a class can be parts of a declaration: they derive from ours, or can be called."""
    ours = any(base.__module__.partition(".")[0] == "vibayes" for base in result.__mro__)
    return ours or any("__call__" in vars(base) for base in result.__mro__)


def called(
    make: Callable[..., Any],
    name: str,
    given: Mapping[str, Any],
    arguments: Mapping[str, Argument],
    where: str,
    surroundings: Surroundings,
) -> Any:
    """What a class or function makes of the values of a table."""
    require_known(where, given, arguments, f"an argument of {name}")
    found = Mistakes()
    values: dict[str, Any] = {}
    for key, value in given.items():
        argument = arguments[key]
        hint = tuple[argument.hint, ...] if argument.several else argument.hint

        def build(each: Any, path: str, kinds: tuple[type, ...]) -> Any:
            return declared(each, path, kinds, surroundings)

        refer = Reference(surroundings, build)
        values[key] = found.attempt(fitted, value, hint, f"{where}.{key}", refer, argument.default)
    samples = values.get("samples")
    if isinstance(samples, int) and samples > _MOST_SAMPLES:
        expected = f"at most {_MOST_SAMPLES:,} samples"
        found.all.append(InvalidInput(f"{where}.samples", expected, f"{samples:,}", "take fewer"))
    missing = [each.name for each in arguments.values() if each.required and each.name not in given]
    if missing:
        expected, remedy = f"{quoted(missing)}, without which there is no {name}", "add what is missing"
        found.all.append(InvalidInput(where, expected, f"{quoted(list(given)) or 'nothing'}", remedy))
    found.end()
    positional = [each for name, value in values.items() if arguments[name].several for each in value]
    named = {name: value for name, value in values.items() if not arguments[name].several}
    return guarded(where, given, lambda: make(*positional, **named))


def guarded(where: str, keys: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """What a constructor gives; whatever it raises becomes a mistake at its key."""
    try:
        return make()
    except InvalidInput as problem:
        raise at_key(where, keys, problem) from None
    except Exception as problem:  # classes by import path may raise anything, and libraries below do too
        got = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
        raise InvalidInput(where, "values that it can be made of", got, "check its keys") from None


@dataclass(frozen=True)
class Reference:
    """How values that are no plain data are found: by building tables, by name, by import path."""

    surroundings: Surroundings
    build: Callable[[Any, str, tuple[type, ...]], Any]

    def made(self, value: Any, where: str, kinds: tuple[type, ...]) -> Any:
        """The object of one of these kinds that a table or a word stands for."""
        elements = self.surroundings.elements
        if isinstance(value, str) and kinds and elements and all(issubclass(kind, Element) for kind in kinds):
            if value not in elements:
                require_known(where, [value], elements, "the name of an element of the structure")
            return elements[value]
        return self.build(value, where, kinds)

    def function(self, value: Any, where: str) -> Callable[..., Any]:
        """The function that a word stands for, or what a table makes."""
        if isinstance(value, str):
            return self.surroundings.found(where, value, _functions())
        made = self.build(value, where, ())
        if not callable(made):
            raise InvalidInput(where, "a function", shown(value), "name one by its import path")
        return made


def _placed(element: Any, place: Mapping[str, Any], where: str) -> Link:
    ends, name = place.get("between"), place.get("name")
    if ends is None:
        raise InvalidInput(f"{where}.name", "a place too", "a name alone", 'write between = ["ground", "m1"]')
    if not (isinstance(ends, list | tuple) and len(ends) == 2 and all(isinstance(each, str) for each in ends)):
        remedy = 'write between = ["ground", "m1"]'
        raise InvalidInput(f"{where}.between", "the names of two points", shown(ends), remedy)
    if not (name is None or isinstance(name, str)):
        raise InvalidInput(f"{where}.name", "text", shown(name), "put it in quotes")
    return element.between(ends[0], ends[1], name)


def _is_element(make: Any) -> bool:
    result = result_of(make)
    return is_class(result) and issubclass(result, Element)


@functools.cache
def _suitable(kinds: tuple[type, ...]) -> Mapping[str, Any]:
    """Public names that make something of these kinds; of functions only those that make a part of a declaration."""
    wanted = (*kinds, Element) if Link in kinds else kinds
    found = {}
    for name, make in public_names().items():
        result = result_of(make)
        if inspect.isfunction(make) and not _makes_a_part(result):
            continue
        if not wanted or (is_class(result) and _is_of(result, wanted)):
            found[name] = make
    return found


@functools.cache
def _functions() -> Mapping[str, Any]:
    """Public functions that are settings of methods, as ways of resampling; none that reads or writes a file."""
    methods = "vibayes.samplers"
    return {name: each for name, each in public_names().items() if each.__module__.startswith(methods)}


def _makes_a_part(result: Any) -> bool:
    return result is Constraint or (is_class(result) and issubclass(result, (Element, Analytic, Sampled)))


def _is_of(result: type, kinds: tuple[type, ...]) -> bool:
    for kind in kinds:
        try:
            if issubclass(result, kind):
                return True
        except TypeError:  # a protocol with properties: its members say
            members = [name for name in vars(kind) if not name.startswith("_")]
            annotated = {name for base in result.__mro__ for name in inspect.get_annotations(base)}
            if members and all(hasattr(result, name) or name in annotated for name in members):
                return True
    return False
