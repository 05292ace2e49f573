"""The normal form of a structure: time-invariant equations of its backbones, and of damped and forced responses.

    ε_n = (ω_n² − r_n² Ω²) a_n + N₁_n(a) + N₂_n(a) + … = 0        (`vibayes.backbone.expansion`)

one equation per mode of a chosen subset. Without damping and force a_n = p_n U_n is real: p = +1 or −1 for modes in
phase or in anti-phase with the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.expansion import Expansion, ModalEquations, Subset, expand, modal_equations
from vibayes.backbone.modes import LargestEntry, LinearModes, Normalisation, linear_modes, modes_of
from vibayes.backbone.polynomials import terms_of
from vibayes.backbone.resonance import refuse_undeclared
from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.naming import quoted
from vibayes.structure.element import bind
from vibayes.structure.structure import Structure

Array = Any
_ORDERS = (1, 2, 3)


class NormalForm(eqx.Module):
    """Equations of backbones; made by `normal_form`, and solved by `backbone_curve`."""

    structure: Structure
    linear: LinearModes | None
    """Modes, where no unknown has a part in them."""
    subset: Subset = eqx.field(static=True)
    order: int = eqx.field(static=True)
    damped: bool = eqx.field(static=True)
    normalisation: Normalisation = eqx.field(static=True)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknowns."""
        return self.structure.parameters

    def at_order(self, order: int) -> NormalForm:
        """The same structure to another order."""
        return replace(self, order=_require_order(order))

    def modes(self, values: Mapping[str, Any] | None = None) -> LinearModes:
        """Linear modes of all masses; can be traced."""
        if self.linear is not None:
            return self.linear
        return modes_of(bind(self.structure, dict(values or {})), self.normalisation)

    def equations(self, values: Mapping[str, Any] | None = None, force: Any = None) -> ModalEquations:
        """Modal equations in numbers, for one set of values; can be traced."""
        given = dict(values or {})
        missing = [name for name in self.parameters if name not in given]
        if missing:
            raise InvalidInput("NormalForm", "a value of every unknown", f"none of {quoted(missing)}", "give them")
        return modal_equations(bind(self.structure, given), self.modes(given), self.damped, force)

    def expansions(
        self, frequency: Any, amplitudes: Any, values: Mapping[str, Any] | None = None, force: Any = None,
        order: int | None = None, last: bool = False,
    ) -> Expansion:  # fmt: skip
        """Detuning, resonant terms and harmonics of many responses (responses, …); can be traced."""
        equations, order = self.equations(values, force), self.order if order is None else order
        return expand(equations, self.subset, order, jnp.asarray(frequency, float), jnp.asarray(amplitudes), last)

    def residuals(
        self, frequency: Any, amplitudes: Any, values: Mapping[str, Any] | None = None, force: Any = None
    ) -> Array:
        """What is left of the equations at given responses, (responses, modes of the subset).

        Args:
            frequency: Ω of every response, radians per second.
            amplitudes: (responses, modes): real, with a sign for the phase; complex, U e^{−jφ}, where damping or a
                force shift phases.
            values: of the unknowns.
            force: amplitude of a force cos Ωt on every mass.

        Returns:
            Real numbers for a real response without damping and force, and complex ones otherwise.

        Examples:
            >>> import vibayes as vb
            >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
            >>> form = vb.normal_form(duffing)
            >>> found = form.residuals([1.0], [[0.2]], {"a": 1.0})  # 3/4 a U³
            >>> round(float(found[0, 0]), 12)
            0.006
        """
        standing = not self.damped and force is None and not np.iscomplexobj(amplitudes)
        total = _residuals(self, *_arrays(frequency, amplitudes, values, force))
        return total.real if standing else total

    def harmonics(
        self, frequency: Any, amplitudes: Any, values: Mapping[str, Any] | None = None, force: Any = None
    ) -> Array:
        """Complex amplitudes of all harmonics of q, fundamentals included: (responses, all modes, 0Ω, 1Ω, 2Ω, …).

        Fundamentals are the amplitudes that were given, to every order: the transform adds nothing at the frequencies
        of the modes of the subset.

        Examples:
            >>> import vibayes as vb
            >>> form = vb.normal_form(vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 1.0)]))
            >>> spectrum = form.harmonics([1.0], [[0.2]])[0, 0].real  # a third harmonic U³/32
            >>> [round(abs(float(each)), 9) for each in spectrum]
            [0.0, 0.2, 0.0, 0.00025]
        """
        return _harmonics(self, *_arrays(frequency, amplitudes, values, force))


