"""What the structure did and what drove it, from the record and the parameters' posterior.

With the moments of the state under each set of values θ, those of any reading follow by one more transform; over many
sets (the draws of a posterior) mean and variance are

    m = E_θ[m_θ],        s² = E_θ[s_θ²] + Var_θ[m_θ].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.filters.recursion import Moments
from vibayes.filters.verb import Filtering
from vibayes.naming import nearest
from vibayes.structure.sensors import HystereticEnergy, Sensor

Array = Any
_AT_ONCE = 32
"""Sets whose moments are held in memory."""


@dataclass(frozen=True)
class Estimate:
    """Mean and standard deviation of some readings at every sample, (samples, readings), given the record up to it or,
    if smoothed, the whole of it.
    """

    names: tuple[str, ...]
    times: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    smoothed: bool = False

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of one reading."""
        if name not in self.names:
            raise InvalidInput("Estimate[...]", "the name of a reading", repr(name), nearest(name, self.names))
        column = self.names.index(name)
        return self.mean[:, column], self.deviation[:, column]


def estimate(
    prepared: Filtering, values: Mapping[str, Any], of: Sequence[Sensor], *, smoothed: bool = False
) -> Estimate:
    """Readings that were not measured, with their uncertainty.

    Args:
        prepared: structure, record and filter; see `filtering`.
        values: of all unknowns; arrays with one entry per draw are averaged over.
        of: sensors to be read, whether they were there or not.
        smoothed: given the whole record; by default given the record up to each sample. On linear structures smoothed
            estimates are exact. Of structures that yield they are surer than they should be: 95 % bands hold the truth
            less often than that, and less often than filtered ones; the documentation has shares that were measured.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.3)], sensors=[vb.Velocity("mass")])
        >>> record = vb.Record.from_arrays(rate=20.0, output=np.sin(np.arange(40) / 6.0))
        >>> prepared = vb.filtering(oscillator.driven_by(vb.WhiteNoise(0.1)), record, noise=0.05)
        >>> found = vb.estimate(prepared, {"k": np.array([9.0, 10.0])}, [vb.Displacement("mass")])
        >>> found["displacement of mass"][0].shape
        (40,)
    """
    if not isinstance(prepared, Filtering):
        remedy = "use solve, if all inputs were measured"
        raise InvalidInput("estimate.prepared", "a record prepared by filtering", type(prepared).__name__, remedy)
    sensors = prepared.structure.measuring(*of).sensors
    if any(isinstance(s, HystereticEnergy) and s not in prepared.structure.sensors for s in sensors):
        remedy = "add the sensor to the structure, with missing values in the record"
        raise InvalidInput("estimate.of", "readings of the state", "absorbed energy, which is summed up", remedy)
    arrays = {name: jnp.atleast_1d(jnp.asarray(value, float)) for name, value in values.items()}
    count = max((len(value) for value in arrays.values()), default=1)
    arrays = {name: jnp.broadcast_to(value, (count,)) for name, value in arrays.items()}

    means, variances = [], []
    for first in range(0, count, _AT_ONCE):
        chosen = np.minimum(np.arange(first, first + min(_AT_ONCE, count)), count - 1)
        mean, variance = _readings(prepared, sensors, smoothed, {n: value[chosen] for n, value in arrays.items()})
        means.append(np.asarray(mean)[: count - first])
        variances.append(np.asarray(variance)[: count - first])
    mean, variance = np.concatenate(means), np.concatenate(variances)
    if not np.isfinite(mean).all():
        raise InvalidInput("estimate.values", "parameters with finite estimates", *_why_not(prepared))
    times = np.arange(mean.shape[1]) * prepared.interval
    deviation = np.sqrt(variance.mean(axis=0) + mean.var(axis=0))
    return Estimate(tuple(sensor.name for sensor in of), times, mean.mean(axis=0), deviation, smoothed)


def _why_not(prepared: Filtering) -> tuple[str, str]:
    """What may be wrong where nothing was found, and a remedy."""
    if prepared.stationary:
        got = "NaN: the structure may have no stationary state, as without damping or a spring that draws back"
        return got, 'begin at rest: driven_by(..., start="rest"), or check the values'
    return "NaN: a covariance may have lost its sign", "check the values, or use UnscentedFilter() as it is"


@compiled_soon
def _readings(
    prepared: Filtering, sensors: tuple[Sensor, ...], smoothed: bool, values: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Means and variances for many sets of values, (sets, samples, readings)."""

    def of_one(some):
        model, measured, _, moments = prepared.moments(some, smoothed)
        indices = jnp.arange(measured.outputs.shape[0])

        def reading(index, mean, lower, given):
            transformed = prepared.method.transform(
                lambda points: model.measure(points, index, given, sensors), mean, lower, model.bounded
            )
            squares = [jnp.sum(each**2, axis=1) for each in transformed[1:]]
            return transformed.mean, squares[0] + squares[1] - squares[2]

        return jax.vmap(reading)(indices, *Moments(*moments), measured.given)

    return jax.vmap(of_one, axis_size=max((len(each) for each in values.values()), default=1))(values)
