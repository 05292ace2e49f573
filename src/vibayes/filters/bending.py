"""Which parts of a function are not affine: read off the program that JAX makes of it.

Of a structure with many states a law bends the flow in a few only: a spring that yields is linear in all but its
memory, and adds nothing but forces. With

    f(x) = A x + c + g(x_seen),      g zero but for the rows that are changed,

what the laws add needs to be computed for those rows alone, of those states alone. Every intermediate value is followed
through the program as the inputs it is affine in, those it bends, and whether it has a part that depends on none. An
operation that is not known here bends all that it is given: the answer may name too many states, never too few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer
from jax.extend.core import Literal

_SUMS = {"add", "sub", "add_any"}
_KEEPING = {"neg", "broadcast_in_dim", "reshape", "squeeze", "copy", "reduce_sum", "slice"}
_NOTHING: frozenset[int] = frozenset()


class Bending(NamedTuple):
    """Inputs that a function is not affine in, and outputs that are not linear."""

    seen: tuple[int, ...]
    changed: tuple[int, ...]


class _Value(NamedTuple):
    """Of a program: inputs it is affine in, inputs that it bends, and whether there may be more than that."""

    affine: frozenset[int] = _NOTHING
    bent: frozenset[int] = _NOTHING
    offset: bool = False

    @property
    def constant(self) -> bool:
        return not self.affine and not self.bent

    def linear_only(self) -> bool:
        return not self.bent and not self.offset


def bending(function: Callable[..., Sequence[Any]], *scalars: Any) -> Bending:
    """Of a function of scalars that gives several.

    Examples:
        >>> import jax.numpy as jnp
        >>> bending(lambda x, v, z: (v, -3.0 * x - jnp.clip(z, -1.0, 1.0), 2.0 * v), 0.0, 0.0, 0.0)
        Bending(seen=(2,), changed=(1,))
    """
    program = jax.make_jaxpr(function)(*scalars)
    inputs = [_Value(affine=frozenset([i])) for i in range(len(scalars))]
    found = _followed(program.jaxpr, [_of_constant(c) for c in program.consts], inputs)
    seen = frozenset().union(*(value.bent for value in found))
    changed = tuple(i for i, value in enumerate(found) if not value.linear_only())
    return Bending(tuple(sorted(seen)), changed)


def _of_constant(value: Any) -> _Value:
    """Nothing depends on it, but it may be zero."""
    return _Value(offset=isinstance(value, Tracer) or bool(np.any(np.asarray(value) != 0)))


def _followed(program: Any, constants: Sequence[_Value], inputs: Sequence[_Value]) -> list[_Value]:
    """What the outputs of a program are, given what its inputs are."""
    known = dict(zip([*program.constvars, *program.invars], [*constants, *inputs], strict=True))

    def read(atom: Any) -> _Value:
        return _of_constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for line in program.eqns:
        given = [read(atom) for atom in line.invars]
        inner = line.params.get("jaxpr") if line.primitive.name in ("jit", "pjit", "closed_call") else None
        if inner is not None:
            found = _followed(inner.jaxpr, [_of_constant(c) for c in inner.consts], given)
        else:
            found = [_of_operation(line.primitive.name, given, np.dtype(out.aval.dtype)) for out in line.outvars]
        known.update(zip(line.outvars, found, strict=True))
    return [read(atom) for atom in program.outvars]


def _of_operation(name: str, given: list[_Value], kind: np.dtype) -> _Value:
    # Rounding to whole numbers is a conversion too.
    if name in _SUMS | _KEEPING or (name == "convert_element_type" and np.issubdtype(kind, np.inexact)):
        return _together(given)
    if name == "mul" and any(value.constant for value in given):
        if any(value == _Value() for value in given):
            return _Value()
        factors = [value for value in given if not value.constant]
        return factors[0] if factors else _Value(offset=True)
    if name == "div" and given[1].constant:
        return given[0]
    if name == "select_n" and given[0].constant:
        return _together(given[1:])
    everything = frozenset().union(*(value.affine | value.bent for value in given))
    return _Value(bent=everything, offset=True)


def _together(values: Sequence[_Value]) -> _Value:
    affine, bent = (frozenset().union(*parts) for parts in zip(*((v.affine, v.bent) for v in values), strict=True))
    return _Value(affine - bent, bent, any(value.offset for value in values))
