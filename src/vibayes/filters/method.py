"""The filters a user chooses between: small objects whose fields are their settings."""

from __future__ import annotations

import equinox as eqx
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.filters.transforms import Linearised, SigmaPoints, Transform

_PLAIN = 1.0, 0.0, 0.0
"""α, β and κ of the transform that is not scaled."""


class Filter(eqx.Module):
    """Base of every filter.

    Attributes:
        steps: of integration per sample.
        start_displacement: standard deviation of the displacement of every mass at the first sample, about rest, in
            place of the start that the structure has (`Structure.driven_by`).
        start_velocity: likewise of their velocities.
    """

    steps: int = eqx.field(static=True, default=1)
    start_displacement: float = eqx.field(static=True, default=0.0)
    start_velocity: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        where = type(self).__name__
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or self.steps < 1:
            raise InvalidInput(f"{where}.steps", "a whole number from 1", repr(self.steps), "try 1")
        for name in ("start_displacement", "start_velocity"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and 0.0 <= float(value) < np.inf):
                remedy = "give a standard deviation, zero or above"
                raise InvalidInput(f"{where}.{name}", "a number from 0", repr(value), remedy)

    @property
    def transform(self) -> Transform:
        """What it does with a Gaussian."""
        raise NotImplementedError


class UnscentedFilter(Filter):
    """The unscented Kalman filter, in square roots: for any structure, without derivatives.

    Sigma points lie √c standard deviations from the mean. With n the number of coordinates that are transformed (states
    of structure and processes and, in a prediction, two amplitudes of every white noise that acts on a nonlinear
    structure), the textbooks' λ is c − n; give either c, or α, β and κ of the scaled transform, where
    c = α² (n + κ). Weights may be negative; where a covariance then loses its sign, likelihood and estimate are NaN.

    Args:
        steps: of integration per sample.
        start_displacement: standard deviation of the displacement of every mass at the first sample.
        start_velocity: likewise of their velocities.
        spread: c = n + λ, positive. By default n, or 3 with fewer coordinates, so that no weight is negative; 3 for
            λ = 3 − n.
        alpha: scales the distance of the points, above 0; by default 1 where β or κ are given.
        beta: adds to the weight of the point in the middle in covariances; 2 suits Gaussians, 0 by default.
        kappa: above −n; 0 by default.

    Examples:
        >>> import vibayes as vb
        >>> vb.UnscentedFilter(steps=2).steps
        2
        >>> vb.UnscentedFilter(alpha=0.5, beta=2.0).transform.reach(4)  # c, and what c and β make of the covariance
        (1.0, 8.0)
    """

    spread: float | None = eqx.field(static=True, default=None)
    alpha: float | None = eqx.field(static=True, default=None)
    beta: float | None = eqx.field(static=True, default=None)
    kappa: float | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        for name, positive in (("spread", True), ("alpha", True), ("beta", False), ("kappa", False)):
            value = getattr(self, name)
            known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if value is not None and not (known and np.isfinite(value) and (value > 0.0 or not positive)):
                expected = "a positive number" if positive else "a number"
                remedy = "leave it out for weights that suit a Gaussian, or give 3 for the textbooks' λ = 3 − n"
                raise InvalidInput(f"UnscentedFilter.{name}", expected, repr(value), remedy)
        if self.spread is not None and self.scaled is not None:
            got, remedy = "spread and others", "give c = n + λ, or α, β and κ with c = α² (n + κ)"
            raise InvalidInput("UnscentedFilter.spread", "either spread or alpha, beta, kappa", got, remedy)

    @property
    def scaled(self) -> tuple[float, float, float] | None:
        """α, β and κ, if some of them were given."""
        given = self.alpha, self.beta, self.kappa
        if all(each is None for each in given):
            return None
        alpha, beta, kappa = (
            default if each is None else float(each) for each, default in zip(given, _PLAIN, strict=True)
        )
        return alpha, beta, kappa

    @property
    def transform(self) -> SigmaPoints:
        """By sigma points."""
        return SigmaPoints(self.spread, self.scaled)


class ExtendedFilter(Filter):
    """The extended Kalman filter, with derivatives by automatic differentiation: a second opinion.

    Examples:
        >>> import vibayes as vb
        >>> vb.ExtendedFilter().steps
        1
    """

    @property
    def transform(self) -> Transform:
        """By the derivative at the mean."""
        return Linearised()


class KalmanFilter(Filter):
    """The Kalman filter: exact, for linear structures only.

    Examples:
        >>> import vibayes as vb
        >>> vb.KalmanFilter().steps
        1
    """

    @property
    def transform(self) -> Transform:
        """A linear function is its own derivative."""
        return Linearised()
