"""What the record told of each parameter: nothing, more than the prior allows, or a combination with another.

Draws are compared in shares of the prior, u = Φ(z), in which the prior is uniform. With p_b the shares of the posterior
in B parts of the prior of equal belief, the overlap of the two is Σ_b min(p_b, 1/B).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from vibayes.findings.finding import Finding
from vibayes.posterior import ModelPosterior
from vibayes.prior_space import orders_of
from vibayes.priors import Prior, normal_scores
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.samplers.ridges import ridges

_PARTS = 10
_SAME = 0.9
"""Overlap from which the record said nothing."""
_LEARNED = 0.75
"""Overlap below which a bound can stand in the way."""
_NEAR = 0.15
"""Distance of the 5 % quantile from a bound, over that of the median: 1/10 where the bound is the likeliest value."""
_FAR = 3.0
"""Prior standard deviations from the middle of the prior at which a posterior speaks against it."""
_FEWEST = 50
"""Effective draws that tell a correlation or an overlap."""
_TOLD = 1500
"""Draws that ridges are sought in."""


def scores_of(model: ModelPosterior) -> np.ndarray:
    """Draws in coordinates in which the prior is standard normal, (draws, parameters)."""
    # Coordinates of parameters in order tell where they lie among one another, not in their priors.
    if model.sample is not None and not orders_of(model.problem):
        return model.sample.flat
    return np.stack([normal_scores(p, model.draws[n]) for n, p in model.problem.priors.items()], axis=1)


def overlap(scores: np.ndarray, weights: np.ndarray) -> float:
    """Of a posterior with its prior: 1 where the record said nothing.

    Examples:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=4000)
        >>> equal = np.full(4000, 1 / 4000)
        >>> overlap(z, equal) > 0.95, overlap(0.1 * z, equal) < 0.3
        (True, True)
    """
    shares, _ = np.histogram(ndtr(scores), _PARTS, (0.0, 1.0), weights=weights)
    return float(np.minimum(shares, 1.0 / _PARTS).sum())


def of_priors(model: ModelPosterior) -> list[Finding]:
    """Parameters of which the record says nothing, and such as the prior hardly allows."""
    effective = _effective(model)
    if effective < _FEWEST:
        return []
    found, scores = [], scores_of(model)
    scatter = 0.4 * np.sqrt(_PARTS / effective)  # what chance takes from an overlap of one
    for (name, prior), z in zip(model.problem.priors.items(), scores.T, strict=True):
        common = overlap(z, model.weights)
        if common > _SAME - scatter:
            words = f"The record says nothing of {name}: posterior and prior overlap by {100 * common:.0f} %"
            found.append(Finding("notice", "prior", words, "fix it, or measure something that it changes"))
        elif common < _LEARNED and (bound := _bound(prior, z, model.weights)) is not None:
            words = f"The record presses {name} against the end of its prior, {bound:.4g}"
            found.append(Finding("warning", "prior", words, "widen the prior, if such values are possible"))
        elif abs(off := weighted_quantile(z, model.weights, 0.5)) > _FAR:
            words = f"The prior hardly allows what the record says of {name}: {off:+.1f} standard deviations off"
            found.append(Finding("warning", "prior", words, "widen the prior, or find out who is right"))
    return found or [Finding("good", "prior", "The record tells something of every parameter, within the prior")]


def _bound(prior: Prior, scores: np.ndarray, weights: np.ndarray) -> float | None:
    """The end of a prior that a posterior is pressed against, if any."""
    for end, signed in ((0.0, scores), (1.0, -scores)):
        edge = float(np.asarray(prior.icdf(end)))
        near, middle = (ndtr(weighted_quantile(signed, weights, share)) for share in (0.05, 0.5))
        if np.isfinite(edge) and near < _NEAR * middle:
            return edge
    return None


def of_ridges(model: ModelPosterior) -> list[Finding]:
    """Parameters of which the record tells a combination only."""
    if len(model.problem.parameters) < 2 or _effective(model) < _FEWEST:
        return []
    chosen = np.random.default_rng(0).choice(len(model.weights), _TOLD, p=model.weights)
    values = np.stack(list(model.draws.values()), axis=1)[chosen]
    found = [
        Finding("notice", "ridge", said.sentence, said.remedy)
        for said in ridges(scores_of(model)[chosen], values, tuple(model.draws))
    ]
    return found or [Finding("good", "ridge", "No two parameters can be told only together")]


def _effective(model: ModelPosterior) -> float:
    """Draws that are worth something: the fewest of any parameter."""
    found = [each.ess_bulk for each in model.diagnostics()]
    return float(np.nanmin(found)) if np.isfinite(found).any() else 0.0
