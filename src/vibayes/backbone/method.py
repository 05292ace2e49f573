"""How measured points of backbones are compared with the equations of a normal form.

`BackboneResidual`: points are put into the equations, and what is left of those is the error (published eqs 16, 17).
`BackboneAmplitudes`: the equations are solved for the amplitudes at the measured frequencies (published eq. 15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from vibayes.backbone.form import NormalForm
from vibayes.backbone.scatter import ConstantScatter, Measured, Scatter, require_scatter
from vibayes.errors import InvalidInput

Array = Any
_ROUNDS, _CLOSE = 8, 1e-8
_CONSTANT = ConstantScatter()


@runtime_checkable
class BackboneMethod(Protocol):
    """A method: settings, and errors of measured points."""

    @property
    def order(self) -> int:
        """Of the normal form."""
        ...

    @property
    def scatter(self) -> Scatter:
        """Of the errors."""
        ...

    def errors(self, form: NormalForm, values: Mapping[str, Any], points: Measured) -> tuple[Array, Array | None]:
        """Errors (points, equations), and a shape that an unknown multiple of may be among them, or None."""
        ...


@dataclass(frozen=True)
class BackboneResidual:
    """Residuals of the backbone equations at the measured frequencies and amplitudes.

    Args:
        order: of the normal form. The published method is ``BackboneResidual(order=1, remainder=False)``.
        scatter: of the residuals.
        remainder: whether the first term that the normal form leaves out is allowed for: residuals may have an unknown
            multiple of it, standard normal and one for each equation. So they are not independent, and what the
            expansion cannot know widens the posterior instead of shifting it.

    Examples:
        >>> import vibayes as vb
        >>> vb.BackboneResidual(order=1, remainder=False)
        BackboneResidual(order=1, scatter=ConstantScatter(), remainder=False)
    """

    order: int = 2
    scatter: Scatter = _CONSTANT
    remainder: bool = True

    def __post_init__(self) -> None:
        require_scatter("BackboneResidual.scatter", self.scatter)
        if self.order not in (1, 2, 3) or (self.order == 3 and self.remainder):
            expected, remedy = "1 or 2, or 3 without its remainder", "begin with 1, and compare with 2"
            raise InvalidInput("BackboneResidual.order", expected, repr(self.order), remedy)

    def errors(self, form: NormalForm, values: Mapping[str, Any], points: Measured) -> tuple[Array, Array | None]:
        """Residuals, and the next term."""
        order = self.order + self.remainder
        found = form.expansions(points.frequency, points.amplitudes, values, order=order)
        residuals = (found.detuning + sum(found.resonant[: self.order])).real
        return residuals, found.resonant[self.order].real if self.remainder else None


@dataclass(frozen=True)
class BackboneAmplitudes:
    """Differences of measured amplitudes from those that solve the equations at the measured frequencies.

    Each point is solved by Newton's method from what was measured. A point that has no solution nearby makes the
    parameters impossible; use it where branches go straight, and `BackboneResidual` elsewhere.

    Args:
        order: of the normal form.
        scatter: of the amplitudes.

    Examples:
        >>> import vibayes as vb
        >>> vb.BackboneAmplitudes(order=1).order
        1
    """

    order: int = 2
    scatter: Scatter = _CONSTANT

    def __post_init__(self) -> None:
        require_scatter("BackboneAmplitudes.scatter", self.scatter)
        if self.order not in (1, 2, 3):
            remedy = "begin with 1, and compare with 2"
            raise InvalidInput("BackboneAmplitudes.order", "1, 2 or 3", repr(self.order), remedy)

    def errors(self, form: NormalForm, values: Mapping[str, Any], points: Measured) -> tuple[Array, Array | None]:
        """Differences; NaN where no solution is near."""

        def residual(amplitudes, frequency):
            return form.residuals(frequency[None], amplitudes[None], values)[0]

        def solved(frequency, measured):
            scale = frequency**2 * jnp.max(jnp.abs(measured))

            def newton(_, amplitudes):
                slope = jax.jacfwd(residual)(amplitudes, frequency)
                return amplitudes - jnp.linalg.solve(slope, residual(amplitudes, frequency))

            found = jax.lax.fori_loop(0, _ROUNDS, newton, measured)
            good = jnp.max(jnp.abs(residual(found, frequency))) < _CLOSE * scale
            # The trivial solution and other branches are not what was measured.
            near = jnp.max(jnp.abs(found - measured)) < 0.5 * jnp.max(jnp.abs(measured))
            return jnp.where(good & near, found, jnp.nan)

        return points.amplitudes - jax.vmap(solved)(points.frequency, points.amplitudes), None
