"""Residuals of measured points as polynomials of the unknowns, tabulated once.

Where no unknown has a part in the linear modes, the resonant terms of order i are homogeneous of degree i in the
coefficients of the nonlinear springs. So residuals at given points are polynomials of the unknowns, found by evaluating
them at as many places as there are monomials; a likelihood then costs a product with a small matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.expansion import Expansion, ModalEquations, expand
from vibayes.backbone.form import NormalForm
from vibayes.backbone.polynomials import Term, terms_of
from vibayes.backbone.scatter import Measured

Array = Any
_STEP = 1e-5
"""Relative, of the differences by which derivatives are found; they scale standard errors only."""
_UNMOVED = 1e-9
"""Share of the largest deformation possible below which a spring is not deformed by the modes."""


class ResidualTable(eqx.Module):
    """Coefficients of the polynomials; made by `tabulated`."""

    residuals: Array
    """(points, equations, monomials)."""
    left_out: Array
    """The first term that the order leaves out, likewise."""
    slopes: Array | None
    """Derivatives of residuals times the standard errors of what they are by: (1 + modes, points, equations,
    monomials)."""
    scales: Array
    exponents: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)

    def monomials(self, values: Mapping[str, Any]) -> Array:
        """Of the unknowns, for one set of values."""
        scaled = [jnp.asarray(values[name], float) / self.scales[i] for i, name in enumerate(self.names)]
        return jnp.prod(jnp.stack([jnp.ones(()), *scaled])[self._factors()], axis=1)

    def _factors(self) -> np.ndarray:
        """Which unknowns each monomial is the product of, counted from 1; 0 stands for a one."""
        degree = max(sum(each) for each in self.exponents) or 1
        rows = [[i + 1 for i, power in enumerate(each) for _ in range(power)] for each in self.exponents]
        return np.array([row + [0] * (degree - len(row)) for row in rows])

    def spread(self, values: Mapping[str, Any]) -> Array:
        """Covariances of residuals that standard errors of the points bring about, (points, equations, equations)."""
        assert self.slopes is not None
        moved = self.slopes @ self.monomials(values)
        return jnp.einsum("jka,jkb->kab", moved, moved)


def tabulated(form: NormalForm, points: Measured, order: int, with_slopes: bool) -> ResidualTable:
    """Find the polynomials of a normal form whose linear modes are known."""
    names = form.parameters
    scales = _scales(form, points)
    exponents = [
        tuple(chosen.count(i) for i in range(len(names)))
        for degree in range(order + 2)
        for chosen in combinations_with_replacement(range(len(names)), degree)
    ] or [()]
    exponents = exponents if names else [()]
    nodes = np.array(exponents, float).reshape(len(exponents), len(names))
    inverse = np.linalg.inv(np.prod(nodes[:, None] ** nodes[None], axis=2)).T

    def fitted(places):
        found = [_expansion(form, node * scales, places, order + 1) for node in nodes]
        residuals = np.stack([each.detuning + sum(each.resonant[:order]) for each in found], axis=-1)
        return residuals @ inverse, np.stack([each.resonant[order] for each in found], axis=-1) @ inverse

    residuals, left_out = fitted(points)
    slopes = np.stack(list(_slopes(points, lambda p: fitted(p)[0]))) if with_slopes else None
    return ResidualTable(
        residuals=jnp.asarray(residuals),
        left_out=jnp.asarray(left_out),
        slopes=None if slopes is None else jnp.asarray(slopes),
        scales=jnp.asarray(scales),
        exponents=tuple(exponents),
        names=names,
    )


def _slopes(points: Measured, function: Any) -> Any:
    """Differences of a function by one standard error of the frequency, and of each amplitude."""
    frequency, amplitudes = points.frequency, points.amplitudes
    moves = [(_STEP * frequency, points.frequency_errors, None)]
    size = np.abs(amplitudes).max()
    moves += [
        (np.full(len(frequency), _STEP * size), points.amplitude_errors[:, n], n) for n in range(amplitudes.shape[1])
    ]
    for step, error, column in moves:
        sides = []
        for sign in (1.0, -1.0):
            if column is None:
                sides.append(function(points._replace(frequency=frequency + sign * step)))
            else:
                moved = amplitudes.copy()
                moved[:, column] += sign * step
                sides.append(function(points._replace(amplitudes=moved)))
        yield (sides[0] - sides[1]) * (0.5 * error / step)[:, None, None]


def _scales(form: NormalForm, points: Measured) -> np.ndarray:
    """Values of each unknown at which its force is about as large as the linear ones.

    The force itself and not its resonant part, which is zero for even powers at first order: what is left of it there
    is rounding, and no measure of anything.
    """
    linear = form.linear
    assert linear is not None
    sizes, modes = np.abs(points.amplitudes), list(form.subset.modes)
    forces = dict.fromkeys(form.parameters, 0.0)
    for term in _nonlinear_terms(form):
        if not isinstance(term.coefficient, str):
            continue
        pull = np.abs(term.signs @ np.asarray(linear.shapes))
        deformation = float((sizes @ pull[modes]).max())
        if deformation <= _UNMOVED * pull.max() * sizes.max():  # by the modes themselves: harmonics may still move it
            deformation = float(pull.max() * sizes.max())
        force = deformation**term.power * float((pull / np.asarray(linear.masses)).max())
        forces[term.coefficient] = max(forces[term.coefficient], force)
    largest = np.abs(points.frequency[:, None] ** 2 * points.amplitudes).max()
    return np.array([largest / force if force > 0.0 else 1.0 for force in forces.values()])


def _nonlinear_terms(form: NormalForm) -> list[Term]:
    return [term for term in terms_of(form.structure) if term.power > 1 and not term.of_rate]


def _expansion(form: NormalForm, values: np.ndarray, points: Measured, order: int) -> Expansion:
    """By NumPy, which needs no compiling."""
    given, linear = dict(zip(form.parameters, values, strict=True)), form.linear
    assert linear is not None
    terms = _nonlinear_terms(form)
    shapes = np.asarray(linear.shapes)
    strengths = [given[t.coefficient] if isinstance(t.coefficient, str) else float(t.coefficient) for t in terms]
    signs = np.array([term.signs for term in terms]).reshape(len(terms), len(shapes))
    equations = ModalEquations(
        squares=np.asarray(linear.frequencies) ** 2,
        masses=np.asarray(linear.masses),
        coefficients=np.array(strengths),
        directions=signs @ shapes,
        damping=None,
        push=None,
        powers=tuple(term.power for term in terms),
        of_rate=(False,) * len(terms),
    )
    return expand(equations, form.subset, order, points.frequency, points.amplitudes)
