r"""Likelihood of measured points of backbones.

With ε_i the errors of all equations at point i, Σ_i = L_i L_iᵀ their covariance (`vibayes.backbone.scatter`), and d_in
what an unknown multiple κ_n ~ N(0, 1) of may be among those of equation n (`BackboneResidual.remainder`),

    p(ε₁ … ε_K) = N(ε; 0, diag(Σ_i) + Σ_n d_n d_nᵀ),

whose logarithm needs sums over points only: with e = L⁻¹ ε, g_n = L⁻¹ d_n, S = Σ e·e, D_n = Σ g_n·e and the small
matrix C = 1 + Σ g_n·g_m,

    log p = −½ (S − Dᵀ C⁻¹ D) − ½ log det C − Σ log det L − ½ (numbers) log 2π.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.form import NormalForm, normal_form
from vibayes.backbone.method import BackboneMethod, BackboneResidual
from vibayes.backbone.points import BackbonePoints
from vibayes.backbone.resonance import undeclared
from vibayes.backbone.scatter import Measured, MeasuredScatter, carried, whitened
from vibayes.backbone.table import ResidualTable, tabulated
from vibayes.errors import IdentifiabilityWarning, InvalidInput
from vibayes.filters.checks import check_noise
from vibayes.filters.noise import Noise, noise_of
from vibayes.filters.recursion import BLOCK
from vibayes.structure.structure import Structure

Array = Any
_AT_ONCE = 128
_CLEARANCE = 0.05
"""Share of a mode's frequency within which a harmonic of a measured point should not come."""


