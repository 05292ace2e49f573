"""Draw, judge, keep: rejection sampling, and the round of draws that its descendants share.

A model is drawn from the prior of the models and a point from the prior of its parameters; the draw is kept if its
distance is within the threshold. The number k kept of the n draws that a model was given is binomial, so

    mass  =  k / n,        standard error of log mass  =  √((1 - k/n) / k),

and the probability of a model is in proportion to its prior probability times its mass. Nothing is approximated beyond
the threshold itself; the price is that most draws are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Candidate, Draws, Snapshot, probabilities_of

Proposal = Callable[[int, int], np.ndarray]
"""Points of a model, given its number and how many."""

_FEWEST = 64
_MOST = 20_000
"""Draws judged at once."""
_SPARE = 1.1
"""Draws in excess of those expected to suffice, since a round more costs more than a few draws in vain."""


@dataclass(frozen=True)
class ABCRejection:
    """Keep draws of the prior within a threshold: slow, simple and right, for checking other methods.

    Args:
        threshold: of distance.
        particles: draws to be kept, of all models together. The last round of draws is kept in full, so that there
            may be a few more.
        max_draws: draws from the prior after which the method gives up; those that break a constraint count. What
            they cost a model is returned to it where the prior is normalised (`Problem.constrained_prior`).

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.samplers.rejection import ABCRejection
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.linspace(0.0, 1.0, 11)})
        >>> problem = vb.Problem(lambda slope: slope * np.linspace(0.0, 1.0, 11), record, {"slope": vb.Uniform(0, 4)})
        >>> posterior = vb.infer(0, problem, ABCRejection(threshold=10.0, particles=100))
        >>> 1.0 in posterior.selected.interval("slope")
        True
    """

    threshold: float
    particles: int = 1000
    max_draws: int = 1_000_000

    def __post_init__(self) -> None:
        require_within(self, "threshold", 0.0, np.inf)
        require_counts(self, "particles", "max_draws")

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work round by round."""
        found = Found.none(candidates)
        propose, shares = from_prior(rng, candidates), prior_shares(candidates)
        while found.count < self.particles and found.tried < self.max_draws:
            count = next_round(found, self.particles, self.max_draws)
            found = found.joined(attempt(rng, candidates, propose, shares, self.threshold, count))
            yield self._snapshot("draw", candidates, found)
        short = f"{found.count:,} of {self.particles:,} particles were found within {self.threshold:.4g}"
        note = f"{short} in {found.tried:,} draws" if found.count < self.particles else ""
        yield self._snapshot("done", candidates, found, note)

    def _snapshot(self, stage: str, candidates, found: Found, note: str = "") -> Snapshot:
        draws = tuple(weighed(found))
        p, errors = probabilities_of(draws, candidates)
        return Snapshot(stage, self.threshold, 1.0, found.acceptance, tuple(p), tuple(errors), draws, note)


@dataclass(frozen=True)
class Found:
    """Draws within a limit, model by model, and how many draws each model was given."""

    points: tuple[np.ndarray, ...]
    distances: tuple[np.ndarray, ...]
    tries: np.ndarray

    @staticmethod
    def none(candidates: Sequence[Candidate]) -> Found:
        """Before the first draw."""
        points = tuple(np.empty((0, candidate.size)) for candidate in candidates)
        return Found(points, tuple(np.empty(0) for _ in candidates), np.zeros(len(candidates), int))

    @property
    def counts(self) -> np.ndarray:
        """Draws kept of each model."""
        return np.array([len(each) for each in self.distances])

    @property
    def count(self) -> int:
        """Draws kept of all models."""
        return int(self.counts.sum())

    @property
    def tried(self) -> int:
        """Draws of all models."""
        return int(self.tries.sum())

    @property
    def acceptance(self) -> float:
        """Share of draws kept."""
        return self.count / self.tried if self.tried else np.nan

    def joined(self, other: Found) -> Found:
        """These and others."""
        points = tuple(np.concatenate(pair) for pair in zip(self.points, other.points, strict=True))
        distances = tuple(np.concatenate(pair) for pair in zip(self.distances, other.distances, strict=True))
        return Found(points, distances, self.tries + other.tries)


