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
from vibayes.study.mistakes import Mistakes, at_key, require_known, require_table, shown
from vibayes.study.names import public_names, resolved
from vibayes.study.signatures import Argument, arguments_of, result_of
from vibayes.study.values import fitted, is_class

_PLACE = ("between", "name")


@dataclass(frozen=True)
class Surroundings:
    """What a table may refer to: files and modules beside the study, and elements of its structure by name.

    Data that are not where the study says have their path here.
    """

    folder: Path = Path()
    elements: Mapping[str, Element] = field(default_factory=dict)
    data: Path | None = None


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
    make = resolved(f"{where}.type", name, surroundings.folder, known)
    rest = {key: value for key, value in table.items() if key != "type"}
    arguments = arguments_of(make)
    place = {key: rest.pop(key) for key in _PLACE if key in rest and key not in arguments and _is_element(make)}
    made = _called(make, str(name), rest, arguments, where, surroundings)
    if place:
        made = _placed(made, place, where)
    wanted = (*kinds, Link) if Element in kinds or any(issubclass(kind, Element) for kind in kinds) else kinds
    if kinds and not isinstance(made, (*wanted, Element) if Link in kinds else wanted):
        expected = f"something such as {quoted(list(known), 5)}"
        raise InvalidInput(
            f"{where}.type", expected, f"{name!r}", "choose one of these, or derive yours from their base"
        )
    return made


def _called(
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
            functions = {name: each for name, each in public_names().items() if inspect.isfunction(each)}
            return resolved(where, value, self.surroundings.folder, functions)
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
