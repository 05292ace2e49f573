"""From the prior to the posterior along the record: iterated batch importance sampling (Chopin 2002).

Particles of p(z | y_1 … y_t) become particles of p(z | y_1 … y_t+1) by weights,

    w_i  ∝  p(y_t+1 | y_1 … y_t, z_i),        p(y_1 … y_t+1)  =  p(y_1 … y_t) Σ_i W_i p(y_t+1 | y_1 … y_t, z_i),

with W the normalised weights so far. Where the effective number 1 / Σ W² falls below a share of all, particles are
drawn with their weights and moved (`moves`) until they have forgotten where they began; each move follows the record
once more from its beginning. Every intermediate posterior is the posterior of a shorter record.

A sample that tells too much at once, as the first ones may under a wide prior, is taken to a power φ that grows to 1,
as in tempered SMC, with moves in between.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.likely import Carried, Likely, Sample, Sequential, Stage, impossible
from vibayes.samplers.moves import Memory, Moves, Points, move, moves_of, tuned
from vibayes.samplers.pieces import one_piece
from vibayes.samplers.resampling import Resampling, systematic
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.tempered import family_variance

_SHORTEST, _LONGEST = 16, 1024
"""Samples that are followed before the weights are looked at. A choice of speed: results do not depend on it."""
_POOR = 0.5
"""Share of the threshold below which a single sample has told too much at once."""
_STUCK = 0.5
"""Correlation with where particles were before that is worth a note."""


class Rejuvenation(NamedTuple):
    """Particles were drawn anew and moved."""

    sample: int
    """After which of the samples, counted from 1."""
    moves: int
    acceptance: float
    left: float
    """Correlation with where they were before, in the worst direction."""


@dataclass
class State:
    """Where a run is: all that it needs to go on, when more of the record has come."""

    method: IBIS
    rng: np.random.Generator
    points: np.ndarray
    carried: Carried
    log_likelihoods: np.ndarray
    """Of the record so far."""
    log_weights: np.ndarray
    """Since the particles were last drawn anew; unnormalised."""
    ancestors: np.ndarray
    log_evidence: float = 0.0
    """Up to when the particles were last drawn anew."""
    time: int = 0
    moves: Moves | None = None
    evidences: list[float] = field(default_factory=list)
    """Logarithm of the evidence after each sample."""
    effective: list[float] = field(default_factory=list)
    """Effective number of particles after each sample, before they were drawn anew."""
    rejuvenations: list[Rejuvenation] = field(default_factory=list)
    settled: State | None = None
    """Where it was before the first sample whose likelihood later samples may change: what a longer record goes on
    from."""

    @property
    def weights(self) -> np.ndarray:
        """Normalised."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()

    @property
    def error(self) -> float:
        """Standard error of the log-evidence."""
        return float(np.sqrt(family_variance(self.weights, self.ancestors)))


