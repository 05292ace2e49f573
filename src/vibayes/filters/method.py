"""The filters a user chooses between: small objects whose fields are their settings."""

from __future__ import annotations

import equinox as eqx
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.filters.transforms import Linearised, SigmaPoints, Transform


class Filter(eqx.Module):
    """Base of every filter.

    Attributes:
        steps: of integration per sample.
        start_displacement: standard deviation of the displacement of every mass at the first sample; by default the
            structure is at rest then.
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

    Args:
        steps: of integration per sample.
        start_displacement: standard deviation of the displacement of every mass at the first sample.
        start_velocity: likewise of their velocities.
        spread: n + λ, the squared distance of the sigma points in standard deviations, n being the number of states; at
            least n, so that no weight is negative. By default n, or 3 with fewer states.

    Examples:
        >>> import vibayes as vb
        >>> vb.UnscentedFilter(steps=2).steps
        2
    """

    spread: float | None = eqx.field(static=True, default=None)

    @property
    def transform(self) -> Transform:
        """By sigma points."""
        return SigmaPoints(self.spread)


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
