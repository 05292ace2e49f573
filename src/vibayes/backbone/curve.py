"""Solutions of the equations of a normal form: one branch of a backbone, followed in the amplitude of one mode.

    ε(Ω, V; θ) = 0,        V_lead given,        Ω and the other V unknown,

by Newton's method from the previous point. Signs of V tell modes in phase from those in anti-phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.form import NormalForm
from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.forking import require_usable_jax
from vibayes.naming import quoted

Array = Any
_ROUNDS = 12
_TOLERANCE = 1e-10
"""Of residuals, relative to Ω² V."""


@dataclass(frozen=True)
class BackboneCurve:
    """A branch of a backbone, of one set of values or of many (sets first); by `backbone_curve`.

    Attributes:
        frequency: Ω, radians per second, (points,).
        amplitudes: of the modes of the normal form, with signs, (points, modes).
        converged: whether the point was found; where it was not, Ω and amplitudes are NaN.
    """

    frequency: np.ndarray
    amplitudes: np.ndarray
    converged: np.ndarray


def backbone_curve(
    form: NormalForm,
    amplitudes: Any,
    values: Mapping[str, Any] | None = None,
    *,
    mode: int | None = None,
    start: tuple[float, Sequence[float]] | None = None,
) -> BackboneCurve:
    """Follow a branch of a backbone.

    Args:
        form: without damping; see `normal_form`.
        amplitudes: of the leading mode, in the order in which they are to be visited: from small to large, for a
            branch that begins as a linear mode.
        values: of the unknowns; arrays of one length for many sets at once.
        mode: that leads, and as whose linear motion the branch begins, the lowest being 1; by default the first of the
            normal form.
        start: frequency and amplitudes of a point near the first, for a branch that begins elsewhere, as a bifurcated
            or an isolated one.

    Examples:
        >>> import vibayes as vb
        >>> form = vb.normal_form(vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")]))
        >>> curve = vb.backbone_curve(form, [0.1, 0.2, 0.4], {"a": 1.0})
        >>> (curve.frequency**2 - 1.0).round(9).tolist()  # 3/4 U²
        [0.0075, 0.03, 0.12]
    """
    require_usable_jax("backbone_curve")
    if form.damped:
        raise InvalidInput("backbone_curve.form", "one without damping", "damped=True", "leave the damping out")
    subset = form.subset
    known = [n + 1 for n in subset.modes]
    mode = known[0] if mode is None else mode
    if mode not in known:
        expected = f"one of the modes of the normal form ({', '.join(map(str, known))})"
        raise InvalidInput("backbone_curve.mode", expected, repr(mode), "choose one of them")
    missing = [name for name in form.parameters if name not in (values or {})]
    if missing:
        raise InvalidInput("backbone_curve.values", "a value of every unknown", f"none of {quoted(missing)}", "give it")
    lead = known.index(mode)
    steps = jnp.asarray(np.atleast_1d(np.asarray(amplitudes, float)))
    given = {name: jnp.asarray(value, float) for name, value in (values or {}).items()}
    begun = None if start is None else (jnp.asarray(float(start[0])), jnp.asarray(start[1], float))
    found = _followed(form, lead, steps, given, begun)
    return BackboneCurve(*(np.asarray(each) for each in found))


@compiled_soon
def _followed(form: NormalForm, lead: int, steps: Array, values: dict[str, Array], begun: Any) -> Any:
    def one(values):
        return _follow(form, lead, steps, values, begun)

    batched = {name: 0 if jnp.ndim(value) else None for name, value in values.items()}
    if not any(axis == 0 for axis in batched.values()):
        return one(values)
    return jax.vmap(one, in_axes=(batched,))(values)


def _follow(form: NormalForm, lead: int, steps: Array, values: dict[str, Array], begun: Any) -> Any:
    count, ratio = len(form.subset.modes), form.subset.ratios[lead]
    others = [i for i in range(count) if i != lead]
    if begun is None:
        frequency = form.modes(values).frequencies[form.subset.modes[lead]] / ratio
        begun = frequency, jnp.zeros(count)
    first = jnp.concatenate([begun[0][None], begun[1][np.array(others, int)]])

    def amplitudes_of(size, unknown):
        return jnp.zeros(count).at[lead].set(size).at[np.array(others, int)].set(unknown[1:])

    def residual(unknown, size):
        amplitudes = amplitudes_of(size, unknown)
        return form.residuals(unknown[:1], amplitudes[None], values)[0] / (size * unknown[0] ** 2)

    def point(before, size):
        def newton(_, unknown):
            slope = jax.jacfwd(residual)(unknown, size)
            return unknown - jnp.linalg.solve(slope, residual(unknown, size))

        found = jax.lax.fori_loop(0, _ROUNDS, newton, before)
        good = jnp.max(jnp.abs(residual(found, size))) < _TOLERANCE
        kept = jnp.where(good, found, before)
        shown = jnp.where(good, found, jnp.nan)
        return kept, (shown[0], jnp.where(good, amplitudes_of(size, shown), jnp.nan), good)

    return jax.lax.scan(point, first, steps)[1]