def attempt(
    rng: np.random.Generator,
    candidates: Sequence[Candidate],
    propose: Proposal,
    shares: np.ndarray,
    limit: float,
    count: int,
    wanted: int | None = None,
) -> Found:
    """One round: a model and a point per draw, judged model by model.

    With ``wanted``, draws after the one that makes the number full are as if they had never been: the result is that
    of drawing one at a time.
    """
    models = rng.choice(len(candidates), count, p=shares)
    points = [propose(number, int(np.sum(models == number))) for number in range(len(candidates))]
    distances = np.full(count, np.inf)
    for number, candidate in enumerate(candidates):
        allowed = candidate.allowed(points[number])
        where = np.flatnonzero(models == number)[allowed]
        distances[where] = candidate.judge(points[number][allowed], limit)
    inside = np.isfinite(distances) & (distances <= limit)
    if wanted is not None and inside.sum() >= wanted:
        last = np.flatnonzero(inside)[wanted - 1]
        inside[last + 1 :] = False
        count = int(last) + 1
    mine = [models == number for number in range(len(candidates))]
    return Found(
        tuple(each[inside[m]] for each, m in zip(points, mine, strict=True)),
        tuple(distances[inside & m] for m in mine),
        np.bincount(models[:count], minlength=len(candidates)),
    )


def collect(
    rng: np.random.Generator,
    candidates: Sequence[Candidate],
    propose: Proposal,
    shares: np.ndarray,
    limit: float,
    wanted: int,
    most: int,
) -> Found:
    """Rounds until the number wanted is found, or ``most`` draws were made."""
    found = Found.none(candidates)
    while found.count < wanted and found.tried < most:
        count = next_round(found, wanted, most)
        found = found.joined(attempt(rng, candidates, propose, shares, limit, count, wanted - found.count))
    return found


def next_round(found: Found, wanted: int, most: int) -> int:
    """Draws of the next round: as many as should suffice by the acceptance so far, and not far more than before."""
    expected = (found.tried + 1) / (found.count + 1) * (wanted - found.count)
    room = np.clip(2 * max(found.tried, wanted), _FEWEST, _MOST)
    return min(int(np.clip(_SPARE * expected, _FEWEST, room)), most - found.tried)


def weighed(found: Found, log_densities: Sequence[np.ndarray] | None = None) -> Iterator[Draws]:
    """The prior mass of each model within the limit, from draws of a proposal with a density q; 1 for the prior.

    mass = Σ 1/q(θ) / n over the draws kept; its relative variance is Σ w² - 1/n, with w the shares of the sum.
    """
    for number, (points, distances, tries) in enumerate(zip(found.points, found.distances, found.tries, strict=True)):
        logs = np.zeros(len(points)) if log_densities is None else -log_densities[number]
        if not len(points):
            yield Draws.none(points.shape[1])
            continue
        weights = np.exp(logs - logs.max())
        log_mass = float(logs.max() + np.log(weights.sum() / tries))
        weights /= weights.sum()
        error = float(np.sqrt(max(np.sum(weights**2) - 1.0 / tries, 0.0)))
        yield Draws(points, weights, distances, log_mass, error)


def from_prior(rng: np.random.Generator, candidates: Sequence[Candidate]) -> Proposal:
    """Points anywhere in the cube, allowed or not."""
    return lambda number, count: rng.random((count, candidates[number].size))


def prior_shares(candidates: Sequence[Candidate]) -> np.ndarray:
    """Prior probabilities of the models."""
    prior = np.array([candidate.prior_probability for candidate in candidates], float)
    return prior / prior.sum()
