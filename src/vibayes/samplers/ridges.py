"""Parameters that a record does not tell apart: it knows a combination of two, and little of either.

Draws of two parameters on a ridge are correlated. If both are positive, their logarithms differ least in

    log a - r log b,        r  =  ± deviation of log a / deviation of log b,

so that a / b^r is known best; r = 1 is a ratio and r = -1 a product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vibayes.samplers.verdicts import Verdict

_STRONG = 0.95
"""Correlation of a ridge, in coordinates in which the prior is standard normal."""
_MOST = 3
"""Ridges that are told of, the strongest first."""
_AS_GOOD = 1.5
"""A ratio or a product is told of where it is at most so much wider than the power that is known best."""


def ridges(points: np.ndarray, values: np.ndarray, names: Sequence[str]) -> tuple[Verdict, ...]:
    """A sentence for every pair of parameters of which the record tells only a combination.

    Args:
        points: draws in coordinates in which the prior is standard normal, (draws, size).
        values: the same draws of the parameters.
        names: of the parameters.

    Examples:
        >>> k, m = np.exp(np.random.default_rng(0).normal(size=(2, 500)) * [[0.01], [0.2]])
        >>> values = np.stack([50.0 * k * m, m], axis=1)
        >>> print(*ridges(np.log(values), values, ["k", "m"]))
        The record tells k / m within 1 %, but k and m alone only within 19 % (correlation +1.00): fix one of them, or
        measure something that tells them apart.
        >>> ridges(np.log(values[:, :1]), values[:, :1], ["k"])
        ()
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = np.triu(np.atleast_2d(np.corrcoef(points, rowvar=False)), 1)
    strong = np.argwhere(np.abs(correlations) > _STRONG)
    strong = sorted(strong.tolist(), key=lambda pair: -abs(correlations[tuple(pair)]))[:_MOST]
    return tuple(_sentence(values[:, i], values[:, j], names[i], names[j], correlations[i, j]) for i, j in strong)


def _sentence(a: np.ndarray, b: np.ndarray, first: str, second: str, correlation: float) -> Verdict:
    positive = bool(np.all(a > 0) and np.all(b > 0))
    one, other = (np.log(a), np.log(b)) if positive else (a, b)
    power = np.sign(np.cov(one, other)[0, 1]) * one.std() / other.std()
    known = (one - power * other).std()
    plain = (one - np.sign(power) * other).std()
    if positive:
        sign = "/" if power > 0 else "·"
        combination = f"{first} {sign} {second}^{abs(power):.2g}"
        if plain < _AS_GOOD * known:
            combination, known = f"{first} {sign} {second}", plain
        together, *alone = (f"{100.0 * deviation:.2g} %" for deviation in (known, one.std(), other.std()))
    else:
        combination = f"{first} {'-' if power > 0 else '+'} {abs(power):.3g} {second}"
        together, *alone = (f"{deviation:.2g}" for deviation in (known, one.std(), other.std()))
    each = " and ".join(dict.fromkeys(alone))
    sentence = (
        f"The record tells {combination} within {together}, but {first} and {second} alone only within {each} "
        f"(correlation {correlation:+.2f})"
    )
    return Verdict("ridge", sentence, "fix one of them, or measure something that tells them apart")
