"""Ranks of true values among draws, and whether they are uniform.

If θ comes from the prior, y from p(y | θ) and θ_1 … θ_L independently from p(θ | y), then θ has every rank among the
L draws with the same probability, and so has any quantity q(θ, y) (Talts et al. 2018; Modrák et al. 2023). With r of
the draws below it, t equal to it, and U uniform on (0, 1), its normalised rank

    u = (r + U (t + 1)) / (L + 1)

is uniform on (0, 1), whatever L is: records with few effective draws and records with many count alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vibayes.posterior import ModelPosterior
from vibayes.samplers.diagnostics import ess_bulk

DRAWS = 100
"""Draws of a posterior among which the truth is ranked, at most: more would tell no more over a few hundred records."""
_APART = 2.0
"""Effective draws for each of them: those that are left are about independent."""
_PER_BIN, _FEWEST_BINS, MOST_BINS = 20, 4, 20
"""Records that a bin of the histogram expects, and how many bins there are."""
_FEWEST = 10
"""Draws of a chain of which an autocorrelation can be told."""
_SHIFTED = 5.0
"""Standard errors by which the mean of ranks is off where posteriors are said to lie too low or too high."""
LOG_LIKELIHOOD = "log-likelihood"
"""Name of the quantity that depends on the record, and so tells a posterior from the prior."""


def effective_draws(model: ModelPosterior) -> float:
    """Independent draws that the draws of a model are worth, for the parameter for which they are worth least."""
    sample = model.sample
    if sample is None or sample.weights is not None or sample.points.shape[1] < _FEWEST:
        return model.effective_draws
    return float(np.min(np.nan_to_num(ess_bulk(sample.points), nan=1.0)))


def thinned(rng: np.random.Generator, weights: np.ndarray, effective: float) -> np.ndarray:
    """Numbers of draws that are about independent and equally weighted: as far apart as they are many.

    Systematic resampling in the order of the chains, which for equal weights takes every so many-th draw.
    """
    count = int(np.clip(effective / _APART, 1, DRAWS))
    places = (np.arange(count) + rng.random()) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), places), len(weights) - 1)


def normalised_rank(rng: np.random.Generator, truth: float, draws: np.ndarray) -> float:
    """Rank of a true value among draws, between 0 and 1; chance decides between equals.

    Examples:
        >>> import numpy as np
        >>> 0.5 < normalised_rank(np.random.default_rng(0), 0.3, np.array([0.1, 0.2, 0.4])) < 0.75
        True
    """
    below, equal = np.sum(draws < truth), np.sum(draws == truth)
    return float((below + rng.random() * (equal + 1)) / (len(draws) + 1))


def ranks_of(
    rng: np.random.Generator, model: ModelPosterior, truth: Mapping[str, float], log_likelihood: float
) -> tuple[dict[str, float], int]:
    """Normalised rank of every parameter, and of the log-likelihood where there is one; and draws they are among."""
    chosen = thinned(rng, model.weights, effective_draws(model))
    ranks = {name: normalised_rank(rng, truth[name], values[chosen]) for name, values in model.draws.items()}
    logs = model.log_likelihoods if len(model.log_likelihoods) else -model.distances
    if len(logs) and not np.isnan(log_likelihood):
        ranks[LOG_LIKELIHOOD] = normalised_rank(rng, log_likelihood, logs[chosen])
    return ranks, len(chosen)


def bins_for(records: int) -> int:
    """Bins of a histogram of so many ranks."""
    return int(np.clip(records // _PER_BIN, _FEWEST_BINS, MOST_BINS))


def counts_of(ranks: np.ndarray) -> np.ndarray:
    """Records in each bin of the histogram."""
    return np.histogram(ranks, bins_for(len(ranks)), (0.0, 1.0))[0]


def uniformity_p(ranks: np.ndarray) -> float:
    """Probability that uniform ranks differ from uniform bins by as much, by Pearson's chi-square; NaN of none.

    Examples:
        >>> import numpy as np
        >>> uniformity_p(np.linspace(0.0, 1.0, 200)) > 0.99, uniformity_p(np.linspace(0.2, 0.8, 200)) < 1e-9
        (True, True)
    """
    from scipy import stats  # takes long to import

    return float(stats.chisquare(counts_of(ranks)).pvalue) if len(ranks) else float("nan")


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Probabilities of several tests, corrected for how many there are (Holm 1979); NaN stays NaN.

    Examples:
        >>> holm({"a": 0.01, "b": 0.2, "c": 0.04})
        {'a': 0.03, 'b': 0.2, 'c': 0.08}
    """
    known = sorted((each, name) for name, each in p.items() if not np.isnan(each))
    corrected, least = {}, 0.0
    for place, (each, name) in enumerate(known):
        least = corrected[name] = max(least, min(1.0, each * (len(known) - place)))
    return {name: corrected.get(name, float("nan")) for name in p}


def departure(name: str, ranks: np.ndarray) -> str:
    """What is wrong with posteriors whose ranks of a quantity are not uniform, in words."""
    shift, spread = ranks.mean() - 0.5, np.mean((ranks - 0.5) ** 2) - 1.0 / 12.0
    if name == LOG_LIKELIHOOD:
        return "draws are less likely than the truth" if shift > 0 else "draws are more likely than the truth"
    # In standard errors of the mean of uniform ranks; that of ranks that lie at both ends is up to 1.7 times as large.
    if abs(shift) > _SHIFTED / np.sqrt(12.0 * len(ranks)):
        return "posteriors lie too low" if shift > 0 else "posteriors lie too high"
    return "posteriors are too narrow" if spread > 0 else "posteriors are too wide"


def ecdf_band(records: int, grid: np.ndarray, prob: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Band about the identity that holds the whole empirical distribution of uniform ranks with a probability.

    Pointwise binomial quantiles, as far out as it takes for all of them together (Säilynoja et al. 2022): how far is
    found from a thousand uniform samples.
    """
    from scipy import stats  # takes long to import

    rng = np.random.default_rng(0)
    drawn = np.sort(rng.random((1000, records)), axis=1)
    counts = np.stack([np.searchsorted(each, grid, side="right") for each in drawn])
    tails = np.minimum(stats.binom.cdf(counts, records, grid), stats.binom.sf(counts - 1, records, grid))
    tail = float(np.quantile(tails.min(axis=1), 1.0 - prob))
    low, high = (stats.binom.ppf(each, records, grid) / records for each in (tail, 1.0 - tail))
    return low, high
