"""The verb: simulate a structure under an excitation, for one parameter set or many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.custom_derivatives import SymbolicZero

from vibayes.compilation import FEW
from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic, Sampled
from vibayes.simulation.checks import (
    check_excitation,
    check_max_steps,
    check_method,
    check_sampling,
    check_start,
    check_structure,
)
from vibayes.simulation.cores import in_parts
from vibayes.simulation.drive import AnalyticDrive, table_drive
from vibayes.simulation.exact import Exact
from vibayes.simulation.lanes import Clock
from vibayes.simulation.march import march, march_few
from vibayes.simulation.method import Method
from vibayes.simulation.outcome import solution_of
from vibayes.simulation.run import (
    Raw,
    Reached,
    Recording,
    batch_axes,
    joined,
    not_started,
    on_the_way,
    run,
    run_few,
    run_nested,
)
from vibayes.simulation.runge_kutta import EventLocated, FixedStep
from vibayes.simulation.solution import Solution
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

_ROOM = {True: 4096, False: 256}
"""Events there is room for, single or batched; where that is not enough the table is emptied, and the run goes on."""


def simulate(
    structure: Structure,
    excitation: Sampled | Analytic | Sequence[Analytic],
    parameters: Mapping[str, Any] | None = None,
    *,
    method: Method | None = None,
    rate: float | None = None,
    samples: int | None = None,
    displacement: Any = 0.0,
    velocity: Any = 0.0,
    states: bool = True,
    events: bool | None = None,
    max_steps: int | None = None,
) -> Solution:
    """Simulate the response of a structure.

    Args:
        structure: what vibrates.
        excitation: a sampled signal with one channel per input of the structure, or one smooth signal per input.
        parameters: values of the structure's unknowns; arrays of equal length simulate that many parameter sets at
            once.
        method: `Exact` (piecewise-linear structures), `EventLocated` (any) or `FixedStep`; by default the exact method
            where it applies, else the event-located one.
        rate: samples per second of the response; for smooth signals (a sampled signal has its own).
        samples: number of samples of the response, the first at time zero; likewise.
        displacement: initial displacement of the masses: a number, one per mass, or (for a batch) of shape
            (sets, masses).
        velocity: initial velocity of the masses, likewise.
        states: keep states and modes at every sample.
        events: keep a table of events; by default for a single parameter set only.
        max_steps: limit of steps per parameter set, against runaway work.

    Returns:
        The solution. Parameter sets that fail are marked in its status and spoil no other. Its outputs are
        differentiable with respect to the parameters, forwards and backwards, across events too.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis("k", 0.75, 0.3)])
        >>> force = vb.Sine(amplitude=0.8, frequency_hz=0.1)
        >>> solution = vb.simulate(oscillator, force, {"k": 1.0}, rate=10.0, samples=101)
        >>> solution.outputs.shape, len(solution.events)
        ((101, 3), 4)
    """
    check_structure(structure)
    check_max_steps(max_steps)
    bound = structure.bind(parameters)
    drive, drive_axes, clock, keep, sets = excite(structure, excitation, rate, samples)
    method = default_method(structure, excitation) if method is None else method
    start, started = check_start(structure, displacement, velocity)
    batch = _batch_size({**_sizes(parameters), "excitation": sets, **started})
    check_method(method, bound, excitation, clock)
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((bound, drive)))
    clock = clock._replace(max_steps=1_000_000 + 400 * clock.pieces if max_steps is None else max_steps)
    keep = keep._replace(states=states and not traced)
    bound = as_arrays(bound)
    how: Method = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), method)
    one = jnp.ones(batch or 1)
    if traced:
        rows = _differentiable_rows(how, bound, drive, drive_axes, start, one, clock, keep)
        return solution_of(structure, bound, how, clock, keep, Raw(rows, None, None, None), batch)
    table = (batch is None) if events is None else events
    eventful = how.locates and any(link.element.guard_names() for link in structure.links)
    room = _ROOM[batch is None] if table and eventful else 0
    run_all = partial(_raw, how, bound, drive, drive_axes, start, one, clock, keep._replace(events=room))
    raw = run_all(None) if not room else _with_table(run_all, not_started(bound, how, len(one), keep), clock)
    return solution_of(structure, bound, how, clock, keep, raw, batch)


def _with_table(run_all: Callable[[Reached], Raw], reached: Reached, clock: Clock) -> Raw:
    """Run all lanes, from one full table of events to the next."""
    tables = []
    while True:
        raw = run_all(reached)
        assert raw.lanes is not None
        tables.append(raw)
        if not np.any(on_the_way(raw.lanes, clock)):
            return raw if len(tables) == 1 else raw._replace(events=joined(tables))
        tables[-1] = raw._replace(rows=None)
        reached = Reached(jnp.bool_(False), raw.lanes, raw.rows)


def _raw(method, bound, drive, drive_axes, start, one, clock, keep, reached) -> Raw:
    """Run all lanes, on all cores."""

    def run_part(part):
        bound, drive, start, one, reached = part
        return _run(method, bound, drive, start, one, clock, keep, drive_axes, reached)

    whole = (bound, drive, start, one, reached)
    axes = tuple(map(batch_axes, whole))
    if drive_axes is None:
        axes = (axes[0], jax.tree.map(lambda _: None, drive), *axes[2:])
    return in_parts(run_part, whole, axes, one.shape[0])


def _run(method, bound, drive, start, one, clock, keep, drive_axes, reached=None, nested=False) -> Raw:
    few = len(one) <= FEW
    if isinstance(method, FixedStep) and not method.locates:
        rows, status = (march_few if few else march)(method, bound, drive, drive_axes, start, one, clock, keep)
        return Raw(rows, None, None, status)
    runner = run_nested if nested else run_few if few else run
    return runner(method, bound, drive, drive_axes, start, one, clock, keep, reached=reached)


def _differentiable_rows(method, bound, drive, drive_axes, start, one, clock, keep):
    """Rows whose derivatives are taken forwards, one direction per parameter, and so work in reverse mode as well.

    Lanes do not influence one another, so one direction with ones for a parameter of every lane gives all their
    derivatives at once.
    """
    leaves, tree = jax.tree.flatten(bound)
    moving = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tracer)]

    def rows_of(values, drive):
        filled = list(leaves)
        for i, value in zip(moving, values, strict=True):
            filled[i] = value
        bound = jax.tree.unflatten(tree, filled)
        return _run(method, bound, drive, start, one, clock, keep, drive_axes, nested=True).rows

    def push(primals, tangents):
        (values, drive), (tangents, by_drive) = primals, tangents
        if not all(isinstance(tangent, SymbolicZero) for tangent in jax.tree.leaves(by_drive)):
            remedy = "differentiate with respect to parameters"
            raise InvalidInput("simulate.excitation", "a signal that is held fixed", "one to differentiate by", remedy)

        def along(direction):
            pushed = tuple(d * jnp.ones_like(v) for d, v in zip(direction, values, strict=True))
            return jax.jvp(lambda *moved: rows_of(moved, drive), values, pushed)

        value, slopes = jax.vmap(along, out_axes=(None, 0))(jnp.eye(len(values)))
        change = jnp.zeros_like(value)
        for slope, tangent in zip(slopes, tangents, strict=True):
            if not isinstance(tangent, SymbolicZero):
                change = change + slope * (tangent[:, None, None] if jnp.ndim(tangent) else tangent)
        return value, change

    rows = jax.custom_jvp(rows_of)
    rows.defjvp(push, symbolic_zeros=True)
    return rows(tuple(leaves[i] for i in moving), drive)


def default_method(structure: Structure, excitation: Any) -> Method:
    """The exact method where it applies."""
    affine = all(link.element.affine for link in structure.links)
    return Exact() if affine else EventLocated()


def excite(structure: Structure, excitation: Any, rate: float | None, samples: int | None):
    """The drive, how it is batched, the clock, what to record, and the number of input sets."""
    excitation = check_excitation(excitation, len(structure.inputs))
    rate, samples = check_sampling(excitation, rate, samples)
    if isinstance(excitation, Sampled):
        drive = table_drive(excitation.pieces(), excitation.values[..., -1, :])
        sets = excitation.values.shape[0] if excitation.values.ndim == 3 else None
        pieces = (samples - 1) * excitation.refinement
        clock = Clock(pieces, 1.0 / (rate * excitation.refinement), 0)
        keep = Recording(samples, excitation.refinement, 0, True)
        return drive, (None if sets is None else 0), clock, keep, sets
    signals = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), excitation)
    drive = AnalyticDrive(signals, 1.0 / rate)
    return drive, None, Clock(samples - 1, 1.0 / rate, 0), Recording(samples, 1, 0, True), None


def _sizes(parameters: Mapping[str, Any] | None) -> dict[str, int | None]:
    shapes = {name: np.shape(value) for name, value in (parameters or {}).items()}
    return {f"parameters[{name!r}]": shape[0] if shape else None for name, shape in shapes.items()}


def _batch_size(sizes: Mapping[str, int | None]) -> int | None:
    """The common number of sets, or None for a single simulation."""
    given = {name: size for name, size in sizes.items() if size is not None}
    if len(set(given.values())) > 1:
        listing = ", ".join(f"{name}: {size}" for name, size in given.items())
        raise InvalidInput("simulate", "one number of sets throughout", listing, "make the lengths equal")
    return next(iter(given.values()), None)
