"""Bilinear hysteresis in two formulations that describe the same loops.

A line of slope k between two parallel envelopes of slope αk, r = αkx ± (1 − α) r_y.

*Mixed* (M): a Jenkins element (spring (1 − α)k in series with a slider of strength (1 − α) r_y) beside a spring αk.
The slider's state is z, the deformation of the spring in series: dz/dt = v, or 0 while sliding.

*Flow-controlled* (F): displacement only. On the elastic line r = k(x − O); the memory O and the ends H_l, H_u of
the line are reset whenever an envelope is left. Modes: I (elastic, last left the upper envelope), II (lower
envelope), III (elastic, last left the lower envelope), IV (upper envelope).

Turning points on the elastic line change nothing, so they are not events here (transitions 3 and 7 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Element, Local, Parameter, Scalar, choose

_ELASTIC, _SLIDING_ON, _SLIDING_BACK = 0, 1, 2
_I, _II, _III, _IV = 0, 1, 2, 3


class BilinearHysteresis(Element):
    """Bilinear hysteresis, mixed formulation: spring αk beside a Jenkins element.

    Args:
        stiffness: initial stiffness k.
        yield_displacement: x_y, where the first loading leaves the elastic line (r_y = k x_y).
        ratio: post-yield to initial stiffness, α.

    Examples:
        >>> import vibayes as vb
        >>> vb.BilinearHysteresis("k", "x_y", "alpha").modes
        ('elastic', 'yielding on', 'yielding back')
        >>> vb.BilinearHysteresis.from_yield_force(2.0, 1.5, 0.3).yield_displacement
        0.75
    """

    stiffness: Parameter
    yield_displacement: Parameter
    ratio: Parameter = 0.0
    states = ("z",)
    affine = True

    @classmethod
    def from_yield_force(cls, stiffness: float, yield_force: float, ratio: float = 0.0) -> BilinearHysteresis:
        """By known yield force instead of displacement."""
        return cls(stiffness, yield_force / stiffness, ratio)

    def start(self, deformation: Scalar | None = None) -> tuple[Scalar, ...]:
        """The slider has moved if the elastic range was left."""
        y = self.yield_displacement
        return (0.0,) if deformation is None else (jnp.clip(deformation, -y, y),)

    @property
    def modes(self) -> tuple[str, ...]:
        """Elastic, or the slider moving in either direction."""
        return ("elastic", "yielding on", "yielding back")

    def force(self, local: Local) -> Scalar:
        """r = αkx + (1 − α)kz."""
        (z,) = local.states
        return self.stiffness * (self.ratio * local.deformation + (1.0 - self.ratio) * z)

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """The spring in series follows unless the slider does."""
        return (jnp.where(local.mode == _ELASTIC, local.velocity, 0.0),)

    def bounds(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """|z| is at most the yield displacement."""
        return ((-self.yield_displacement, self.yield_displacement),)

    def free_mode(self, local: Local) -> Scalar:
        """Elastic: what goes beyond the yield displacement is cut off."""
        return jnp.int32(_ELASTIC)

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Elastic: |z| below the yield displacement. Yielding: the velocity keeps its sign."""
        (z,), y = local.states, self.yield_displacement
        return (
            choose(local.mode, (y - z, local.velocity, -local.velocity)),
            choose(local.mode, (y + z, 1.0, 1.0)),
        )

    def guard_names(self) -> tuple[str, ...]:
        """Yielding on (or turning, when yielding); yielding back."""
        return ("yield on", "yield back")

    def event_name(self, guard: int, mode: int) -> str:
        """A fallen guard is a turning point unless the element was elastic."""
        return self.guard_names()[guard] if mode == _ELASTIC else "turn"

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """Elastic to yielding with z set exactly to its limit; yielding to elastic."""
        on, _ = fired
        (z,), y = local.states, self.yield_displacement
        elastic = local.mode == _ELASTIC
        mode = jnp.where(elastic, jnp.where(on, _SLIDING_ON, _SLIDING_BACK), _ELASTIC)
        return mode, (jnp.where(elastic, jnp.where(on, y, -y), z),)

    def mode_at(self, local: Local) -> Scalar:
        """Yielding where z is at its limit and the velocity pushes outwards."""
        (z,), y, v = local.states, self.yield_displacement, local.velocity
        back = (z <= -y) & (v < 0)
        return jnp.where((z >= y) & (v > 0), _SLIDING_ON, jnp.where(back, _SLIDING_BACK, _ELASTIC))

    def hysteretic_power(self, local: Local) -> Scalar:
        """Work of the slider; affine within a mode, because its force is constant while it moves."""
        strength = (1.0 - self.ratio) * self.stiffness * self.yield_displacement
        return choose(local.mode, (0.0, strength, -strength)) * local.velocity

    def hysteretic_store(self, local: Local) -> Scalar:
        """Energy of the spring in series with the slider."""
        return 0.5 * (1.0 - self.ratio) * self.stiffness * local.states[0] ** 2

    def checks(self) -> Iterator[Check]:
        """Positive yield displacement, α below one."""
        yield from _checks(self)


