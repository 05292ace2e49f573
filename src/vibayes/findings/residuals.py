"""What a model leaves of the record, in standard deviations of what it may leave.

A filter or a solver expects every sample, given those before, with a deviation: what is left are normalised
innovations, at the likeliest draw. Points of backbones leave errors of their equations. Without a likelihood nothing is
said of the noise; then the residuals of the mean prediction count, over their own deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.backbone import BackboneLikelihood
from vibayes.posterior import ModelPosterior
from vibayes.prediction import Prediction
from vibayes.solvers.verb import Solving


@dataclass(frozen=True)
class Residuals:
    """What was measured beside what a model expected, each of shape (samples, outputs).

    Attributes:
        names: of the outputs.
        places: times in seconds, or numbers of points.
        measured: NaN where a value is missing.
        expected: by the model.
        deviation: that measured values may be away from what is expected.
        inputs: that were measured, (samples, inputs).
        input_names: theirs.
        noise_known: the deviations are the model's, rather than taken from the residuals themselves.
        innovations: what is expected of a sample is told by those before it.
        along: whether places follow one another in time.
    """

    names: tuple[str, ...]
    places: np.ndarray
    measured: np.ndarray
    expected: np.ndarray
    deviation: np.ndarray
    inputs: np.ndarray
    input_names: tuple[str, ...] = ()
    noise_known: bool = True
    innovations: bool = False
    along: bool = True

    @property
    def normalised(self) -> np.ndarray:
        """Residuals in standard deviations; NaN where a value is missing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.measured - self.expected) / self.deviation

    @property
    def left(self) -> np.ndarray:
        """Share of the variance of every output that the model leaves."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nanmean((self.measured - self.expected) ** 2, axis=0) / np.nanvar(self.measured, axis=0)


def residuals_of(model: ModelPosterior, prediction: Prediction | None = None) -> Residuals | None:
    """What a model leaves of the record it was learnt from; None where that cannot be told.

    Args:
        model: with draws.
        prediction: of the record it was learnt from, for a model without a likelihood.
    """
    problem = model.problem
    if not problem.likely:
        return None if prediction is None else _of_prediction(prediction)
    values = _likeliest(model)
    prepared = problem.filtering()
    if isinstance(prepared, BackboneLikelihood):
        return _of_points(model, prepared, values)
    record = problem.motions
    expected, deviation = _increments(prepared, {name: jnp.asarray(value) for name, value in values.items()})
    return Residuals(
        record.output_names, record.times, record.output, np.asarray(expected), np.asarray(deviation), record.input,
        record.input_names, innovations=True,
    )  # fmt: skip


def _likeliest(model: ModelPosterior) -> dict[str, float]:
    """The draw with the largest likelihood, or the mean where likelihoods are not known."""
    known = len(model.log_likelihoods) == len(model.weights) and np.isfinite(model.log_likelihoods).all()
    return model.best() if known else model.mean()


def _increments(prepared: Any, values: dict[str, Any]) -> tuple[Any, Any]:
    if isinstance(prepared, Solving):
        found = prepared.increments({name: value[None] for name, value in values.items()})[0]
        return found.expected[..., 0], found.deviation[..., 0]
    found = prepared.increments(values)
    return found.expected, found.deviation


def _of_points(model: ModelPosterior, prepared: BackboneLikelihood, values: dict[str, float]) -> Residuals:
    """Errors of the equations of all points, which should be zero, in standard deviations."""
    left = np.asarray(prepared.residuals(values))
    points: Any = model.problem.record
    names = tuple(f"equation of mode {mode}" for mode in points.modes)
    zeros, ones = np.zeros_like(left), np.ones_like(left)
    return Residuals(names, np.arange(len(left)), left, zeros, ones, np.empty((len(left), 0)), along=False)


def _of_prediction(prediction: Prediction) -> Residuals | None:
    if prediction.random:
        return None
    record, expected = prediction.record, prediction.mean()
    deviation = np.nanstd(record.output - expected, axis=0)
    return Residuals(
        record.output_names, record.times, record.output, expected, np.broadcast_to(deviation, expected.shape),
        record.input, record.input_names, noise_known=False,
    )  # fmt: skip
