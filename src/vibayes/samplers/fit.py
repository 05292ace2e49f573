"""Fit a model along the record: first to its beginning, then to more and more of it.

Over a whole record a response that has lost the measured one is no better than none, and the right parameters are a
needle. Over the first few samples many parameters fit, and are easily improved. So many fits are carried along side by
side. On each level

1. all are improved by damped Gauss-Newton steps, with slopes from differences;
2. the best quarter that differ are kept;
3. as many more samples are added as half of them follow without losing the record;
4. around each, new ones are drawn: far in directions that the fit leaves open, near in those that it fixes.

At the end the best few are polished by some more steps, from points beside them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from vibayes.samplers.likely import recalled
from vibayes.samplers.shapes import Candidate

_STEPS = 3
"""Of Gauss-Newton per level."""
_DIFFERENCE = 1e-5
_DAMPINGS = np.array([0.1, 1.0, 10.0])
"""Tried at every step, times the damping of the fit."""
_MORE_DAMPING = 30.0
"""After a step that improved nothing."""
_EDGE = 1e-4
"""Distance that a step keeps from the boundary of the cube."""
_SAME = 0.02
"""Fits closer than this in every coordinate are one."""
_KEPT = 0.25
_GROWTH = 1.03, 1.5
"""Least and most growth of the number of samples."""
_LOST = 1.0, 0.6
"""A fit has lost the record when its misfit has grown by this many percent, and this share of the best misfit."""
_SPREAD = 0.5
"""Expected growth of the misfit of new fits, as a share of it."""
_NEAR = 0.05
"""Likewise, of new fits around the best at the end."""
_POLISHED = 10
"""Fits that are improved further at the end, in some rounds."""
_POLISHINGS = 3
_SMALL = 0.02
"""A misfit so small that its share would leave new fits too near."""
_OPEN = 0.3
"""Spread in directions that are left open."""
_CLOSED = 0.5
"""Share of the fits that are given up on the way to the end."""
_AGREE = 1.05
"""Fits of the whole record within this factor of the best agree with it; a share of them ends the fitting."""
_PATIENCE = 2
"""Levels over the whole record without progress that end the fitting."""
_MOST_LEVELS = 100
_TRIES = 8


@dataclass(frozen=True)
class Fits:
    """Fits side by side: their points, errors over the same first samples, and what the next step needs."""

    points: np.ndarray
    errors: np.ndarray
    """(fits, errors)."""
    samples: int
    damping: np.ndarray
    curvature: np.ndarray
    """Half the second derivatives of the misfit, as Gauss and Newton have them."""
    improved: float = 1.0
    """Share of fits that the last step improved."""

    @property
    def misfits(self) -> np.ndarray:
        """Distances over these samples."""
        return _squares(self.errors)

    def best(self) -> float:
        """The smallest misfit."""
        return float(self.misfits.min(initial=np.inf))

    def of(self, chosen: np.ndarray) -> Fits:
        """Some of them."""
        return replace(
            self, points=self.points[chosen], errors=self.errors[chosen], damping=self.damping[chosen],
            curvature=self.curvature[chosen],
        )  # fmt: skip


def fits_at(candidate: Candidate, points: np.ndarray, samples: int) -> Fits:
    """Fits that are not improved yet."""
    count, size = points.shape
    return Fits(points, errors_of(candidate, points, samples), samples, np.ones(count), np.zeros((count, size, size)))


def joined(one: Fits, other: Fits) -> Fits:
    """Fits of the same samples."""
    names = ("points", "errors", "damping", "curvature")
    return replace(one, **{name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in names})


def errors_of(candidate: Candidate, points: np.ndarray, samples: int) -> np.ndarray:
    """In one row per point."""
    errors = candidate.errors(points, samples) if len(points) else np.empty((0, samples, 1))
    return errors.reshape(len(points), errors.shape[1] * errors.shape[2])


def follow(rng: np.random.Generator, candidate: Candidate, prior: np.ndarray, count: int) -> Iterator[Fits]:
    """Fits along the record, out of draws of the prior; the last ones are of the whole record and come best first."""
    fits = fits_at(candidate, prior, candidate.beginning)
    fits = fits.of(np.argsort(fits.misfits)[:count])
    least, idle = np.inf, 0
    for _ in range(_MOST_LEVELS):
        for _ in range(_STEPS):
            fits = improve(candidate, fits)
            yield fits
        whole, agreeing = fits.samples == candidate.length, np.mean(fits.misfits <= _AGREE * fits.best())
        fits = distinct(fits, max(int(_KEPT * count), 1))
        idle = idle + 1 if whole and fits.best() > 0.99 * least else 0
        least = min(fits.best(), least) if whole else np.inf
        if whole and (agreeing > _KEPT or idle >= _PATIENCE):
            break
        fits = further(candidate, fits)
        # Many roads are open at the beginning and few at the end, where a fit costs most.
        wanted = int(count * (1.0 - _CLOSED * fits.samples / candidate.length))
        fits = with_new(rng, candidate, fits, wanted - len(fits.points))
    for _ in range(_POLISHINGS):
        fits = with_new(rng, candidate, distinct(fits, _POLISHED), 2 * _POLISHED, _NEAR)
        for _ in range(_STEPS):
            fits = improve(candidate, fits)
        yield fits
    yield distinct(fits, count)


def with_new(rng: np.random.Generator, candidate: Candidate, fits: Fits, count: int, rise: float = _SPREAD) -> Fits:
    """Fits, and about so many new ones around them."""
    new = around(rng, candidate, fits, count, rise)
    return joined(fits, fits_at(candidate, new, fits.samples)) if len(new) else fits


def improve(candidate: Candidate, fits: Fits) -> Fits:
    """One step of Gauss-Newton for every fit, with the best of three dampings.

    A journal keeps the step, for the errors that it takes are many times as large.
    """

    def compute():
        new = _improved(candidate, fits)
        return new.points, new.errors, new.damping, new.curvature, np.asarray(new.improved)

    given = (fits.points, fits.errors, np.asarray(fits.samples), fits.damping)
    points, errors, damping, curvature, improved = recalled(candidate, "improve", given, compute)
    return Fits(points, errors, fits.samples, damping, curvature, float(improved))


def _improved(candidate: Candidate, fits: Fits) -> Fits:
    points, errors, misfits = fits.points, fits.errors, fits.misfits
    (count, size), number = points.shape, np.arange(len(points))
    slopes = _slopes(candidate, fits)
    gradient = np.einsum("nji,ni->nj", slopes, np.nan_to_num(errors))
    curvature = slopes @ np.swapaxes(slopes, 1, 2)
    # In proportion to the misfit: far from the best a step is short, near it nearly Newton's.
    damping = fits.damping * np.where(np.isfinite(misfits), misfits, 1.0)
    dampings = np.maximum(_DAMPINGS[:, None] * damping, 1e-12)
    damped = curvature + dampings[:, :, None, None] * np.eye(size)
    steps = np.linalg.solve(damped, np.broadcast_to(gradient, (*dampings.shape, size))[..., None])[..., 0]
    trials = np.clip(points - steps, _EDGE, 1.0 - _EDGE)
    trial_errors = _errors_where_allowed(candidate, trials.reshape(-1, size), fits.samples)
    trial_errors = trial_errors.reshape(*dampings.shape, -1)
    trial_misfits = _squares(trial_errors)
    which = np.argmin(trial_misfits, axis=0)
    better = trial_misfits[which, number] < misfits
    damping = fits.damping * np.where(better, _DAMPINGS[which], _MORE_DAMPING)
    return Fits(
        points=np.where(better[:, None], trials[which, number], points),
        errors=np.where(better[:, None], trial_errors[which, number], errors),
        samples=fits.samples,
        damping=np.clip(damping, 1e-6, 1e4),
        curvature=curvature,
        improved=float(better.mean()) if count else 0.0,
    )


def _slopes(candidate: Candidate, fits: Fits) -> np.ndarray:
    """Of the errors by the coordinates, (fits, coordinates, errors); 0 where no difference is allowed."""
    count, size = fits.points.shape
    steps = np.where(fits.points > 0.5, -_DIFFERENCE, _DIFFERENCE)

    def moved(steps):
        return (fits.points[:, None, :] + steps[:, :, None] * np.eye(size)).reshape(-1, size)

    steps = np.where(candidate.allowed(moved(steps)).reshape(count, size), steps, -steps)
    errors = _errors_where_allowed(candidate, moved(steps), fits.samples).reshape(count, size, -1)
    slopes = (errors - fits.errors[:, None, :]) / steps[:, :, None]
    return np.where(np.isfinite(slopes), slopes, 0.0)


def _errors_where_allowed(candidate: Candidate, points: np.ndarray, samples: int) -> np.ndarray:
    allowed = candidate.allowed(points)
    some = errors_of(candidate, points[allowed], samples)
    errors = np.full((len(points), some.shape[1]), np.nan)
    errors[allowed] = some
    return errors


def _squares(errors: np.ndarray) -> np.ndarray:
    squares = np.einsum("...i,...i->...", errors, errors)
    return np.where(np.isfinite(squares), squares, np.inf)


def distinct(fits: Fits, most: int) -> Fits:
    """The best that are not the same, best first."""
    order = np.argsort(fits.misfits)
    points = fits.points[order]
    near = np.all(np.abs(points[:, None] - points[None]) < _SAME, axis=2)
    kept = np.zeros(len(order), bool)
    for i in range(len(order)):
        kept[i] = not np.any(near[i] & kept)
    return fits.of(order[kept][:most])


def further(candidate: Candidate, fits: Fits) -> Fits:
    """Over as many more samples as half of the fits follow."""
    least, most = (int(min(factor * fits.samples + 1, candidate.length)) for factor in _GROWTH)
    if fits.samples == most:
        return fits
    errors = errors_of(candidate, fits.points, most).reshape(len(fits.points), most, -1)
    running = np.cumsum(np.sum(errors**2, axis=2), axis=1)
    room = _LOST[0] + _LOST[1] * fits.best()
    reached = np.sum(running <= (fits.misfits + room)[:, None], axis=1)
    samples = int(max(np.median(reached), least))
    return replace(fits, errors=errors[:, :samples].reshape(len(errors), -1), samples=samples)


def around(rng: np.random.Generator, candidate: Candidate, fits: Fits, count: int, rise: float = _SPREAD) -> np.ndarray:
    """About so many points around the fits.

    They are normal, with the curvature of the misfit, and so wide that the misfit is expected to rise by a share of it.
    """
    parents = np.arange(max(count, 0)) % len(fits.points)
    size = fits.points.shape[1]
    squares = rise * np.maximum(fits.misfits, _SMALL) / size
    precision = fits.curvature / squares[:, None, None] + np.eye(size) / _OPEN**2
    # With precision L Lᵀ, a standard normal z gives draws L⁻ᵀ z.
    factors = np.swapaxes(np.linalg.inv(np.linalg.cholesky(precision)), 1, 2)
    points = np.full((len(parents), size), np.nan)
    missing = np.arange(len(parents))
    for _ in range(_TRIES):
        steps = rng.standard_normal((len(missing), size))
        trial = fits.points[parents[missing]] + np.einsum("nij,nj->ni", factors[parents[missing]], steps)
        allowed = candidate.allowed(trial)
        points[missing[allowed]] = trial[allowed]
        missing = missing[~allowed]
    return np.delete(points, missing, axis=0)
