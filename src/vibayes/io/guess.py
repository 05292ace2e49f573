"""Guesses from names and units: what is a clock, what drives a structure, and what it answers with.

A guess is a beginning for a person to correct, so it is made from what people usually write and nothing deeper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import pint

from vibayes.units import is_unit, require_unit

_CLOCKS = frozenset({"time", "t", "times", "clock", "sec", "secs", "second", "seconds", "zeit", "temps", "elapsed"})
_DRIVE = frozenset(
    """force f forces load shaker hammer impact excitation exc drive input in inputs u uu ground base table voltage volt
    command ref reference actuator motor torque impulse u1 u2 v1 f1 f2 uest uval""".split()
)
_ANSWER = frozenset(
    """acceleration accelerations accel acc a displacement displacements disp displ d position pos x y z velocity vel v
    response output out outputs gap strain rotation angle roof floor mass top travel y1 y2 v2 q qm a1 a2 a3 x1 x2 yest
    yval""".split()
)
_WORD = re.compile(r"[a-z]+\d*")
_FORCED = (
    ("[length]", "[mass]", "[time]^-2"),
    ("[length]^2", "[mass]", "[time]^-2"),
    ("[length]^-1", "[mass]", "[time]^-2"),
)
_MOVED = (("[length]",), ("[length]", "[time]^-1"), ("[length]", "[time]^-2"))
_SURELY_DRIVE = frozenset({"ground", "base", "table", "input", "excitation", "shaker", "hammer"})


class Described(Protocol):
    """A column as far as guesses need it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def samples(self) -> int: ...  # noqa: D102
    @property
    def low(self) -> float: ...  # noqa: D102
    @property
    def high(self) -> float: ...  # noqa: D102
    @property
    def role(self) -> str: ...  # noqa: D102


def words(name: str) -> list[str]:
    """The words of a name in small letters, without what is in brackets and without numbers behind long words.

    Examples:
        >>> words("Force_N (V)"), words("baseAcceleration2"), words("V1"), words("acc[2,:]")
        (['force', 'n'], ['base', 'acceleration'], ['v1'], ['acc'])
    """
    name = re.sub(r"[(\[].*?[)\]]", " ", name)
    found = _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return [word.rstrip("0123456789") if len(word) > 2 else word for word in found]


def is_clock(name: str, unit: str, certain: bool = True) -> bool:
    """Whether a column is called like a clock; if that need not be certain, whether it is measured in seconds.

    Examples:
        >>> is_clock("Time_s", ""), is_clock("x", "ms"), is_clock("x", "ms", certain=False)
        (True, False, True)
    """
    if certain:
        return bool(_CLOCKS & set(words(name)[:2]))
    return _dimension(unit) == ("[time]",)


def drives(name: str) -> bool:
    """Whether a column is called like something that drives a structure.

    Examples:
        >>> drives("shaker force"), drives("roof")
        (True, False)
    """
    return bool(_DRIVE & set(words(name)))


def suggest(columns: Sequence[Described]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of columns that probably drove the structure, and of those that it answered with.

    Columns of another length than most are left out, and so are those that never change.

    Args:
        columns: without that of times.

    Returns:
        Inputs and outputs.
    """
    stated = [column for column in columns if column.role]
    if stated:
        inputs, outputs = ([each.name for each in stated if each.role == role] for role in ("input", "output"))
        return tuple(inputs), tuple(outputs)
    lengths = [column.samples for column in columns]
    often = Counter(lengths)
    usual = max(often, key=lambda length: (often[length], length), default=0)
    usable = [column for column in columns if column.samples == usual and column.low < column.high]
    mechanical = {_bare(column) for column in usable if _dimension(column.unit) in _FORCED + _MOVED}
    # "Force (V)" beside "Force (N)" is what the sensor gave before it was calibrated.
    usable = [each for each in usable if _bare(each) not in mechanical or _dimension(each.unit) in _FORCED + _MOVED]
    leaning = {column.name: _leaning(column) for column in usable}
    inputs = [name for name, lean in leaning.items() if lean < 0]
    outputs = [name for name, lean in leaning.items() if lean > 0]
    unknown = [name for name, lean in leaning.items() if lean == 0]
    if not outputs:
        # Nothing answers by its name, so what is left must; the first drives if nothing else does.
        first = unknown[:1] if not inputs and len(unknown) > 1 else []
        inputs, outputs = inputs + first, unknown[len(first) :]
    return tuple(inputs), tuple(outputs)


def _bare(column: Described) -> str:
    return re.sub(r"\s*[(\[][^)\]]*[)\]]$", "", column.name) if column.unit else column.name


def _leaning(column: Described) -> int:
    """Negative for what drives, positive for what answers; names of drivers first, for a ground accelerates too."""
    said = set(words(re.split(r"[./]", column.name)[-1]))
    dimension = _dimension(column.unit)
    if said & _SURELY_DRIVE or dimension in _FORCED:
        return -1
    if dimension in _MOVED:
        return 1
    return -1 if said & _DRIVE else 1 if said & _ANSWER else 0


def _dimension(unit: str) -> tuple[str, ...] | None:
    """The dimensions of a unit as text, sorted; none if nothing is stated or nobody knows the unit."""
    if not unit.strip() or not is_unit(unit):
        return None
    parsed = pint.get_application_registry().parse_units(require_unit("unit", unit))
    return tuple(sorted(f"{name}^{power:g}" if power != 1 else name for name, power in parsed.dimensionality.items()))
