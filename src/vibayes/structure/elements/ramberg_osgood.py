"""Ramberg–Osgood hysteresis with Masing's rule.

    skeleton   x = (r/k) (1 + a |r/r_y|^(n−1))
    branch     (x − x₀)/2 = (ρ/k) (1 + a |ρ/r_y|^(n−1)),   ρ = (r − r₀)/2,   from the reversal at (x₀, r₀)

Neither can be solved for r, but both have the same tangent, dr/dx = k / (1 + a n |ρ/r_y|^(n−1)), with ρ = r
on the skeleton. The force is therefore a state, with dr/dt = v dr/dx.

The memory is a simplification of the extended Masing rules, which remember every open loop. Two forces are
remembered here, that of the last reversal and the largest that the skeleton has seen: every reversal starts a
new branch, and a branch ends only on the skeleton, where it reaches the largest past force. Loops that leave
the skeleton and return to it by one or two branches are those of the full rules. A loop inside such a loop
does not take up the interrupted branch as it closes: the skeleton is then rejoined displaced along x.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Element, Local, Parameter, Scalar, plain, sign_of, slow_loading
from vibayes.structure.elements.bouc_wen import exponent_checks
from vibayes.structure.elements.sign_switched import SMALL, positive_power

_SKELETON_ON, _SKELETON_BACK, _BRANCH_ON, _BRANCH_BACK = 0, 1, 2, 3


class RambergOsgood(Element):
    """Ramberg–Osgood element: a smooth skeleton curve, and Masing branches after each reversal.

    A branch rejoins the skeleton where it reaches the largest past force; inner loops start a new branch at
    each reversal (see the module's docstring for what this leaves out).

    Args:
        stiffness: initial stiffness k.
        yield_force: reference force r_y; there the skeleton is at (1 + a) r_y/k.
        exponent: n, at least 1; the larger, the sharper the yielding.
        factor: a, the plastic over the elastic deformation at r_y.

    Examples:
        >>> import vibayes as vb
        >>> element = vb.RambergOsgood(stiffness=10.0, yield_force=2.0, exponent=3, factor=1.0)
        >>> element.modes
        ('skeleton on', 'skeleton back', 'branch on', 'branch back')
        >>> at_yield = vb.Local(0.4, 1.0, states=(2.0, 0.0, 0.0), mode=0)
        >>> float(element.rates(at_yield)[0])
        2.5
    """

    stiffness: Parameter
    yield_force: Parameter
    exponent: Parameter
    factor: Parameter = 1.0
    states = ("r", "r0", "r_max")
    needs_events = True
    simpler_at = {"exponent": SMALL}  # noqa: RUF012

    @property
    def modes(self) -> tuple[str, ...]:
        """On the skeleton or on a branch, moving in either direction."""
        return ("skeleton on", "skeleton back", "branch on", "branch back")

    @property
    def regions(self) -> tuple[str, ...]:
        """None: it yields a little at any force."""
        return ()

    def start(self, deformation: Scalar | None = None) -> tuple[Scalar, ...]:
        """Virgin, or on the skeleton after a slow first loading."""
        return (0.0,) * len(self.states) if deformation is None else slow_loading(self, deformation)

    def force(self, local: Local) -> Scalar:
        """f = r."""
        return local.states[0]

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """The force follows the tangent; the memory changes at events only."""
        r, reversal, _ = local.states
        # Both r on the skeleton and r − r₀ on a branch have the sign of the motion.
        distance = _direction(local.mode) * jnp.where(_on_branch(local.mode), 0.5 * (r - reversal), r)
        exponent = plain(self.exponent)
        steepness = positive_power(distance / self.yield_force, exponent - 1)
        tangent = self.stiffness / (1.0 + self.factor * exponent * steepness)
        return tangent * local.velocity, 0.0 * local.velocity, 0.0 * local.velocity

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """The velocity keeps its sign; on a branch, the force stays below the largest on the skeleton."""
        r, _, largest = local.states
        direction = _direction(local.mode)
        return direction * local.velocity, jnp.where(_on_branch(local.mode), largest - direction * r, 1.0)

    def guard_names(self) -> tuple[str, ...]:
        """Turning point; end of a branch."""
        return ("turn", "rejoin skeleton")

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """Turning: remember the force, start a branch. End of a branch: on along the skeleton from r_max."""
        turning, _ = fired
        r, reversal, largest = local.states
        direction = _direction(local.mode)
        # Only on the skeleton can the force exceed the largest so far.
        largest = jnp.where(turning, jnp.maximum(largest, direction * r), largest)
        reversal = jnp.where(turning, r, reversal)
        r = jnp.where(turning, r, direction * largest)
        return _mode(jnp.where(turning, -direction, direction), r, largest), (r, reversal, largest)

    def mode_at(self, local: Local) -> Scalar:
        """By the sign of the velocity; on the skeleton where the force is the largest so far."""
        r, _, largest = local.states
        return _mode(sign_of(local.velocity), r, largest)

    def hysteretic_power(self, local: Local) -> Scalar:
        """r v."""
        return local.states[0] * local.velocity

    def checks(self) -> Iterator[Check]:
        """A skeleton that rises and softens."""
        yield from exponent_checks(self.exponent, "exponent")
        yield Check(~(np.asarray(self.stiffness) > 0), "stiffness", "a positive stiffness", "check the sign")
        yield Check(~(np.asarray(self.yield_force) > 0), "yield_force", "a positive force", "check the sign")
        yield Check(~(np.asarray(self.factor) >= 0), "factor", "a factor a ≥ 0", "check the sign")


def _direction(mode: Scalar) -> Scalar:
    return jnp.where((mode == _SKELETON_ON) | (mode == _BRANCH_ON), 1.0, -1.0)


def _on_branch(mode: Scalar) -> Scalar:
    return mode >= _BRANCH_ON


def _mode(direction: Scalar, r: Scalar, largest: Scalar) -> Scalar:
    """The mode of a motion in the given direction from force r, when the skeleton has seen ``largest``."""
    on, outermost = direction > 0, direction * r >= largest
    skeleton, branch = jnp.where(on, _SKELETON_ON, _SKELETON_BACK), jnp.where(on, _BRANCH_ON, _BRANCH_BACK)
    return jnp.where(outermost, skeleton, branch)
