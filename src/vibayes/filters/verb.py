"""Likelihood and states of a record, by filtering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.compilation import compiled_soon
from vibayes.excitation import Hold, StraightLines, ZeroOrderHold
from vibayes.filters.checks import (
    check_channels,
    check_filter,
    check_hold,
    check_noise,
    check_points,
    check_start,
    check_structure,
)
from vibayes.filters.discrete import Discrete, discretise
from vibayes.filters.method import Filter, UnscentedFilter
from vibayes.filters.noise import Noise, noise_of
from vibayes.filters.recursion import Increment, Measured, Moments, follow, run, smooth
from vibayes.filters.stationary import stationary
from vibayes.record import Record
from vibayes.structure.element import as_arrays, bind
from vibayes.structure.structure import Structure

Array = Any
_STRAIGHT = StraightLines()
_FEW = 30
"""States of filters whose sets are computed side by side: more take long to compile."""
_TINY, _OF_TINY, _OF_OTHERS = 6, 64, 32
"""States of a tiny structure, and how many sets are best computed at once, of it and of others: so many that loops over
them are long, and so few that they stay close to the processor."""
_TOGETHER = 4
"""Samples that are written out in a row, of a tiny structure and a single set."""


class Filtering(eqx.Module):
    """A structure, a record and a filter: everything but the values of the unknowns. Made by `filtering`.

    It is a pytree whose arrays are the record and the noise: what is compiled for one record serves others of its
    length.
    """

    structure: Structure
    noise: Noise
    outputs: Array
    given: Array
    method: Filter
    one: Array
    """One, unknown to the compiler; see `Discrete.kept`."""
    interval: float = eqx.field(static=True)
    stationary: bool = eqx.field(static=True)
    """The structure has been vibrating for ever at the first sample; it is about at rest otherwise."""
    constant: bool = eqx.field(static=True)
    """Inputs keep their value between samples, instead of going straight to the next."""

    def __hash__(self) -> int:
        return id(self)  # so that its methods can be compiled by jax.jit too

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknowns, those of the noise last."""
        return tuple(dict.fromkeys((*self.structure.parameters, *self.noise.names)))

    @property
    def _size(self) -> int:
        """Number of states."""
        own = sum(len(link.element.states) for link in self.structure.links) + 2 * len(self.structure.masses)
        return own + sum(process.order for process in self.structure.processes if process is not None)

    @property
    def at_once(self) -> int:
        """Number of sets that are best computed in one call."""
        return _OF_TINY if self._size <= _TINY else _OF_OTHERS

    def _prepared(self, values: Mapping[str, Any]) -> tuple[Discrete, Measured, Moments]:
        bound = as_arrays(bind(self.structure, dict(values)))
        model = discretise(bound, self.interval, self.method.steps, self.one)
        noise = self.noise.deviations(lambda n: jnp.asarray(values[n] if isinstance(n, str) else n, float))
        about = self.method.start_displacement, self.method.start_velocity
        start = stationary(model) if self.stationary else model.start(*about)
        return model, Measured(self.outputs, self.given, noise), Moments(*start)

    def increments(self, values: Mapping[str, Any]) -> Increment:
        """Of the log-likelihood, sample by sample, for one set of values; can be traced and differentiated."""
        return _increments(self, {name: jnp.asarray(values[name], float) for name in self.parameters})

    def _increments(self, values: Mapping[str, Array]) -> Increment:
        return run(self.method.transform, *self._prepared(values), keep=False, constant=self.constant)[0]

    def log_likelihood(self, values: Mapping[str, Any]) -> Array:
        """Logarithm of p(record | values) for one set; can be traced and differentiated."""
        return jnp.sum(self.increments(values).log_likelihood)

    def log_likelihoods(self, values: Mapping[str, Array]) -> Array:
        """The same for many sets at once."""
        return jnp.sum(self.along(values), axis=1)

    def along(self, values: Mapping[str, Array]) -> Array:
        """Increments of many sets, (sets, samples)."""
        if not self._side_by_side:
            return jax.vmap(lambda some: self._increments(some).log_likelihood)(values)
        # One small set computes so little per sample that the loop itself is felt.
        alone = self._size <= _TINY and len(next(iter(values.values()))) == 1
        together = _TOGETHER if alone else 1
        increments, _ = run(
            self.method.transform, *self._lanes(values), keep=False, constant=self.constant, together=together
        )
        return increments.log_likelihood.T

    @property
    def _side_by_side(self) -> bool:
        """Sets along the last axis: where there are few states that runs faster."""
        return self._size <= _FEW and isinstance(self.method, UnscentedFilter)

    def _lanes(self, values: Mapping[str, Array]) -> tuple[Discrete, Measured, Moments]:
        """As `_prepared`, of many sets along the last axis."""

        def prepared(some):
            model, measured, start = self._prepared(some)
            return model, measured.noise, start

        model, noise, start = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), jax.vmap(prepared)(values))
        return replace(model, one=self.one), Measured(self.outputs, self.given, noise), start

    def start(self, values: Mapping[str, Array]) -> Moments:
        """Moments of the state before the first sample, of many sets."""
        return jax.vmap(lambda some: self._prepared(some)[2])(values)

    def follow(
        self, values: Mapping[str, Array], before: tuple[Array, ...], first: Any, last: Any
    ) -> tuple[Array, Moments]:
        """Go on with many sets from sample ``first`` up to ``last``, at most `BLOCK` samples later: increments (sets,
        samples from the first on), which are zero after the last, and the moments from which it goes on after that.
        """

        before = Moments(*before)

        def go(model, measured, _, before):
            return follow(self.method.transform, model, measured, before, first, last, self.constant)

        if not self._side_by_side:
            return jax.vmap(lambda some, each: go(*self._prepared(some), each))(values, before)
        totals, after = go(*self._lanes(values), jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), before))
        return totals.T, jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), after)

    def moments(self, values: Mapping[str, Any], smoothed: bool) -> tuple[Discrete, Measured, Increment, Moments]:
        """Mean and triangle of the state at every sample, given the record up to it or the whole of it."""
        model, measured, start = self._prepared(values)
        transform = self.method.transform
        increments, moments = run(transform, model, measured, start, keep=True, constant=self.constant)
        assert moments is not None
        if smoothed:
            moments = smooth(transform, model, measured, moments, constant=self.constant)
        return model, measured, increments, moments


