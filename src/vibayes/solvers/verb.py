"""Likelihood of a record whose inputs were measured, by solving the equations of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.excitation import Hold, Sampled, StraightLines
from vibayes.filters.checks import check_channels, check_noise
from vibayes.filters.noise import Noise, noise_of
from vibayes.filters.recursion import BLOCK, Increment, absorb
from vibayes.record import Record
from vibayes.solvers.dense import Dense, Readings
from vibayes.solvers.drive import Drive, drive_of
from vibayes.solvers.layout import Layout
from vibayes.solvers.method import Euler, Global, ODEFilter, Running, Solver
from vibayes.solvers.moving import Moving
from vibayes.solvers.shared import Shared
from vibayes.solvers.softened import softened
from vibayes.solvers.trajectory import Stepper
from vibayes.solvers.wiener import Gains, gains, wiener
from vibayes.structure.element import as_arrays, bind
from vibayes.structure.sensors import HystereticEnergy, Sensor
from vibayes.structure.structure import Structure

Array = Any
Carried = Any
_STRAIGHT = StraightLines()
_MANY, _FEW = 256, 64
"""Sets that are best computed at once where covariances are shared, and where they are not."""


class Solving(eqx.Module):
    """A structure, a record and a solver: everything but the values of the unknowns. Made by `solving`.

    It is a pytree whose arrays are the record and the noise: what is compiled for one record serves others of its
    length.
    """

    structure: Structure
    noise: Noise
    outputs: Array
    drive: Drive
    gains: dict[int, Gains]
    method: Solver = eqx.field(static=True)
    interval: float = eqx.field(static=True)
    lookahead: int | None = eqx.field(static=True, default=0)
    """Later samples on which inputs between samples depend; any may where it is None."""

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknowns: of the structure, of the solver and of the noise."""
        names = (*self.structure.parameters, *self.method.names, *self.noise.names)
        return tuple(dict.fromkeys(names))

    @property
    def at_once(self) -> int:
        """Number of sets that are best computed in one call."""
        return _FEW if isinstance(self.method, ODEFilter) and self.method.dense else _MANY

    @property
    def sequential(self) -> bool:
        """Whether likelihoods of samples become final as the record goes on; with a global diffusion they never do."""
        overall = isinstance(self.method, ODEFilter) and isinstance(self.method.diffusion, Global)
        return not overall and self.lookahead is not None

    @property
    def settled(self) -> int:
        """Number of samples whose likelihood no later sample changes. Inputs up to the next sample are in the Taylor
        series at the start, so that nothing is final before they are.
        """
        samples = self.outputs.shape[0]
        if not self.sequential or self.lookahead is None or samples < self.lookahead + 2:
            return 0
        return samples - self.lookahead

    # ---- many sets, along the last axis -----------------------------------------------------------------------

    def _prepared(self, values: Mapping[str, Array]) -> tuple[Any, tuple[Array, Array, Array], Array]:
        """The solver over all sets, state, modes and diffusion at the first sample, and the noise (outputs, sets)."""
        count = len(next(iter(values.values())))

        def compiled(some):
            return as_arrays(bind(self.structure, dict(some))).compile()

        def entry(given):
            return jnp.broadcast_to(jnp.asarray(values[given] if isinstance(given, str) else given, float), (count,))

        system = jax.vmap(compiled, axis_size=count)({name: values[name] for name in self.structure.parameters})
        method = self.method
        landing = isinstance(method, ODEFilter) and method.events > 0
        moving = Moving(self.structure, system, landing)
        displacement, velocity = method.begins(len(self.structure.masses))
        still = all(each == 0.0 for each in displacement)
        state, modes = moving.begin(
            None if still else [entry(each) for each in displacement], [entry(each) for each in velocity]
        )
        noise = self.noise.deviations(entry)
        if not isinstance(method, ODEFilter):
            step, order = self.interval / method.steps, 1 if isinstance(method, Euler) else 4
            return Stepper(moving, self.drive, step, method.steps, order), (state, modes, noise), noise
        layout = _layout(self.structure, method)
        given = method.diffusions(len(layout.told))
        diffusion = jnp.stack([entry(each) for each in given or (0.0,) * len(layout.told)])
        return self._filter(moving, layout, isinstance(method.diffusion, Running)), (state, modes, diffusion), noise

    def _begun(self, values: Mapping[str, Array]) -> tuple[Any, Carried, Array]:
        """The solver, what it carries before the first sample, and the noise."""
        solver, (state, modes, diffusion), noise = self._prepared(values)
        if isinstance(self.method, ODEFilter) and isinstance(self.method.diffusion, Global):
            first = self._filter(solver.moving, solver.layout, True)
            last, _ = self._scanned(first, first.begin(state, modes, diffusion), noise)
            diffusion = jnp.maximum(last.squares / self.drive.begin.shape[0], 0.0)
        return solver, solver.begin(state, modes, diffusion), noise

    def _filter(self, moving: Moving, layout: Layout, calibrated: bool) -> Shared | Dense:
        method = self.method
        assert isinstance(method, ODEFilter)
        process = wiener(method.order, self.interval / method.steps)
        common = moving, layout, process, self.gains, self.drive
        if not method.dense:
            return Shared(*common, method.steps, calibrated)
        masses = layout.masses
        start = [method.start_displacement] * masses + [method.start_velocity] * masses
        start = jnp.asarray([*start, *[0.0] * (layout.size - 2 * masses)])
        if method.corrected:
            common = softened(moving), *common[1:]
        events = method.events if common[0].system.guard_owners() else 0
        return Dense(*common, start, method.steps, calibrated, method.linearised, method.corrected, events)

    def _read(self, solver: Any, now: Carried, index: Any, sensors: tuple[Sensor, ...]) -> tuple[Array, Array]:
        """Readings at a sample and columns of theirs (readings, columns, sets)."""
        state, inputs = solver.state(now), self.drive.at[index * self.method.steps]

        def readings(state):
            return solver.moving.readings(state, now.modes, inputs, sensors)

        def image(column):
            return jax.jvp(readings, (state,), (column,))[1]

        return readings(state), jax.vmap(image, out_axes=1)(solver.spread(now, index))

    def _sample(self, solver: Any, noise: Array, now: Carried, index: Any) -> tuple[Carried, tuple[Increment, Array]]:
        """What is carried on after a sample, what it was expected to be, and columns of that (outputs, columns, sets),
        as they were before it.
        """
        expected, images = self._read(solver, now, index, self.structure.sensors)
        y = self.outputs[index]
        increment = absorb(images, images[:0], expected[:0], y, expected, noise).increment
        return solver.absorb(now, Readings(y, expected, images, noise)), (increment, images)

    def solutions(self, values: Mapping[str, Array], sensors: tuple[Sensor, ...], ahead: bool) -> tuple[Array, Array]:
        """Readings of sensors, one step ahead of each sample or after it, and their standard deviations, (samples,
        readings, sets).
        """
        solver, begun, noise = self._begun(values)

        def sample(now, index):
            before = self._moved(solver, now, index)
            after, _ = self._sample(solver, noise, before, index)
            expected, images = self._read(solver, before if ahead else after, index, sensors)
            return after, (expected, jnp.sqrt(jnp.sum(images * images, axis=1)))

        return jax.lax.scan(sample, begun, jnp.arange(self.outputs.shape[0]))[1]

    def increments(self, values: Mapping[str, Array]) -> tuple[Increment, Array]:
        """Of the log-likelihood, sample by sample, (samples, ..., sets), and columns of what was expected."""
        return _increments(self, {name: jnp.asarray(value, float) for name, value in values.items()})

    def _increments(self, values: Mapping[str, Array]) -> tuple[Increment, Array]:
        return self._scanned(*self._begun(values))[1]

    def _scanned(self, solver: Any, begun: Carried, noise: Array) -> tuple[Carried, tuple[Increment, Array]]:
        def sample(now, index):
            return self._next(solver, noise, now, index)

        return jax.lax.scan(sample, begun, jnp.arange(self.outputs.shape[0]))

    def _next(self, solver: Any, noise: Array, now: Carried, index: Any) -> tuple[Carried, tuple[Increment, Array]]:
        """On to a sample, and after it."""
        return self._sample(solver, noise, self._moved(solver, now, index), index)

    def _moved(self, solver: Any, now: Carried, index: Any) -> Carried:
        """On to a sample; the first is where it begins."""
        moved = solver.advance(now, jnp.maximum(index - 1, 0))
        return jax.tree.map(lambda new, old: jnp.where(index > 0, new, old), moved, now)

    def log_likelihoods(self, values: Mapping[str, Array]) -> Array:
        """Logarithms of p(record | values) of many sets."""
        return jnp.sum(self.along(values), axis=1)

    def along(self, values: Mapping[str, Array]) -> Array:
        """Increments of many sets, (sets, samples)."""
        return self._increments(values)[0].log_likelihood.T

    def log_likelihood(self, values: Mapping[str, Any]) -> Array:
        """The same for one set; can be traced and differentiated."""
        one = {name: jnp.asarray(value)[None] for name, value in values.items()}
        return jnp.sum(self.increments(one)[0].log_likelihood)

    def start(self, values: Mapping[str, Array]) -> tuple[Array, ...]:
        """What is carried along the record, before its first sample: arrays with one row per set."""
        return tuple(jnp.moveaxis(each, -1, 0) for each in self._begun(values)[1])

    def follow(
        self, values: Mapping[str, Array], before: tuple[Array, ...], first: Any, last: Any
    ) -> tuple[Array, tuple[Array, ...]]:
        """Go on with many sets from sample ``first`` up to ``last``, at most `BLOCK` samples later: increments (sets,
        samples from the first on), which are zero after the last, and what is carried on after that.
        """
        solver, begins, noise = self._prepared(values)
        kind = type(jax.eval_shape(solver.begin, *begins))
        now = kind(*(jnp.moveaxis(each, 0, -1) for each in before))

        def sample(index, carry):
            now, totals = carry
            now, (increment, _) = self._next(solver, noise, now, index)
            return now, totals.at[index - first].set(increment.log_likelihood)

        totals = jnp.zeros((min(self.outputs.shape[0], BLOCK), noise.shape[1]))
        now, totals = jax.lax.fori_loop(first, last, sample, (now, totals))
        return totals.T, tuple(jnp.moveaxis(each, -1, 0) for each in now)


