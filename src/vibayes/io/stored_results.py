"""Results in a file of `write_posterior`, read without the models they are of.

Probabilities and draws are numbers in the file, whereas regions visited, predictions and residuals need the models. So
the table of results can be shown where the code of a model is not there, or is not trusted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.interval import PROB, Interval, tails
from vibayes.io.files import PathLike
from vibayes.io.posterior import Stored, read_stored
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.visits import Numbers

_NUMBERS = "probability", "standard_error", "log_evidence", "log_evidence_error"
_COUNTS = "simulations", "failures"


@dataclass(frozen=True)
class StoredModel:
    """One model of a stored posterior: what `vibayes.posterior.ModelPosterior` says without its problem.

    Attributes:
        name: of the model.
        probability: given that one of the models posed is right; NaN if it is not known.
        standard_error: Monte Carlo standard error of the probability.
        log_evidence: logarithm of the evidence; NaN if unknown.
        log_evidence_error: its standard error.
        draws: parameters by name, one entry per draw.
        weights: of the draws; their sum is one.
        simulations: that the model has cost.
        failures: simulations that failed.
    """

    name: str
    probability: float
    standard_error: float
    log_evidence: float
    log_evidence_error: float
    draws: dict[str, np.ndarray]
    weights: np.ndarray
    simulations: int
    failures: int

    @property
    def regions_visited(self) -> Numbers:
        """None: to count them, draws must be simulated."""
        return Numbers({}, {})

    def mean(self) -> dict[str, float]:
        """Posterior mean of every parameter."""
        return {name: float(self.weights @ values) for name, values in self.draws.items()}

    def standard_deviation(self) -> dict[str, float]:
        """Posterior standard deviation of every parameter."""
        means = self.mean()
        return {name: float(np.sqrt(self.weights @ (v - means[name]) ** 2)) for name, v in self.draws.items()}

    def interval(self, name: str, prob: float = PROB) -> Interval:
        """Central interval of a parameter that holds a posterior probability."""
        return Interval(*(weighted_quantile(self.draws[name], self.weights, each) for each in tails("interval", prob)))


@dataclass(frozen=True)
class StoredPosterior:
    """All models of a stored posterior, in the order they were posed."""

    models: tuple[StoredModel, ...]
    threshold: float
    seconds: float
    notes: tuple[str, ...]

    @property
    def simulations(self) -> int:
        """Of all models."""
        return sum(model.simulations for model in self.models)

    @property
    def regions_visited(self) -> Numbers:
        """None, as of its models."""
        return Numbers({}, {})

    def __iter__(self):
        return iter(self.models)

    def summary(self) -> str:
        """A few lines for people: probabilities of the models, then the parameters of each that has draws."""
        lines = [f"{self.simulations:,} simulations, {self.seconds:.1f} s"]
        width = max(len(model.name) for model in self.models)
        for model in self.models:
            known = "not known" if np.isnan(model.probability) else f"{model.probability:.3f}"
            error = f" ± {model.standard_error:.2f}" if model.probability > 0 else ""
            lines.append(f"  {model.name:<{width}}  {known:>6}{error}")
        for model in self.models:
            lines += [f"{model.name}:", *_parameters(model)] if len(model.weights) else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def read_results(path: PathLike) -> StoredPosterior:
    """Read the results that `write_posterior` wrote, without the problems they are of.

    Args:
        path: the file.

    Raises:
        InvalidInput: the file is none of ours, is damaged or was changed, or is from a later version.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.io.stored_results import read_results
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> problem = vb.Problem(lambda slope: slope * np.arange(20.0), record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.ABCRejection(particles=30, threshold=10.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     vb.write_posterior(posterior, f"{folder}/run.nc")
        ...     results = read_results(f"{folder}/run.nc")
        >>> results.models[0].mean() == posterior.selected.mean()
        True
    """
    return read_stored(path, _results)


def _results(stored: Stored) -> StoredPosterior:
    root = stored.root
    models = tuple(_model(name, groups) for name, groups in stored.groups.items())
    notes = tuple(_printable(str(note)) for note in json.loads(root["notes"]))
    return StoredPosterior(models, float(root["threshold"]), float(root["seconds"]), notes)


def _model(name: str, groups: dict[str, Any]) -> StoredModel:
    stats = groups["sample_stats"]
    source = groups.get("weighted_posterior", groups["posterior"]).data_vars
    draws = {
        _printable(str(each.attrs.get("long_name", stored))): np.asarray(each.transpose("chain", "draw"), float).ravel()
        for stored, each in source.items()
    }
    numbers = {each: float(stats.attrs.get(each, np.nan)) for each in _NUMBERS}
    counts = {each: int(stats.attrs.get(each, 0)) for each in _COUNTS}
    weights = np.asarray(stats["weight"], float).ravel()
    return StoredModel(name=_printable(name), draws=draws, weights=weights, **numbers, **counts)


def _parameters(model: StoredModel) -> list[str]:
    means, width = model.mean(), max(map(len, model.draws), default=0)
    ends = {name: model.interval(name) for name in means}
    return [
        f"  {name:<{width}}  {mean:.5g}   {100 * PROB:g} % in {ends[name].low:.5g} … {ends[name].high:.5g}"
        for name, mean in means.items()
    ]


def _printable(text: str) -> str:
    """Text of somebody else's file, without what would control a terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
