"""One mass on one viscoelastic network, written in whatever state variables are asked for.

The motion m ẍ = u − r has one *state space* but many coordinates of it. Kinematic ones are the displacement
x, the velocity ẋ and inner deformations e(…); kinetic ones the restoring force r, its rate, inner forces
f(…), and the generalised momentum

    p = ∫ r dt = ∫ u dt − m ẋ        (starting from rest).

A choice y is *flow-controlled* if all its variables are kinematic, *effort-controlled* if all are kinetic,
else *mixed*. With I = ∫ u dt it reads

    dy/dt = A y + B_u u + B_I I,        (x, ẋ, r) = C y + D I.

All are derived from one system: every variable is a row of coefficients on w = (x, m ẋ, inner states, I),
whose equations dw/dt = F w + g u are Newton's law and the network's own. If y = P w together with I
determine w, that is w = M⁻¹ (y, I), then

    (A, B_I) = P F M⁻¹,        B_u = P g.

A *fluid* network, one that holds no force at rest, satisfies p = c₀ x + ℓᵀ q at all times: integrate its law
f = c v + γᵀ q, dq/dt = A_q q + b v from rest to find ℓ = A_q⁻ᵀ γ and c₀ = c − ℓᵀ b. So one state variable
fewer is enough, which is why two serve for a mass on a Maxwell model as they do for one on a Kelvin model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.naming import nearest, quoted
from vibayes.structure.element import parameter_names, run_checks
from vibayes.structure.elements.linear_form import Form
from vibayes.structure.elements.viscoelastic import Viscoelastic

_WORST_CONDITION = 1e11
"""Above this condition number, rows and columns scaled to one, variables count as dependent."""


class Output(NamedTuple):
    """A quantity as ``state @ y + impulse * I``."""

    state: np.ndarray
    impulse: float


@dataclass(frozen=True, eq=False)
class LinearChoice:
    """A mass on a network as dy/dt = A y + B_u u + B_impulse ∫u dt, from rest.

    Attributes:
        states: names of the state variables y.
        A: system matrix, (n, n).
        B_u: what the force u does, (n,).
        B_impulse: what its time integral does, (n,).
        outputs: "x", "xdot" and "r" in terms of y and the time integral of u.
    """

    states: tuple[str, ...]
    A: np.ndarray
    B_u: np.ndarray
    B_impulse: np.ndarray
    outputs: Mapping[str, Output]

    @property
    def control(self) -> str:
        """ "flow", "effort" or "mixed"."""
        kinetic = [name in ("p", "r", "rdot") or name.startswith("f(") for name in self.states]
        return "effort" if all(kinetic) else "mixed" if any(kinetic) else "flow"


def state_choice(mass: float, network: Viscoelastic, states: Sequence[str]) -> LinearChoice:
    """A mass on a network in the chosen state variables.

    Args:
        mass: the mass.
        network: a network with known parameters.
        states: names among "x", "xdot", "p", "r", "rdot" (where it does not depend on the input itself), the
            network's states and its other inner deformations e(…) and forces f(…).

    Returns:
        The equations. Starting from rest, every choice describes the same motion.

    Raises:
        InvalidInput: the variables are unknown, not independent, too few or too many.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.structure.state_choices import state_choice
        >>> effort = state_choice(2.0, vb.kelvin(6.0, 1.0), ("p", "r"))
        >>> effort.control, effort.A.tolist(), effort.B_u.tolist(), effort.B_impulse.tolist()
        ('effort', [[0.0, 1.0], [-3.0, -0.5]], [0.0, 0.5], [0.0, 3.0])
    """
    _check(mass, network, states)
    system = _System(mass, network)
    rows = np.array([system.row(name) for name in states])
    sizes = sorted({len(system.reduced.T), len(system.flow)})
    if len(states) + 1 not in sizes:
        raise InvalidInput(
            "state_choice.states",
            f"{' or '.join(str(size - 1) for size in sizes)} variables for {network.notation}",
            f"{len(states)}",
            "add or remove some",
        )
    basis = system.reduced if len(states) + 1 == sizes[0] else np.eye(len(system.flow))
    inverse = _inverse(np.vstack([rows, system.row("I")]) @ basis)
    if inverse is None:
        raise InvalidInput(
            "state_choice.states",
            "independent variables",
            f"{quoted(states)}",
            "replace one (xdot and p, for instance, are one: p = ∫u dt − m·xdot)",
        )
    to_choice = _product(basis, inverse)
    equations = _product(rows @ system.flow, to_choice)
    outputs = {name: _product(system.row(name), to_choice) for name in ("x", "xdot", "r")}
    return LinearChoice(
        states=tuple(states),
        A=equations[:, :-1],
        B_u=rows @ system.drive,
        B_impulse=equations[:, -1],
        outputs={name: Output(form[:-1], float(form[-1])) for name, form in outputs.items()},
    )


class _System:
    """dw/dt = F w + g u for w = (x, m ẋ, inner states, I), and every variable as a row on w."""

    def __init__(self, mass: float, network: Viscoelastic):
        self.law = network.law()
        self.mass = mass
        self.names = ("x", "momentum", *self.law.rates, "I")
        n = len(self.names)
        self.drive = np.zeros(n)
        self.drive[[1, n - 1]] = 1.0
        force = self._on_w(self.law.force)
        inner = [self._on_w(form) for form in self.law.rates.values()]
        self.flow = np.array([self._on_w({"v": 1.0}), -force, *inner, np.zeros(n)])
        self.rows = {name: unit for name, unit in zip(self.names, np.eye(n), strict=True) if name != "momentum"}
        self.rows |= {name: self._on_w(form) for name, form in self.law.derived.items()}
        self.rows |= {"xdot": self._on_w({"v": 1.0}), "r": force, "rdot": force @ self.flow}
        self.rows["p"] = self.rows["I"] - np.eye(n)[1]
        self.reduced = np.eye(n) if self.law.solid else self._without_displacement()

    def _on_w(self, form: Form) -> np.ndarray:
        row = np.zeros(len(self.names))
        for name, coefficient in form.items():
            at, scale = {"d": ("x", 1.0), "v": ("momentum", 1.0 / self.mass)}.get(name, (name, 1.0))
            row[self.names.index(at)] += coefficient * scale
        return row

    def row(self, name: str) -> np.ndarray:
        """The variable's coefficients; refuses what is unknown and what follows the input without delay."""
        if name not in self.rows:
            known = [known for known in self.rows if known != "I"]
            raise InvalidInput("state_choice.states", "known variables", f"{name!r}", nearest(name, known))
        if name == "rdot" and self.rows["r"] @ self.drive:
            raise InvalidInput(
                "state_choice.states",
                "variables that do not depend on the input itself",
                "'rdot' of a network that resists its own rate",
                "use inner deformations or forces instead",
            )
        return self.rows[name]

    def _without_displacement(self) -> np.ndarray:
        """w in terms of (m ẋ, inner states, I) for a fluid network: x = (I − m ẋ − ℓᵀ q)/c₀."""
        size = len(self.law.rates)
        inner, force = slice(2, 2 + size), self.rows["r"]
        transposed = self.flow[inner, inner].T
        lag = np.linalg.solve(transposed, force[inner]) if size else np.zeros(0)
        viscosity = self.mass * (force[1] - lag @ self.flow[inner, 1])
        reduced = np.eye(3 + size - 1, 3 + size, k=1).T
        reduced[0] = np.concatenate([[-1.0], -lag, [1.0]]) / viscosity
        return reduced


