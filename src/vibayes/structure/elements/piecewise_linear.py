"""Piecewise-linear laws with any number of regions.

Sorted break points b_1 < … < b_{R−1} divide the axis into R regions with slopes k_1 … k_R. The law is continuous
and passes through (0, offset), wherever zero lies among the break points:

    f(q) = offset + ∫₀^q k(ξ) dξ,      q = d for a spring, q = v for a damper.

In region r it is f = k_r q + c_r. Continuity gives the intercepts up to a constant, c_{r+1} = c_r + (k_r − k_{r+1})
b_r, and f(0) = offset fixes that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure.element import Check, Element, Local, Parameter, Scalar, choose


class _PiecewiseLinear(Element):
    """Shared by spring and damper, which differ only in what they respond to."""

    slopes: tuple[Parameter, ...]
    breaks: tuple[Parameter, ...]
    offset: Parameter = 0.0
    intercepts: tuple[Scalar, ...] | None = None
    centred: bool = eqx.field(static=True, default=False)
    affine = True
    ordered = True

    def __check_init__(self):
        if len(self.slopes) != len(self.breaks) + 1:
            raise InvalidInput(
                f"{type(self).__name__}.breaks",
                f"one break point fewer than slopes ({len(self.slopes) - 1})",
                f"{len(self.breaks)}",
                "give the border of each pair of neighbouring regions",
            )

    @classmethod
    def around_zero(
        cls, central: Parameter, others: Sequence[Parameter], breaks: Sequence[Parameter], offset: Parameter = 0.0
    ) -> Self:
        """By the slope of the region that contains zero, and those of the others from left to right.

        For an identification in which a break point may turn out to lie on either side of zero: the central slope
        stays central wherever the break points go.

        Examples:
            >>> import vibayes as vb
            >>> for breaks in ((-1.0, 2.0), (1.0, 2.0)):
            ...     spring = vb.PiecewiseLinearSpring.around_zero(10.0, (20.0, 30.0), breaks)
            ...     print(vb.static_force(spring, deformation=[-2.0, 1.5, 3.0]).tolist())
            [-30.0, 15.0, 50.0]
            [-20.0, 20.0, 60.0]
        """
        return cls((central, *others), tuple(breaks), offset, centred=True)

    @abstractmethod
    def _argument(self, local: Local) -> Scalar:
        """Deformation or velocity."""

    @property
    def modes(self) -> tuple[str, ...]:
        """Regions from left to right."""
        return tuple(f"region {i + 1}" for i in range(len(self.slopes)))

    @property
    def regions(self) -> tuple[str, ...]:
        """As the modes, one region included; a stop that is free on one side is open there, and closed on the other."""
        free = [isinstance(slope, int | float) and slope == 0.0 for slope in self.slopes]
        if len(free) == 2 and sum(free) == 1 and not self.centred:
            return ("open", "closed") if free[0] else ("closed", "open")
        return self.modes

    def prepare(self) -> Element:
        """Slopes from left to right and intercepts of the regions, computed once."""
        slopes = self._from_left_to_right() if self.centred else self.slopes
        intercepts: list[Scalar] = [0.0]
        for b, left, right in zip(self.breaks, slopes[:-1], slopes[1:], strict=True):
            intercepts.append(intercepts[-1] + (left - right) * b)
        at_zero = choose(self._region(0.0), tuple(intercepts))
        intercepts = [c - at_zero + self.offset for c in intercepts]
        return replace(self, slopes=slopes, intercepts=tuple(intercepts), centred=False)

    def _from_left_to_right(self) -> tuple[Scalar, ...]:
        """The central slope in its place among the others."""
        central, *others = self.slopes
        zero = self._region(0.0)
        before, after = (*others, central), (central, *others)
        return tuple(
            jnp.where(i < zero, before[i], jnp.where(i == zero, central, after[i])) for i in range(len(self.slopes))
        )

    def _region(self, argument: Scalar) -> Scalar:
        return sum((jnp.where(argument > b, 1, 0) for b in self.breaks), jnp.int32(0))

    def force(self, local: Local) -> Scalar:
        """Resisting force in the given region."""
        if self.intercepts is None:
            return self.prepare().force(local)
        return choose(local.mode, self.slopes) * self._argument(local) + choose(local.mode, self.intercepts)

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Between the region's borders; the outermost regions have one."""
        if not self.breaks:
            return ()
        q, last = self._argument(local), len(self.breaks)
        below = jnp.where(local.mode == 0, 1.0, q - choose(local.mode - 1, self.breaks))
        above = jnp.where(local.mode == last, 1.0, choose(local.mode, self.breaks) - q)
        return below, above

    def guard_names(self) -> tuple[str, ...]:
        """Crossing of the region's lower and upper border."""
        return ("below", "above") if self.breaks else ()

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """To the neighbouring region."""
        below, above = fired
        return local.mode + jnp.where(above, 1, 0) - jnp.where(below, 1, 0), local.states

    def mode_at(self, local: Local) -> Scalar:
        """The region the argument lies in."""
        return self._region(self._argument(local))

    def checks(self) -> Iterator[Check]:
        """Break points in order, no two equal."""
        for i, (low, high) in enumerate(zip(self.breaks[:-1], self.breaks[1:], strict=True)):
            yield Check(
                ~(np.asarray(low) < np.asarray(high)),
                "breaks",
                f"break points in increasing order, no two equal (points {i + 1} and {i + 2})",
                "sort them, and merge regions of no width",
            )


