"""A Gaussian at every maximum of the posterior that is found: a first look, in few likelihoods.

With π(z) = N(z; 0, I) L(z), a maximum m and H the curvature of -log π there,

    π(z)  ≈  π(m) exp( -½ (z - m)ᵀ H (z - m) ),        evidence  ≈  Σ over maxima of  π(m) (2π)^{d/2} / √det H.

How far that is from the truth can be told, and mended: with draws z of a wider density q and weights π(z) / q(z), the
mean weight is the evidence, and draws in proportion to their weights are draws of the posterior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vibayes.samplers.chart import Chart
from vibayes.samplers.climb import Climbers, climb, density
from vibayes.samplers.likely import Likely, Sample, Stage, from_prior, likelihoods, log_prior
from vibayes.samplers.pieces import Pieces
from vibayes.samplers.resampling import systematic
from vibayes.samplers.settings import require_counts

_PER_START = 20
"""Draws of the prior, of which the best is a start."""
_DIFFERENCE = 0.3
"""Standard deviations over which the curvature is taken."""
_EDGE = 10.0
"""Fall of log π that stands for points that are impossible on either side."""
_ROUNDS = 8
"""Times that the curvature is taken, each in the coordinates of the last, at most."""
_ROUND = 0.5, 2.0
"""Curvatures in all directions between which coordinates are round."""
_NEGLIGIBLE = 15.0
"""A maximum so far below the highest, in log π, is left out."""
_SAME = 2.0
"""A maximum that is fewer standard deviations per root of unknowns away is the same."""
_FEW = 0.1
"""Share of draws that should be effective."""


@dataclass(frozen=True)
class Laplace:
    """The most probable parameters, and a Gaussian around them; where there are several maxima, several.

    Args:
        starts: of the search for maxima.
        draws: of the Gaussians.
        correct: weigh the draws by what the Gaussians get wrong; tells a standard error of the evidence.

    Examples:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> from vibayes.samplers.laplace import Laplace
        >>> from vibayes.samplers.likely import finished
        >>> def log_likelihood(z):
        ...     return -0.5 * np.sum((z - 1.0) ** 2, axis=1) / 0.1**2
        >>> target = SimpleNamespace(
        ...     name="toy", size=2, prior_probability=1.0, traceable=None, log_likelihood=log_likelihood
        ... )
        >>> sample = finished(Laplace().sample(np.random.default_rng(0), target))
        >>> sample.maximum.round(4).tolist()
        [0.9901, 0.9901]
        >>> bool(abs(sample.log_evidence - 2 * (0.5 * np.log(0.01 / 1.01) - 0.5 / 1.01)) < 1e-5)
        True
    """

    starts: int = 24
    draws: int = 2000
    correct: bool = False

    def __post_init__(self) -> None:
        require_counts(self, "starts", "draws")

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Climb from all starts at once, then measure the curvature."""
        points, logs, _ = from_prior(rng, target, _PER_START * self.starts)
        # Half of the starts are the best of some draws, lest they are all in vain; half are any, lest none is near a
        # maximum that is narrow.
        best = np.argmax(logs.reshape(self.starts, -1), axis=1)
        best[::2] = 0
        best += _PER_START * np.arange(self.starts)
        climbers, gradients = None, 0
        for climbers in climb(target, points[best]):
            gradients += climbers.gradients if target.traceable is not None else 0
            yield Stage("climb", 0.9 * float(climbers.arrived.mean()))
        assert climbers is not None
        maxima = _maxima(target, climbers)
        total = float(np.logaddexp.reduce([each.log_evidence for each in maxima]))
        shares = np.exp([each.log_evidence - total for each in maxima])
        pieces = Pieces(tuple(each.chart for each in maxima), shares / shares.sum())
        if self.correct:
            sample = _corrected(rng, target, pieces, self.draws)
        else:
            sample = _drawn(rng, target, pieces, self.draws, total)
        notes = {sample.note, *(each.note for each in maxima)} - {""}
        sample = replace(sample, note="; ".join(sorted(notes)), maximum=maxima[0].chart.centre, gradients=gradients)
        yield Stage("done", 1.0, sample.acceptance, sample)


class _Maximum(NamedTuple):
    """A Gaussian at a maximum: coordinates in which it is standard, and its mass."""

    chart: Chart
    log_evidence: float
    note: str