def _check(mass: float, network: Viscoelastic, states: Sequence[str]) -> None:
    if not isinstance(network, Viscoelastic):
        raise InvalidInput(
            "state_choice.network",
            "a Viscoelastic network",
            f"{type(network).__name__}",
            "wrap it: parallel(element)",
        )
    if parameter_names(network):
        raise InvalidInput(
            "state_choice.network",
            "known parameters",
            f"unknowns {list(parameter_names(network))}",
            "build it from numbers",
        )
    if not mass > 0:
        raise InvalidInput("state_choice.mass", "a positive number", f"{mass}", "check sign and units")
    if isinstance(states, str):
        raise InvalidInput("state_choice.states", "several names", f"the text {states!r}", "give a tuple of names")
    run_checks(network, "state_choice.network")


def _inverse(matrix: np.ndarray) -> np.ndarray | None:
    """The inverse with clean zeros, or None if there is none.

    Rows and columns are scaled first, so that units do not matter; by powers of two, which are exact.
    """
    by_row, by_column = np.ones((len(matrix), 1)), np.ones((1, len(matrix)))
    for _ in range(5):
        for scale, axis in ((by_column, 0), (by_row, 1)):
            norms = np.linalg.norm(by_row * matrix * by_column, axis=axis, keepdims=True)
            scale /= 2.0 ** np.round(np.log2(np.where(norms > 0, norms, 1.0)))
    scaled = by_row * matrix * by_column
    if not np.linalg.cond(scaled) < _WORST_CONDITION:
        return None
    inverse = np.linalg.inv(scaled)
    return by_column.T * _clean(inverse, np.abs(inverse).max()) * by_row.T


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A matrix product in which what is zero but for rounding is zero."""
    return _clean(left @ right, np.abs(left) @ np.abs(right))


def _clean(values: np.ndarray, magnitudes: np.ndarray | float) -> np.ndarray:
    """Values with zeros where they are no more than the rounding of sums of such magnitudes."""
    return np.where(np.abs(values) <= 64 * np.finfo(float).eps * magnitudes, 0.0, values)
