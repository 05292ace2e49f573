"""Mistakes in a study file, each at the path of its key, and all of them in one message."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vibayes.errors import InvalidInput
from vibayes.naming import nearest

Made = TypeVar("Made")
_SUBSCRIPT = re.compile(r"\[(['\"])(.*?)\1\]")


class InvalidStudy(InvalidInput):
    """A study file that cannot be used, with everything that was found wrong in it.

    Args:
        path: the file.
        mistakes: at least one.

    Examples:
        >>> from vibayes.study import InvalidStudy
        >>> low = InvalidInput("model[0].priors.k.low", "a number", "'ten'", "write a number")
        >>> print(InvalidStudy(Path("tower.toml"), [low]))
        tower.toml: model[0].priors.k.low: expected a number, got 'ten'; write a number.
    """

    def __init__(self, path: Path, mistakes: Sequence[InvalidInput]):
        first = mistakes[0]
        super().__init__(f"{path.name}: {first.where}", first.expected, first.got, first.remedy)
        self.mistakes = tuple(mistakes)
        if len(self.mistakes) > 1:
            lines = [f"{path.name}: {len(self.mistakes)} mistakes", *(f"  {each}" for each in self.mistakes)]
            self.args = ("\n".join(lines),)

    @property
    def untrusted(self) -> tuple[str, ...]:
        """Modules to trust, where nothing but trust is missing; empty where something else is wrong as well."""
        if not all(isinstance(each, UntrustedModule) for each in self.mistakes):
            return ()
        return tuple(dict.fromkeys(each.module for each in self.mistakes if isinstance(each, UntrustedModule)))


class Mistakes:
    """Collects what is wrong in independent parts of a file, so that one reading shows it all.

    Examples:
        >>> found = Mistakes()
        >>> def wrong():
        ...     raise InvalidInput("seed", "a whole number", "'one'", "write a number")
        >>> found.attempt(wrong) is None, len(found.all)
        (True, 1)
    """

    def __init__(self) -> None:
        self.all: list[InvalidInput] = []

    def attempt(self, make: Callable[..., Made], *arguments: Any) -> Made | None:
        """What `make` gives; None, and one more mistake, if it refuses."""
        try:
            return make(*arguments)
        except SeveralMistakes as problem:
            self.all += problem.mistakes
        except InvalidInput as problem:
            self.all.append(problem)
        return None

    @property
    def deferred(self) -> bool:
        """Whether something waits for an import."""
        return any(isinstance(each, Deferred) for each in self.all)

    def end(self) -> None:
        """Raise what was found, if anything was."""
        if self.all:
            raise SeveralMistakes(self.all)


class SeveralMistakes(InvalidInput):
    """Mistakes on their way to the top, where the name of the file is known."""

    def __init__(self, mistakes: Sequence[InvalidInput]):
        first = mistakes[0]
        super().__init__(first.where, first.expected, first.got, first.remedy)
        self.mistakes = tuple(mistakes)


class UntrustedModule(InvalidInput):
    """A study names code of a module that the user has not trusted.

    Attributes:
        module: its name.

    Examples:
        >>> UntrustedModule("model.simulator", "code that you trust", "'joints:law'", "know it first", "joints").module
        'joints'
    """

    def __init__(self, where: str, expected: str, got: str, remedy: str, module: str):
        super().__init__(where, expected, got, remedy)
        self.module = module


class Deferred(InvalidInput):
    """No mistake: something that nobody knows before code is imported, which waits until all the rest is sound."""


def at_key(where: str, keys: Collection[str], problem: InvalidInput) -> InvalidInput:
    """The same complaint at a key of the file, where an object of the library complained about its field.

    Examples:
        >>> problem = InvalidInput("Problem.priors['k']", "a positive value", "-1", "cut the prior there")
        >>> at_key("model[0]", ["priors"], problem).where
        'model[0].priors.k'
    """
    if isinstance(problem, SeveralMistakes | Deferred | UntrustedModule):
        return problem
    _, _, field = problem.where.partition(".")
    path = _SUBSCRIPT.sub(r".\2", field)
    if re.split(r"[.\[]", path)[0] in keys:
        return InvalidInput(f"{where}.{path}", problem.expected, problem.got, problem.remedy)
    if problem.where.startswith(where):
        return problem
    if not field:
        return InvalidInput(where, problem.expected, problem.got, problem.remedy)
    return InvalidInput(f"{where} ({problem.where})", problem.expected, problem.got, problem.remedy)


def require_known(where: str, given: Collection[Any], known: Collection[str], what: str = "a key") -> None:
    """Refuse keys that mean nothing here, all of them at once."""
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        place = f"{where}." if where else ""
        expected = f"{what} that is known here" if known else "no keys here"
        raise SeveralMistakes(
            [InvalidInput(f"{place}{key}", expected, f"{key!r}", nearest(key, known)) for key in unknown]
        )


def require_table(where: str, value: Any) -> dict[str, Any]:
    """A table of the file."""
    if isinstance(value, dict):
        return value
    raise InvalidInput(where, "a table", shown(value), f"write [{where}] on a line of its own, and its keys below")


def shown(value: Any) -> str:
    """What came, in the words of the file."""
    if isinstance(value, dict):
        return f"a table of {', '.join(map(repr, value)) or 'nothing'}"[:80]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > 200:
        return "a larger whole number"  # Python does not write those of thousands of digits
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
