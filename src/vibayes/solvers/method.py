"""The solvers a user chooses between: small objects whose fields are their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np

from vibayes.errors import InvalidInput

_MOST = 5
"""Derivatives of an integrated Wiener process."""
_NEEDED = {"Euler": 1000, "RungeKutta": 32, "ODEFilter": 40, "conditioned": 7}
"""Steps per period, by what `studies/solver_uncertainty.py` and `tests/test_default_solver.py` found; Euler's method,
whose error falls with the step alone, is never at hand with enough."""


class Running(eqx.Module):
    """Diffusion as the steps so far tell it: every intermediate posterior uses its own past alone."""


class Global(eqx.Module):
    """Diffusion as all steps of the record tell it: a first run finds it, a second uses it."""


class Solver(eqx.Module):
    """Base of every solver with steps of one length.

    Attributes:
        steps: per sample.
        displacement: of every mass at the first sample: a number, the name of an unknown, or one of these per mass.
        velocity: likewise.
    """

    steps: int = eqx.field(static=True, default=1, kw_only=True)
    displacement: Any = eqx.field(static=True, default=0.0, kw_only=True)
    velocity: Any = eqx.field(static=True, default=0.0, kw_only=True)

    def __check_init__(self) -> None:
        where = type(self).__name__
        require_count(f"{where}.steps", self.steps, 1, None)
        for name in ("displacement", "velocity"):
            _entries(f"{where}.{name}", getattr(self, name))

    def begins(self, masses: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Displacements and velocities at the first sample, numbers or names."""
        found = []
        for name in ("displacement", "velocity"):
            entries = _entries(f"{type(self).__name__}.{name}", getattr(self, name))
            if len(entries) not in (1, masses):
                expected = f"one entry, or one per mass ({masses})"
                raise InvalidInput(f"{type(self).__name__}.{name}", expected, f"{len(entries)}", "give as many")
            found.append(entries if len(entries) == masses else entries * masses)
        return found[0], found[1]

    @property
    def needed(self) -> int:
        """Steps per period of the fastest mode below which intervals are known to hold the truth too seldom."""
        return _NEEDED[type(self).__name__]

    @property
    def names(self) -> tuple[str, ...]:
        """Unknowns of the solver itself."""
        given = (*_entries("", self.displacement), *_entries("", self.velocity))
        return tuple(each for each in given if isinstance(each, str))


class Euler(Solver):
    """Euler's method, taken at its word: its error counts for nothing.

    Examples:
        >>> import vibayes as vb
        >>> vb.Euler(steps=4).steps
        4
    """


class RungeKutta(Solver):
    """The classical method of fourth order, taken at its word: its error counts for nothing.

    Examples:
        >>> import vibayes as vb
        >>> vb.RungeKutta().steps
        1
    """