@compiled_soon
def _increments(prepared: Solving, values: Mapping[str, Array]) -> tuple[Increment, Array]:
    return prepared._increments(values)


def _layout(structure: Structure, method: ODEFilter) -> Layout:
    masses = len(structure.masses)
    own = sum(len(link.element.states) for link in structure.links)
    metered = len({s.on for s in structure.sensors if isinstance(s, HystereticEnergy)})
    return Layout(masses, 2 * masses + own + metered, method.second_order)


def solving(
    structure: Structure, record: Record, noise: Any, method: Solver | None = None, hold: Hold = _STRAIGHT
) -> Solving:
    """Check and prepare a record whose inputs were measured for solvers.

    Args:
        structure: without random inputs; its sensors are the outputs of the record, in order.
        record: outputs, NaN where missing, and inputs.
        noise: standard deviation of the outputs' noise: a number or the name of an unknown, for all or one per output.
        method: `ODEFilter` by default.
        hold: what inputs do between samples.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.3)], sensors=[vb.Velocity("mass")])
        >>> force = np.sin(np.arange(60) / 6.0)
        >>> true = vb.simulate(oscillator, vb.Sampled(force, 20.0, vb.StraightLines()), {"k": 9.0}).outputs
        >>> record = vb.Record.from_arrays(rate=20.0, input=force, output=np.asarray(true)[:, 0])
        >>> prepared = vb.solving(oscillator, record, noise=0.001)
        >>> found = prepared.log_likelihoods({"k": np.array([7.0, 9.0, 11.0])})
        >>> int(found.argmax())
        1
    """
    method = ODEFilter() if method is None else method
    if not isinstance(method, Solver):
        raise InvalidInput("solver", "ODEFilter(), RungeKutta() or Euler()", repr(method), "give one")
    if any(process is not None for process in structure.processes):
        remedy = "use an UnscentedFilter(), or measure the inputs"
        raise InvalidInput("solver", "a structure whose inputs were measured", "random inputs", remedy)
    check_channels(structure, record)
    noises = check_noise(noise, record.output.shape[1])
    # A single sample has no step after it; the one that is made up is never made.
    inputs = np.asarray(record.input)[[0, 0]] if record.samples == 1 else record.input
    steps = (len(inputs) - 1) * method.steps
    found: dict[int, Gains] = {}
    if isinstance(method, ODEFilter):
        layout = _layout(structure, method)
        method.diffusions(len(layout.told))
        found = {told: Gains(*map(jnp.asarray, gains(method.order, told, steps))) for told in set(layout.told)}
    method.begins(len(structure.masses))
    return Solving(
        structure=structure,
        noise=noise_of(noises),
        outputs=jnp.asarray(record.output),
        drive=Drive(*map(jnp.asarray, drive_of(Sampled(inputs, record.rate, hold), method.steps))),
        gains=found,
        method=method,
        interval=record.dt,
        lookahead=hold.lookahead,
    )