class PiecewiseLinearSpring(_PiecewiseLinear):
    """Elastic spring whose stiffness changes from region to region of the deformation.

    Args:
        slopes: stiffness of each region, from left to right.
        breaks: deformations at the borders, increasing.
        offset: force at zero deformation.

    Examples:
        >>> import vibayes as vb
        >>> trilinear = vb.PiecewiseLinearSpring((3e3, 1e3, 7e3), (-1e-3, 0.5e-3))
        >>> trilinear.modes
        ('region 1', 'region 2', 'region 3')
        >>> vb.static_force(trilinear, deformation=[-2e-3, 0.0, 1e-3]).tolist()
        [-4.0, 0.0, 4.0]
    """

    def _argument(self, local: Local) -> Scalar:
        return local.deformation


class PiecewiseLinearDamper(_PiecewiseLinear):
    """Damper whose coefficient changes from region to region of the velocity.

    With an ``offset`` it is the static map of a shock absorber: force as a function of velocity alone, not zero at
    rest.

    Examples:
        >>> import vibayes as vb
        >>> absorber = vb.PiecewiseLinearDamper((50.0, 400.0, 80.0), (-0.2, 0.1), offset=12.0)
        >>> vb.static_force(absorber, velocity=[0.0, 0.1, 1.1]).tolist()
        [12.0, 52.0, 132.0]
    """

    def _argument(self, local: Local) -> Scalar:
        return local.velocity


def gap(stiffness: Parameter, contact: Parameter, side: int = 1) -> PiecewiseLinearSpring:
    """A stop that is touched when the deformation passes ``contact``.

    Args:
        stiffness: of the stop.
        contact: deformation at which it is touched; negative for a stop on the negative side.
        side: 1 for a stop that resists larger deformations, −1 for one that resists smaller ones.

    Examples:
        >>> import vibayes as vb
        >>> vb.static_force(vb.gap(1e4, 0.01), deformation=[0.0, 0.01, 0.02]).tolist()
        [0.0, 0.0, 100.0]
    """
    if side not in (1, -1):
        raise InvalidInput("gap.side", "1 or −1", repr(side), "say on which side the stop lies")
    if not isinstance(contact, str) and np.any(np.asarray(contact) * side < 0):
        raise InvalidInput(
            "gap.contact",
            f"a deformation that is {'positive' if side > 0 else 'negative'} for side={side}",
            repr(contact),
            "change its sign, or the side",
        )
    slopes = (0.0, stiffness) if side > 0 else (stiffness, 0.0)
    return PiecewiseLinearSpring(slopes, (contact,))
