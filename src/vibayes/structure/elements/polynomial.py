"""Smooth laws: a sum of powers of deformation or velocity.

    f(q) = Σ c_i q^p_i,      q = d for a spring, q = v for a damper.

A power that is not an integer is made odd, sgn(q) |q|^p, because a negative number has no such power.
"""

from __future__ import annotations

from abc import abstractmethod
from math import isfinite

import equinox as eqx

from vibayes.errors import InvalidInput
from vibayes.structure.element import Element, Local, Parameter, Scalar, sign_of
from vibayes.structure.elements.sign_switched import positive_power


class _Polynomial(Element):
    """Shared by spring and damper, which differ only in what they respond to."""

    coefficients: tuple[Parameter, ...] = eqx.field(converter=tuple)
    powers: tuple[int | float, ...] = eqx.field(converter=tuple, static=True)

    def __check_init__(self):
        where = f"{type(self).__name__}.powers"
        if len(self.powers) != len(self.coefficients):
            raise InvalidInput(
                where,
                f"one power per coefficient ({len(self.coefficients)})",
                f"{len(self.powers)}",
                "pair each coefficient with its power",
            )
        for power in self.powers:
            if not (isfinite(power) and power >= 0):
                raise InvalidInput(where, "powers ≥ 0", f"{power}", "leave out what is infinite at zero")

    @abstractmethod
    def _argument(self, local: Local) -> Scalar:
        """Deformation or velocity."""

    def force(self, local: Local) -> Scalar:
        """Sum of the terms."""
        q = self._argument(local)
        return sum((c * _power(q, p) for c, p in zip(self.coefficients, self.powers, strict=True)), 0.0)


class PolynomialSpring(_Polynomial):
    """Elastic spring, f = Σ c_i d^p_i, with sgn(d)|d|^p in place of d^p where p is not an integer.

    Args:
        coefficients: factor of each term.
        powers: power of each term, at least 0. Below 1 the stiffness at d = 0 would be infinite; that term's
            derivative there counts as zero.

    Examples:
        >>> import vibayes as vb
        >>> spring = vb.PolynomialSpring((100.0, "k2", 5.0), powers=(1, 2, 3))
        >>> vb.static_force(vb.PolynomialSpring((2.0, 1.0), (1, 1.5)), deformation=[-4.0, 4.0]).tolist()
        [-16.0, 16.0]
    """

    def _argument(self, local: Local) -> Scalar:
        return local.deformation


class PolynomialDamper(_Polynomial):
    """Damper, f = Σ c_i v^p_i, with sgn(v)|v|^p in place of v^p where p is not an integer.

    Args:
        coefficients: factor of each term.
        powers: power of each term, at least 0. A term of even power pushes the same way in both directions.

    Examples:
        >>> import vibayes as vb
        >>> damper = vb.PolynomialDamper((3.0, 0.5), powers=(1, 3))
        >>> vb.static_force(damper, velocity=[-2.0, 0.0, 2.0]).tolist()
        [-10.0, 0.0, 10.0]
    """

    def _argument(self, local: Local) -> Scalar:
        return local.velocity


def Duffing(stiffness: Parameter, cubic: Parameter) -> PolynomialSpring:  # noqa: N802 (a person's name)
    """The spring of Duffing's equation, f = k d + k₃ d³.

    Examples:
        >>> import vibayes as vb
        >>> vb.static_force(vb.Duffing(100.0, 5.0), deformation=[-2.0, 2.0]).tolist()
        [-240.0, 240.0]
    """
    return PolynomialSpring((stiffness, cubic), (1, 3))


def _power(base: Scalar, power: float) -> Scalar:
    """base^power: by squaring and multiplying where the power is an integer, odd in the base elsewhere."""
    if power != int(power):
        sign = sign_of(base)
        return sign * positive_power(sign * base, power)
    left, square, value = int(power), base, 1.0
    while left:
        if left % 2:
            value = value * square
        left //= 2
        if left:
            square = square * square
    return value
