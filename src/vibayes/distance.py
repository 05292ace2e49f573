"""How far a simulated response is from the measured one.

The default is the normalised mean square error, in percent: with N samples y and their variance σ²,

    NMSE = 100 / (N σ²) · Σ (y_i - ŷ_i)²;

0 is perfect, and the mean of the record itself scores 100. It only grows along the record, so a simulation can be
dropped as soon as it passes a threshold. Any function of the measured and the simulated outputs may take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.record import Record

Distance = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class NMSE:
    """Normalised mean square error in percent; of several outputs, their weighted mean.

    Args:
        weights: of the outputs by name; by default all are equal. They are normalised to a sum of one.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=10.0, output={"a": [0.0, 2.0, 0.0, 2.0]})
        >>> vb.NMSE().between(record, np.ones((4, 1)))
        100.0
    """

    weights: Mapping[str, float] | None = None

    def __hash__(self) -> int:
        return hash(tuple(sorted((self.weights or {}).items())))

    def per_sample(self, record: Record) -> np.ndarray:
        """Weight of every squared error, of the shape of the outputs; zero where a value is missing."""
        names = record.output_names
        given = dict.fromkeys(names, 1.0) if self.weights is None else dict(self.weights)
        for name, weight in given.items():
            if name not in names:
                raise InvalidInput("NMSE.weights", "names of outputs", repr(name), nearest(name, names))
            if not (np.isfinite(weight) and weight >= 0):
                raise InvalidInput(f"NMSE.weights[{name!r}]", "a number, 0 or more", repr(weight), "leave it out for 0")
        total = sum(given.values())
        if not total > 0:
            raise InvalidInput("NMSE.weights", "at least one output that counts", "none", "give it a weight")
        result = np.zeros(record.output.shape)
        for column, name in enumerate(names):
            weight, values = given.get(name, 0.0) / total, record.output[:, column]
            known = np.isfinite(values)
            if weight and known.sum() == 0:
                raise InvalidInput("NMSE", f"measured values of {name!r}", "gaps only", "leave this output out")
            if weight:
                variance = float(values[known].var())
                if not variance > 0:
                    remedy = "check the channel; a signal that never changes says nothing"
                    raise InvalidInput("NMSE", f"an output {name!r} that varies", "variance 0", remedy)
                result[known, column] = 100.0 * weight / (known.sum() * variance)
        return result

    def between(self, record: Record, simulated: np.ndarray) -> float:
        """Of one simulation."""
        return float(self.total(record, np.asarray(simulated)[None])[0])

    def total(self, record: Record, simulated: np.ndarray) -> np.ndarray:
        """Of many simulations, (sets, samples, outputs)."""
        errors = self.errors(record, simulated)
        return np.einsum("nij,nij->n", errors, errors)

    def errors(self, record: Record, simulated: np.ndarray) -> np.ndarray:
        """Weighted errors, (sets, samples, outputs); their squares sum up to the distance, and gaps count as 0."""
        measured = np.where(np.isfinite(record.output), record.output, 0.0)
        return np.sqrt(self.per_sample(record)) * (simulated - measured)

    def running(self, record: Record, simulated: np.ndarray) -> np.ndarray:
        """The distance as it grows along the record: of shape (sets, samples)."""
        return np.cumsum(np.sum(self.errors(record, simulated) ** 2, axis=-1), axis=-1)


def require_distance(where: str, distance: Any) -> None:
    """Refuse what is neither NMSE nor a function of the user's."""
    if not (isinstance(distance, NMSE) or callable(distance)):
        remedy = "give NMSE() or a function of (measured, simulated)"
        raise InvalidInput(where, "a distance", repr(distance), remedy)
