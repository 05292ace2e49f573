"""Runge–Kutta steps for any structure: adaptive with located events, or of fixed length.

Both give a step as a polynomial in θ (dense output), so that guards along it are polynomials too and the search for
the first crossing is the same as for the exact method. Guards are fitted to it, which is
exact for guards that are affine in the state because the dense output has degree four at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.simulation.fusion import materialise
from vibayes.simulation.method import Drive, Method, Piece, Slip
from vibayes.simulation.vectors import Tree, each, hold, horner, horner_slope, spread
from vibayes.structure.hybrid import HybridSystem, Modes, State

Scalar = Any

# Dormand and Prince's pair of orders 5 and 4: stages, weights, error weights, dense output of degree 4.
_C = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
_DENSE = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
_NODES = (0.5, 1.0)
_COARSE = 0.05
"""Largest error of the cubic, as a part of what the guard does in a step, where a step starts at rest."""
_FINE = 1e-9
"""Smallest such error: a guard that is the difference of large forces is not known better."""
_FIT = np.linalg.inv(np.vander(_NODES, increasing=True))


class EventLocated(Method):
    """Adaptive Dormand–Prince 5(4) with located events: for every structure.

    Args:
        rtol: relative tolerance of each step.
        atol: absolute tolerance of each step.
        events: locate events and restart there. Without, kinks are stepped over, for comparison only: the error control
            sees them, but a law with memory is then wrong by some hundred times the tolerance.

    Examples:
        >>> import vibayes as vb
        >>> vb.EventLocated(rtol=1e-6)
        EventLocated(rtol=1e-06)
    """

    rtol: float = 1e-8
    atol: float = 1e-12
    events: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if isinstance(value, str) or (isinstance(value, int | float) and not 0 < value < 1):
                raise InvalidInput(f"EventLocated.{name}", "a tolerance between 0 and 1", repr(value), "try 1e-8")

    @property
    def locates(self) -> bool:
        """As set by ``events``."""
        return self.events

    @property
    def stages(self) -> int:
        """Seven, the last of which serves the error estimate and the dense output."""
        return len(_C)

    @property
    def floor(self) -> Scalar:
        """Size below which a guard is on its boundary: ten times what a step may be wrong by."""
        return 10.0 * self.atol

    def first_step(self, interval: float) -> float:
        """Short; the error control lengthens it at once."""
        return 0.01 * interval

    def expand(
        self, system: HybridSystem, state: State, modes: Modes, drive: Drive, length: Scalar, wish: Scalar, one: Scalar
    ) -> Piece:
        """Seven stages, their error estimate and dense output."""
        flow, start = _flow(system, modes if self.locates else None, drive), hold(state, system.spread)
        settle = partial(each, partial(materialise, one=one)) if not system.spread else lambda stage: stage
        stages = [settle(flow(start, 0.0 * length))]
        for c, row in zip(_C[1:], _A[1:], strict=True):
            stages.append(settle(flow(_combine(start, row, stages, length), c * length)))
        end = _combine(start, _A[6], stages, length)
        error = self._error(*jax.lax.stop_gradient((start, end, stages, length)))
        accepted = error <= 1.0
        factor = jnp.clip(0.9 * jnp.maximum(error, 1e-10) ** -0.2, 0.2, 5.0)
        grown = jax.lax.stop_gradient(length * factor)
        cut = jax.lax.stop_gradient(length) < wish
        next_step = jnp.where(accepted & cut, jnp.maximum(wish, grown), grown)
        dense = [_weighted([p[n] for p in _DENSE], stages, length) for n in range(4)]
        series = [start, *(each(lambda d: materialise(d, one), d) for d in dense)]
        piece = _piece(self, system, modes, drive, length, series, accepted, next_step)
        floor = jax.lax.stop_gradient(self.floor)
        widths = each(lambda g: jnp.full_like(g, floor), piece.guards[0]) if piece.guards else None
        return piece._replace(resolution=widths)

    def _error(self, start, end, stages, length) -> Scalar:
        """Largest error of any variable in units of its tolerance; infinite where the step overflowed."""
        slip = _weighted(_ERROR, stages, length)

        def relative(slip, old, new):
            scale = self.atol + self.rtol * jnp.maximum(jnp.abs(old), jnp.abs(new))
            return jnp.max(jnp.where(jnp.isfinite(slip), jnp.abs(slip) / scale, jnp.inf))

        return reduce(jnp.maximum, jax.tree.leaves(each(relative, slip, start, end)))


class FixedStep(Method):
    """Classical Runge–Kutta of order four with a fixed number of steps per sample (or piece of input).

    A fixed step can be too long for what the motion meets on its way, as a stiff stop. The stages of a step tell: at a
    frequency ω they are at odds by (ωh)³/4 of the velocity. A run in which they are ever more at odds than with
    ``per_cycle`` steps in a cycle of the largest velocity ends as `Status.STEP_TOO_LONG`, and one that is unstable does
    so at once.

    Args:
        substeps: steps per sample interval.
        events: end a step at each event and restart there. Without, kinks are stepped over, which leaves second order,
            and states with bounds, as that of a slider, are put back within them: the fast path for smooth laws.
        per_cycle: fewest steps in a cycle of the motion. With twelve the classical method is wrong by half a percent
            after a cycle; a smaller part of the motion may have fewer. 0 accepts any step that is stable.

    Examples:
        >>> import vibayes as vb
        >>> vb.FixedStep(substeps=4)
        FixedStep()
    """

    substeps: int = 4
    events: bool = eqx.field(static=True, default=False)
    per_cycle: float = 12.0

    def __check_init__(self):
        if not isinstance(self.substeps, int) or self.substeps < 1:
            raise InvalidInput("FixedStep.substeps", "a whole number ≥ 1", repr(self.substeps), "try 4")
        per_cycle = self.per_cycle
        if isinstance(per_cycle, str) or (isinstance(per_cycle, int | float) and not 0 <= per_cycle < np.inf):
            raise InvalidInput("FixedStep.per_cycle", "a number of steps ≥ 0", repr(per_cycle), "try 12")

    @property
    def locates(self) -> bool:
        """As set by ``events``."""
        return self.events

    @property
    def stages(self) -> int:
        """Four, and one more at the end for the cubic where events are located."""
        return 5 if self.events else 4

    def too_long(self, slip: Slip) -> Scalar:
        """Whether the motion has too few steps in a cycle: (ωh)³/4 at ωh = 2π over their number."""
        return slip.size * jnp.asarray(self.per_cycle, float) ** 3 > 2.0 * np.pi**3 * slip.velocity

    def first_step(self, interval: float) -> float:
        """The only step there is."""
        return interval / self.substeps

    def expand(
        self, system: HybridSystem, state: State, modes: Modes, drive: Drive, length: Scalar, wish: Scalar, one: Scalar
    ) -> Piece:
        """One step and the cubic through its ends."""
        flow, start = _flow(system, modes if self.locates else None, drive), hold(state, system.spread)
        step = runge_kutta_4 if self.locates else partial(step_over_events, system)
        end, stages = step(flow, start, length)
        first = stages[0]
        last = flow(end, length)
        second = each(lambda y0, y1, f0, f1: 3.0 * (y1 - y0) - length * (2.0 * f0 + f1), start, end, first, last)
        third = each(lambda y0, y1, f0, f1: 2.0 * (y0 - y1) + length * (f0 + f1), start, end, first, last)
        cubic = [each(lambda f: length * f, first), second, third]
        series = [start, *(each(lambda c: materialise(c, one), c) for c in cubic)]
        piece = _piece(self, system, modes, drive, length, series, jnp.bool_(True), wish)
        piece = piece._replace(slip=slip_of(system, start, stages, length))
        if not piece.guards:
            return piece
        # From rest, the first coefficients of the cubic can be nothing but error. How large that is, the middle stages
        # tell, whose mean is the slope there to third order.
        largest = each(lambda *c: reduce(jnp.maximum, map(jnp.abs, c)), *jax.lax.stop_gradient(piece.guards[1:]))
        middle = horner_slope(series, 0.5)
        defect = each(lambda k2, k3, slope: 0.5 * length * (k2 + k3) - slope, stages[1], stages[2], middle)
        now = tuple(channel[0] for channel in drive(0.0 * length, 0))

        def guards_of(y):
            return hold(system.guards(spread(y), modes, now), system.spread)

        _, odds = jax.lax.stop_gradient(jax.jvp(guards_of, (start,), (defect,)))
        return piece._replace(resolution=each(_resolution, largest, odds))


def _resolution(largest: Scalar, odds: Scalar) -> Scalar:
    """Of a guard of a fixed step: what its cubic is at odds with the stages by, within reason."""
    return jnp.clip(jnp.abs(odds), _FINE * largest, _COARSE * largest)


def slip_of(system: HybridSystem, start: Tree, stages: Sequence[Tree], length: Scalar) -> Slip:
    """Of a step: from its start and its stages."""

    def largest(tree: Tree) -> Scalar:
        velocities = jax.lax.stop_gradient(spread(tree)[system.masses : 2 * system.masses])
        return reduce(jnp.maximum, map(jnp.abs, velocities))

    # The second sees what the first does not: a corner between the ends of the step and its middle.
    odds = each(lambda a, b, c, d: jnp.maximum(jnp.abs(c - b), jnp.abs(a - b - c + d)), *stages)
    change = length * jnp.maximum(largest(stages[0]), largest(stages[1]))
    middle = length * largest(each(jnp.subtract, stages[2], stages[1]))
    middle = jnp.where(_unstable_memory(system, start, stages, length), jnp.inf, middle)
    return Slip(length * largest(odds), middle, jnp.maximum(largest(start), change))


def _unstable_memory(system: HybridSystem, start: Tree, stages: Sequence[Tree], length: Scalar) -> Scalar:
    """Whether an internal state is unstable in a step, which velocities show only when it is too late.

    Where a state decays to what it should be at a rate λ, as that of Bouc and Wen at its limit, the first three stages
    alternate from λh = 2 on, and the middle ones differ by (λh)²/4 of the larger of the first two: 1.9 times at
    λh = 2.76, where the classical method ceases to be stable. Less than a third of the state does no harm.
    """
    first, last = 2 * system.masses, system.size - len(system.metered)
    kept, *rates = [jax.lax.stop_gradient(spread(tree)[first:last]) for tree in (start, *stages[:3])]
    found: Scalar = jnp.bool_(False)
    for state, k1, k2, k3 in zip(kept, *rates, strict=True):
        odds = jnp.abs(k3 - k2)
        grows = (k1 * k2 < 0.0) & (k2 * k3 < 0.0) & (odds > 1.9 * jnp.maximum(jnp.abs(k1), jnp.abs(k2)))
        found = found | (grows & (3.0 * length * odds > jnp.abs(state)))
    return found


def runge_kutta_4(flow: Callable[[Tree, Scalar], Tree], start: Tree, length: Scalar) -> tuple[Tree, Sequence[Tree]]:
    """State after a step of the classical method, and its four stages."""
    k1 = flow(start, 0.0 * length)
    k2 = flow(_combine(start, (0.5,), [k1], length), 0.5 * length)
    k3 = flow(_combine(start, (0.0, 0.5), [k1, k2], length), 0.5 * length)
    k4 = flow(_combine(start, (0.0, 0.0, 1.0), [k1, k2, k3], length), length)
    return _combine(start, (1 / 6, 1 / 3, 1 / 3, 1 / 6), [k1, k2, k3, k4], length), (k1, k2, k3, k4)


def step_over_events(
    system: HybridSystem, flow: Callable[[Tree, Scalar], Tree], start: Tree, length: Scalar
) -> tuple[Tree, Sequence[Tree]]:
    """The same where events are not located: states are put back within their bounds, in the stages and at the end.

    A state such as the deformation of a slider's spring runs beyond its bound where the event is stepped over. Left
    there, the law would remember it: an error of first order in the step. Put back, it is of second order (the return
    mapping of computational plasticity).
    """
    if not system.has_bounds:
        return runge_kutta_4(flow, start, length)

    def inside(state: Tree) -> Tree:
        return hold(system.bounded(spread(state)), system.spread)

    end, stages = runge_kutta_4(lambda state, after: flow(inside(state), after), start, length)
    return inside(end), stages


def _flow(system: HybridSystem, modes: Modes | None, drive: Drive) -> Callable[[Tree, Scalar], Tree]:
    """The flow map as a function of state and time after the start of the step."""

    def flow(state, after):
        now = tuple(channel[0] for channel in drive(after, 0))
        return hold(system.flow(spread(state), modes, now), system.spread)

    return flow


def _weighted(weights: Sequence[float], stages: Sequence[Tree], length: Scalar) -> Tree:
    """h Σ w_j k_j."""
    used = [(w, k) for w, k in zip(weights, stages, strict=False) if w]
    return each(lambda *ks: length * sum(w * k for (w, _), k in zip(used, ks, strict=True)), *(k for _, k in used))


def _combine(start: Tree, weights: Sequence[float], stages: Sequence[Tree], length: Scalar) -> Tree:
    """y + h Σ w_j k_j."""
    return each(jnp.add, start, _weighted(weights, stages, length))


def _fit(system, modes, drive, length, series) -> list[Tree]:
    """Coefficients of the guards along the step: value, slope and bend at its start, the rest through two more points.

    Right after an event what counts is the first coefficients, so they must not come out of a fit.
    """

    def guards_at(theta):
        now = tuple(channel[0] for channel in drive(theta * length, 0))
        return hold(system.guards(spread(horner(series, theta)), modes, now), system.spread)

    def slope_at(theta):
        return jax.jvp(guards_at, (theta,), (jnp.ones_like(theta),))

    zero = jnp.zeros_like(length)
    (value, slope), (_, bend) = jax.jvp(slope_at, (zero,), (jnp.ones_like(zero),))
    start = [value, slope, each(lambda b: 0.5 * b, bend)]
    rest = []
    for node in _NODES:
        known = horner(start, node)
        rest.append(each(lambda g, k, n=node: (g - k) / n**3, guards_at(jnp.full_like(zero, node)), known))
    return [*start, *(_weighted(row, rest, 1.0) for row in _FIT)]


def _piece(method, system, modes, drive, length, series, accepted, next_step) -> Piece:
    """The step as a polynomial, with its guards fitted."""
    guards: list[Tree] = []
    if method.locates and system.guard_owners():
        guards = _fit(system, modes, drive, length, series)

    def evaluate_guards(theta):
        return horner(guards, theta), horner_slope(guards, theta)

    def state_at(theta):
        return spread(horner(series, theta))

    return Piece(guards, evaluate_guards, state_at, accepted, next_step)
