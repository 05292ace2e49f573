"""What every constitutive law has in common.

An element joins two points of a structure. It sees only its own *local* quantities: the deformation d and its rate
v between the points, its internal states s, and the mode it is in. From these it gives

    force   f(d, v, s, mode)          the resisting force (positive when it opposes positive d and v),
    rates   ds/dt(d, v, s, mode)      the evolution of the internal states,
    guards  g(d, v, s, mode, f) > 0   the domain of the mode: an event happens when one falls through zero,
    switch                            the mode (and reset states) after guard number i has fallen.

These are the mode, domain, flow map, event function and reset map of a hybrid dynamical system. Everything is
written for scalars; the simulators run it for thousands of parameter sets at once.

An element is a pytree whose leaves are its parameters: a number where the value is known, a string where it is
unknown and to be looked up by that name. Binding a structure to values replaces the strings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from vibayes.errors import InvalidInput
from vibayes.precision import require_double_precision

Parameter = Any
"""In a declaration a number or the name of an unknown; a number (or traced scalar) once the structure is bound."""

Scalar = Any
"""A number or a traced scalar; laws never see arrays."""

UNBOUNDED = (-math.inf, math.inf)
"""Of a state that may have any value."""


class Local(NamedTuple):
    """What an element sees of the structure: deformation, its rate, own states, own mode, own force."""

    deformation: Scalar
    velocity: Scalar
    states: tuple[Scalar, ...] = ()
    mode: Scalar = 0
    force: Scalar = 0.0


class Check(NamedTuple):
    """A requirement on parameter values: where it fails (elementwise), and the words of the error."""

    fails: Any
    field: str
    expected: str
    remedy: str
    value: Any = None
    """What to show as having come; by default the field itself."""


class Element(eqx.Module):
    """Base of every constitutive law; see the module's docstring for the contract.

    A law with one mode and no memory needs only ``force``. Declare ``states`` for internal states, ``modes`` and
    ``guards``/``switch``/``mode_at`` for piecewise laws.
    """

    states: ClassVar[tuple[str, ...]] = ()
    """Names of the internal states, in order."""
    affine: ClassVar[bool] = False
    """True when, within each mode, force and rates are affine in (d, v, s): the exact simulator may be used."""
    sticks: ClassVar[bool] = False
    """True when a mode can hold the velocity at zero with whatever force that takes (dry friction)."""
    needs_events: ClassVar[bool] = False
    """True when the law has memory that only events update, so that it cannot be run without locating them."""
    simpler_at: ClassVar[Mapping[str, tuple[float, ...]]] = {}
    """Known values of a field, as of an exponent, that make the law simpler: the simulator is compiled for them."""

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of the modes; a single nameless mode by default."""
        return ("only",)

    @property
    def linear(self) -> bool:
        """Whether it is affine everywhere."""
        return self.affine and not self.guard_names() and len(self.modes) == 1

    def force(self, local: Local) -> Scalar:
        """Resisting force in the given mode."""
        raise NotImplementedError

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """Time derivatives of the internal states in the given mode."""
        return ()

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Functions that are positive inside the mode's domain, affine in the local quantities."""
        return ()

    def guard_names(self) -> tuple[str, ...]:
        """What each guard's event is called in the event table."""
        return ()

    def event_name(self, guard: int, mode: int) -> str:
        """What an event is called in the event table; by default after the guard that fell, whatever the mode."""
        return self.guard_names()[guard]

    def switch(self, local: Local, fired: tuple[Scalar, ...]) -> tuple[Scalar, tuple[Scalar, ...]]:
        """Mode and states after an event; ``fired[i]`` is true for the guard that fell."""
        return local.mode, local.states

    def mode_at(self, local: Local) -> Scalar:
        """The mode that fits the local quantities: at the start, and at every instant when events are not located."""
        return jnp.int32(0)

    def bounds(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """Lowest and highest value of every state, for methods that step over events; by default there are none."""
        return (UNBOUNDED,) * len(self.states)

    def bounded(self, states: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """States put back where the law allows them."""
        pairs = zip(states, self.bounds(), strict=True)
        return tuple(state if pair is UNBOUNDED else jnp.clip(state, *pair) for state, pair in pairs)

    def free_mode(self, local: Local) -> Scalar:
        """The mode for methods that step over events and put states back (`bounded`): bounds need no mode there."""
        return self.mode_at(local)

    def stuck(self, mode: Scalar) -> Scalar:
        """Whether the mode holds the velocity at zero."""
        return jnp.bool_(False)

    def hysteretic_power(self, local: Local) -> Scalar:
        """Rate at which hysteretic energy that is not a function of the present state is absorbed."""
        return 0.0

    def hysteretic_store(self, local: Local) -> Scalar:
        """Hysteretic energy that is a function of the present state; adds to the integral of the power."""
        return 0.0

    def start(self, deformation: Scalar | None = None) -> tuple[Scalar, ...]:
        """Internal states at the beginning: virgin, or as a slow first loading to ``deformation`` leaves them."""
        return (0.0,) * len(self.states)

    def prepare(self) -> Element:
        """The same law with whatever depends on the parameters alone computed once."""
        return self

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield from ()

    def between(self, start: str, stop: str, name: str | None = None) -> Link:
        """This element between two named points of a structure ("ground" is one of them)."""
        return Link(self, start, stop, name)


class Link(eqx.Module):
    """An element in its place: from point ``start`` to point ``stop``; the deformation is stop minus start."""

    element: Element
    start: str = eqx.field(static=True)
    stop: str = eqx.field(static=True)
    name: str | None = eqx.field(static=True, default=None)


class Settled(eqx.Module):
    """A number the simulator is compiled for. It is no leaf, so it stays a plain number where leaves become arrays."""

    value: float = eqx.field(static=True)


def plain(value: Any) -> Any:
    """The number inside a `Settled`; anything else as it is."""
    return value.value if isinstance(value, Settled) else value


def as_arrays(tree: Any) -> Any:
    """Numbers as arrays, so that other values run the same compiled program, but for those that make a law simpler."""

    def settle(node):
        if not isinstance(node, Element):
            return node
        known = {field: getattr(node, field) for field in node.simpler_at}
        simple = [f for f, v in known.items() if isinstance(v, int | float) and v in node.simpler_at[f]]
        return (
            eqx.tree_at(lambda e: [getattr(e, f) for f in simple], node, [Settled(float(known[f])) for f in simple])
            if simple
            else node
        )

    require_double_precision("vibayes")
    settled = jax.tree.map(settle, tree, is_leaf=lambda node: isinstance(node, Element))
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), settled)


