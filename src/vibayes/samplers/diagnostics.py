"""Whether draws can be believed: do chains agree, how many independent draws are they worth, what was learned.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021). Chains are split in halves and values replaced by the
normal scores of their ranks. With W the mean variance within the M halves of N draws and B/N that of their means,

    R-hat  =  √( (N - 1)/N + B/N / W ),            effective draws  =  M N / τ,      τ  =  -1 + 2 Σ_k P_k,

where P_k are sums of two successive autocorrelations, as long as they are positive and made to fall (Geyer 1992).
All functions take arrays (chains, draws, ...) and answer for every parameter at once.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import betaincinv, ndtri

_GROUPS = 4
_CHAINS, _LONG = 50, 64
"""Chains that tell the variance of their means, and draws of each that tell their autocorrelations."""
_MANY = 8
"""Chains, beyond which groups of them are compared."""


def rhat(values: np.ndarray) -> np.ndarray:
    """Rank-normalised split R-hat, the larger of those for place and for spread; 1 if all chains agree."""
    halves = _split(values)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_between_and_within(_scores(halves)), _between_and_within(_scores(folded)))


def rhat_of_groups(values: np.ndarray) -> np.ndarray:
    """R-hat of four groups of chains, and of the chains themselves where they are few.

    With many chains each is short, and differs from the others by chance even where all of them together tell the
    posterior well; groups of chains differ by less (Margossian et al. 2024).
    """
    return rhat(grouped(values))


def grouped(values: np.ndarray) -> np.ndarray:
    """Many chains as four: draws of all chains of a group, in the order of their time.

    Examples:
        >>> grouped(np.zeros((4, 100, 2))).shape, grouped(np.zeros((49, 100, 2))).shape
        ((4, 100, 2), (4, 1200, 2))
    """
    if values.shape[0] <= _MANY:
        return values
    each = values.shape[0] // _GROUPS
    groups = values[: _GROUPS * each].reshape(_GROUPS, each, *values.shape[1:])
    return groups.swapaxes(1, 2).reshape(_GROUPS, -1, *values.shape[2:])


def ess_bulk(values: np.ndarray) -> np.ndarray:
    """Independent draws that would tell the middle of the distribution as well."""
    return _effective(_scores(_split(values)))


def ess_tail(values: np.ndarray) -> np.ndarray:
    """Independent draws that would tell the 5 % and 95 % quantiles as well, whichever is told worse."""
    return np.minimum(ess_quantile(values, 0.05), ess_quantile(values, 0.95))


def effective_bulk(values: np.ndarray) -> np.ndarray:
    """As `ess_bulk`, or from the means of chains where these are many and short.

    Autocorrelations of a few draws cannot be summed; but independent chains tell the variance of their means.

    Examples:
        >>> steps = np.random.default_rng(0).normal(size=(500, 8))
        >>> for i in range(1, 8):
        ...     steps[:, i] = 0.5 * steps[:, i - 1] + np.sqrt(0.75) * steps[:, i]
        >>> float(effective_bulk(steps[..., None])[0]) < 2200 < float(ess_bulk(steps[..., None])[0])
        True
    """
    return _of_means(_scores(np.asarray(values, float))) if _short(values) else ess_bulk(values)


def effective_tail(values: np.ndarray) -> np.ndarray:
    """Likewise `ess_tail`."""
    if not _short(values):
        return ess_tail(values)
    ends = (np.quantile(values, share, axis=(0, 1)) for share in (0.05, 0.95))
    return np.minimum(*(_of_means((values <= end).astype(float)) for end in ends))


def _short(values: np.ndarray) -> bool:
    return values.shape[0] >= _CHAINS and values.shape[1] < _LONG


def _of_means(values: np.ndarray) -> np.ndarray:
    """Draws over the factor by which their correlation raises the variance of the means of chains."""
    chains, draws = values.shape[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        times = draws * np.var(values.mean(axis=1), axis=0, ddof=1) / np.var(values, axis=(0, 1))
    return chains * draws / np.fmax(times, 1.0)


def ess_mean(values: np.ndarray) -> np.ndarray:
    """Independent draws that would tell the mean as well."""
    return _effective(_split(values))


def ess_quantile(values: np.ndarray, share: float) -> np.ndarray:
    """Independent draws that would tell a quantile as well."""
    values = np.asarray(values, float)
    return _effective(_split(values <= np.quantile(values, share, axis=(0, 1))))


def mcse_mean(values: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean."""
    return np.std(values, axis=(0, 1), ddof=1) / np.sqrt(_of_means(values) if _short(values) else ess_mean(values))


def mcse_quantile(values: np.ndarray, share: float) -> np.ndarray:
    """Monte Carlo standard error of a quantile: half of what its 68 % interval spans, by order statistics."""
    values = np.asarray(values, float)
    effective = ess_quantile(values, share)
    flat = np.sort(values.reshape(-1, *values.shape[2:]), axis=0)
    count = len(flat)
    ends = [betaincinv(effective * share + 1, effective * (1 - share) + 1, p) for p in (0.1586553, 0.8413447)]
    low = np.floor(np.maximum(ends[0] * count - 1, 0)).astype(int)
    high = np.ceil(np.minimum(ends[1] * count - 1, count - 1)).astype(int)
    low_values, high_values = (np.take_along_axis(flat, np.asarray(i)[None], axis=0)[0] for i in (low, high))
    return 0.5 * (high_values - low_values)


