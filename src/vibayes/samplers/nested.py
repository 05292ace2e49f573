"""The published way: a population of particles of all models, within a threshold that falls until it hardly does.

ABC-NS as modified by Nayek et al., Mechanical Systems and Signal Processing 196 (2023) 110300, algorithms 1 to 5. Of a
population within a threshold ε_p a share α with the largest distances is dropped, and the distance at which they are
cut off is the next threshold ε_{p+1}. Those left are *active*; around each model's active particles there is an
ellipsoid, and from the ellipsoids new particles within ε_{p+1} are drawn to replace those dropped. The probability of
a model is its share of the last population, eq. (17).

New particles are not weighted for the density they were drawn from, so a model whose set fills its ellipsoid badly gets
fewer of them than its prior mass deserves, in each population anew. The probabilities are therefore not those of
rejection at the same threshold; they are what the paper reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.ellipsoids import Ellipsoid, enclosing, unit_ball
from vibayes.samplers.rejection import (
    Found,
    Proposal,
    collect,
    from_prior,
    prior_shares,
)
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Candidate, Draws, Snapshot

_SMALLEST_SHARE = 0.1
"""Of particles dropped, "to prevent stagnation of the population"."""
_GRID = 100
"""Distances at which a density is estimated."""


@dataclass(frozen=True)
class ABCNestedSampling:
    """Approximate Bayesian computation with nested sampling, as published; the symbols of the paper in brackets.

    Where the paper is silent:

    - Ellipsoids live in the unit cube, where the prior is uniform. A draw that leaves the cube or breaks a constraint
      is a draw lost to its model (algorithm 5, lines 13 and 14: another model is drawn thereafter). The first
      population does likewise. No draw is lost for the order of its break points, which need only be unique.
    - An ellipsoid has the shape of the weighted covariance and just holds all active particles before it is enlarged,
      as in the code published with the method's first version (Ben Abdessalem et al., 2019). ``f_0`` and ``gamma``
      multiply its matrix, so its axes grow and shrink by their square roots.
    - Densities of distances have Gaussian kernels with the bandwidth that MATLAB chooses. A model with a single
      particle has no density and no say in the threshold.
    - The relative difference of thresholds is (ε_p - ε_{p+1}) / ε_p.

    Probabilities are shares of the population whatever `Problem.constrained_prior` says. Standard errors are those of
    N_s independent particles, √(p (1 - p) / N_s): a first approximation, too small, since particles survive from
    population to population and chance that favoured a model early is carried on. Log masses are in the manner of
    nested sampling, the product of the shares that survived; the paper does not give them. They are too large, and
    their standard errors too small, since new particles crowd where the distance is small.

    Args:
        n_s: particles per population [N_s].
        epsilon_1: threshold of the first population [ε_1].
        alpha_0: share of the first population that is dropped [α_0].
        p_best: probability of a draw from the shrunken ellipsoid around a model's best particle [p_best, p_is].
        gamma: what the matrix of an ellipsoid is multiplied by to shrink it [γ].
        epsilon_tol: the run ends when the threshold would fall by less than this share of itself [ε_tol].
        f_0: what the matrix of an ellipsoid is multiplied by to enlarge it [f_0]; not given in the paper.
        models: what models are drawn from in later populations: ``"population"``, their shares of the active particles,
            or ``"prior"``, their prior probabilities, those without active particles left out. The paper's p(M | ·)
            can be read either way; the code of 2019 does the latter.
        threshold: the run ends there, if it has not ended before; not in the paper.
        max_draws: draws for one population after which the run ends, with a note.
        max_populations: after which the run ends, with a note.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.samplers.nested import ABCNestedSampling
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.linspace(0.0, 1.0, 11)})
        >>> problem = vb.Problem(lambda slope: slope * np.linspace(0.0, 1.0, 11), record, {"slope": vb.Uniform(0, 4)})
        >>> posterior = vb.infer(0, problem, ABCNestedSampling(n_s=100, threshold=0.1))
        >>> 1.0 in posterior.selected.interval("slope")
        True
    """

    n_s: int = 1000
    epsilon_1: float = 200.0
    alpha_0: float = 0.4
    p_best: float = 0.05
    gamma: float = 0.1
    epsilon_tol: float = 0.005
    f_0: float = 1.1
    models: str = "population"
    threshold: float | None = None
    max_draws: int = 200_000
    max_populations: int = 300

    def __post_init__(self) -> None:
        require_counts(self, "n_s", "max_draws", "max_populations")
        for name in ("alpha_0", "gamma", "epsilon_tol"):
            require_within(self, name, 0.0, 1.0)
        for name in ("epsilon_1", "f_0") + (("threshold",) if self.threshold is not None else ()):
            require_within(self, name, 0.0, np.inf)
        if not 0.0 <= self.p_best < 1.0:
            raise InvalidInput("ABCNestedSampling.p_best", "from 0 to below 1", repr(self.p_best), "change it")
        if self.models not in ("population", "prior"):
            expected = "'population' or 'prior'"
            raise InvalidInput("ABCNestedSampling.models", expected, repr(self.models), "choose one of them")

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work population by population: algorithm 1."""
        prior, goal = prior_shares(candidates), self.threshold or 0.0
        epsilon, alpha, number, wanted = self.epsilon_1, self.alpha_0, 1, self.n_s
        found = self._fill(rng, candidates, from_prior(rng, candidates), prior, epsilon, wanted)
        population, surviving = found, (found.acceptance,)
        while True:
            yield _snapshot("population", prior, epsilon, surviving, found, population)
            upcoming = cut_off(population.distances, alpha) if population.count else epsilon
            note = self._end(number, epsilon, upcoming, found, wanted)
            if note is not None:
                break
            upcoming = max(upcoming, goal)  # not before the rule has been asked, which it might mislead
            weights = [particle_weights(each, epsilon, upcoming) for each in population.distances]
            active = _active(population, weights)
            if not active.count:
                note = f"no particle is closer than {upcoming:.4g}: there are many at the very same distance"
                break
            propose = self._ellipsoids(rng, candidates, population, weights)
            shares = (active.counts if self.models == "population" else prior * (active.counts > 0)).astype(float)
            epsilon, number, wanted = upcoming, number + 1, population.count - active.count
            found = self._fill(rng, candidates, propose, shares / shares.sum(), epsilon, wanted)
            previous, population = population, active.joined(found)
            surviving = (*surviving, active.count / previous.count)
            alpha = dropped_share(previous.distances, population.distances)
        yield _snapshot("done", prior, epsilon, surviving, found, population, note)

    def _fill(self, rng, candidates, propose: Proposal, shares: np.ndarray, epsilon: float, wanted: int) -> Found:
        """New particles strictly within the threshold: the loops of algorithms 1 and 5."""
        return collect(rng, candidates, propose, shares, np.nextafter(epsilon, 0.0), wanted, self.max_draws)

    def _end(self, number: int, epsilon: float, upcoming: float, found: Found, wanted: int) -> str | None:
        """Whether this is the last population: then what there is to say of it, or nothing."""
        if found.count < wanted:
            rate = f"{found.count:,} particles instead of {wanted:,} within {epsilon:.4g} in {found.tried:,} draws"
            return f"the acceptance collapsed: {rate}"
        if epsilon <= (self.threshold or 0.0):
            return ""
        if number > 1 and (epsilon - upcoming) / epsilon < self.epsilon_tol:
            if self.threshold is None:
                return ""
            return f"the stopping rule ended the run at {epsilon:.4g}, above the threshold {self.threshold:.4g}"
        if number == self.max_populations:
            return f"ended after {number} populations, while the threshold was still falling"
        return None

    def _ellipsoids(self, rng, candidates, population: Found, weights: Sequence[np.ndarray]) -> Proposal:
        """Draws from the ellipsoids of the active particles: algorithms 4 and 5."""
        large: list[Ellipsoid | None] = []
        small: list[Ellipsoid | None] = []
        for points, mine in zip(population.points, weights, strict=True):
            alive = mine > 0
            ellipsoid = enclosing(points[alive], mine[alive], self.f_0) if alive.any() else None
            large.append(ellipsoid)
            small.append(ellipsoid.moved(points[np.argmax(mine)], self.gamma) if ellipsoid else None)

        def propose(number: int, count: int) -> np.ndarray:
            ball = unit_ball(rng, count, candidates[number].size)
            around_all, around_best = large[number], small[number]
            if around_all is None or around_best is None:
                return ball  # no draw is given to a model that has left
            near = rng.random((count, 1)) < self.p_best
            return np.where(near, around_best.at(ball), around_all.at(ball))

        return propose


