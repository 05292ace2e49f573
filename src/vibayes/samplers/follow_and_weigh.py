"""Our default: models are fitted along the record, lend one another their points, and are weighed.

1. *Follow.* Each model is fitted to the beginning of the record, then to more and more of it (`fit`). It is done again
   with one model after the other, those that may be right, until two searches agree on the smallest distance.
   Where Gauss-Newton steps find nothing smaller, a few levels of `search` dig for it.
2. *Lend.* The smallest distance found is about the noise floor. Models whose parameters have common names try one
   another's points, so that none misses a place that another has found.
3. *Weigh.* Each model's prior mass, by the weights of its distances (`kernel`), is computed by importance sampling
   (`weigh`), with a standard error. The probabilities of the models are in proportion to it (`compare`). Where few
   draws carry all the weight, Markov chains begin at those (`differential_evolution`).

A distance that is not a sum of squared errors cannot be fitted: its models descend from the prior (`search`) instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vibayes.samplers.compare import Weighing, compare, within
from vibayes.samplers.descent import Descent, descending, unweighed
from vibayes.samplers.fit import Fits, distinct, fits_at, follow, improve, joined
from vibayes.samplers.kernel import Kernel
from vibayes.samplers.search import Population, descend, from_prior, population_of
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Candidate, Draws, Snapshot

_LENT_FITS = 20
"""That a model takes from each of the others, the best of those that it is offered."""
_LENT = 200
"""Offers: fits of the other model, with what it lacks drawn from the prior."""
_STEPS_LENT = 3
"""Of Gauss-Newton, for fits that were lent."""
_PRIOR_DRAWS = 30
"""Per fit, among which the first are chosen."""
_AGREE = 1.15
"""Smallest distances of two searches that agree differ by less than this factor."""
_NEAR = 1.4
"""A search from the prior is over when its threshold is down to this many times its smallest distance."""
_PLAUSIBLE = 20.0
"""Times the smallest distance of all: models within it are searched again, the smallest first."""
_MANY = 7
"""Unknowns of a model that needs all the fits; those with fewer make do with fewer, down to half."""
_FIRST_SEARCH, _WEIGHED_FROM = 0.5, 0.7
"""Shares of a run, as a rule, after which all models have been searched once and after which they are weighed."""


@dataclass(frozen=True)
class FollowAndWeigh:
    """Follow the record, then weigh the models: the default method of `vibayes.infer` for distances.

    Args:
        fits: of each model, side by side along the record; a model with few unknowns has fewer.
        searches: independent searches at most; two that agree are enough. All models take part in the first, one model
            in each of the others: those that may be right, the smallest first.
        particles: points per model and level on the way down to the threshold.
        keep: share of points kept at each level.
        excess: a threshold in units of the smallest distance found, which is about the noise floor: all that is within
            it counts alike. Without it, and without ``threshold``, a distance that is a sum of squared errors counts by
            the likelihood of white noise of unknown size, and any other has a threshold at one and three times the
            number of unknowns per sample.
        threshold: the threshold itself, in place of ``excess``.
        finest: distances below it are not told apart.
        draws: draws per round and model when weighing.
        rounds: rounds that count; at least as many come before. Where few of their draws carry all the weight, Markov
            chains take up to ten times as many simulations.
        one_place: draws show only the neighbourhood of a model's best fit, where its errors are about linear, instead
            of all that is within the threshold; masses and probabilities stay as they are.

    Examples:
        >>> import vibayes as vb
        >>> vb.FollowAndWeigh(fits=200).searches
        4
    """

    fits: int = 120
    searches: int = 4
    particles: int = 500
    keep: float = 0.25
    excess: float | None = None
    threshold: float | None = None
    finest: float = 1e-3
    draws: int = 3000
    rounds: int = 4
    one_place: bool = False

    def __post_init__(self) -> None:
        require_counts(self, "fits", "searches", "particles", "draws", "rounds")
        require_within(self, "keep", 0.0, 1.0)
        require_within(self, "finest", 0.0, np.inf)
        if self.excess is not None:
            require_within(self, "excess", 1.0, np.inf)
        if self.threshold is not None:
            require_within(self, "threshold", 0.0, np.inf)

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work level by level."""
        places: dict[int, Fits | Population] = {}
        found: list[float] = []
        yield from self._search(rng, candidates, places, found)
        kernel = self._kernel(candidates)
        descent = Descent(candidates, kernel, self.particles, self.keep, self.excess, self.threshold)
        populations = [descent.spread(rng, number, places[number]) for number in range(len(candidates))]
        limits, note = yield from _at(_WEIGHED_FROM, descent.come_down(rng, populations))
        if self.searches > 1 and not _agree(found) and self.threshold is None:
            listing = ", ".join(f"{distance:.3g}" for distance in sorted(found))
            note = note or f"no two searches agree on the smallest distance ({listing}): there may be better parameters"
        if np.isfinite(min(limits)):
            if self.threshold is not None:  # it may be so large that the prior itself comes within it
                populations = [self._with_prior(rng, *each) for each in zip(candidates, populations, strict=True)]
            what = Weighing(candidates, populations, limits, kernel, self.draws, self.rounds)
            snapshots = compare(rng, what, self.one_place, note)
            yield from (replace(s, done=_WEIGHED_FROM + (1.0 - _WEIGHED_FROM) * s.done) for s in snapshots)
        else:
            nothing = tuple(Draws.none(candidate.size) for candidate in candidates)
            zeros = (0.0,) * len(candidates)
            yield Snapshot("done", np.inf, 0.0, np.nan, zeros, zeros, nothing, note)

    def _kernel(self, candidates: Sequence[Candidate]) -> Kernel:
        """By the likelihood of white noise, unless there is a threshold or another distance than squared errors."""
        alike = self.threshold is not None or self.excess is not None
        alike = alike or not all(candidate.has_errors for candidate in candidates)
        return Kernel(0 if alike else candidates[0].measured, self.finest)

    def _search(self, rng, candidates, places: dict[int, Fits | Population], found: list[float]) -> Iterator[Snapshot]:
        """Where each model is closest to the record; then one model after the other again until two searches agree."""
        whole = sum(candidate.size for candidate in candidates)
        searched: Counter[int] = Counter()
        for again in range(self.searches):
            if _agree(found):
                break
            fresh: dict[int, Fits | Population] = {}
            before = min(again, 1) * _FIRST_SEARCH
            for number in [_next(candidates, places, searched)] if again else range(len(candidates)):
                searched[number] += 1
                size = candidates[number].size
                share = (_WEIGHED_FROM - _FIRST_SEARCH) if again else _FIRST_SEARCH * size / whole
                for snapshot in self._search_one(rng, candidates, number, fresh):
                    yield replace(snapshot, done=before + share * snapshot.followed)
                before += share
            found.append(min(place.best() for place in fresh.values()))
            closer = {
                number: place for number, place in fresh.items() if not again or place.best() < places[number].best()
            }
            # Of another search all fits are kept: another minimum may be as good as the best but for chance.
            places.update({number: self._both(places.get(number), place) for number, place in fresh.items()})
            if closer:
                yield from _at(before, self._lend(rng, candidates, places))
            if not again:
                found[0] = min(place.best() for place in places.values())

    def _both(self, before: Fits | Population | None, now: Fits | Population) -> Fits | Population:
        """What two searches of a model have found."""
        if isinstance(before, Fits) and isinstance(now, Fits):
            return distinct(joined(before, now), self.fits)
        return now if before is None or now.best() < before.best() else before

    def _search_one(self, rng, candidates, number: int, places: dict[int, Fits | Population]) -> Iterator[Snapshot]:
        """Where one model is closest to the record, from the prior."""
        candidate = candidates[number]
        if candidate.has_errors:
            count = int(np.ceil(self.fits * np.clip(candidate.size / _MANY, 0.5, 1.0)))
            prior = from_prior(rng, candidate, _PRIOR_DRAWS * count)
            fits = None
            for fits in follow(rng, candidate, prior, count):
                yield _fitting(candidates, number, fits)
            assert fits is not None
            places[number] = fits
            return
        population = population_of(candidate, from_prior(rng, candidate, 4 * self.particles))
        while len(population.points) and not (population.stalled() or self._arrived(population)):
            population = descend(rng, candidate, population, self.particles, self.keep, 0.0)
            yield descending("search", candidates, number, population)
        places[number] = population

    def _lend(self, rng, candidates, places: dict[int, Fits | Population]) -> Iterator[Snapshot]:
        """Fits that others have made, fitted once more; the models with fewest unknowns begin."""
        for number in sorted(places, key=lambda i: candidates[i].size):
            fits, candidate = places[number], candidates[number]
            others = [
                (candidates[i], place)
                for i, place in places.items()
                if i != number and isinstance(place, Fits) and np.isfinite(place.best())
            ]
            if not isinstance(fits, Fits) or not others:
                continue
            chosen = [(c, np.resize(place.points[:_LENT_FITS], (_LENT, c.size))) for c, place in others]
            lent = np.concatenate([candidate.adopt(rng, c, points) for c, points in chosen])
            lent = fits_at(candidate, lent[candidate.allowed(lent)], candidate.length)
            fits = joined(fits, lent.of(np.argsort(lent.misfits)[: _LENT_FITS * len(others)]))
            for _ in range(_STEPS_LENT):
                fits = improve(candidate, fits)
                yield _fitting(candidates, number, fits)
            places[number] = distinct(fits, self.fits)

    def _with_prior(self, rng, candidate: Candidate, population: Population) -> Population:
        """And draws of the prior within the threshold."""
        assert self.threshold is not None
        wide = within(candidate, from_prior(rng, candidate, 4 * self.particles), self.threshold)
        return replace(population, points=np.concatenate([population.points, wide]))

    def _arrived(self, population: Population) -> bool:
        """Whether the threshold is as low as it shall be."""
        lowest = self.threshold if self.threshold is not None else _NEAR * population.best()
        return population.threshold <= max(lowest, self.finest)


def _at(done: float, snapshots: Iterator[Snapshot]) -> Generator[Snapshot, None, Any]:
    """Snapshots of work that hardly counts in the estimate of what remains; what it returns, this does."""
    while True:
        try:
            snapshot = next(snapshots)
        except StopIteration as end:
            return end.value
        yield replace(snapshot, done=done)


def _next(candidates, places: dict[int, Fits | Population], searched: Counter[int]) -> int:
    """The model to search again: of those that may be right the least searched one, and of these the smallest."""
    best = min(place.best() for place in places.values())
    plausible = [number for number, place in places.items() if not place.best() > _PLAUSIBLE * best]
    return min(plausible, key=lambda number: (searched[number], candidates[number].size))


def _agree(found: Sequence[float]) -> bool:
    """Whether the two best searches ended at about the same distance."""
    first, second = sorted([*found, np.inf, np.inf])[:2]
    return bool(second <= _AGREE * first) and bool(np.isfinite(second))


def _fitting(candidates, number: int, fits: Fits) -> Snapshot:
    return unweighed("follow", candidates, number, fits.best(), fits.samples / candidates[number].length, fits.improved)
