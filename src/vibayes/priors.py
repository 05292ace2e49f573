"""What is believed of a parameter before the record is seen.

A prior is anything with ``icdf``: a function that takes a number between 0 and 1 to the value below which that share of
the belief lies. The five below have it, and so have most distributions of numpyro. Samplers work with the share instead
of the value: its prior is uniform whatever the parameter's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtr, ndtri

from vibayes.errors import InvalidInput


@runtime_checkable
class Prior(Protocol):
    """Any distribution of one number with an inverse cumulative distribution function."""

    def icdf(self, q: Any) -> Any:
        """Value below which the share q of the belief lies."""


@dataclass(frozen=True)
class Uniform:
    """Equally likely everywhere between two bounds.

    Examples:
        >>> import vibayes as vb
        >>> vb.Uniform(-1.0, 3.0).icdf(0.25)
        0.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _require_order("Uniform", self.low, self.high)

    def icdf(self, q: Any) -> Any:
        """Value below which the share q lies."""
        return self.low + (self.high - self.low) * q


@dataclass(frozen=True)
class LogUniform:
    """Equally likely in every decade between two positive bounds.

    Examples:
        >>> import vibayes as vb
        >>> round(float(vb.LogUniform(1.0, 100.0).icdf(0.5)), 9)
        10.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _require_order("LogUniform", self.low, self.high)
        if not self.low > 0:
            raise InvalidInput("LogUniform.low", "a positive number", repr(self.low), "use Uniform around zero")

    def icdf(self, q: Any) -> Any:
        """Value below which the share q lies."""
        return self.low * _library(q).power(self.high / self.low, q)


@dataclass(frozen=True)
class Normal:
    """The bell curve, cut to a range where bounds are given.

    Examples:
        >>> import vibayes as vb
        >>> float(vb.Normal(5.0, 2.0).icdf(0.5))
        5.0
        >>> float(vb.Normal(0.0, 1.0, low=0.0).icdf(0.0))
        0.0
    """

    mean: float
    standard_deviation: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        _require_deviation("Normal", self.standard_deviation)
        if not self.low < self.high:
            raise InvalidInput("Normal.high", f"a number above low = {self.low}", repr(self.high), "swap them")

    def icdf(self, q: Any) -> Any:
        """Value below which the share q lies."""
        below, above = (ndtr((edge - self.mean) / self.standard_deviation) for edge in (self.low, self.high))
        value = self.mean + self.standard_deviation * _quantile(below + (above - below) * q)
        return _library(q).clip(value, self.low, self.high)


@dataclass(frozen=True)
class LogNormal:
    """A positive number whose logarithm is normal.

    Args:
        median: half of the belief lies below it.
        factor: one standard deviation up is this factor, as 1.2 for about 20 %.

    Examples:
        >>> import vibayes as vb
        >>> float(vb.LogNormal(median=3.0, factor=1.5).icdf(0.5))
        3.0
    """

    median: float
    factor: float

    def __post_init__(self) -> None:
        if not self.median > 0:
            raise InvalidInput("LogNormal.median", "a positive number", repr(self.median), "use Normal around zero")
        if not self.factor > 1:
            raise InvalidInput("LogNormal.factor", "a number above 1", repr(self.factor), "write 20 % as 1.2")

    def icdf(self, q: Any) -> Any:
        """Value below which the share q lies."""
        return self.median * _library(q).power(self.factor, _quantile(q))


def normal_scores(prior: Prior, values: Any) -> np.ndarray:
    """Where samplers have the values: z of icdf(Φ(z)) = value, by halving, for a prior has no more than ``icdf``.

    Examples:
        >>> import vibayes as vb
        >>> normal_scores(vb.Normal(5.0, 2.0), [3.0, 9.0]).round(9).tolist()
        [-1.0, 2.0]
    """
    values = np.asarray(values, float)
    low, high = np.full(values.shape, -8.2), np.full(values.shape, 8.2)
    for _ in range(56):
        middle = 0.5 * (low + high)
        below = np.asarray(prior.icdf(ndtr(middle))) < values
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _library(q: Any) -> Any:
    """NumPy, or JAX for what it is tracing."""
    return jnp if isinstance(q, jax.Array) else np


def _quantile(q: Any) -> Any:
    """Of the standard normal."""
    return jax.scipy.special.ndtri(q) if isinstance(q, jax.Array) else ndtri(q)


def require_priors(where: str, priors: Any, names: tuple[str, ...]) -> dict[str, Prior]:
    """One prior for each name, in their order."""
    if not isinstance(priors, Mapping):
        raise InvalidInput(where, "priors by name", repr(priors), 'write them as {"k": Uniform(1, 2)}')
    unknown, missing = [n for n in priors if n not in names], [n for n in names if n not in priors]
    if unknown:
        raise InvalidInput(where, f"the unknowns {', '.join(names)}", ", ".join(map(str, unknown)), "remove the others")
    if missing:
        raise InvalidInput(where, f"a prior for each of {', '.join(names)}", f"none for {', '.join(missing)}", "add it")
    for name, prior in priors.items():
        if not isinstance(prior, Prior):
            remedy = "use Uniform, LogUniform, Normal, LogNormal or a numpyro distribution that has icdf"
            raise InvalidInput(f"{where}[{name!r}]", "a distribution with icdf", repr(prior), remedy)
    return {name: priors[name] for name in names}


def _require_order(where: str, low: float, high: float) -> None:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(where, "two finite bounds, low < high", f"{low} and {high}", "swap or separate them")


def _require_deviation(where: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        remedy = "give a width"
        raise InvalidInput(f"{where}.standard_deviation", "a positive number", repr(value), remedy)
