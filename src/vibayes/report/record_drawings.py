"""Drawings of what was measured, what the model makes of it, and what it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from vibayes.filters.checks import check_noise
from vibayes.findings import Residuals
from vibayes.findings.whiteness import chance, correlation, lags_of
from vibayes.posterior import ModelPosterior
from vibayes.prediction import Prediction
from vibayes.record import Record
from vibayes.report.drawing import Band, Dots, Drawing, Line, Look, Panel, envelope, extremes, thinned
from vibayes.report.words import unit_words

_CHANNELS = 6
"""Channels of one kind in a figure; the others are named as left out."""


def of_record(record: Record) -> Drawing:
    """Inputs and outputs, one below the other."""
    panels, shown, left = [], 0, []
    looks: tuple[Look, Look] = ("measured", "model")
    channels = (record.input_names, record.input), (record.output_names, record.output)
    for (names, values), look in zip(channels, looks, strict=True):
        for i, name in enumerate(names):
            if i >= _CHANNELS:
                left.append(name)
                continue
            x, y = envelope(record.times, np.asarray(values[:, i], float))
            panels.append(Panel([Line(x, y, look=look)], "time (s)", with_unit(name, record), height=0.8))
            shown += 1
    gaps = int(record.missing.sum())
    says = f"What was measured: {record.samples:,} samples in {record.duration:.4g} s.{thinned(record.samples)}"
    says += f" {gaps:,} values are missing." if gaps else ""
    says += f" Not shown: {', '.join(left)}." if left else ""
    return Drawing("data", "What was measured", says, panels, shared=True, linked="time")


def of_fit(prediction: Prediction, model: ModelPosterior | None, prob: float, name: str = "fit") -> Drawing:
    """Measured and predicted outputs, and the difference, above one axis of time; the inputs on top."""
    record, panels = prediction.record, []
    for i, cause in list(enumerate(record.input_names))[:2]:
        x, y = envelope(record.times, record.input[:, i])
        panels.append(Panel([Line(x, y, look="measured")], "time (s)", with_unit(cause, record), height=0.6))
    low, high = prediction.band(prob)
    mean = prediction.mean()
    noise = _noise(model, record) if model is not None else np.zeros(len(record.output_names))
    half = float(ndtri(0.5 + 0.5 * prob))
    low, high = (mean + sign * np.hypot(edge - mean, half * noise) for sign, edge in ((-1, low), (1, high)))
    for i, output in list(enumerate(record.output_names))[:_CHANNELS]:
        marks = _compared(record.times, record.output[:, i], mean[:, i], (low[:, i], high[:, i]), prob)
        panels.append(Panel(marks, "time (s)", with_unit(output, record), height=1.2))
        x, y = envelope(record.times, record.output[:, i] - mean[:, i])
        panels.append(Panel([Line(x, y, look="other")], "time (s)", "left over", height=0.6))
    what = "what is not known of the parameters" + (" and the noise" if noise.any() else "")
    says = f"Measured and predicted by {prediction.model}. The band holds {100 * prob:g} % of {what}."
    if not prediction.random:
        says += f" The mean prediction leaves {prediction.nmse:.3g} % of the variance of the record."
    says += f" {prediction.failures} draws could not be simulated." if prediction.failures else ""
    return Drawing(name, "Fit", says + thinned(record.samples), panels, shared=True, linked="time")


def of_innovations(residuals: Residuals, record: Record, prob: float) -> Drawing:
    """What was expected of every sample, given those before."""
    panels, half = [], float(ndtri(0.5 + 0.5 * prob))
    for i, name in list(enumerate(residuals.names))[:_CHANNELS]:
        expected, spread = residuals.expected[:, i], half * residuals.deviation[:, i]
        band = expected - spread, expected + spread
        marks = _compared(record.times, residuals.measured[:, i], expected, band, prob, "expected")
        panels.append(Panel(marks, "time (s)", with_unit(name, record), height=1.2))
        x, y = envelope(record.times, residuals.normalised[:, i])
        guides = [Line(record.times[[0, -1]], [s * half] * 2, look="guide", dashed=True) for s in (-1, 1)]
        panels.append(Panel([Line(x, y, look="other"), *guides], "time (s)", "surprise\n(deviations)", height=0.7))
    says = (
        "Every sample beside what was expected of it, given those before; the inputs were not measured. The surprise "
        f"is the difference in standard deviations, and {100 * prob:g} % of it should lie between the dashed lines."
    )
    return Drawing("fit", "Fit", says + thinned(record.samples), panels, shared=True, linked="time")


def _compared(
    times: np.ndarray, measured: np.ndarray, mean: np.ndarray, band: Any, prob: float, label: str = "mean prediction"
) -> list[Any]:
    x, y = envelope(times, measured)
    z, m = envelope(times, mean)
    edges = extremes(times, *band)
    return [
        Band(*edges, name=f"{100 * prob:g} % band"),
        Line(x, y, "measured", "measured"),
        Line(z, m, label, "model"),
    ]


def _noise(model: ModelPosterior, record: Record) -> np.ndarray:
    """Mean standard deviation of the noise of every output; zero where nothing is said of it."""
    if not model.problem.likely:
        return np.zeros(len(record.output_names))
    means = model.mean()
    given = check_noise(model.problem.noise, len(record.output_names))
    return np.array([means[each] if isinstance(each, str) else float(each) for each in given])


def of_correlations(residuals: Residuals) -> Drawing | None:
    """Correlation of what is left with itself, and what chance makes of it."""
    lags = lags_of(residuals)
    if lags < 2:
        return None
    step = float(residuals.places[1] - residuals.places[0]) if residuals.along else 1.0
    marks: list[Any] = []
    looks: Any = "model", "other", "third", "fourth"
    for name, values, look in zip(residuals.names, residuals.normalised.T, looks, strict=False):
        if not np.nanstd(values) > 0:
            continue
        x, r = step * np.arange(1, lags + 1), correlation(values, values, lags)[1:]
        marks += [Dots(x, r, name, look), Line(x, r, look=look)]
    if not marks:
        return None
    bound, ends = chance(int(np.isfinite(residuals.normalised[:, 0]).sum()), lags), [0.0, step * (lags + 0.5)]
    marks += [Line(ends, [s * bound] * 2, look="guide", dashed=True) for s in (-1, 1)]
    says = (
        "Correlation of what the model leaves with itself a little earlier. Noise stays between the dashed lines; what "
        "lies outside, and above 0.1, is something that the model misses."
    )
    panel = Panel(marks, "earlier by (s)" if residuals.along else "earlier by (points)", "correlation", height=1.3)
    return Drawing("correlations", "What the model leaves", says, [panel])


def with_unit(name: str, record: Record) -> str:
    """A channel's name with its unit."""
    unit = record.units.get(name)
    return f"{name}\n({unit_words(unit)})" if unit else name