class BackboneLikelihood(eqx.Module):
    """A normal form and measured points: everything but the values of the unknowns. Made by `fitting`."""

    form: NormalForm
    points: Measured
    noise: Noise
    outputs: Array
    """What residuals are small against, Ω² V."""
    table: ResidualTable | None
    """Residuals as polynomials of the unknowns, where they are."""
    method: BackboneMethod = eqx.field(static=True)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknowns: of the structure, of the scatter and of its levels."""
        return tuple(dict.fromkeys((*self.form.parameters, *self.method.scatter.names, *self.noise.names)))

    @property
    def at_once(self) -> int:
        """Number of sets that are best computed in one call."""
        return _AT_ONCE

    def totals(self, values: Mapping[str, Any]) -> Array:
        """Log-likelihood of the first point, of the first two, and so on, for one set of values."""
        return self._log_density(values, lambda each: jnp.cumsum(each, axis=0))

    def log_likelihood(self, values: Mapping[str, Any]) -> Array:
        """Of one set; can be traced and differentiated."""
        return self._log_density(values, lambda each: jnp.sum(each, axis=0))

    def residuals(self, values: Mapping[str, Any]) -> Array:
        """What the values leave of the equations, in standard deviations, (points, equations), for one set; without the
        likeliest multiples of what the form leaves out.
        """
        white, common = self._whitened(values)[:2]
        if not common:
            return white
        along = jnp.stack([jnp.sum(each * white) for each in common])
        grown = jnp.stack([jnp.stack([jnp.sum(one * two) for one in common]) for two in common])
        likeliest = jnp.linalg.solve(grown + jnp.eye(len(common)), along)
        return white - sum(share * each for share, each in zip(likeliest, common, strict=True))

    def _whitened(self, values: Mapping[str, Any]) -> tuple[Array, list[Array], Array]:
        """Errors in standard deviations, likewise what an unknown multiple of is among them, and volumes."""
        errors, shape = self._errors(values)
        levels = self.noise.deviations(lambda n: jnp.asarray(values[n] if isinstance(n, str) else n, float))
        variances = self.method.scatter.variances(levels, self.points, values, lambda: self._spread(values))
        count = errors.shape[1]
        shapes = [] if shape is None else [shape * (np.arange(count) == n) for n in range(count)]
        (white, *common), volumes = whitened([errors, *shapes], variances)
        return white, common, volumes

    def _log_density(self, values: Mapping[str, Any], summed: Callable[[Array], Array]) -> Array:
        white, common, volumes = self._whitened(values)
        count = white.shape[1]
        constant = 0.5 * count * np.log(2.0 * np.pi)
        total = summed(-0.5 * jnp.sum(white**2, axis=1) - volumes - constant)
        if not common:
            return total
        along = [summed(jnp.sum(each * white, axis=1)) for each in common]
        grown = [[summed(jnp.sum(one * two, axis=1)) + (one is two) for one in common] for two in common]
        matrix = jnp.moveaxis(jnp.stack([jnp.stack(row) for row in grown]), (0, 1), (-2, -1))
        vector = jnp.stack(along, axis=-1)
        ((solved,), volume) = whitened([vector.reshape(-1, count)], matrix.reshape(-1, count, count))
        return total + (0.5 * jnp.sum(solved**2, axis=1) - volume).reshape(total.shape)

    def _errors(self, values: Mapping[str, Any]) -> tuple[Array, Array | None]:
        """Errors, and what an unknown multiple of may be among them."""
        if self.table is None or not isinstance(self.method, BackboneResidual):
            return self.method.errors(self.form, values, self.points)
        monomials = self.table.monomials(values)
        return self.table.residuals @ monomials, self.table.left_out @ monomials if self.method.remainder else None

    def _spread(self, values: Mapping[str, Any]) -> Array:
        if self.table is not None:
            return self.table.spread(values)

        def errors(frequency, amplitudes):
            moved = self.points._replace(frequency=frequency, amplitudes=amplitudes)
            return self.method.errors(self.form, values, moved)[0]

        return carried(errors, self.points)

    def log_likelihoods(self, values: Mapping[str, Array]) -> Array:
        """Of many sets at once."""
        return jax.vmap(self.log_likelihood)(dict(values))

    def start(self, values: Mapping[str, Array]) -> tuple[Array, ...]:
        """What is carried from point to point: nothing, for every point is as quickly computed anew."""
        return (jnp.zeros((len(next(iter(values.values()))), 1)),)

    def follow(
        self, values: Mapping[str, Array], before: tuple[Array, ...], first: Any, last: Any
    ) -> tuple[Array, tuple[Array, ...]]:
        """Increments of many sets from point ``first`` up to ``last`` (sets, points from the first on)."""
        totals = jax.vmap(self.totals)(dict(values))
        increments = jnp.diff(totals, axis=1, prepend=0.0)
        places = first + jnp.arange(min(totals.shape[1], BLOCK))
        chosen = jnp.take(increments, jnp.minimum(places, totals.shape[1] - 1), axis=1)
        return jnp.where(places < last, chosen, 0.0) + before[0], before


def fitting(
    structure: Structure, points: BackbonePoints, noise: Any, method: BackboneMethod | None = None
) -> BackboneLikelihood:
    """Check and prepare measured points for a likelihood.

    Args:
        structure: with polynomial elements; what depends on velocity plays no part.
        points: of one or several backbones, all of the same modes.
        noise: standard deviation of the errors of each equation, one per mode of the points: a number or the name of
            an unknown, for all or one per equation.
        method: `BackboneResidual` by default.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
        >>> sizes = np.linspace(0.1, 0.5, 9)
        >>> points = vb.BackbonePoints(np.sqrt(1.0 + 0.75 * 0.4 * sizes**2), sizes)
        >>> prepared = vb.fitting(duffing, points, 1e-3)
        >>> int(prepared.log_likelihoods({"a": np.array([0.3, 0.4, 0.5])}).argmax())
        1
    """
    method = BackboneResidual() if method is None else method
    if not isinstance(method, BackboneMethod) or isinstance(method, type):
        raise InvalidInput("filter", "BackboneResidual() or BackboneAmplitudes()", repr(method), "give one")
    if not isinstance(points, BackbonePoints):
        raise InvalidInput("points", "BackbonePoints", type(points).__name__, "make them with decay_points")
    form = normal_form(structure, points.modes, points.ratios, order=method.order)
    levels = noise_of(check_noise(noise, len(points.modes)))
    measured = Measured(points.frequency, points.amplitudes, points.frequency_errors, points.amplitude_errors)
    if isinstance(method.scatter, MeasuredScatter) and not all(np.isfinite(each).all() for each in measured):
        remedy = "use FittedSinusoid() for the points, or ConstantScatter()"
        raise InvalidInput("BackbonePoints", "standard errors, for MeasuredScatter", "none", remedy)
    table = None
    if isinstance(method, BackboneResidual) and form.linear is not None:
        table = tabulated(form, measured, method.order, isinstance(method.scatter, MeasuredScatter))
    outputs = measured.frequency[:, None] ** 2 * measured.amplitudes
    arrays = Measured(*(jnp.asarray(each) for each in measured))
    found = BackboneLikelihood(form, arrays, levels, jnp.asarray(outputs), table, method)
    _require_enough(found, points)
    _warn_of_resonances(form, points)
    return found


def _require_enough(found: BackboneLikelihood, points: BackbonePoints) -> None:
    numbers, unknown = points.amplitudes.size, len(found.parameters)
    if numbers <= unknown:
        expected = f"more equations than there are unknowns ({unknown})"
        got = f"{points.samples} points of {len(points.modes)} equations each"
        raise InvalidInput("BackbonePoints", expected, got, "take more points, or fix some of the unknowns")


def _warn_of_resonances(form: NormalForm, points: BackbonePoints) -> None:
    if form.linear is None:
        return
    edges = np.array([points.frequency.min(), points.frequency.max()])
    span = np.linspace(edges[0], edges[1], 9)
    for mode, harmonic, frequency in undeclared(form.structure, form.linear, form.subset, span, _CLEARANCE):
        said = f"mode {mode + 1} is near {harmonic} times Ω = {frequency:.4g} rad/s, where backbones were measured"
        remedy = f"declare the ratio {harmonic}, or leave points near there out"
        warnings.warn(f"{said}: the normal form takes it for a small harmonic; {remedy}", IdentifiabilityWarning, 3)
        return