def _maxima(target: Likely, climbers: Climbers) -> list[_Maximum]:
    """That matter, highest first, each once."""
    found: list[_Maximum] = []
    size = climbers.points.shape[1]
    for number in np.argsort(-climbers.values):
        point, value = climbers.points[number], float(climbers.values[number])
        if value < climbers.values.max() - _NEGLIGIBLE or (found and not climbers.arrived[number]):
            continue
        away = [np.linalg.norm(each.chart.straight(point[None])) for each in found]
        if all(distance > _SAME * np.sqrt(size) for distance in away):
            found.append(_maximum(target, point, value, climbers.inverse[number]))
    return found


def _maximum(target: Likely, point: np.ndarray, value: float, inverse: np.ndarray) -> _Maximum:
    """The curvature at a point by second differences, in coordinates that become round."""
    size = len(point)
    sizes, directions = np.linalg.eigh(inverse)
    axes = directions * np.sqrt(np.clip(sizes, 1e-16, 1.0))
    edge = False
    for _ in range(_ROUNDS):
        curvature, edge = _curvature(target, point, value, axes)
        sizes, directions = np.linalg.eigh(curvature)
        axes = axes @ directions / np.sqrt(np.clip(sizes, 0.1, 100.0))
        if _ROUND[0] < sizes.min() and sizes.max() < _ROUND[1]:
            break
    note = "the posterior is cut off near its maximum: its Gaussian is rough" if edge else ""
    if sizes.min() <= 0.0:
        note = "the posterior is not bell-shaped at its maximum: its Gaussian is rough"
    height = float(np.linalg.slogdet(axes)[1])
    frame = Chart(point, axes, np.linalg.inv(axes), (None,) * size, np.ones(size))
    return _Maximum(frame, value + height, note)


def _curvature(target: Likely, point: np.ndarray, value: float, axes: np.ndarray) -> tuple[np.ndarray, bool]:
    """Second derivatives of -log π along axes, and whether some of the points for it are impossible."""
    size = len(point)
    rows, columns = np.triu_indices(size, 1)
    steps = np.concatenate([np.eye(size), np.eye(size)[rows] + np.eye(size)[columns]])
    steps = _DIFFERENCE * np.concatenate([steps, -steps])
    values = density(target, point + steps @ axes.T)
    there, opposite = value - values.reshape(2, -1)
    # What lies beyond an edge is taken to be like the other side.
    there, opposite = np.where(np.isinf(there), opposite, there), np.where(np.isinf(opposite), there, opposite)
    mean = np.minimum(0.5 * (there + opposite), _EDGE)
    alone, together = mean[:size], mean[size:]
    curvature = np.diag(alone)
    curvature[rows, columns] = 0.5 * (together - alone[rows] - alone[columns])
    curvature[columns, rows] = curvature[rows, columns]
    return 2.0 * curvature / _DIFFERENCE**2, bool(np.isinf(values).any())


def _drawn(rng: np.random.Generator, target: Likely, pieces: Pieces, count: int, log_evidence: float) -> Sample:
    """Draws of the Gaussians that are possible; the maxima themselves, if there are none."""
    drawn = pieces.draw(rng, count, exact=True)
    values = likelihoods(target, drawn)
    possible = np.isfinite(values)
    if not possible.any():
        drawn = np.stack([each.centre for each in pieces.charts])
        values = likelihoods(target, drawn)
        possible = np.isfinite(values)
    drawn, values = np.resize(drawn[possible], (count, target.size)), np.resize(values[possible], count)
    return Sample(drawn[None], values[None], np.nan, log_evidence)


def _corrected(rng: np.random.Generator, target: Likely, pieces: Pieces, count: int) -> Sample:
    """Draws of a wider density, drawn again in proportion to their weights."""
    drawn = pieces.draw(rng, count)
    values = likelihoods(target, drawn)
    logs = values + log_prior(drawn) - 0.5 * target.size * np.log(2.0 * np.pi) - pieces.log_density(drawn)
    total = float(np.logaddexp.reduce(logs))
    weights = np.exp(logs - total)
    effective = float(1.0 / np.sum(weights**2))
    note = ""
    if effective < _FEW * count:
        note = f"the Gaussians are so far off that {count:,} draws are worth {effective:.0f}: use TemperedSMC"
    chosen = systematic(rng, weights)
    error = float(np.sqrt(max(1.0 / effective - 1.0 / count, 0.0)))
    evidence = total - float(np.log(count))
    return Sample(drawn[chosen][None], values[chosen][None], effective / count, evidence, error, note)