class ODEFilter(Solver):
    """The solution of a differential equation as a Gaussian process that knows how wrong it may be.

    By default EKF1 conditioned on the samples, whose intervals hold the truth at a few steps per period already. The
    published solver is ``ODEFilter(linearised=False, corrected=False)``, EKF0: it is faster by far and needs some forty
    steps per period, with fewer it is too sure or loses the solution.

    Args:
        order: q, the number of derivatives followed, from 1 to 5; the error falls like the q-th power of the step.
        linearised: let covariances know how rates depend on the state (EKF1). Without (EKF0) they are the same for all
            parameters, unless samples correct them, and grow along the record even where the structure forgets its
            past.
        corrected: let measured samples correct the solution on the way, so that the likelihood is that of each sample
            given the equations and all samples before; without, given the equations alone.
        steps: per sample.
        diffusion: how much the highest derivative wanders: `Running()`, `Global()`, or a number or the name of an
            unknown, for all functions or one for each.
        second_order: follow displacements by Newton's law alone; without, velocities are functions of their own.
        displacement: of every mass at the first sample: a number, the name of an unknown, or one of these per mass.
        velocity: likewise.
        start_displacement: standard deviation of the displacement at the first sample; for EKF1 or with corrections.
        start_velocity: likewise.
        events: of laws with corners, at most so many per step at which the step is cut, so that none goes across; for
            EKF1 or with corrections. Without, laws change at the end of the step in which an event falls.

    Examples:
        >>> import vibayes as vb
        >>> solver = vb.ODEFilter(steps=2)
        >>> solver.order, solver.linearised, solver.corrected
        (3, True, True)
    """

    order: int = eqx.field(static=True, default=3)
    linearised: bool = eqx.field(static=True, default=True)
    corrected: bool = eqx.field(static=True, default=True)
    diffusion: Any = eqx.field(static=True, default=Running())
    second_order: bool = eqx.field(static=True, default=False)
    start_displacement: float = eqx.field(static=True, default=0.0)
    start_velocity: float = eqx.field(static=True, default=0.0)
    events: int = eqx.field(static=True, default=0)

    def __check_init__(self) -> None:
        least = 2 if self.second_order else 1
        require_count("ODEFilter.order", self.order, least, _MOST)
        if not isinstance(self.diffusion, Running | Global):
            _entries("ODEFilter.diffusion", self.diffusion, positive=True)
        for name in ("start_displacement", "start_velocity"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and 0.0 <= float(value) < np.inf):
                remedy = "give a standard deviation, zero or above"
                raise InvalidInput(f"ODEFilter.{name}", "a number from 0", repr(value), remedy)
        require_count("ODEFilter.events", self.events, 0, None)
        if self.events and not self.dense:
            remedy, got = "set linearised or corrected", "some, for covariances that all parameters share"
            raise InvalidInput("ODEFilter.events", "no events at which steps are cut", got, remedy)
        if not self.dense and (self.start_displacement or self.start_velocity):
            remedy = "set linearised or corrected, or make the displacement or velocity an unknown with a prior"
            got = "one, for covariances that all parameters share"
            raise InvalidInput("ODEFilter.start_displacement", "no deviation at the first sample", got, remedy)

    @property
    def needed(self) -> int:
        """Steps per period of the fastest mode below which intervals are known to hold the truth too seldom."""
        return _NEEDED["conditioned"] if self.linearised and self.corrected else _NEEDED["ODEFilter"]

    @property
    def dense(self) -> bool:
        """Whether every parameter set has a covariance of its own."""
        return self.linearised or self.corrected

    def diffusions(self, functions: int) -> tuple[Any, ...] | None:
        """Of every function, numbers or names; none where it is calibrated."""
        if isinstance(self.diffusion, Running | Global):
            return None
        entries = _entries("ODEFilter.diffusion", self.diffusion)
        if len(entries) not in (1, functions):
            expected = f"one entry, or one per function ({functions})"
            raise InvalidInput("ODEFilter.diffusion", expected, f"{len(entries)}", "give as many")
        return entries if len(entries) == functions else entries * functions

    @property
    def names(self) -> tuple[str, ...]:
        """Unknowns of the solver itself."""
        calibrated = isinstance(self.diffusion, Running | Global)
        own = () if calibrated else tuple(e for e in _entries("", self.diffusion) if isinstance(e, str))
        return tuple(dict.fromkeys((*super().names, *own)))


def require_count(where: str, value: Any, least: int, most: int | None) -> None:
    """A whole number within limits."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        span = f"a whole number from {least}" + ("" if most is None else f" to {most}")
        raise InvalidInput(where, span, repr(value), f"try {max(least, min(3, most or 3))}")


def _entries(where: str, given: Any, positive: bool = False) -> tuple[Any, ...]:
    """Numbers and names, one or several."""
    several = not isinstance(given, str) and isinstance(given, Sequence | np.ndarray)
    entries = tuple(given) if several else (given,)
    each: Any
    for each in entries:
        if isinstance(each, str) and each.strip():
            continue
        number = isinstance(each, int | float | np.number) and not isinstance(each, bool) and np.isfinite(each)
        if not number or (positive and np.less_equal(each, 0.0)):
            kind = "positive numbers" if positive else "numbers"
            raise InvalidInput(where, f"{kind} or names of unknowns", repr(each), "give one, or one for each")
    return entries
