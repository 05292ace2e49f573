"""Names that people type: say which known name was probably meant, and refuse two things of one name."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from vibayes.errors import InvalidInput

_COMPARED, _LENGTH = 5_000, 200


def nearest(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the likeliest names that were meant, or all there are.

    Args:
        name: the name that is not among `known`.
        known: the names that would have been accepted.

    Returns:
        The remedy of an error message, an imperative without its full stop.

    Examples:
        >>> nearest("forse", ["force", "acceleration"])
        "did you mean 'force'"
        >>> nearest("velocity", ["force", "mass"])
        "use one of 'force', 'mass'"
    """
    known = list(known)
    by_lower_case: dict[str, str] = {}
    for candidate in known:
        by_lower_case.setdefault(candidate.lower(), candidate)
    if name.lower() in by_lower_case:
        return f"did you mean {by_lower_case[name.lower()]!r}"
    # To compare takes a time that grows with both lengths, and who misspells a name does not mean one of thousands.
    few = [each for each in islice(by_lower_case, _COMPARED) if len(each) <= _LENGTH]
    close = difflib.get_close_matches(name.lower(), few, n=3, cutoff=0.6) if len(name) <= _LENGTH else []
    if close:
        return f"did you mean {' or '.join(repr(by_lower_case[each]) for each in close)}"
    return f"use one of {quoted(known)}" if known else "there is nothing to choose from"


def quoted(names: Sequence[str], at_most: int = 8) -> str:
    """Names for a message: quoted, separated by commas, and cut short when there are many.

    Examples:
        >>> quoted(["force", "mass"])
        "'force', 'mass'"
        >>> quoted(["a", "b", "c"], at_most=2)
        "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def require_names(where: str, names: Sequence[str]) -> tuple[str, ...]:
    """Check that every name is text worth printing and that no two are the same.

    Args:
        where: what to blame in the message, such as ``Record.output_names``.
        names: the names.

    Returns:
        The names as a tuple.

    Raises:
        InvalidInput: a name is not text, is blank, breaks the line, or comes twice.

    Examples:
        >>> require_names("Record.output_names", ["floor 1", "floor 2"])
        ('floor 1', 'floor 2')
    """
    for name in names:
        if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
            raise InvalidInput(
                where, "printable names without blanks at their ends", repr(name), "give each a short name"
            )
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InvalidInput(
            where, "names that differ", f"{quoted(repeated)} more than once", "rename all but one of them"
        )
    return tuple(names)