def information_gain(points: np.ndarray) -> np.ndarray:
    """What the record told of each parameter, in bits: one for every time that the uncertainty was halved.

    It is the relative entropy of the posterior p from the prior N(0, 1), ∫ p log₂(p / N), with the entropy of p from
    the spacings of its draws (Ebrahimi et al. 1994), thinned until they are about independent.

    Examples:
        >>> points = np.random.default_rng(0).normal(size=(4, 500, 2)) * np.array([1.0, 0.25])
        >>> bool(np.all(abs(information_gain(points) - [0.0, 2.0 - 0.5 * (1 - 1 / 16) / np.log(2)]) < 0.1))
        True
    """
    effective = np.clip(effective_bulk(points), 10, None)
    flat = points.reshape(-1, points.shape[-1])
    gains = []
    for values, worth in zip(flat.T, np.atleast_1d(effective), strict=True):
        thin = np.unique(values[:: max(int(len(values) / worth), 1)])
        if len(thin) < 10:
            gains.append(np.nan)
            continue
        gains.append(np.mean(0.5 * values**2) + 0.5 * np.log(2.0 * np.pi) - entropy(thin))
    return np.maximum(gains, 0.0) / np.log(2.0)


def entropy(draws: np.ndarray) -> float:
    """Of the density of distinct, independent draws, in nats, from the spacings of its m-th neighbours.

    With x sorted, and ends repeated, the mean of log( n (x_{i+m} − x_{i−m}) / (c_i m) ), where c_i is two, and less
    where neighbours are missing at the ends.
    """
    x, n = np.sort(draws), len(draws)
    m = int(np.sqrt(n) + 0.5)
    padded = np.concatenate([np.full(m, x[0]), x, np.full(m, x[-1])])
    from_end = np.minimum(np.arange(n), np.arange(n)[::-1])
    shares = np.minimum(1.0 + from_end / m, 2.0)
    return float(np.mean(np.log(n * (padded[2 * m :] - padded[: -2 * m]) / (shares * m))))


def _ranks(values: np.ndarray) -> np.ndarray:
    """From one on; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - 0.5 * (counts - 1))[which]


def _split(values: np.ndarray) -> np.ndarray:
    """Halves of chains as chains."""
    values = np.asarray(values, float)
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def _scores(values: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks among all draws."""
    flat = values.reshape(values.shape[0] * values.shape[1], -1)
    ranks = np.stack([_ranks(column) for column in flat.T], axis=1).reshape(values.shape)
    return ndtri((ranks - 0.375) / (values.shape[0] * values.shape[1] + 0.25))


def _between_and_within(values: np.ndarray) -> np.ndarray:
    draws = values.shape[1]
    between, inside = np.var(values.mean(axis=1), axis=0, ddof=1), np.var(values, axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((draws - 1) / draws + between / inside)


def _effective(values: np.ndarray) -> np.ndarray:
    """Effective number of draws of chains."""
    chains, draws = values.shape[:2]
    covariances = _autocovariances(values).mean(axis=0)
    inside = covariances[0] * draws / (draws - 1.0)
    whole = covariances[0] + (np.var(values.mean(axis=1), axis=0, ddof=1) if chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = 1.0 - (inside - covariances) / whole
    correlations[0] = 1.0
    count = max(1, -(-(draws - 2) // 2))
    pairs = correlations[: 2 * count : 2] + correlations[1 : 2 * count : 2]
    negative = pairs < 0
    last = np.where(negative.any(axis=0), np.argmax(negative, axis=0), count - 1)
    summed = np.cumsum(np.minimum.accumulate(pairs, axis=0), axis=0) - np.minimum.accumulate(pairs, axis=0)
    even = np.take_along_axis(correlations[: 2 * count : 2], last[None], axis=0)[0]
    # The first of the two autocorrelations that end the sum still counts, once.
    even = np.where(negative.any(axis=0), np.maximum(even, 0.0), even)
    times = -1.0 + 2.0 * np.take_along_axis(summed, last[None], axis=0)[0] + even
    answer = chains * draws / np.maximum(times, 1.0 / np.log10(chains * draws))
    constant = np.ptp(values, axis=(0, 1)) < 1e-15
    return np.where(constant, chains * draws, answer)


def _autocovariances(values: np.ndarray) -> np.ndarray:
    """Of every lag, chain by chain."""
    draws = values.shape[1]
    length = next_fast_len(2 * draws)  # zeros behind the chain, lest its end meets its beginning
    spectrum = np.fft.rfft(values - values.mean(axis=1, keepdims=True), length, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, length, axis=1)[:, :draws] / draws
