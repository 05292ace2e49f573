"""A bound structure as a hybrid dynamical system: state, modes, flow map, guards, reset map.

    M a = p(u) − Σ_j b_j f_j(d_j, v_j, s_j, mode_j) − K x − C v,      d_j = b_jᵀ x,  v_j = b_jᵀ v

with b_j the signs of element j at its two ends. An element that sticks imposes b_jᵀ a = 0; its force is then the
reaction λ_j that this takes, from the small linear system (b_iᵀ M⁻¹ b_j) λ_j = b_iᵀ M⁻¹ (all other forces).

The state is a flat tuple of scalars (x…, v…, internal states…, absorbed energies…) and never an array: the
simulators vectorise over parameter sets instead, and one scalar per variable is what fuses well.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from vibayes.structure.element import UNBOUNDED, Element, Local, Scalar

State = tuple[Scalar, ...]
Modes = tuple[Scalar, ...]
Matrix = tuple[tuple[Scalar, ...], ...]


class Motion(NamedTuple):
    """Everything a sensor can see at one instant."""

    displacement: tuple[Scalar, ...]
    velocity: tuple[Scalar, ...]
    acceleration: tuple[Scalar, ...]
    base_acceleration: Scalar
    locals: tuple[Local, ...]
    energy: tuple[Scalar, ...]
    inputs: tuple[Scalar, ...]


class HybridSystem(eqx.Module):
    """What the simulators advance; made by `Structure.compile`."""

    inverse_masses: tuple[Scalar, ...]
    elements: tuple[Element, ...]
    stiffness: Matrix | None
    damping: Matrix | None
    ends: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """Index of the mass at each element's start and stop; −1 is the ground."""
    forced_masses: tuple[int | None, ...] = eqx.field(static=True)
    """For each input channel the mass it pushes, or None for an acceleration of the base."""
    metered: tuple[int, ...] = eqx.field(static=True)
    """Elements whose absorbed hysteretic energy is integrated."""
    spread: bool = eqx.field(static=True, default=False)
    """Whether simulators keep one scalar per variable instead of one array; see `vibayes.simulation.vectors`."""

    # ---- layout -----------------------------------------------------------------------------------------------

    @property
    def masses(self) -> int:
        """Number of masses."""
        return len(self.inverse_masses)

    @property
    def size(self) -> int:
        """Number of state variables."""
        return 2 * self.masses + sum(len(e.states) for e in self.elements) + len(self.metered)

    @property
    def affine(self) -> bool:
        """Whether the flow is affine within every mode."""
        return all(element.affine for element in self.elements)

    def guard_owners(self) -> tuple[tuple[int, int], ...]:
        """(element, its guard) for each guard of the system."""
        return tuple((j, i) for j, e in enumerate(self.elements) for i in range(len(e.guard_names())))

    def start(self, displacement: State | None, velocity: State) -> State:
        """State at the beginning; elements deformed then have been loaded slowly from their virgin state."""
        x = (0.0,) * self.masses if displacement is None else displacement
        deformation = [None if displacement is None else _difference(x, *ends) for ends in self.ends]
        internal = tuple(s for e, d in zip(self.elements, deformation, strict=True) for s in e.start(d))
        return (*x, *velocity, *internal, *((0.0,) * len(self.metered)))

    # ---- flow -------------------------------------------------------------------------------------------------

    def locals(self, state: State, modes: Modes | None) -> tuple[Local, ...]:
        """What each element sees; without modes each takes the one that fits its state."""
        x, v, position = state[: self.masses], state[self.masses :], 2 * self.masses
        seen = []
        for j, (element, (start, stop)) in enumerate(zip(self.elements, self.ends, strict=True)):
            states = state[position : position + len(element.states)]
            position += len(element.states)
            local = Local(_difference(x, start, stop), _difference(v, start, stop), states)
            seen.append(local._replace(mode=element.mode_at(local) if modes is None else modes[j]))
        return tuple(seen)

    def motion(self, state: State, modes: Modes | None, inputs: tuple[Scalar, ...]) -> Motion:
        """Accelerations and element forces at one instant."""
        x, v = state[: self.masses], state[self.masses : 2 * self.masses]
        seen = list(self.locals(state, modes))
        base = sum((u for u, mass in zip(inputs, self.forced_masses, strict=True) if mass is None), 0.0)
        net: list[Scalar] = [0.0] * self.masses
        for u, mass in zip(inputs, self.forced_masses, strict=True):
            if mass is not None:
                net[mass] = net[mass] + u
        for matrix, vector in ((self.stiffness, x), (self.damping, v)):
            if matrix is not None:
                net = [n - _dot(row, vector) for n, row in zip(net, matrix, strict=True)]
        for j, element in enumerate(self.elements):
            force = element.force(seen[j])
            if element.sticks:
                force = jnp.where(element.stuck(seen[j].mode), 0.0, force)
            seen[j] = seen[j]._replace(force=force)
            _push(net, self.ends[j], force)
        acceleration = [n * w - base for n, w in zip(net, self.inverse_masses, strict=True)]
        self._react(acceleration, seen)
        energy = state[self.size - len(self.metered) :]
        return Motion(x, v, tuple(acceleration), base, tuple(seen), energy, inputs)

    def _react(self, acceleration: list[Scalar], seen: list[Local]) -> None:
        """Add the reactions of stuck elements, in place."""
        holders = [j for j, element in enumerate(self.elements) if element.sticks]
        if not holders:
            return
        stuck = [self.elements[j].stuck(seen[j].mode) for j in holders]
        matrix, right = [], []
        for row, i in enumerate(holders):
            entries = []
            for column, j in enumerate(holders):
                entry = self._compliance(self.ends[i], self.ends[j])
                free = 1.0 if i == j else 0.0
                entries.append(jnp.where(stuck[row] & stuck[column], entry, free))
            matrix.append(entries)
            right.append(jnp.where(stuck[row], _difference(acceleration, *self.ends[i]), 0.0))
        for j, row in zip(holders, _inverse(matrix), strict=True):
            reaction = _dot(row, right)
            seen[j] = seen[j]._replace(force=seen[j].force + reaction)
            start, stop = self.ends[j]
            for mass, sign in ((start, -1.0), (stop, 1.0)):
                if mass >= 0:
                    acceleration[mass] = acceleration[mass] - sign * reaction * self.inverse_masses[mass]
        # What sticks together moves together to the last digit: else its deformation would be rounding noise, in which
        # another element between the same points finds events.
        held = dict(zip(holders, stuck, strict=True))
        for j, leader, follower in self._trees(holders):
            together = acceleration[leader] if leader >= 0 else jnp.zeros_like(acceleration[follower])
            acceleration[follower] = jnp.where(held[j], together, acceleration[follower])

    def _trees(self, holders: list[int]) -> list[tuple[int, int, int]]:
        """(element, mass or ground that leads, mass that follows) of elements that stick, leaders first.

        They form trees, for friction in a loop would not be determined.
        """
        order: list[tuple[int, int, int]] = []
        left, reached = list(holders), {-1}
        while left:
            j = next((j for j in left if reached & set(self.ends[j])), None)
            if j is None:
                reached.add(self.ends[left[0]][0])
                continue
            start, stop = self.ends[j]
            leader, follower = (start, stop) if start in reached else (stop, start)
            order.append((j, leader, follower))
            reached.add(follower)
            left.remove(j)
        return order

    def _compliance(self, one: tuple[int, int], other: tuple[int, int]) -> Scalar:
        """b_iᵀ M⁻¹ b_j."""
        signs = {one[0]: -1.0, one[1]: 1.0}
        total: Scalar = 0.0
        for mass, sign in ((other[0], -1.0), (other[1], 1.0)):
            if mass >= 0 and mass in signs:
                total = total + sign * signs[mass] * self.inverse_masses[mass]
        return total

    def flow(self, state: State, modes: Modes | None, inputs: tuple[Scalar, ...]) -> State:
        """Time derivative of the state."""
        motion = self.motion(state, modes, inputs)
        rates = tuple(r for e, seen in zip(self.elements, motion.locals, strict=True) for r in e.rates(seen))
        power = tuple(self.elements[j].hysteretic_power(motion.locals[j]) for j in self.metered)
        return (*motion.velocity, *motion.acceleration, *rates, *power)

    def held(self, state: State, modes: Modes) -> State:
        """The state with velocities at which stuck elements stand still, as an impulse of each would bring about."""
        velocity = list(state[self.masses : 2 * self.masses])
        self._react(velocity, list(self.locals(state, modes)))
        return (*state[: self.masses], *velocity, *state[2 * self.masses :])

    @property
    def has_bounds(self) -> bool:
        """Whether an internal state has bounds."""
        return any(pair is not UNBOUNDED for element in self.elements for pair in element.bounds())

    def bounded(self, state: State) -> State:
        """The state with all internal states within their bounds."""
        x, position, internal = state[: 2 * self.masses], 2 * self.masses, []
        for element in self.elements:
            internal += element.bounded(tuple(state[position : position + len(element.states)]))
            position += len(element.states)
        return (*x, *internal, *state[position:])

    def free_modes(self, state: State) -> Modes:
        """Modes for methods that step over events."""
        pairs = zip(self.elements, self.locals(state, self.modes_at(state)), strict=True)
        return tuple(jnp.int32(element.free_mode(local)) for element, local in pairs)

    # ---- events -----------------------------------------------------------------------------------------------

    def modes_at(self, state: State) -> Modes:
        """The modes that fit a state."""
        return tuple(jnp.int32(seen.mode) for seen in self.locals(state, None))

    def guards(self, state: State, modes: Modes, inputs: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """All guards, in the order of `guard_owners`."""
        if not self.guard_owners():
            return ()
        seen = self.motion(state, modes, inputs).locals
        return tuple(g for e, local in zip(self.elements, seen, strict=True) for g in e.guards(local))

    def switch(self, state: State, modes: Modes, inputs: tuple[Scalar, ...], fired: Scalar) -> tuple[State, Modes]:
        """State and modes after guard number ``fired`` has fallen; unchanged where it is −1."""
        seen = self.motion(state, modes, inputs).locals
        new_state, new_modes, position, guard = list(state), list(modes), 2 * self.masses, 0
        for j, (element, local) in enumerate(zip(self.elements, seen, strict=True)):
            flags = tuple(fired == guard + i for i in range(len(element.guard_names())))
            if flags:
                mode, states = element.switch(local, flags)
                mine = (fired >= guard) & (fired < guard + len(flags))
                new_modes[j] = jnp.where(mine, mode, modes[j]).astype(jnp.int32)
                for i, value in enumerate(states):
                    new_state[position + i] = jnp.where(mine, value, state[position + i])
            position += len(element.states)
            guard += len(flags)
        if any(element.sticks for element in self.elements):
            # Standstill is found to rounding, but what sticks does not creep.
            still = self.held(tuple(new_state), tuple(new_modes))
            new_state = [jnp.where(fired >= 0, new, old) for new, old in zip(still, new_state, strict=True)]
        return tuple(new_state), tuple(new_modes)


def _difference(values, start: int, stop: int) -> Scalar:
    """values[stop] − values[start] with zero at the ground."""
    if start < 0:
        return values[stop]
    if stop < 0:
        return -values[start]
    return values[stop] - values[start]


def _push(net: list[Scalar], ends: tuple[int, int], force: Scalar) -> None:
    """Let a resisting force act on the two ends, in place."""
    start, stop = ends
    if stop >= 0:
        net[stop] = net[stop] - force
    if start >= 0:
        net[start] = net[start] + force


def _dot(row, vector) -> Scalar:
    return sum((a * b for a, b in zip(row, vector, strict=True)), 0.0)


def _inverse(matrix: list[list[Scalar]]) -> list[list[Scalar]]:
    """Gauss–Jordan without pivoting: the matrix is symmetric positive definite and tiny.

    The inverse depends on the modes alone, so that a step computes it once however often it needs reactions.
    """
    n = len(matrix)
    rows = [[*row, *(1.0 if i == j else 0.0 for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = 1.0 / rows[i][i]
        rows[i] = [a * pivot for a in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]
