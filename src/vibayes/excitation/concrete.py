"""Checks on numbers that are known when an object is built.

The same constructors run inside ``jax.jit`` and ``jax.vmap``, where a field is a tracer without a value;
there is nothing to compare then, and every check here passes silently.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput


def known(value: object) -> bool:
    """Whether ``value`` has numbers in it that can be looked at now.

    Examples:
        >>> from vibayes.excitation.concrete import known
        >>> known(3.0)
        True
        >>> import jax
        >>> seen = []
        >>> _ = jax.jit(lambda x: seen.append(known(x)) or x)(3.0)
        >>> seen
        [False]
    """
    return not isinstance(value, Tracer)


def require_finite(where: str, value: ArrayLike) -> None:
    """Refuse NaN and infinity.

    Examples:
        >>> from vibayes.excitation.concrete import require_finite
        >>> require_finite("Sine.phase", 0.5)
        >>> require_finite("Sine.phase", float("nan"))
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: Sine.phase: expected finite numbers, got nan; check where it came from.
    """
    if known(value):
        numbers = np.asarray(value)
        _refuse(where, numbers, ~np.isfinite(numbers), "finite numbers", "check where it came from")


def require_positive(where: str, value: ArrayLike, remedy: str) -> None:
    """Refuse NaN, infinity, zero and negative numbers.

    Examples:
        >>> from vibayes.excitation.concrete import require_positive
        >>> require_positive("Chirp.duration", 10.0, "give seconds")
        >>> require_positive("Chirp.duration", 0.0, "give seconds")
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: Chirp.duration: expected positive, finite numbers, got 0.0; give seconds.
    """
    if known(value):
        numbers = np.asarray(value)
        wrong = ~(np.isfinite(numbers) & (numbers > 0.0))
        _refuse(where, numbers, wrong, "positive, finite numbers", remedy)


def require_not_negative(where: str, value: ArrayLike, remedy: str) -> None:
    """Refuse NaN, infinity and negative numbers.

    Examples:
        >>> from vibayes.excitation.concrete import require_not_negative
        >>> require_not_negative("Chirp.stop_hz", 0.0, "give hertz")
        >>> require_not_negative("Chirp.stop_hz", -1.0, "give hertz")
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: Chirp.stop_hz: expected finite numbers from 0 up, got -1.0; give hertz.
    """
    if known(value):
        numbers = np.asarray(value)
        wrong = ~(np.isfinite(numbers) & (numbers >= 0.0))
        _refuse(where, numbers, wrong, "finite numbers from 0 up", remedy)


def require_count(where: str, value: object, least: int, remedy: str) -> None:
    """Refuse anything but a whole number (a Python ``int``) of at least ``least``.

    Examples:
        >>> from vibayes.excitation.concrete import require_count
        >>> require_count("samples", 2, 2, "give more")
        >>> require_count("samples", 1, 2, "give more")
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: samples: expected a whole number, 2 or more, got 1; give more.
    """
    # A bool is an int to Python, but True samples is a slip of the pen.
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(where, f"a whole number, {least} or more", repr(value), remedy)


def as_key(where: str, key: Any) -> jax.Array:
    """A key of ``jax.random``, made from a whole number where one came as seed.

    Examples:
        >>> from vibayes.excitation.concrete import as_key
        >>> as_key("noise.key", "today")
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: noise.key: expected a key of jax.random or a whole number, got 'today'; try 0.
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return jax.random.key(int(key))
    if not (isinstance(key, jax.Array) and (jnp.issubdtype(key.dtype, jax.dtypes.prng_key) or key.shape == (2,))):
        raise InvalidInput(where, "a key of jax.random or a whole number", repr(key), "try 0")
    return key


def _refuse(where: str, numbers: np.ndarray, wrong: np.ndarray, expected: str, remedy: str) -> None:
    """Raise for the first wrong entry, with its index when there is more than one entry."""
    if not np.any(wrong):
        return
    index = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    place = f"[{', '.join(str(int(axis)) for axis in index)}]" if index else ""
    raise InvalidInput(f"{where}{place}", expected, str(numbers[index]), remedy)