def particle_weights(distances: np.ndarray, epsilon: float, upcoming: float) -> np.ndarray:
    """Algorithm 3: w ∝ (1 - (e / ε_p)²) / ε_p for particles closer than ε_{p+1}, and 0 for those that are dropped."""
    weights = np.where(distances < upcoming, (1.0 - (distances / epsilon) ** 2) / epsilon, 0.0)
    return weights / weights.sum() if weights.any() else weights


def cut_off(distances: Sequence[np.ndarray], alpha: float) -> float:
    """The ⌊α N⌋-th largest distance of all models: the next threshold, when a share α is dropped."""
    pooled = np.sort(np.concatenate(distances))[::-1]
    return float(pooled[max(int(alpha * len(pooled)), 1) - 1])


def dropped_share(previous: Sequence[np.ndarray], current: Sequence[np.ndarray]) -> float:
    """Algorithm 2: how much to drop, from how much the distances of a model have come closer to one another.

    α = max_k (1 - f_{k,p-1} / f_{k,p}), with f the maximum of the estimated density of a model's distances in a
    population, eq. (16); and at least 0.1. Where distances grow with the square of a step from the best of d unknowns,
    a share α is followed by 1 - (1 - α)^(2/d): with more than two unknowns the shares dwindle to 0.1, with two they
    stay, and with one they grow, so that a single model with one unknown makes the threshold plunge for all.
    """
    peaks = [(peak_density(before), peak_density(now)) for before, now in zip(previous, current, strict=True)]
    return max([_SMALLEST_SHARE, *(1.0 - before / now for before, now in peaks if before and now)])