@dataclass(frozen=True)
class IBIS:
    """Iterated batch importance sampling: a posterior after every sample, so that a stream can be followed.

    Args:
        particles: all of them are followed at once.
        threshold: share of effective particles below which they are drawn anew and moved.
        max_moves: each time, whether or not particles have forgotten by then where they began.
        walks: besides independent proposals, let particles walk to beside where they are; without, proposals are those
            of the published algorithm (Longbottom et al. 2024, eqs 23 and 24): independent draws of a Gaussian with
            mean and covariance of the weighted particles, accepted with the density ratio that its eq. 25 leaves out.
            ``max_moves=1`` makes one such move each time, as printed; more are made until particles have forgotten.
        resampling: how particles are drawn anew: `samplers.systematic`, `stratified`, `residual`, `multinomial`, or a
            function of your own of a random generator and weights that gives numbers of particles.

    Examples:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> from vibayes.samplers.likely import finished
        >>> from vibayes.samplers.ibis import IBIS
        >>> data = np.random.default_rng(0).normal(0.5, 0.3, 40)
        >>> def follow(z, carried, first, last):
        ...     return -0.5 * ((data[first:last] - z) / 0.3) ** 2, carried
        >>> target = SimpleNamespace(
        ...     name="mean", size=1, prior_probability=1.0, traceable=None, samples=40, follow=follow,
        ...     begin=lambda z: (z,), log_likelihood=lambda z: follow(z, (), 0, 40)[0].sum(axis=1),
        ... )
        >>> sample = finished(IBIS(particles=200).sample(np.random.default_rng(0), target))
        >>> exact = data.sum() / 0.3**2 / (40 / 0.3**2 + 1.0)
        >>> bool(abs(sample.weights @ sample.flat[:, 0] - exact) < 0.02)
        True
    """

    particles: int = 500
    threshold: float = 0.5
    max_moves: int = 20
    walks: bool = True
    resampling: Resampling = systematic

    def __post_init__(self) -> None:
        if not callable(self.resampling):
            remedy = "give samplers.systematic, stratified, residual or multinomial"
            raise InvalidInput(
                "IBIS.resampling", "a function of a generator and weights", repr(self.resampling), remedy
            )
        require_counts(self, "particles", "max_moves")
        require_within(self, "threshold", 0.0, 1.0)

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Work along the record."""
        if not isinstance(target, Sequential):
            got, remedy = "one of the record as a whole", "use TemperedSMC()"
            raise InvalidInput(f"IBIS for {target.name!r}", "a likelihood sample by sample", got, remedy)
        return self.proceed(self.begin(rng, target), target)

    def begin(self, rng: np.random.Generator, target: Sequential) -> State:
        """Particles of the prior."""
        count = self.particles
        points = rng.standard_normal((count, target.size))
        return State(self, rng, points, (), np.zeros(count), np.zeros(count), np.arange(count))

    def proceed(self, state: State, target: Sequential) -> Iterator[Stage]:
        """Go on to the end of what there is of the record."""
        length, settled = _SHORTEST, int(getattr(target, "settled", target.samples))
        if state.time == 0:  # what is carried from the start may depend on samples that have come since
            state.carried = target.begin(state.points)
        while state.time < target.samples:
            if state.time == settled:
                state.settled = replace(copy.deepcopy(state), settled=None)
            last = min(state.time + length, settled if state.time < settled else target.samples)
            before = state.time
            increments, after = target.follow(state.points, state.carried, before, last)
            if self._take(state, increments) is None:
                state.carried, length = after, min(2 * length, _LONGEST)
            else:
                self._renew(state, target, before)
                length = max(length // 2, _SHORTEST)
            yield Stage("follow", state.time / target.samples, _acceptance(state), self._sample(state, target))
        yield Stage("done", 1.0, _acceptance(state), self._sample(state, target))

    def _take(self, state: State, increments: np.ndarray) -> int | None:
        """Weigh with all increments, or with those before particles must be drawn anew: then how many that are."""
        along = _summed(state.log_weights, increments)
        effective = _effective(along)
        poor = np.flatnonzero(~(effective >= self.threshold * self.particles))
        count = int(poor[0]) if len(poor) else increments.shape[1]
        evidences = state.log_evidence + np.logaddexp.reduce(along[:, :count], axis=0) - np.log(self.particles)
        state.effective += effective[:count].tolist()
        state.evidences += evidences.tolist()
        if count:
            state.log_weights = along[:, count - 1]
            state.log_likelihoods = _summed(state.log_likelihoods, increments[:, :count])[:, -1]
            state.time += count
        return count if len(poor) else None

    def _renew(self, state: State, target: Sequential, before: int) -> None:
        """Take the next sample to powers that grow to 1, and draw and move particles after each.

        Args:
            state: before the sample; what it carries is of an earlier one.
            target: the model.
            before: that earlier sample.
        """
        last = state.time + 1
        increments, state.carried = target.follow(state.points, state.carried, before, last)
        increment, power = increments[:, -1], 0.0
        if not np.isfinite(state.log_weights + increment).any():
            got, remedy = "none", "widen the priors, or look for an outlier or a simulation that fails there"
            raise impossible(
                target, f"sample {last} of {target.name!r}", "a particle that explains it", got, remedy
            )  # fmt: skip
        state.effective.append(float(_effective((state.log_weights + increment)[:, None])[0]))
        while power < 1.0:
            growth = self._growth(state.log_weights, increment, 1.0 - power)
            power = 1.0 if growth == 1.0 - power else power + growth
            with np.errstate(invalid="ignore"):
                state.log_weights = state.log_weights + np.where(np.isneginf(increment), -np.inf, growth * increment)
            state.log_evidence += float(np.logaddexp.reduce(state.log_weights)) - float(np.log(self.particles))
            weights = state.weights
            moves = self._moves(state, weights)
            chosen = self.resampling(state.rng, weights)
            prefix = _Prefix(target, last, power, *(each[chosen] for each in (state.log_likelihoods, increment)))
            prefix.carried = tuple(each[chosen] for each in state.carried)
            state.points, state.ancestors = state.points[chosen], state.ancestors[chosen]
            state.log_weights = np.zeros(self.particles)
            self._stir(state, prefix, moves)
            state.log_likelihoods, increment, state.carried = prefix.before, prefix.increment, prefix.carried
        state.log_likelihoods = state.log_likelihoods + increment
        state.time = last
        state.evidences.append(state.log_evidence)

    def _growth(self, log_weights: np.ndarray, increment: np.ndarray, most: float) -> float:
        """Of the power of a sample, so that particles become about as uneven as they may."""

        def effective(growth: float) -> float:
            with np.errstate(invalid="ignore"):
                logs = log_weights + np.where(np.isneginf(increment), -np.inf, growth * increment)
            return float(_effective(logs[:, None])[0])

        possible = float(np.sum(np.isfinite(log_weights + increment)))
        wanted = self.threshold * min(possible, self.particles)
        if effective(most) >= _POOR * wanted:
            return most
        low, high = 0.0, most
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if effective(middle) >= _POOR * wanted else (low, middle)
        return max(low, 1e-12 * most)

    def _moves(self, state: State, weights: np.ndarray) -> Moves:
        if not self.walks:
            return Moves(one_piece(state.points, weights), jumps=1.0)
        return moves_of(state.points, weights, state.moves)

    def _stir(self, state: State, prefix: _Prefix, moves: Moves) -> None:
        """Move particles until they have forgotten where they began."""
        particles = Points(state.points, prefix.log_likelihoods)
        memory, accepted = Memory(state.points), []
        while len(accepted) < self.max_moves:
            particles, made = move(state.rng, prefix, particles, moves)
            prefix.accept(made.accept)
            if self.walks:
                moves = tuned(moves, made, 1.0 / np.sqrt(1.0 + len(accepted)))
            accepted.append(made.accepted)
            if memory.gone(particles.points):
                break
        state.points, state.moves = particles.points, moves
        state.rejuvenations.append(Rejuvenation(prefix.last, len(accepted), float(np.mean(accepted)), memory.left))

    def _sample(self, state: State, target: Sequential) -> Sample:
        # That of a part of the record must not be compared with that of the whole: it is in the state.
        whole = state.time == target.samples
        evidence, error = (state.evidences[-1], state.error) if whole and state.evidences else (np.nan, np.nan)
        return Sample(
            state.points[None], state.log_likelihoods[None], _acceptance(state), evidence, error,
            _note(state, target), weights=state.weights, state=state,
        )  # fmt: skip


class _Prefix:
    """The record up to a sample, the last of which counts to a power, as moves see it.

    It keeps what belongs to the particles beside their likelihood, and takes over that of accepted proposals.
    """

    def __init__(self, target: Sequential, last: int, power: float, before: np.ndarray, increment: np.ndarray):
        self.name, self.size = target.name, target.size
        self.prior_probability, self.traceable = target.prior_probability, None
        self.target, self.last, self.power = target, last, power
        self.before, self.increment = before, increment
        self.carried: Carried = ()
        self._proposed: tuple[np.ndarray, ...] = ()

    @property
    def log_likelihoods(self) -> np.ndarray:
        """Of the particles."""
        return self.before + self.power * self.increment

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        """Of proposals."""
        increments, carried = self.target.follow(points, self.target.begin(points), 0, self.last)
        before, increment = increments[:, :-1].sum(axis=1), increments[:, -1]
        self._proposed = (before, increment, *carried)
        return before + self.power * increment

    def accept(self, accept: np.ndarray) -> None:
        """Some of the last proposals."""
        kept = (self.before, self.increment, *self.carried)
        chosen = (
            np.where(accept.reshape(-1, *(1,) * (new.ndim - 1)), new, old)
            for new, old in zip(self._proposed, kept, strict=True)
        )
        self.before, self.increment, *carried = chosen
        self.carried = tuple(carried)


def _summed(start: np.ndarray, increments: np.ndarray) -> np.ndarray:
    """Running sums, one term after the other, so that they are the same in whatever parts the terms come."""
    return np.cumsum(np.concatenate([start[:, None], increments], axis=1), axis=1)[:, 1:]


def _effective(log_weights: np.ndarray) -> np.ndarray:
    """Effective number of each column of weights; zero where there are none."""
    top = log_weights.max(axis=0)
    weights = np.exp(log_weights - np.where(np.isfinite(top), top, 0.0))
    return weights.sum(axis=0) ** 2 / np.maximum(np.sum(weights**2, axis=0), 1e-300)


def _acceptance(state: State) -> float:
    return state.rejuvenations[-1].acceptance if state.rejuvenations else np.nan


def _note(state: State, target: Sequential) -> str:
    notes = []
    if state.time < target.samples:
        notes.append(f"only {state.time:,} of {target.samples:,} samples were taken into account")
    stuck = sum(each.left > _STUCK for each in state.rejuvenations)
    if stuck:
        notes.append(
            f"particles hardly moved {stuck} of {len(state.rejuvenations)} times that they were drawn anew: "
            "evidence and draws are rough; give more particles or max_moves"
        )
    return "; ".join(notes)
