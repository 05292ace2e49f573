"""The loop that advances time, for a batch of parameter sets at once.

Each parameter set is a *lane* with its own time. One pass of the loop moves every lane by one step: to its next
event, to the end of its piece of input, or as far as its error control allows. Lanes do not wait for one another at
samples or events; the batch ends with its slowest lane. A lane that has finished or failed stands still; its
remaining samples stay NaN.

Time is kept as (piece of input, time within it), which does not lose digits over a long record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vibayes.simulation.crossing import first_crossing
from vibayes.simulation.method import Method
from vibayes.simulation.runge_kutta import FixedStep, Slip
from vibayes.simulation.status import Status
from vibayes.simulation.vectors import each, hold, hold_flags, spread
from vibayes.structure.hybrid import HybridSystem, Modes, State

Scalar = Any
_IDLE_LIMIT = 100
"""Consecutive events without progress in time that count as chattering."""


class Lane(NamedTuple):
    """What the next step of one parameter set needs."""

    piece: Scalar
    since: Scalar
    """Time since the start of the piece."""
    state: State
    modes: Modes
    step: Scalar
    slack: tuple[Scalar, ...]
    """Rounding by which each guard may lie below zero after an event."""
    fresh: tuple[Scalar, ...]
    """Guards that began on a boundary and have not left it: should one fall, the initial mode was wrong."""
    resting: tuple[Scalar, ...]
    """Guards on a boundary, at the start or after an event, that have not left it by more than the method resolves."""
    slip: Slip | tuple[()]
    """The largest so far, where steps are fixed."""
    idle: Scalar
    status: Scalar
    steps: Scalar
    rejected: Scalar
    events: Scalar


class Happening(NamedTuple):
    """What a step did that is worth recording."""

    arrived: Scalar
    fired: Scalar
    event_piece: Scalar
    event_since: Scalar
    modes_before: Modes


class Clock(NamedTuple):
    """Pieces of input: their number and length."""

    pieces: int
    interval: float
    max_steps: int


def begin(system: HybridSystem, state: State, inputs: tuple[Scalar, ...], method: Method, clock: Clock) -> Lane:
    """A lane at the start."""
    state = tuple(jnp.asarray(s, float) for s in state)
    zero, count = jnp.zeros(()), jnp.int32(0)
    first = jnp.asarray(method.first_step(clock.interval), float)
    modes = system.modes_at(state)
    guards = system.guards(state, modes, inputs) if method.locates else ()
    fresh: tuple[Scalar, ...] = ()
    if guards:
        floors = method.floors(lambda y: hold(system.guards(spread(y), modes, inputs), False), hold(state, False))
        near = zip(guards, spread(floors), strict=True)
        fresh = tuple(jax.lax.stop_gradient(jnp.abs(g) <= floor) for g, floor in near)
    slack, resting = (zero,) * len(guards), fresh if method.rests(system.spread) else ()
    slip = Slip(zero, zero, zero) if isinstance(method, FixedStep) else ()
    return Lane(count, zero, state, modes, first, slack, fresh, resting, slip, count, count, count, count, count)


def advance(
    method: Method, clock: Clock, system: HybridSystem, drive: Callable, one: Scalar, lane: Lane
) -> tuple[Lane, Happening]:
    """One step of one lane; ``drive(piece, since, order)`` gives the input channels as Taylor series."""
    live = (lane.status == Status.SUCCESS) & (lane.piece < clock.pieces)
    span = jnp.maximum(clock.interval - lane.since, 0.0)
    # A step that would leave a sliver takes it along.
    reaches = lane.step * (1.0 + 1e-6) >= span
    length = jnp.where(reaches, span, lane.step)

    def local_drive(after, order):
        return drive(lane.piece, lane.since + after, order)

    piece = method.expand(system, lane.state, lane.modes, local_drive, length, lane.step, one)
    guards = list(piece.guards)
    slack = hold(lane.slack, system.spread)
    if piece.resolution is not None:
        resting = hold_flags(lane.resting, system.spread)
        slack = each(_lower, slack, resting, piece.resolution)
    if guards:
        guards[0] = each(jnp.subtract, guards[0], slack)

    def evaluate(theta):
        values, slopes = piece.evaluate_guards(theta)
        return each(jnp.subtract, values, slack), slopes

    stretch = jax.lax.stop_gradient(jnp.clip(lane.step / length, 1.0, 1e6) if guards else length)
    theta, fired = first_crossing(guards, evaluate, stretch, one)
    state = piece.state_at(theta)
    go = live & piece.accepted
    event = go & (fired >= 0)
    fired = jnp.where(event, fired, -1)
    # Modes that do not fit the motion out of the initial state are put right at time zero: that is not an event.
    at_once = (lane.piece == 0) & (lane.since + theta * length <= 0.0)
    correction = at_once | _fired_fresh(lane.fresh, fired)
    arrived = go & ~event & reaches & (theta >= 1.0)
    since = jnp.where(arrived, 0.0, lane.since + theta * length)

    now = tuple(channel[0] for channel in drive(lane.piece, since, 0))
    after, modes = system.switch(state, lane.modes, now, fired) if guards else (state, lane.modes)
    switched = (lane, after, modes, jnp.where(go, fired, -1), correction)
    slack, fresh, resting = _on_boundary(system, state, now, switched, go, piece.resolution)
    # Progress ends a row of events at one instant, whether or not the step ends in another.
    progress = go & (theta * length > 1e-12 * clock.interval) & ~_within_resolution(piece, fired)
    idle = jnp.where(progress, 0, jnp.where(event, lane.idle + 1, lane.idle))
    finite = jnp.bool_(True)
    for s in after:
        finite &= jnp.abs(s) < 1e150
    status = jnp.where(go & ~finite, Status.DIVERGED, Status.SUCCESS)
    status = jnp.where(idle > _IDLE_LIMIT, Status.CHATTERING, status)
    tiny = ~piece.accepted & (piece.next_step < 1e-15 * clock.interval)
    status = jnp.where(
        tiny, jnp.where(jnp.isfinite(piece.next_step) & finite, Status.STEP_TOO_SMALL, Status.DIVERGED), status
    )
    slip, too_long = _too_long(method, clock, lane, piece.slip, arrived)
    status = jnp.where(go & too_long, Status.STEP_TOO_LONG, status)
    status = jnp.where(lane.steps >= clock.max_steps, Status.TOO_MANY_STEPS, status)
    moved = Lane(
        piece=jnp.where(arrived, lane.piece + 1, lane.piece),
        since=jnp.where(go, since, lane.since),
        state=tuple(jnp.where(go, new, old) for new, old in zip(after, lane.state, strict=True)),
        modes=tuple(jnp.where(go, new, old) for new, old in zip(modes, lane.modes, strict=True)),
        step=jnp.where(live, jnp.minimum(piece.next_step, clock.interval), lane.step),
        slack=slack,
        fresh=fresh,
        resting=resting,
        slip=each(lambda new, old: jnp.where(go, new, old), slip, lane.slip),
        idle=idle,
        status=jnp.where(live, status, lane.status).astype(jnp.int32),
        steps=lane.steps + go,
        rejected=lane.rejected + (live & ~piece.accepted),
        events=lane.events + (event & ~correction),
    )
    return moved, Happening(arrived, jnp.where(correction, -1, fired), lane.piece, since, lane.modes)


def _too_long(method, clock, lane, slip, arrived):
    """Largest slip and velocity up to a step, and whether steps prove too long: at once where they are unstable, at the
    end of the record beside the largest velocity in it.
    """
    if slip is None:
        return (), jnp.bool_(False)
    slip, wild = slip.joined(lane.slip)
    ends = arrived & (lane.piece + 1 >= clock.pieces)
    return slip, wild | (ends & method.too_long(slip))


def _within_resolution(piece: Any, fired: Scalar) -> Scalar:
    """Whether the guard that fell had begun no farther from its boundary than the method resolves: events that follow
    one another so make no progress, whatever the clock says.
    """
    if piece.resolution is None:
        return jnp.bool_(False)
    values, widths = spread(piece.guards[0]), spread(piece.resolution)
    return _fired_fresh(tuple(jnp.abs(g) <= 2.0 * w for g, w in zip(values, widths, strict=True)), fired)


def _lower(slack: Scalar, rests: Scalar, width: Scalar) -> Scalar:
    """Slack of a guard, at least its resolution where it rests on its boundary."""
    return jnp.where(rests, jnp.minimum(slack, -width), slack)


def _fired_fresh(fresh: tuple[Scalar, ...], fired: Scalar) -> Scalar:
    """Whether the guard that fell had been on its boundary since the beginning: a correction, not an event."""
    result = jnp.zeros_like(fired, dtype=bool)
    for i, flag in enumerate(fresh):
        result |= flag & (fired == i)
    return result


def _on_boundary(system, state, now, switched, go, resolution):
    """Slack, freshness and rest of the guards after a step.

    After an event each new guard may lie below zero by what the old one missed zero by, and no more. A guard
    is fresh until it has clearly left zero, and so is the guard of the other side where a fresh one fell: both are of
    one boundary. An approximate method knows a guard only to its resolution: one that an event leaves on its boundary
    rests there, and falls only where it is lower than that.
    """
    lane, after, modes, fired, correction = switched
    if not lane.slack:
        return (), (), ()
    old = jax.lax.stop_gradient(system.guards(state, lane.modes, now))
    new = jax.lax.stop_gradient(system.guards(after, modes, now))
    residual = jnp.zeros_like(old[0])
    for i, g in enumerate(old):
        residual = jnp.where(fired == i, jnp.abs(g), residual)
    slack, fresh, resting, owners = [], [], [], system.guard_owners()
    band = (0.0,) * len(new) if resolution is None else spread(resolution)
    for i, g in enumerate(new):
        # Another element's event at the same instant must not take away the slack of this one's guards.
        family = [n for n, (owner, _) in enumerate(owners) if owner == owners[i][0]]
        mine = (fired >= family[0]) & (fired <= family[-1])
        missed = jnp.where((g < 0.0) & (g >= -2.0 * residual), g, 0.0)
        slack.append(jnp.where(mine, missed, lane.slack[i]))
        # Only into its domain: one that is below has yet to fall, and had never been anywhere but on its boundary.
        left = go & (g > band[i])
        if resolution is None:
            fresh.append(lane.fresh[i] & ~left)
            continue
        fresh.append((lane.fresh[i] | (mine & correction)) & ~left)
        # Half: where the old guard had rested and fell by the whole, the new one has left as far already.
        begins = jnp.abs(g) <= jnp.maximum(0.5 * band[i], 2.0 * residual)
        resting.append(jnp.where(mine, begins, lane.resting[i] & ~left))
    return tuple(slack), tuple(fresh), tuple(resting)
