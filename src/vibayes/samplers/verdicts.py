"""What is wrong with a sample and what to do about it, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vibayes.samplers.diagnostics import effective_bulk, effective_tail, grouped, information_gain, rhat
from vibayes.samplers.likely import Sample
from vibayes.samplers.settings import ENOUGH_DRAWS

_FEWEST = 4
"""Draws of a chain that can be judged."""
_AGREE = 1.01
"""R-hat of chains that agree."""
_CHANCE = 10.0
"""N times the variance between means of N draws, over that within, which chance does not explain."""
_REFUSED = 0.02
_SMALL_STEPS = 0.9
_LEARNED = 0.05
"""Bits below which the record says nothing of a parameter."""
_FAR = 3.0
"""Prior standard deviations from the median of the prior at which a posterior speaks against it."""
_SURE = 0.5
"""Standard error of a log-evidence below which probabilities of models can be quoted."""
_NAMED = 5
"""Parameters in a sentence; of more the worst are named."""


class Verdict(str):
    """A sentence on a sample, which is text and knows its parts.

    Examples:
        >>> said = Verdict("acceptance", "Only 1 % of moves were made", "give a smaller step")
        >>> str(said), said.remedy
        ('Only 1 % of moves were made: give a smaller step.', 'give a smaller step')
    """

    __slots__ = ("about", "remedy", "sentence")

    def __new__(cls, about: str, sentence: str, remedy: str = "") -> Verdict:
        """A sentence, and what to do if anything can be done."""
        made = super().__new__(cls, f"{sentence}: {remedy}." if remedy else f"{sentence}.")
        made.about, made.sentence, made.remedy = about, sentence, remedy
        return made

    def __reduce__(self) -> tuple[type[Verdict], tuple[str, str, str]]:
        return Verdict, (self.about, self.sentence, self.remedy)


def verdicts(sample: Sample, names: Sequence[str]) -> tuple[Verdict, ...]:
    """What is wrong with a sample and what to do about it, in sentences; none if nothing is wrong.

    Examples:
        >>> points = 0.1 * np.random.default_rng(0).normal(size=(4, 500, 1))
        >>> verdicts(Sample(points, np.zeros((4, 500)), acceptance=0.4), ["k"])
        ()
        >>> print(*verdicts(Sample(points + [[[0.0]], [[0]], [[0]], [[0.1]]], np.zeros((4, 500)), 0.4), ["k"]))
        Chains do not agree on k (R-hat 1.09): give more draws; if there may be several modes, use TemperedSMC.
    """
    said = [Verdict("method", sample.note[0].upper() + sample.note[1:])] if sample.note else []
    if not judgeable(sample):
        return (*said, Verdict("draws", "There are too few draws to judge", "give more draws"))
    said += _of_draws(sample, names)
    if sample.log_evidence_error > _SURE:
        error = f"{sample.log_evidence_error:.2g}"
        rough = f"The evidence is rough (standard error of its logarithm {error})"
        said.append(Verdict("evidence", rough, "give more particles or draws"))
    middle, gains = np.median(sample.flat, axis=0), information_gain(sample.points)
    if np.any(bad := np.abs(middle) > _FAR):
        listing = _listing(names, bad, [f"{value:+.1f} standard deviations off" for value in middle], -np.abs(middle))
        said.append(Verdict("prior", f"The prior hardly allows what the record says of {listing}", "widen the prior"))
    if np.any(bad := gains < _LEARNED):
        listing = _listing(names, bad, [f"{value:.2f} bit" for value in gains], gains)
        remedy = "the posterior is the prior; fix it, or measure something that it changes"
        said.append(Verdict("prior", f"The record says nothing of {listing}", remedy))
    return tuple(said)


def few_draws(names: Sequence[str], effective: np.ndarray) -> list[Verdict]:
    """On effective draws, one number per parameter or one for all, if they are too few; the one rule there is.

    Examples:
        >>> few_draws(["k", "c"], np.array([500.0, 400.0]))
        []
        >>> print(*few_draws(["k", "c"], np.array([500.0, 80.0])))
        There are few effective draws of c (80): give more draws or particles, for 400 of each.
        >>> print(*few_draws(["k", "c"], np.array(30.0)))
        The draws are worth 30 independent ones, of which 0.8 lie beyond each end of a 95 % interval: give more draws or
        particles, until they are worth 400.
    """
    if not np.any(bad := ~(np.round(effective) >= ENOUGH_DRAWS)):
        return []
    if not np.ndim(effective):
        beyond = f"of which {0.025 * effective:.1f} lie beyond each end of a 95 % interval"
        words = f"The draws are worth {effective:.0f} independent ones, {beyond}"
        return [Verdict("draws", words, f"give more draws or particles, until they are worth {ENOUGH_DRAWS}")]
    listing = _listing(names, bad, [f"{value:.0f}" for value in effective], effective)
    remedy = f"give more draws or particles, for {ENOUGH_DRAWS} of each"
    return [Verdict("draws", f"There are few effective draws of {listing}", remedy)]


def judgeable(sample: Sample) -> bool:
    """Whether there are draws enough to tell anything of them."""
    return sample.points.shape[1] >= _FEWEST


def _of_draws(sample: Sample, names: Sequence[str]) -> list[Verdict]:
    """On how many draws there are, and whether they agree."""
    said, points = [], grouped(sample.points)
    apart, bulk = rhat(points), effective_bulk(sample.points)
    few = np.fmin(bulk, effective_tail(sample.points))
    if np.any(bad := ~(apart <= max(_AGREE, np.sqrt(1.0 + _CHANCE / (points.shape[1] // 2))))):
        listing = _listing(names, bad, [f"R-hat {value:.2f}" for value in apart], -apart)
        what, remedy = "Chains", "give more draws; if there may be several modes, use TemperedSMC"
        if len(points) == 1:
            what, remedy = "Parts of the draws", "give more particles or draws"
        said.append(Verdict("chains", f"{what} do not agree on {listing}", remedy))
    else:
        said += few_draws(names, few)
    if sample.acceptance < _REFUSED:
        refused = f"Only {sample.acceptance:.2%} of moves were made"
        said.append(Verdict("acceptance", refused, "give more warm-up, or a smaller step"))
    elif sample.acceptance > _SMALL_STEPS and np.any(bulk < 0.01 * sample.points.shape[0] * sample.points.shape[1]):
        idle = f"{sample.acceptance:.0%} of moves were made, but they lead nowhere"
        said.append(Verdict("acceptance", idle, "give a larger step"))
    return said


def _listing(names: Sequence[str], bad: np.ndarray, values: Sequence[str], order: np.ndarray) -> str:
    """Names with what is wrong, the worst few of them, whose order is smallest."""
    all_bad = np.flatnonzero(bad)
    worst = sorted(all_bad[np.argsort(order[all_bad])][:_NAMED])
    listing = ", ".join(f"{names[i]} ({values[i]})" for i in worst)
    more = len(all_bad) - len(worst)
    return f"{listing} and {more} more" if more else listing