def is_name(leaf: Any) -> bool:
    """Whether a leaf stands for an unknown parameter."""
    return isinstance(leaf, str)


def parameter_names(tree: Any) -> tuple[str, ...]:
    """Names of the unknown parameters in a tree, each once, in the order of declaration."""
    return tuple(dict.fromkeys(leaf for leaf in jax.tree.leaves(tree) if is_name(leaf)))


def bind(tree: Any, values: dict[str, Any]) -> Any:
    """Replace the names in a tree by their values."""
    require_double_precision("vibayes")
    return jax.tree.map(lambda leaf: values[leaf] if is_name(leaf) else leaf, tree)


def choose(index: Scalar, options: tuple[Scalar, ...]) -> Scalar:
    """``options[index]`` for a traced index, as selections (a table look-up would not vectorise)."""
    value = options[-1]
    for i in reversed(range(len(options) - 1)):
        value = jnp.where(index == i, options[i], value)
    return value


def sign_of(value: Scalar) -> Scalar:
    """+1 where the value is positive or zero, −1 elsewhere."""
    return jnp.where(value >= 0, 1.0, -1.0)


def run_checks(part: Any, where: str) -> None:
    """Raise for the first requirement of an element, frame or damping that fails; traced values pass unjudged."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(part)):
        return
    for check in part.checks():
        value = getattr(part, check.field, None) if check.value is None else check.value
        raise_if(check.fails, f"{where}.{check.field}", check.expected, check.remedy, value)


def raise_if(fails: Any, where: str, expected: str, remedy: str, value: Any = None) -> None:
    """Raise `InvalidInput` where a (possibly batched) condition holds, showing the values and the sets they are in."""
    if isinstance(fails, Tracer):
        return
    fails = np.asarray(fails)
    if not fails.any():
        return
    got = _entry(value)
    if fails.ndim:
        wrong = np.flatnonzero(fails).tolist()
        shown = ", ".join(f"{_entry(value, i)} in set {i}" for i in wrong[:3])
        got = f"{shown}{' and so on' * (len(wrong) > 3)} ({len(wrong)} of {fails.size} parameter sets)"
    raise InvalidInput(where, expected, got, remedy)


def _entry(value: Any, index: int = 0) -> str:
    """A value for a message; of an array with one entry per parameter set, the one at the index."""
    if isinstance(value, tuple | list):
        return f"({', '.join(_entry(part, index) for part in value)})"
    if value is None:
        return "a value that breaks this"
    return repr(float(np.asarray(value)[index] if np.ndim(value) else value))


def slow_loading(element: Element, deformation: Scalar, steps: int = 200) -> tuple[Scalar, ...]:
    """States of a rate-independent element after loading it from the virgin state, by Runge–Kutta in the
    deformation.
    """

    def rates(d, states):
        local = Local(d, deformation, states)
        return element.rates(local._replace(mode=element.mode_at(local)))

    def along(states, slopes, h):
        return tuple(s + h * r for s, r in zip(states, slopes, strict=True))

    def step(i, states):
        h, d = 1.0 / steps, deformation * (i / steps)
        middle = d + 0.5 * h * deformation
        k1 = rates(d, states)
        k2 = rates(middle, along(states, k1, 0.5 * h))
        k3 = rates(middle, along(states, k2, 0.5 * h))
        k4 = rates(d + h * deformation, along(states, k3, h))
        total = tuple((a + 2 * b + 2 * c + e) / 6 for a, b, c, e in zip(k1, k2, k3, k4, strict=True))
        return along(states, total, h)

    virgin = tuple(jnp.asarray(s, float) + 0.0 * deformation for s in element.start())
    return jax.lax.fori_loop(0, steps, step, virgin)


def initial_stiffness(element: Element) -> Scalar:
    """Tangent stiffness at rest: ∂f/∂d + ∂f/∂s · ∂(ds/dt)/∂v, what a small push feels."""
    states = tuple(jnp.asarray(value, float) for value in element.start())
    zero, unit = jnp.zeros(()), jnp.ones(())
    mode = element.mode_at(Local(zero, zero, states))
    _, rates = jax.jvp(lambda v: element.rates(Local(zero, v, states, mode)), (zero,), (unit,))
    return jax.jvp(lambda d, s: element.force(Local(d, zero, s, mode)), (zero, states), (unit, rates))[1]


__all__ = ["Check", "Element", "Link", "Local", "Parameter", "Scalar"]
