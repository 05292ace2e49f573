"""Bouc–Wen–Baber–Noori hysteresis: Bouc–Wen with degrading stiffness and strength, and pinching.

    r     = αkx + (1 − α)kz
    dz/dt = (h/η) [v − ν (β |v| |z|^(n−1) z + γ v |z|^n)]
    dε/dt = (1 − α) k z v                         hysteretic energy, the measure of damage
    η     = 1 + δ_η ε                             stiffness degradation
    ν     = 1 + δ_ν ε                             strength degradation
    h     = 1 − ζ₁ exp(−(z sgn(v) − q z_u)²/ζ₂²)  pinching
    z_u   = (ν (β + γ))^(−1/n)                    the limit of z
    ζ₁    = ζ₁₀ (1 − e^(−pε)),   ζ₂ = (ψ₀ + δ_ψ ε)(λ + ζ₁)

β and γ have changed places against Wen's convention in `BoucWen`: here it is β that dissipates.
"""

from __future__ import annotations

from collections.abc import Iterator

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Local, Parameter, Scalar, plain
from vibayes.structure.elements.bouc_wen import bouc_wen_pull, exponent_checks
from vibayes.structure.elements.sign_switched import SMALL, SignSwitched, positive_power

# exp(−27²) ≈ 1e-317: so many widths ζ₂ away from its centre the pinching is nil.
_REACH = 27.0
# Narrower than this it is nil too, and the square of the width, which derivatives divide by, would underflow.
_NARROWEST = 1e-100


class BoucWenBaberNoori(SignSwitched):
    """Bouc–Wen–Baber–Noori element, r = αkx + (1 − α)kz; see the module's docstring for the equations.

    With the degradation and pinching parameters left at zero this is the ordinary Bouc–Wen model,
    dz/dt = v − β|v||z|^(n−1)z − γ v|z|^n. z is a displacement, ε an energy.

    Args:
        alpha: ratio of post-yield to initial stiffness, between 0 and 1.
        k: initial stiffness.
        beta: factor of |v||z|^(n−1)z, which dissipates.
        gamma: factor of v|z|^n.
        n: exponent, at least 1.
        delta_eta: stiffness degradation per energy, δ_η.
        delta_nu: strength degradation per energy, δ_ν.
        q: where pinching is worst, as a part of z_u.
        zeta10: final severity of pinching ζ₁₀, from 0 (none) to below 1.
        p: rate at which pinching sets in, per energy.
        psi0: initial width of pinching ψ₀, a displacement.
        delta_psi: growth of the width per energy, δ_ψ.
        lam: how little the width depends on the severity, λ.
        velocity_events: locate v = 0.
        force_events: locate z = 0.

    Examples:
        >>> import vibayes as vb
        >>> plain = vb.BoucWenBaberNoori(alpha=0.1, k=10.0, beta=0.5, gamma=0.5, n=2)
        >>> rates = plain.rates(vb.Local(0.0, 2.0, states=(0.5, 0.0), mode=0))
        >>> [float(rate) for rate in rates]
        [1.5, 9.0]
        >>> pinching = vb.BoucWenBaberNoori(
        ...     0.1, "k", 1.5, -0.5, delta_eta="delta", zeta10=0.97, p=1.0, psi0=0.2, lam=0.1
        ... )
    """

    alpha: Parameter
    k: Parameter
    beta: Parameter
    gamma: Parameter
    n: Parameter = 1.0
    delta_eta: Parameter = 0.0
    delta_nu: Parameter = 0.0
    q: Parameter = 0.0
    zeta10: Parameter = 0.0
    p: Parameter = 0.0
    psi0: Parameter = 0.0
    delta_psi: Parameter = 0.0
    lam: Parameter = 0.0
    velocity_events: bool = eqx.field(static=True, default=True)
    force_events: bool = eqx.field(static=True, default=True)
    states = ("z", "energy")
    simpler_at = {"n": SMALL, "zeta10": (0.0,)}  # noqa: RUF012

    def force(self, local: Local) -> Scalar:
        """r = αkx + (1 − α)kz."""
        z, _ = local.states
        return self.k * (self.alpha * local.deformation + (1.0 - self.alpha) * z)

    def located(self) -> tuple[bool, bool]:
        """Whether v = 0 and z = 0 are events."""
        return self.velocity_events, self.force_events

    def smooth_rates(self, local: Local, velocity_sign: Scalar, state_sign: Scalar) -> tuple[Scalar, ...]:
        """Rates of z and of the energy with the signs known."""
        z, energy = local.states
        eta, nu = 1.0 + self.delta_eta * energy, 1.0 + self.delta_nu * energy
        pull = bouc_wen_pull(self.beta, self.gamma, self.n, z, velocity_sign, state_sign)
        pinching = self._pinching(z * velocity_sign, energy, nu)
        return pinching / eta * (1.0 - nu * pull) * local.velocity, self.hysteretic_power(local)

    def _pinching(self, loading: Scalar, energy: Scalar, nu: Scalar) -> Scalar:
        """h, with its limit 1 where the width ζ₂ vanishes; ``loading`` is z sgn(v)."""
        zeta10 = plain(self.zeta10)
        if isinstance(zeta10, int | float) and zeta10 == 0:
            return 1.0
        limit = positive_power(nu * (self.beta + self.gamma), -1.0 / plain(self.n))
        severity = -zeta10 * jnp.expm1(-self.p * energy)
        width = (self.psi0 + self.delta_psi * energy) * (self.lam + severity)
        away = loading - self.q * limit
        near = (jnp.abs(away) < _REACH * width) & (width > _NARROWEST)
        ratio = jnp.where(near, away, 0.0) / jnp.where(near, width, 1.0)
        return 1.0 - jnp.where(near, severity * jnp.exp(-ratio * ratio), 0.0)

    def hysteretic_power(self, local: Local) -> Scalar:
        """(1 − α)kzv."""
        return (1.0 - self.alpha) * self.k * local.states[0] * local.velocity

    def checks(self) -> Iterator[Check]:
        """Degradation that does not turn into growth, pinching that does not reverse the motion."""
        alpha, pinched = np.asarray(self.alpha), np.asarray(self.zeta10) > 0
        yield from exponent_checks(self.n, "n")
        yield Check(~((alpha >= 0) & (alpha <= 1)), "alpha", "a ratio of stiffnesses from 0 to 1", "check α")
        yield Check(~(np.asarray(self.k) > 0), "k", "a positive stiffness", "check the sign")
        for field in ("delta_eta", "delta_nu", "zeta10", "p", "psi0", "delta_psi", "lam"):
            yield Check(~(np.asarray(getattr(self, field)) >= 0), field, "a value ≥ 0", "check the sign")
        yield Check(~(np.asarray(self.zeta10) < 1), "zeta10", "a severity of pinching below 1", "lower it")
        bounded = np.asarray(self.beta) + np.asarray(self.gamma) > 0
        yield Check(pinched & ~bounded, "beta", "β + γ > 0 where there is pinching", "raise β or γ")
        growing = np.asarray(self.p) > 0
        yield Check(pinched & ~growing, "p", "p > 0 where there is pinching", "say how fast it sets in")
        wide = np.asarray(self.psi0) + np.asarray(self.delta_psi) > 0
        yield Check(pinched & ~wide, "psi0", "ψ₀ > 0 or δ_ψ > 0 where there is pinching", "give it a width")
