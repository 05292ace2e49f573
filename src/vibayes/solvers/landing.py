"""Steps of an ODE filter that end at events, so that no polynomial has to follow a corner.

Where a guard g of the modes has fallen within a step from a state a to b, the event is where g falls on the cubic
through both with their rates,

    x(θ) = a + θ h a' + θ² (3 (b − a) − h (2 a' + b')) + θ³ (2 (a − b) + h (a' + b')),

which is as exact as steps are up to order four. The filter goes there, modes change, and functions begin anew: their
derivatives, and columns of these, are those of the state in the new modes. That the instant of an event is not known
exactly is left out of the covariances.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from vibayes.solvers.shared import begun

Array = Any
_HALVINGS = 40
"""Of the interval in which a guard falls."""
_SHORTEST = 1e-9
"""Part of a step: nothing happens over it, but no power of it is zero."""


def landed(solver: Any, now: Any, whole: Any, number: Any) -> Any:
    """After a step that is cut at events, from where it begins and where it would end."""
    sets = now.functions.shape[2:]

    def cut(carry: tuple[Any, Array], last: Array) -> tuple[tuple[Any, Array], None]:
        now, gone = carry
        left = jnp.maximum(1.0 - gone, _SHORTEST)
        end = solver.over(now, number, solver.drive.at[number + 1], left)
        part, fired = _crossing(solver, now, end, number, gone, left)
        inputs = _inputs(solver, number, gone + part)
        there = _anew(solver, solver.over(now, number, inputs, part), number, gone + part, fired)
        active, fell = gone < 1.0, (fired >= 0) & ~last
        there = jax.tree.map(lambda cut, ended: jnp.where(fell, cut, ended), there, end)
        gone = jnp.where(active & fell, gone + part, 1.0)
        return (jax.tree.map(lambda new, old: jnp.where(active, new, old), there, now), gone), None

    def with_cuts() -> Any:
        # One more than there may be events: it goes to the end whatever falls.
        last = jnp.arange(solver.events + 1) == solver.events
        return jax.lax.scan(cut, (now, jnp.zeros(sets)), last)[0][0]

    state = solver.state_of(whole.functions)
    guard, _ = solver.moving.lowest(state, now.modes, solver.drive.at[number + 1])
    return jax.lax.cond(jnp.any(guard < 0.0), with_cuts, lambda: whole)


def _inputs(solver: Any, number: Any, place: Array) -> Array:
    """At places within a step (inputs, sets): the parabola through its beginning, middle and end."""
    begin, middle, end = (each[number][:, None] for each in solver.drive[:3])
    return (
        begin * (1.0 - place) * (1.0 - 2.0 * place)
        + 4.0 * middle * place * (1.0 - place)
        + end * place * (2.0 * place - 1.0)
    )


def _series(solver: Any, number: Any, place: Array) -> Array:
    """Coefficients of that parabola around a place, by time (3, inputs, sets)."""
    begin, middle, end = (each[number][:, None] for each in solver.drive[:3])
    slope = begin * (4.0 * place - 3.0) + 4.0 * middle * (1.0 - 2.0 * place) + end * (4.0 * place - 1.0)
    bend = 2.0 * (begin - 2.0 * middle + end) * jnp.ones_like(place)
    return jnp.stack([_inputs(solver, number, place), slope / solver.step, bend / solver.step**2])


def _crossing(solver: Any, now: Any, end: Any, number: Any, gone: Array, left: Array) -> tuple[Array, Array]:
    """The part of the step up to the first event and the guard that falls there, −1 where none does."""
    moving, last = solver.moving, solver.drive.at[number + 1]
    a, b = (solver.state_of(each.functions) for each in (now, end))
    length = left * solver.step
    first = moving.rates(a, now.modes, _inputs(solver, number, gone)) * length
    second = moving.rates(b, now.modes, last) * length
    path = a, first, 3.0 * (b - a) - 2.0 * first - second, 2.0 * (a - b) + first + second, gone, left

    def lowest(path: tuple[Array, ...], share: Array) -> tuple[Array, Array]:
        at, once, twice, thrice, gone, left = path
        state = at + share * (once + share * (twice + share * thrice))
        return moving.lowest(state, now.modes, _inputs(solver, number, gone + share * left))

    def halve(_: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        middle = 0.5 * (bounds[0] + bounds[1])
        fallen = lowest(still, middle)[0] < 0.0
        return jnp.where(fallen, bounds[0], middle), jnp.where(fallen, middle, bounds[1])

    # The search is not differentiated; a step of Newton's method on the guard that fell carries the derivative.
    still = jax.lax.stop_gradient(path)
    _, share = jax.lax.fori_loop(0, _HALVINGS, halve, (jnp.zeros_like(gone), jnp.ones_like(gone)))
    share = jax.lax.stop_gradient(share)
    guard, fired = lowest(path, share)
    slope = jax.jvp(lambda each: lowest(still, each)[0], (share,), (jnp.ones_like(share),))[1]
    fell = (moving.lowest(b, now.modes, last)[0] < 0.0) & (guard < 0.0)
    share = share - jnp.where(fell & (slope < 0.0), guard / jnp.where(slope < 0.0, slope, -1.0), 0.0)
    return jnp.clip(share * left, _SHORTEST, left), jnp.where(fell, fired, -1)


def _anew(solver: Any, there: Any, number: Any, place: Array, fired: Array) -> Any:
    """In the modes after an event, with the derivatives that these have."""
    series, state = _series(solver, number, place), solver.state_of(there.functions)
    modes = solver.moving.switched(state, there.modes, series[0], fired)[1]

    def functions(state: Array) -> Array:
        held = solver.moving.switched(state, there.modes, series[0], fired)[0]
        return begun(solver, held, modes, series)

    count, many = there.functions.shape[:2]
    columns = solver.state_of(there.root.reshape(count, many, -1, *there.root.shape[2:]))
    along = jax.vmap(lambda column: jax.jvp(functions, (state,), (column,))[1], in_axes=1, out_axes=2)
    return there._replace(functions=functions(state), root=along(columns).reshape(there.root.shape), modes=modes)