def peak_density(values: np.ndarray) -> float:
    """The maximum of a density estimated with Gaussian kernels; 0 where there is none to estimate.

    The bandwidth is that of MATLAB's ``ksdensity``, σ (4 / 3n)^(1/5), with σ from the median absolute deviation, or
    the range of the values where that vanishes.
    """
    if len(values) < 2:
        return 0.0
    sigma = np.median(np.abs(values - np.median(values))) / 0.6745 or np.ptp(values)
    if not sigma > 0:
        return 0.0
    bandwidth = sigma * (4.0 / (3.0 * len(values))) ** 0.2
    grid = np.linspace(values.min(), values.max(), _GRID)
    kernels = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2)
    return float(kernels.mean(axis=1).max() / (bandwidth * np.sqrt(2.0 * np.pi)))


def _active(population: Found, weights: Sequence[np.ndarray]) -> Found:
    """Particles that are kept; they cost no draws."""
    points = tuple(each[w > 0] for each, w in zip(population.points, weights, strict=True))
    distances = tuple(each[w > 0] for each, w in zip(population.distances, weights, strict=True))
    return Found(points, distances, np.zeros_like(population.tries))


def _snapshot(
    stage: str, prior: np.ndarray, epsilon: float, surviving: Sequence[float], found: Found, population: Found,
    note: str = "",
) -> Snapshot:  # fmt: skip
    """Eq. (17), and log masses as nested sampling would have them."""
    many = max(population.count, 1)
    p = population.counts / many
    errors = np.sqrt(p * (1.0 - p) / many)
    draws = []
    for points, distances, mine, before in zip(population.points, population.distances, p, prior, strict=True):
        if not len(points):
            draws.append(Draws.none(points.shape[1]))
            continue
        log_mass = float(np.sum(np.log(surviving)) + np.log(mine / before))
        first, *later = surviving
        lost = 1.0 - first + sum((1.0 - share) / share for share in later) + (1.0 - mine) / mine
        weights = np.full(len(points), 1.0 / len(points))
        draws.append(Draws(points, weights, distances, log_mass, float(np.sqrt(lost / many))))
    return Snapshot(stage, epsilon, 1.0, found.acceptance, tuple(p), tuple(errors), tuple(draws), note)
