"""A structure and its random excitation from one sample to the next.

The state is x = (displacements, velocities, internal states, states of the processes), and

    dx = (L x + N(x) + Γ u(t)) dt + B dβ,

with L the flow at rest, N what the laws add to it, and u the inputs that were measured. L is taken exactly, by its
exponential: a linear structure is propagated to rounding error, whatever the step. N is added by the fourth-order
scheme of Runge and Kutta in the variables exp(−L t) x (Lawson). Laws bend few states and change few (`bending`): only
those are computed between the start and the end of a step. Internal states with bounds move freely within a
step and are cut off; so the result is a continuous function of the parameters.

Noise of a whole interval has the covariance Q = ∫ exp(L s) B Bᵀ exp(Lᵀ s) ds. It is kept as columns: the
integrand's root at the nodes of a Gauss rule. White noise that acts on the structure itself is no small thing within
an interval: a spring that yields keeps its force however it is pushed. So its two smoothest parts, constant and growing
along the interval, are inputs with standard normal amplitudes, which stand as further coordinates below the state, and
go through the laws. What the laws do with the rest of the noise is left out, and vanishes with the interval.

Envelopes act through their value in the middle of a step. Processes drive the structure and not the other way
round, so an envelope only multiplies the part of exp(L t) that leads from the one to the other.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.filters.bending import Bending, bending
from vibayes.filters.lanes import combined, like, product
from vibayes.filters.triangular import triangle
from vibayes.simulation.fusion import materialise
from vibayes.structure.element import UNBOUNDED
from vibayes.structure.hybrid import HybridSystem, State
from vibayes.structure.sensors import Displacement, Sensor, Velocity
from vibayes.structure.structure import Structure

Array = Any
_NODES = 8
"""Of the Gauss rule for the noise."""
_TERMS = 24
"""Of the series exp(L s) B."""
_DEGREE, _SQUARINGS = 12, 8
"""Of the series of the exponential, and after it."""


class Discrete(eqx.Module):
    """What the filters see; made by `discretise`."""

    structure: Structure
    system: HybridSystem
    rest: Array
    """State of the structure at rest."""
    slope: Array
    """L, of the structure alone."""
    whole: Array
    """L, of structure and processes."""
    drives: Array
    """Columns of B, one per process."""
    full: Array
    half: Array
    """exp(L t) over a step and half a step."""
    given_full: Array
    given_half: Array
    """What inputs add over a step and half a step, by their values and then by their slopes: those that were measured,
    then those of `white`."""
    noise: Array
    """Columns of the noise of a whole interval, with envelopes of one, less what goes through the laws."""
    rows: tuple[Array, ...]
    """What the inputs are of the states of their processes."""
    bounds: tuple[Array, Array] | None
    """Lowest and highest values of the internal states; nothing if they may have any."""
    one: Array
    """One, unknown to the compiler; see `kept`."""
    white: tuple[int, ...] = eqx.field(static=True)
    """Processes whose smoothest parts go through the laws."""
    interval: float = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    """Per interval."""
    linear: bool = eqx.field(static=True)
    bending: Bending = eqx.field(static=True)
    """States that N depends on, and those that it changes."""

    @property
    def size(self) -> int:
        """Number of states."""
        return self.full.shape[0]

    @property
    def amplitudes(self) -> int:
        """Number of coordinates below the state, of the noise that goes through the laws."""
        return 2 * len(self.white)

    def kept(self, values: Array) -> Array:
        """Values computed once, where the compiler would compute them anew wherever they are used."""
        return materialise(values, self.one) if self.rest.ndim > 1 else values

    @property
    def reads_states(self) -> bool:
        """Whether every reading is a linear function of the state."""
        return self.linear or all(isinstance(s, Displacement | Velocity) for s in self.structure.sensors)

    # ---- processes --------------------------------------------------------------------------------------------

    def envelopes(self, time: Any) -> tuple[Array, Array, Array]:
        """Envelopes by input, by state and by column of noise; one where there is none."""
        one = jnp.ones(self.rest.shape[1:])
        by_input, by_state, by_noise = [], [one] * self.system.size, []
        for process in self.structure.processes:
            value = one if process is None else one * process.envelope.value(time)
            by_input.append(value)
            if process is not None:
                by_state += [value] * process.order
                by_noise += [value] * min(_NODES, self.size)
        columns = jnp.stack(by_noise) if by_noise else jnp.zeros((0, *one.shape))
        return jnp.stack(by_input), jnp.stack(by_state), columns

    def inputs(self, points: Array, index: Any, given: Array) -> tuple[Array, ...]:
        """All input channels at a sample, for points as columns; ``given`` are the measured ones."""
        strength, _, _ = self.envelopes(index * self.interval)
        channels, position, measured = [], self.system.size, 0
        for number, (process, row) in enumerate(zip(self.structure.processes, self.rows, strict=True)):
            if process is None:
                channels.append(given[measured] * jnp.ones(points.shape[1:]))
                measured += 1
            else:
                here = points[position : position + process.order]
                channels.append(strength[number] * product(row[None], here)[0])
                position += process.order
        return tuple(channels)

    def noise_of(self, index: Any) -> Array:
        """Columns of the noise of the interval after a sample."""
        _, _, by_noise = self.envelopes((index + 0.5) * self.interval)
        own = self.system.size
        return jnp.concatenate([self.noise[:own] * by_noise, self.noise[own:]])

    # ---- the step ---------------------------------------------------------------------------------------------

    def bounded(self, points: Array) -> Array:
        """Points with internal states within their bounds."""
        if self.bounds is None:
            return points
        # Of the internal states alone: the compiler joins slices with what uses them.
        first, last = 2 * self.system.masses, self.system.size
        low, high = (bound[:, None] for bound in self.bounds)
        return jnp.concatenate([points[:first], jnp.clip(points[first:last], low, high), points[last:]])

    def _beyond(self, *seen: Array) -> list[Array]:
        """N(x) of the states that it changes, from those that it depends on."""
        state = [jnp.zeros(())] * self.system.size
        for i, row in zip(self.bending.seen, seen, strict=True):
            state[i] = row
        flow, changed = free_flow(self.system, tuple(state)), self.bending.changed
        straight = [combined([self.slope[i, j] for j in self.bending.seen], seen) for i in changed]
        return [self.kept(flow[i] - line) for i, line in zip(changed, straight, strict=True)]

    def advance(self, points: Array, index: Any, given: Array) -> Array:
        """Points as columns, one interval later; ``given`` are the measured inputs at its start and their growth.

        Points are states with amplitudes of the noise below; what comes back are states.
        """
        value, growth = self._pushes(points[self.size :], index, given)
        points = points[: self.size]
        for step in range(self.steps):
            middle = (index + (step + 0.5) / self.steps) * self.interval
            _, by_state, _ = self.envelopes(middle)
            drive = jnp.concatenate([value + growth * (step / self.steps), growth / self.interval])
            points = self.kept(points)
            alone = self.kept(product(self._weakened(self.full, by_state), points) + product(self.given_full, drive))
            bent = self._bent(points, alone, drive, by_state) if self.bending.changed else 0.0
            points = self.bounded(alone + bent)
        return points

    def _bent(self, points: Array, alone: Array, drive: Array, by_state: Array) -> Array:
        """What the laws add over a step to what the linear part gives alone.

        The stages a, b, c, d of Runge and Kutta are N in the states that it changes. Before the end, only the states
        that it depends on are followed.
        """
        h, (seen, changed) = self.interval / self.steps, self.bending
        half, full = (self.kept(self._weakened(each, by_state)) for each in (self.half, self.full))

        def half_later(start, push):
            moved = [combined([half[i, j] for j in changed], push) for i in seen]
            return [self.kept(row + more) for row, more in zip(start, moved, strict=True)]

        def at_once(start, push):
            by_row = dict(zip(changed, push, strict=True))
            return [self.kept(row + by_row[i]) if i in by_row else row for i, row in zip(seen, start, strict=True)]

        def times(factor, rows):
            return [factor * row for row in rows]

        middle = [self.kept(combined(half[i], points) + combined(self.given_half[i], drive)) for i in seen]
        a = self._beyond(*(points[i] for i in seen))
        b = self._beyond(*half_later(middle, times(0.5 * h, a)))
        c = self._beyond(*at_once(middle, times(0.5 * h, b)))
        d = self._beyond(*half_later([alone[i] for i in seen], times(h, c)))
        unit = np.eye(self.size)
        total: Any = 0.0
        for j, first, second, third, last in zip(changed, a, b, c, d, strict=True):
            total += full[:, j, None] * first + half[:, j, None] * (2.0 * (second + third))
            total += like(unit[:, j], points) * last
        return (h / 6.0) * total

    def _pushes(self, amplitudes: Array, index: Any, given: Array) -> tuple[Array, Array]:
        """All inputs at the start of an interval and their growth over it, for points as columns.

        White noise of strength one is (ξ₀ + √3 ξ₁ (2 t/T − 1) + …) / √T over an interval T, in Legendre's polynomials.
        """
        everywhere = jnp.ones((2, given.shape[1], *amplitudes.shape[1:]))
        measured = like(given, everywhere) * everywhere
        strength, _, _ = self.envelopes((index + 0.5) * self.interval)
        scale = strength[np.array(self.white, int), None] / np.sqrt(self.interval)
        even, slope = amplitudes[0::2] * scale, np.sqrt(3.0) * amplitudes[1::2] * scale
        return jnp.concatenate([measured[0], even - slope]), jnp.concatenate([measured[1], 2.0 * slope])

    def _weakened(self, matrix: Array, by_state: Array) -> Array:
        own = self.system.size
        return jnp.concatenate([matrix[:own] * by_state, matrix[own:]])

    def measure(self, points: Array, index: Any, given: Array, sensors: tuple[Sensor, ...] | None = None) -> Array:
        """Readings of all sensors, or of others, for points as columns."""
        read = self.structure.sensors if sensors is None else sensors
        state = self.system.bounded(tuple(points[i] for i in range(self.system.size)))
        motion = self.system.motion(state, self.system.free_modes(state), self.inputs(points, index, given))
        readings = [sensor.measure(self.structure, self.system, motion) for sensor in read]
        return jnp.stack([jnp.broadcast_to(reading, points.shape[1:]) for reading in readings])

    # ---- the beginning ----------------------------------------------------------------------------------------

    def start(self, displacement: float, velocity: float) -> tuple[Array, Array]:
        """Mean and triangle: the structure about at rest, the processes as they have been for ever."""
        mean = jnp.concatenate([self.rest, jnp.zeros(self.size - self.system.size)])
        masses = self.system.masses
        deviations = [displacement] * masses + [velocity] * masses + [0.0] * (self.system.size - 2 * masses)
        blocks = [jnp.diag(jnp.asarray(deviations, float))]
        for process in self.structure.processes:
            if process is not None and process.order:
                blocks.append(_steady(process.filter()))
        return mean, jax.scipy.linalg.block_diag(*blocks)


def _steady(part) -> Array:
    """Triangle of the covariance P of a process that has been going on for ever: A P + P Aᵀ + B Bᵀ = 0."""
    m = part.A.shape[0]
    eye = jnp.eye(m)
    matrix = jnp.kron(part.A, eye) + jnp.kron(eye, part.A)
    covariance = -jnp.linalg.solve(matrix, jnp.outer(part.B, part.B).ravel()).reshape(m, m)
    return jnp.linalg.cholesky(0.5 * (covariance + covariance.T))


def discretise(bound: Structure, interval: float, steps: int, one: Any = 1.0) -> Discrete:
    """A bound structure over intervals between samples, each in a number of steps."""
    system = bound.compile()
    zero = tuple(jnp.zeros(()) for _ in bound.masses)
    rest = jnp.stack([jnp.asarray(s, float) for s in system.start(None, zero)])
    silence = jnp.zeros(len(bound.inputs))

    def flow(x, u):
        state = tuple(x)
        return jnp.stack(system.flow(state, system.free_modes(state), tuple(u[i] for i in range(len(bound.inputs)))))

    slope, pushed = jax.jacfwd(flow, argnums=(0, 1))(rest, silence)
    linear = all(element.linear for element in system.elements)
    size = system.size + sum(p.order for p in bound.processes if p is not None)
    L = jnp.zeros((size, size)).at[: system.size, : system.size].set(slope)
    random, given, white, position = [], [], [], system.size
    for number, process in enumerate(bound.processes):
        column = jnp.zeros(size).at[: system.size].set(pushed[:, number])
        if process is None:
            given.append(column)
            continue
        part, here = process.filter(), slice(position, position + process.order)
        L = L.at[: system.size, here].add(jnp.outer(pushed[:, number], part.C)).at[here, here].set(part.A)
        direct = process.order == 0 and not linear
        random.append(((column * part.D).at[here].add(part.B), direct))
        white.extend([number] * direct)
        position += process.order
    driven = [*given, *(column for column, direct in random if direct)]
    half, given_half = _propagators(L, driven, 0.5 * interval / steps)
    full, given_full = _propagators(L, driven, interval / steps)
    noise = jnp.concatenate([jnp.zeros((size, 0)), *(noise_columns(L, c, interval, d) for c, d in random)], axis=1)
    drives = jnp.stack([column for column, _ in random], axis=1) if random else jnp.zeros((size, 0))
    return Discrete(
        structure=bound, system=system, rest=rest, slope=slope, whole=L, drives=drives, full=full, half=half,
        given_full=given_full, given_half=given_half, noise=noise, white=tuple(white), interval=interval, steps=steps,
        linear=linear,
        rows=tuple(jnp.zeros(0) if p is None else jnp.asarray(p.filter().C) for p in bound.processes),
        one=jnp.asarray(one), bounds=_bounds(system),
        bending=bending(lambda *state: free_flow(system, state), *rest),
    )  # fmt: skip


def _bounds(system: HybridSystem) -> tuple[Array, Array] | None:
    pairs = [pair for element in system.elements for pair in element.bounds()] + [UNBOUNDED] * len(system.metered)
    if all(pair is UNBOUNDED for pair in pairs):
        return None
    low, high = (jnp.stack([jnp.asarray(bound, float) for bound in side]) for side in zip(*pairs, strict=True))
    return low, high


def free_flow(system: HybridSystem, state: State) -> State:
    """Of a structure that nothing pushes, with internal states within their bounds and no event looked for."""
    state = system.bounded(state)
    return system.flow(state, system.free_modes(state), (0.0,) * len(system.forced_masses))


def _propagators(L: Array, driven: list[Array], time: float) -> tuple[Array, Array]:
    """exp(L t), and beside each other ∫ exp(L s) Γ ds and ∫ exp(L (t − s)) Γ s ds for every input."""
    size, count = L.shape[0], len(driven)
    drive = jnp.stack(driven, axis=1) if driven else jnp.zeros((size, 0))
    top = jnp.concatenate([L, drive, jnp.zeros((size, count))], axis=1)
    middle = jnp.concatenate([jnp.zeros((count, size + count)), jnp.eye(count)], axis=1)
    whole = exponential(time * jnp.concatenate([top, middle, jnp.zeros((count, size + 2 * count))]))
    return whole[:size, :size], whole[:size, size:]


def exponential(matrix: Array) -> Array:
    """exp(M) by a short series of a small part of M, squared again and again.

    The number of squarings is fixed: a step turns the fastest mode by a few radians, and hundreds would do no harm.
    (JAX's own function chooses it, which a batch pays for by computing all choices.)
    """
    eye, part = jnp.eye(matrix.shape[0]), matrix / 2.0**_SQUARINGS

    def horner(i, total):
        return eye + (part @ total) / (_DEGREE - i)

    small = jax.lax.fori_loop(0, _DEGREE, horner, eye)
    return jax.lax.fori_loop(0, _SQUARINGS, lambda _, power: power @ power, small)


def noise_columns(L: Array, column: Array, interval: float, direct: bool) -> Array:
    """Root of Q; without the two parts of the noise that go through the laws, if they do."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    times, roots = 0.5 * interval * (nodes + 1.0), np.sqrt(0.5 * interval * weights)
    term, total = column[:, None] * np.ones(_NODES), column[:, None] * np.ones(_NODES)
    for k in range(1, _TERMS + 1):
        term = (L @ term) * (times / k)
        total = total + term
    columns = total * roots
    if direct:
        smooth = np.sqrt(0.5 * weights)[:, None] * np.stack([np.ones(_NODES), np.sqrt(3.0) * nodes], axis=1)
        columns = columns - (columns @ smooth) @ smooth.T
    return triangle(columns) if columns.shape[0] < _NODES else columns  # fewer columns, the same covariance