def _arrays(frequency: Any, amplitudes: Any, values: Any, force: Any) -> tuple[Any, ...]:
    """All numbers as arrays, so that others run the same compiled program."""
    given = {name: jnp.asarray(value, float) for name, value in (values or {}).items()}
    push = None if force is None else jnp.asarray(force, float)
    return jnp.asarray(frequency, float), jnp.asarray(amplitudes), given, push


@compiled_soon
def _residuals(form: NormalForm, frequency: Array, amplitudes: Array, values: dict[str, Array], force: Any) -> Array:
    found = form.expansions(frequency, amplitudes, values, force)
    return found.detuning + sum(found.resonant)


@compiled_soon
def _harmonics(form: NormalForm, frequency: Array, amplitudes: Array, values: dict[str, Array], force: Any) -> Array:
    found = form.expansions(frequency, amplitudes, values, force, last=True)
    start = jnp.zeros_like(found.harmonics[0])
    start = start.at[:, list(form.subset.modes), list(form.subset.ratios)].set(amplitudes)
    return start + sum(found.harmonics)


def normal_form(
    structure: Structure,
    modes: Sequence[int] | None = None,
    ratios: Sequence[int] | None = None,
    *,
    order: int = 1,
    damped: bool = False,
    normalisation: Normalisation | None = None,
    clearance: float = 0.05,
) -> NormalForm:
    """Derive the equations of a structure's backbones.

    Args:
        structure: masses joined by springs and dampers with polynomial laws; unknowns may be anywhere.
        modes: that respond at multiples of one frequency, the lowest being 1; by default all. Others follow
            as harmonics, which second order accounts for and first order does not.
        ratios: whole numbers r: mode n responds at r_n Ω. By default all at Ω.
        order: of accuracy: 1 as published, 2 with what harmonics do to the fundamentals, or 3. Quadratic springs act
            from the second order on.
        damped: keep dampers, the structure's damping and all else that depends on velocity.
        normalisation: of the mode shapes; `LargestEntry` by default.
        clearance: modes that a harmonic meets within this share of their frequency, without that being declared by
            ``modes`` and ``ratios``, are refused.

    Examples:
        >>> import vibayes as vb
        >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
        >>> vb.normal_form(duffing, order=2).parameters
        ('a',)
    """
    normalisation = LargestEntry() if normalisation is None else normalisation
    terms_of(structure)  # refuses what is no polynomial
    subset = _require_subset(len(structure.masses), modes, ratios)
    form = NormalForm(
        structure, _known_modes(structure, normalisation), subset, _require_order(order), damped, normalisation
    )
    if form.linear is not None:
        starts = np.asarray(form.linear.frequencies)[list(subset.modes)] / np.array(subset.ratios)
        refuse_undeclared(structure, form.linear, subset, starts, clearance)
    return form


def _known_modes(structure: Structure, normalisation: Normalisation) -> LinearModes | None:
    """Modes of a structure in which no unknown has a part."""
    try:
        return linear_modes(structure, None, normalisation)
    except InvalidInput:
        if structure.parameters:
            return None
        raise


def _require_order(order: Any) -> int:
    if order not in _ORDERS:
        raise InvalidInput("normal_form.order", "1, 2 or 3", repr(order), "begin with 1, and compare with 2")
    return int(order)


def _require_subset(count: int, modes: Sequence[int] | None, ratios: Sequence[int] | None) -> Subset:
    chosen = tuple(range(1, count + 1)) if modes is None else tuple(modes)
    if (
        not chosen
        or len(set(chosen)) != len(chosen)
        or any(not (isinstance(n, int) and 1 <= n <= count) for n in chosen)
    ):
        expected = f"different modes from 1 to {count}"
        raise InvalidInput("normal_form.modes", expected, repr(modes), "the lowest mode is 1")
    given = (1,) * len(chosen) if ratios is None else tuple(ratios)
    if len(given) != len(chosen) or any(not (isinstance(r, int) and r > 0) for r in given):
        expected = f"a positive whole number for each of {len(chosen)} modes"
        raise InvalidInput("normal_form.ratios", expected, repr(ratios), "write 1:3 as (1, 3)")
    if np.gcd.reduce(given) > 1:
        raise InvalidInput("normal_form.ratios", "ratios in lowest terms", repr(ratios), "divide them")
    return Subset(tuple(n - 1 for n in chosen), given)
