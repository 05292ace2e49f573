"""Bouc–Wen hysteresis, in the two sign conventions of the literature.

    wen:        dz/dt = A v − γ |v| |z|^(n−1) z − β v |z|^n
    benchmark:  dz/dt = α v − β (γ |v| |z|^(ν−1) z + δ v |z|^ν)

The force is z itself; any elastic part is a spring beside it. The absolute values make the rate non-smooth at v = 0
and z = 0: these are the events.
"""

from __future__ import annotations

from collections.abc import Iterator

import equinox as eqx
import numpy as np

from vibayes.structure.element import Check, Local, Parameter, Scalar
from vibayes.structure.elements.sign_switched import SMALL, SignSwitched, positive_power


class BoucWen(SignSwitched):
    """Bouc–Wen element in Wen's convention, dz/dt = A v − γ|v||z|^(n−1)z − β v|z|^n and f = z.

    Args:
        A: initial stiffness.
        beta: factor of v|z|^n.
        gamma: factor of |v||z|^(n−1)z, which dissipates.
        n: exponent, at least 1.
        velocity_events: locate v = 0.
        force_events: locate z = 0.

    Examples:
        >>> import vibayes as vb
        >>> element = vb.BoucWen(A=0.5, beta=0.25, gamma=0.25)
        >>> float(element.rates(vb.Local(0.0, 2.0, (1.0,), mode=0))[0])
        0.0
    """

    A: Parameter
    beta: Parameter
    gamma: Parameter
    n: Parameter = 1.0
    velocity_events: bool = eqx.field(static=True, default=True)
    force_events: bool = eqx.field(static=True, default=True)
    states = ("z",)
    simpler_at = {"n": SMALL}  # noqa: RUF012

    def force(self, local: Local) -> Scalar:
        """f = z."""
        return local.states[0]

    def located(self) -> tuple[bool, bool]:
        """Whether v = 0 and z = 0 are events."""
        return self.velocity_events, self.force_events

    def smooth_rates(self, local: Local, velocity_sign: Scalar, state_sign: Scalar) -> tuple[Scalar, ...]:
        """Rate of z with the signs known."""
        pull = bouc_wen_pull(self.gamma, self.beta, self.n, local.states[0], velocity_sign, state_sign)
        return ((self.A - pull) * local.velocity,)

    def hysteretic_power(self, local: Local) -> Scalar:
        """z v."""
        return local.states[0] * local.velocity

    def checks(self) -> Iterator[Check]:
        """A bounded model."""
        yield from exponent_checks(self.n, "n")


class BoucWenBenchmark(SignSwitched):
    """Bouc–Wen element as in the benchmark of nonlinear identification: dz/dt = α v − β(γ|v||z|^(ν−1)z + δ v|z|^ν).

    Examples:
        >>> import vibayes as vb
        >>> element = vb.BoucWenBenchmark(alpha=5e4, beta=1e3, gamma=0.8, delta=-1.1, nu=1.0)
        >>> round(float(element.rates(vb.Local(0.0, 1.0, (10.0,), mode=0))[0]), 6)
        53000.0
    """

    alpha: Parameter
    beta: Parameter
    gamma: Parameter
    delta: Parameter
    nu: Parameter = 1.0
    velocity_events: bool = eqx.field(static=True, default=True)
    force_events: bool = eqx.field(static=True, default=True)
    states = ("z",)
    simpler_at = {"nu": SMALL}  # noqa: RUF012

    def force(self, local: Local) -> Scalar:
        """f = z."""
        return local.states[0]

    def located(self) -> tuple[bool, bool]:
        """Whether v = 0 and z = 0 are events."""
        return self.velocity_events, self.force_events

    def smooth_rates(self, local: Local, velocity_sign: Scalar, state_sign: Scalar) -> tuple[Scalar, ...]:
        """Rate of z with the signs known."""
        pull = bouc_wen_pull(self.gamma, self.delta, self.nu, local.states[0], velocity_sign, state_sign)
        return ((self.alpha - self.beta * pull) * local.velocity,)

    def hysteretic_power(self, local: Local) -> Scalar:
        """z v."""
        return local.states[0] * local.velocity

    def checks(self) -> Iterator[Check]:
        """A bounded model."""
        yield from exponent_checks(self.nu, "nu")


def bouc_wen_pull(
    dissipation: Scalar, shape: Scalar, exponent: Scalar, z: Scalar, velocity_sign: Scalar, state_sign: Scalar
) -> Scalar:
    """(b sgn(v) sgn(z) + g) |z|^n: what softens the rate per unit of velocity."""
    return (dissipation * velocity_sign * state_sign + shape) * positive_power(state_sign * z, exponent)


def exponent_checks(exponent: Parameter, field: str) -> Iterator[Check]:
    """Below one the rate is not Lipschitz at z = 0 and solutions are not unique."""
    yield Check(np.asarray(exponent) < 1, field, "an exponent ≥ 1", "raise it")