class BilinearHysteresisFlow(Element):
    """Bilinear hysteresis, flow-controlled formulation with memory O, H_l, H_u and modes I–IV.

    Same parameters and same response as `BilinearHysteresis`; kept because the comparison of the two is the point of
    the paper, and because its modes are those of the literature.

    Examples:
        >>> import vibayes as vb
        >>> vb.BilinearHysteresisFlow(1.0, 0.75, 0.3).modes
        ('I', 'II', 'III', 'IV')
    """

    stiffness: Parameter
    yield_displacement: Parameter
    ratio: Parameter = 0.0
    states = ("O", "H_l", "H_u")
    affine = True
    needs_events = True

    @property
    def modes(self) -> tuple[str, ...]:
        """The four modes of the literature."""
        return ("I", "II", "III", "IV")

    @property
    def regions(self) -> tuple[str, ...]:
        """Elastic, or on one of the envelopes."""
        return ("elastic", "yielding back", "elastic", "yielding on")

    def start(self, deformation: Scalar | None = None) -> tuple[Scalar, ...]:
        """The virgin elastic line, or the one through a point of the envelope."""
        x, y = 0.0 if deformation is None else deformation, self.yield_displacement
        beyond = x - jnp.clip(x, -y, y)
        return ((1.0 - self.ratio) * beyond, beyond - y, beyond + y)

    def force(self, local: Local) -> Scalar:
        """Elastic line or envelope."""
        k, x = self.stiffness, local.deformation
        envelope = (1.0 - self.ratio) * k * self.yield_displacement
        line = k * (x - local.states[0])
        return choose(local.mode, (line, self.ratio * k * x - envelope, line, self.ratio * k * x + envelope))

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """Memory changes at events only."""
        return (0.0 * local.deformation,) * 3

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Elastic: between the ends of the line. On an envelope: the velocity keeps its sign."""
        _, lower, upper = local.states
        x, v = local.deformation, local.velocity
        return (
            choose(local.mode, (upper - x, -v, upper - x, v)),
            choose(local.mode, (x - lower, 1.0, x - lower, 1.0)),
        )

    def guard_names(self) -> tuple[str, ...]:
        """Reaching the upper envelope (or turning, on an envelope); reaching the lower."""
        return ("yield on", "yield back")

    def event_name(self, guard: int, mode: int) -> str:
        """A fallen guard is a turning point on an envelope."""
        return self.guard_names()[guard] if mode in (_I, _III) else "turn"

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """Onto an envelope: nothing to reset. Off an envelope: a new elastic line through the turning point."""
        on, _ = fired
        x, reach = local.deformation, 2.0 * self.yield_displacement
        mode = choose(local.mode, (jnp.where(on, _IV, _II), _III, jnp.where(on, _IV, _II), _I))
        off_lower, off_upper = local.mode == _II, local.mode == _IV
        leaving = off_lower | off_upper
        origin = x - self.force(local) / self.stiffness
        _, lower, upper = local.states
        lower = jnp.where(off_upper, x - reach, jnp.where(off_lower, x, lower))
        upper = jnp.where(off_upper, x, jnp.where(off_lower, x + reach, upper))
        return mode, (jnp.where(leaving, origin, local.states[0]), lower, upper)

    def hysteretic_power(self, local: Local) -> Scalar:
        """Work done on the envelopes beyond that of the spring αk."""
        strength = (1.0 - self.ratio) * self.stiffness * self.yield_displacement
        return choose(local.mode, (0.0, -strength, 0.0, strength)) * local.velocity

    def hysteretic_store(self, local: Local) -> Scalar:
        """Energy that the elastic line gives back."""
        hysteretic = local.force - self.ratio * self.stiffness * local.deformation
        return 0.5 * hysteretic**2 / ((1.0 - self.ratio) * self.stiffness)

    def mode_at(self, local: Local) -> Scalar:
        """Elastic between the ends of the line; on an envelope where the velocity pushes out of them."""
        _, lower, upper = local.states
        x, v = local.deformation, local.velocity
        return jnp.where((x >= upper) & (v > 0), _IV, jnp.where((x <= lower) & (v < 0), _II, _I))

    def checks(self) -> Iterator[Check]:
        """Positive yield displacement, α below one."""
        yield from _checks(self)


def _checks(element: BilinearHysteresis | BilinearHysteresisFlow) -> Iterator[Check]:
    yield Check(~(np.asarray(element.yield_displacement) > 0), "yield_displacement", "a positive value", "check sign")
    yield Check(~(np.asarray(element.ratio) < 1), "ratio", "α < 1 (post-yield over initial stiffness)", "check α")
    yield Check(~(np.asarray(element.stiffness) > 0), "stiffness", "a positive stiffness", "check the sign")