@compiled_soon
def _increments(prepared: Filtering, values: Mapping[str, Array]) -> Increment:
    return prepared._increments(values)


@eqx.filter_jit
def log_likelihoods(prepared: Any, values: Mapping[str, Array]) -> Array:
    """Of many sets of values at once."""
    return prepared.log_likelihoods(values)


@eqx.filter_jit
def along(prepared: Any, values: Mapping[str, Array]) -> Array:
    """See `Filtering.along`."""
    return prepared.along(values)


@eqx.filter_jit
def start(prepared: Any, values: Mapping[str, Array]) -> Moments:
    """See `Filtering.start`."""
    return prepared.start(values)


@eqx.filter_jit
def go_on(
    prepared: Any, values: Mapping[str, Array], before: tuple[Array, ...], first: Array, last: Array
) -> tuple[Array, tuple[Array, ...]]:
    """See `Filtering.follow`."""
    return prepared.follow(values, before, first, last)


def filtering(
    structure: Structure, record: Record, noise: Any, method: Filter | None = None, hold: Hold = _STRAIGHT
) -> Filtering:
    """Check and prepare a record for filtering.

    Args:
        structure: with random inputs (`Structure.driven_by`); its sensors are the outputs of the record, in order.
        record: outputs, NaN where missing, and the inputs that were measured.
        noise: standard deviation of the outputs' noise: a number or the name of an unknown, for all or one per output.
        method: `UnscentedFilter` by default.
        hold: what measured inputs do between samples.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.3)], sensors=[vb.Velocity("mass")])
        >>> record = vb.Record.from_arrays(rate=20.0, output=np.sin(np.arange(40) / 6.0))
        >>> prepared = vb.filters.filtering(oscillator.driven_by(vb.WhiteNoise(0.1)), record, noise="sigma")
        >>> prepared.parameters
        ('k', 'sigma')
        >>> float(prepared.log_likelihood({"k": 9.0, "sigma": 0.1})) > float(
        ...     prepared.log_likelihood({"k": 900.0, "sigma": 0.1})
        ... )
        True
    """
    method = check_filter(UnscentedFilter() if method is None else method)
    check_structure(structure, method)
    check_channels(structure, record)
    check_hold(hold)
    channels = record.output.shape[1]
    prepared = Filtering(
        structure=structure,
        noise=noise_of(check_noise(noise, channels)),
        outputs=jnp.asarray(record.output),
        given=jnp.asarray(record.input),
        method=method,
        one=jnp.ones(()),
        interval=record.dt,
        stationary=check_start(structure, method),
        constant=isinstance(hold, ZeroOrderHold),
    )
    check_points(method, prepared._size)
    return prepared
