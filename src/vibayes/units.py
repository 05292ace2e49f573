"""Units as people write them, checked and converted by `pint`.

A unit is kept as text (``"m/s^2"``), so that records stay plain data; the empty text means that it was not
stated. The habits of measurement files are understood: ``m/s2`` is m/s² and ``-`` is a
plain number.
"""

from __future__ import annotations

import re

import numpy as np
import pint

from vibayes.errors import InvalidInput
from vibayes.naming import nearest

_LONGEST = 100
_DEEPEST = 5
_NUMBER = r"\d{1,9}(?:\.\d{0,9})?(?:[eE][-+]?\d{1,2})?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<power>(?:\*\*|\^)\s*[-+]?\s*\(?\s*[-+]?(?P<exponent>\d{{1,2}}(?:\.\d{{0,3}})?(?!\d)))"
    rf"|(?P<name>[^\W\d²³¹⁰-⁹][^\W²³¹⁰-⁹]*|[%°′″$€])|(?P<number>{_NUMBER})|(?P<sign>[-/·.,()]|\*(?!\*)|[²³⁻¹]{{1,2}}(?![²³⁻¹])))\s*"
)
_MOST_POWER = 100.0
_POWER_WITHOUT_SIGN = re.compile(r"(?<=[A-Za-zµμΩ])(-?\d+)")


def require_unit(where: str, text: str) -> str:
    """Check that a unit is known, and return it as `pint` reads it.

    Args:
        where: what to blame in the message, such as ``Record.units['force']``.
        text: the unit; empty when it is not stated.

    Returns:
        The unit's text, with ``m/s2`` written as ``m/s^2`` and ``-`` as ``dimensionless``.

    Raises:
        InvalidInput: the unit is not known; the message suggests one that is.

    Examples:
        >>> require_unit("Record.units['acceleration']", "m/s2")
        'm/s^2'
        >>> require_unit("Record.units['force']", "Newton")
        Traceback (most recent call last):
        ...
        vibayes.errors.InvalidInput: Record.units['force']: expected a unit known to pint, got 'Newton';
        did you mean 'newton'.
    """
    if not isinstance(text, str):
        raise InvalidInput(where, "a unit as text, such as 'm/s^2'", repr(text), "write it as text")
    text = text.strip()
    if text == "":
        return ""
    if text == "-":
        return "dimensionless"
    if not _is_short(text):
        shown = repr(text if len(text) <= 40 else f"{text[:37]}...")
        raise InvalidInput(where, "a unit known to pint, in a few words", shown, "write it like 'm/s^2' or 'kN'")
    for candidate in (text, _POWER_WITHOUT_SIGN.sub(r"^\1", text)):
        if _is_short(candidate) and _parse(candidate) is not None:
            return candidate
    raise InvalidInput(where, "a unit known to pint", repr(text), _remedy(text))


def is_unit(text: str) -> bool:
    """Whether `require_unit` would accept this text.

    Examples:
        >>> is_unit("kN/mm"), is_unit("filtered")
        (True, False)
    """
    try:
        require_unit("unit", text)
    except InvalidInput:
        return False
    return True


def convert_values(where: str, values: np.ndarray, unit: str, target: str) -> np.ndarray:
    """Values expressed in another unit of the same dimension.

    Args:
        where: what to blame in the message, such as ``Record.convert('force')``.
        values: numbers in `unit`.
        unit: their unit.
        target: the unit to express them in, already checked by `require_unit`.

    Returns:
        The numbers in `target`, in double precision.

    Raises:
        InvalidInput: the unit is not stated, or the two measure different things.

    Examples:
        >>> import numpy as np
        >>> convert_values("Record.convert('force')", np.array([1.0, 2.5]), "kN", "N")
        array([1000., 2500.])
    """
    if not unit or not target:
        raise InvalidInput(
            where,
            "a unit to convert from and one to convert to",
            f"{unit!r} and {target!r}",
            "state the unit of every channel with units={...}",
        )
    if unit == target:
        return np.array(values, dtype=np.float64)
    registry = pint.get_application_registry()
    try:
        return np.asarray(registry.Quantity(np.array(values, dtype=np.float64), unit).to(target).magnitude)
    except pint.DimensionalityError as error:
        gravity = "for the acceleration of gravity write 'g_0' ('g' is the gram)"
        remedy = gravity if "g" in (unit, target) else f"use a unit of {error.dim1 or 'no dimension'}"
        raise InvalidInput(
            where, f"a unit of the same dimension as {unit!r}", repr(target), remedy.replace("**", "^")
        ) from None


def _is_short(text: str) -> bool:
    """Whether a text can be a unit, and not a sum that `pint` would work out, as 9**9**9**9.

    Numbers, names and signs follow one another; all powers together raise to no more than the hundredth.
    """
    if len(text) > _LONGEST or text.count("(") > _DEEPEST:
        return False
    place, power, before = 0, 1.0, ""
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None or token.end() == place:
            return False
        if token["power"]:
            power *= max(1.0, float(token["exponent"]))
            if before == "power" or power > _MOST_POWER:
                return False
        before, place = str(token.lastgroup if token["power"] is None else "power"), token.end()
    return True


def _parse(text: str) -> pint.Unit | None:
    try:
        return pint.get_application_registry().parse_units(text)
    except Exception:  # pint raises many kinds for text that is no unit: AssertionError, TokenError, TypeError...
        return None


def _remedy(text: str) -> str:
    registry = pint.get_application_registry()
    words = [word for word in re.findall(r"[^\W\d_]\w*", text) if _parse(word) is None]
    return nearest(words[0], dir(registry)) if words else "write it like 'm/s^2', 'kN' or 'mV'"
