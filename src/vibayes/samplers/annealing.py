"""Data-annealed SMC of one model: particles of the posterior of a growing part of the record.

After t samples, particles z represent π_t(z) ∝ N(z; 0, I) K_t(z), with K_t the likelihood of the first t samples, or
whether they are within a threshold (`kernels`). Taking in the samples from t to t' reweights them by

    w = K_t'(z) / K_t(z),        evidence(t') = evidence(t) · mean w,

with t' as far ahead as the conditional effective sample size (Zhou, Johansen & Aston 2016) allows. Then chains start at
particles drawn by weight and are moved (`ensemble_moves`); all states that they visit are the next particles, so that
none of the simulations is lost (waste-free SMC, Dau & Chopin 2022). The first block is tempered: its likelihood counts
by a power that grows to 1, or its threshold comes down.

Whether a proposal will be accepted is known as soon as its log-likelihood falls below a bound: the uniform number of
the Metropolis test is drawn first (exact early rejection, Solonen et al. 2012). The simulation of one that is accepted
goes on over the next samples, which gives the weights of the next step.

Several populations run side by side, with a common schedule and no exchange of particles. They give the standard
error of the evidence, and a mode that one of them has missed shows in their disagreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.diagnostics import effective_bulk, rhat_of_groups
from vibayes.samplers.embedded_proposal import Embedding, WithEmbedded
from vibayes.samplers.ensemble_moves import KINDS, Ensemble, Shares, ensemble_of, equal_shares, propose, resampled
from vibayes.samplers.kernels import Kernel, Step

WINDOW = 12
"""Checkpoints at which likelihoods are looked at ahead."""
_SOON = 40
"""Sweeps in which there shall be draws enough: where there will not be, proposals are fitted anew."""
_VISITED = 8000
"""States that proposals are fitted to."""
_AGREE = 1.01
"""R-hat of the populations above which they have found different places."""
_FORGOTTEN = 0.1
"""Correlation with where chains began, at the end of the record, above which their draws do not count yet."""
_STALLS = 5
"""Steps in a row that may lead nowhere."""
_TRIES = 400
"""Draws of the prior per particle wanted, where constraints allow few."""


class Annealable(Protocol):
    """A model whose likelihood is known for every prefix of the record."""

    @property
    def name(self) -> str:
        """Of the model."""
        ...

    @property
    def size(self) -> int:
        """Number of unknowns."""
        ...

    @property
    def samples(self) -> int:
        """Of the record."""
        ...

    @property
    def first_block(self) -> int:
        """Samples that are taken together first."""
        ...

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points meet the constraints."""
        ...

    def prefix_log_likelihoods(
        self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-likelihoods of prefixes, (points, checkpoints); minus infinity below what is required at the first."""
        ...

    def refine(self, points: np.ndarray, samples: int) -> bool:
        """Whether likelihoods had to be made more accurate, and must be computed again."""
        ...


@dataclass(frozen=True)
class Plan:
    """How much work a step is.

    Attributes:
        populations: independent ones, side by side.
        chains: of each population at the end of the record; more at its beginning, where simulations are short.
        moves: sweeps of each step, fewest and most.
        conditional_ess: share of effective particles at which a block ends.
        forgotten: correlation with where chains began, in every coordinate, that ends the sweeps of a step.
    """

    populations: int
    chains: int
    moves: tuple[int, int]
    conditional_ess: float
    forgotten: float


@dataclass
class Population:
    """States of all populations after a step: points and log-likelihoods at checkpoints, the first of which is now.

    Shapes are (populations, particles, size) and (populations, particles, checkpoints).
    """

    points: np.ndarray
    logs: np.ndarray
    checkpoints: tuple[int, ...]
    kernel: Kernel
    level: float
    """Of the kernel."""
    samples: int = 0
    """Of the record that are taken in."""
    log_evidence: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Of every population."""
    variance: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Of the log-evidence, from the chains of every step; likewise."""
    shares: Shares = field(default_factory=equal_shares)
    acceptance: float = np.nan
    correlation: float = np.nan
    """With where the chains of the last step began, in the worst coordinate."""
    sweeps: int = 0
    stalls: int = 0
    """Steps in a row that have led nowhere."""

    @property
    def complete(self) -> bool:
        """Whether the samples so far count as they shall."""
        return self.samples > 0 and self.kernel.complete(self.logs[:, :, 0], self.samples, self.level)


def from_prior(rng: np.random.Generator, target: Annealable, plan: Plan, kernel: Kernel) -> Population:
    """Particles of the prior, with likelihoods of the first block."""
    count = plan.populations * _chains(plan, target, target.first_block) * plan.moves[0]
    found, kept, tried = [], 0, 0
    while kept < count and tried < _TRIES * count:
        drawn = rng.standard_normal((count, target.size))
        found.append(drawn[target.allowed(drawn)])
        kept, tried = kept + len(found[-1]), tried + count
    points = np.concatenate(found)[:count]
    if len(points) < count:
        got = f"{len(points):,} of {tried:,} draws"
        remedy = "widen the priors or drop a constraint"
        raise InvalidInput(f"model {target.name!r}", "priors that meet the constraints now and then", got, remedy)
    checkpoints = (target.first_block,)
    logs = target.prefix_log_likelihoods(points, checkpoints)
    shape = plan.populations, count // plan.populations
    nothing = np.zeros(plan.populations)
    logs = logs.reshape(*shape, 1)
    return Population(points.reshape(*shape, -1), logs, checkpoints, kernel, kernel.start, 0, nothing, nothing)


def step(rng: np.random.Generator, target: Annealable, now: Population, plan: Plan, gates: Sequence[int]) -> Population:
    """Take in as many samples as the particles stand, at most up to the next gate, and move them."""
    step = now.kernel.following(now.logs, now.checkpoints, now.samples, now.level, plan.conditional_ess)
    return _stepped(rng, target, now, plan, gates, step)


def tighten(rng: np.random.Generator, target: Annealable, now: Population, plan: Plan, level: float) -> Population:
    """Towards a level of the kernel, as far as the particles stand."""
    logs = np.sort(now.logs[:, :, 0], axis=1)
    reached = float(np.min(logs[:, -max(int(np.ceil(plan.conditional_ess * logs.shape[1])), 1)]))
    return _stepped(rng, target, now, plan, (), Step(now.samples, min(level, reached), 0))


def _stepped(rng, target: Annealable, now: Population, plan: Plan, gates: Sequence[int], step: Step) -> Population:
    samples, level, column = step
    before = now.kernel.log(now.logs[:, :, 0], now.level)
    after = now.kernel.log(now.logs[:, :, column], level)
    weights, _ = _weights(before, after)
    if weights is not None and target.refine(_drawn(rng, now.points, weights), samples):
        # Likelihoods of before were of a less accurate simulation: weights lead from it to the better one.
        again = target.prefix_log_likelihoods(now.points.reshape(-1, target.size), (samples,)).reshape(after.shape)
        level = now.kernel.adjusted(again, samples, level, plan.conditional_ess)
        after = now.kernel.log(again, level)
    weights, log_mean = _weights(before, after)
    # Chains that have not moved cannot reach a higher level; they may after more sweeps.
    stalls = now.stalls + 1 if level == now.level and samples == now.samples else 0
    if weights is None or stalls > (_STALLS if now.samples else 0):
        got = "none, whatever the parameters" if not now.samples else "none"
        remedy = "widen the priors, or look for an outlier or a simulation that fails there"
        raise InvalidInput(f"model {target.name!r}, sample {samples}", "parameters that explain it", got, remedy)
    following = replace(
        now, samples=samples, level=level, stalls=stalls, log_evidence=now.log_evidence + log_mean,
        variance=now.variance + _variance(weights, now.sweeps),
    )  # fmt: skip
    ahead = min((gate for gate in gates if gate > samples), default=samples)
    # While a level is incomplete nothing ahead is looked at: simulations end with the samples so far.
    complete = now.kernel.complete(now.logs[:, :, column], samples, level)
    return _moved(rng, target, following, weights, plan, _window(samples, ahead) if complete else (samples,))


def _weights(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Weights of the particles, the largest of each population 1, and the logarithm of their mean; None if there are
    none.
    """
    with np.errstate(invalid="ignore"):
        increments = after - before
    increments = np.where(np.isnan(increments), -np.inf, increments)
    top = increments.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        return None, np.full(len(top), -np.inf)
    weights = np.exp(increments - top)
    return weights, top[:, 0] + np.log(weights.mean(axis=1))


def _drawn(rng: np.random.Generator, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Some particles of all populations by weight."""
    return np.concatenate([p[resampled(rng, w, 8)] for p, w in zip(points, weights, strict=True)])


def _moved(
    rng, target: Annealable, now: Population, weights: np.ndarray, plan: Plan, checkpoints: tuple[int, ...]
) -> Population:
    """Chains from particles that are drawn by weight."""
    count = _chains(plan, target, now.samples)
    ensembles, starts = [], []
    for points, mine in zip(now.points, weights, strict=True):
        starts.append(points[resampled(rng, mine, count)])
        ensembles.append(ensemble_of(rng, points, mine))
    points = np.concatenate(starts)
    logs = target.prefix_log_likelihoods(points, checkpoints)
    chains = Chains(target, ensembles, points, logs, checkpoints, now)
    chains.sweep(rng, plan.moves[0])
    # Chains that have not forgotten their start are few particles in many copies. Short simulations are cheap.
    most = plan.moves[1] * min(np.sqrt(target.samples / now.samples), 3.0)
    while chains.sweeps < most and chains.correlation() > plan.forgotten:
        chains.sweep(rng, 2)
    return chains.population(now)


def draw(
    rng: np.random.Generator, target: Annealable, now: Population, plan: Plan, effective: float, most: int,
    nested: Embedding | None = None,
) -> tuple[Population, np.ndarray, float]:  # fmt: skip
    """Go on at the end of the record until every unknown has enough effective draws.

    Args:
        rng: source of chance.
        target: the model.
        now: its particles, after the whole record.
        plan: the work of a step.
        effective: draws that every unknown shall have.
        most: sweeps at most.
        nested: a smaller model that this one contains: half of the chains begin at its points, and proposals are
            made from it.

    Returns:
        The population, all draws (chains, draws, size), and the smallest effective sample size.
    """
    per, size = _chains(plan, target, now.samples), target.size
    starts = now.points.reshape(plan.populations, per, -1, size)[:, :, -1].copy()
    members = list(now.points)
    if nested is not None:
        for number, start in enumerate(starts):
            start[::2] = nested.points[rng.integers(len(nested.points), size=len(start[::2]))]
            members[number] = np.concatenate([members[number], nested.points])

    def chains_of(points, logs, members) -> Chains:
        ensembles = [_ensemble(rng, each, nested) for each in members]
        return Chains(target, ensembles, points, logs, now.checkpoints, now)

    points = starts.reshape(-1, size)
    chains = chains_of(points, target.prefix_log_likelihoods(points, now.checkpoints), members)
    spent, patience, worth, begun = 0, plan.moves[1], 0.0, False
    while spent < most:
        chains.sweep(rng, plan.moves[1])
        spent += plan.moves[1]
        states = chains.states()
        apart = disagree(states)
        if begun:
            worth = float(np.min(effective_bulk(states)))
            if worth >= effective and not apart:
                break
        # Chains have common ancestors: nothing counts until they have forgotten where they began.
        forgotten = chains.correlation() < _FORGOTTEN
        again = apart or worth * (chains.sweeps + _SOON) < effective * chains.sweeps if begun else not forgotten
        if ((not begun and forgotten) or (again and chains.sweeps >= patience)) and spent < most:
            # Proposals from what all populations have found lead from mode to mode; each keeps its own chains. What was
            # drawn before is forgotten, after twice as many sweeps each time.
            patience = 2 * patience if again else patience
            chains, begun = chains_of(*chains.last(), _shared(rng, chains, plan)), begun or forgotten
    return chains.population(now), chains.states(), worth


def _ensemble(rng: np.random.Generator, members: np.ndarray, nested: Embedding | None) -> Ensemble:
    """What proposals are made from."""
    ensemble = ensemble_of(rng, members)
    if nested is None or ensemble.mixture is None:
        return ensemble
    return replace(ensemble, mixture=WithEmbedded(ensemble.mixture, nested))


def _shared(rng: np.random.Generator, chains: Chains, plan: Plan) -> list[np.ndarray]:
    """Members of an ensemble of all populations, the same for each."""
    visited = chains.states().reshape(-1, chains.states().shape[2])
    return [visited[rng.permutation(len(visited))[:_VISITED]]] * plan.populations


def disagree(states: np.ndarray) -> bool:
    """Whether populations, whose chains come one after the other, have found different places: R-hat above 1.01."""
    return bool(len(states) >= 8 and np.nanmax(rhat_of_groups(states)) > _AGREE)


class Chains:
    """Markov chains of all populations, moved together so that their simulations make one large batch."""

    def __init__(self, target: Annealable, ensembles: Sequence[Ensemble], points: np.ndarray, logs: np.ndarray,
                 checkpoints: tuple[int, ...], now: Population):  # fmt: skip
        self._target, self._ensembles, self._start = target, ensembles, points
        self._points, self._logs, self._checkpoints = points, logs, checkpoints
        self._kernel, self._level, self._shares = now.kernel, now.level, now.shares
        self._kept, self._kept_logs = [], []
        self._proposals, self._travelled = np.zeros(len(KINDS)), np.zeros(len(KINDS))
        self._accepted = 0.0

    @property
    def sweeps(self) -> int:
        """Moves that every chain has tried."""
        return len(self._kept)

    def sweep(self, rng: np.random.Generator, count: int) -> None:
        """Try so many moves of every chain."""
        for _ in range(count):
            self._sweep(rng)
        # Shares follow what was learnt after a few sweeps, not after each: the kernels stay nearly fixed.
        self._shares = self._shares.updated(self._proposals, self._travelled)

    def _sweep(self, rng: np.random.Generator) -> None:
        now, each = self._points, len(self._points) // len(self._ensembles)
        kinds = self._shares.draw(rng, len(now))
        parts = [
            propose(rng, ensemble, now[some], kinds[some])
            for ensemble, some in ((e, slice(i * each, (i + 1) * each)) for i, e in enumerate(self._ensembles))
        ]
        proposed, correction = (np.concatenate(part) for part in zip(*parts, strict=True))
        log_uniform = np.log1p(-rng.random(len(now)))  # of numbers in (0, 1], whose logarithm is finite
        prior = 0.5 * (np.sum(now**2, axis=1) - np.sum(proposed**2, axis=1))
        required = self._kernel.required(self._logs[:, 0], self._level, log_uniform - prior - correction)
        possible = np.flatnonzero(required < np.inf)
        logs = np.full((len(now), len(self._checkpoints)), -np.inf)
        logs[possible] = self._target.prefix_log_likelihoods(proposed[possible], self._checkpoints, required[possible])
        accepted = (logs[:, 0] >= required) & np.isfinite(logs[:, 0])
        moved = (proposed - now) @ self._ensembles[0].whitening.T
        for kind in range(len(KINDS)):
            mine = kinds == kind
            self._proposals[kind] += mine.sum()
            # Capped: one jump from mode to mode says little of how a kind does in general.
            self._travelled[kind] += np.sum(np.minimum(np.sum(moved[mine & accepted] ** 2, axis=1), 4.0 * now.shape[1]))
        self._points = np.where(accepted[:, None], proposed, now)
        self._logs = np.where(accepted[:, None], logs, self._logs)
        self._accepted += accepted.mean()
        self._kept.append(self._points)
        self._kept_logs.append(self._logs)

    def correlation(self) -> float:
        """Of where the chains are with where they began, in the worst coordinate."""
        a, b = self._start - self._start.mean(axis=0), self._points - self._points.mean(axis=0)
        scale = np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
        return float(np.max(np.sum(a * b, axis=0) / np.maximum(scale, 1e-300)))

    def last(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the chains are, and their log-likelihoods."""
        return self._points, self._logs

    def states(self) -> np.ndarray:
        """All that were visited, (chains, sweeps, size)."""
        return np.stack(self._kept, axis=1)

    def population(self, before: Population) -> Population:
        """Of all states that were visited."""
        count = len(self._ensembles)
        points = self.states().reshape(count, -1, self._points.shape[1])
        logs = np.stack(self._kept_logs, axis=1).reshape(count, -1, len(self._checkpoints))
        return Population(
            points, logs, self._checkpoints, before.kernel, before.level, before.samples, before.log_evidence,
            before.variance, self._shares, self._accepted / max(self.sweeps, 1), self.correlation(), self.sweeps,
            before.stalls,
        )  # fmt: skip


def _chains(plan: Plan, target: Annealable, samples: int) -> int:
    """Chains of each population: simulations of few samples are cheap, and the prior is wide."""
    return int(plan.chains * np.clip(np.sqrt(target.samples / (4.0 * max(samples, 1))), 1.0, 2.0))


def _window(samples: int, length: int) -> tuple[int, ...]:
    """Where to look ahead: now, then at distances that grow to the length of what was seen so far."""
    if samples >= length:
        return (samples,)
    ahead = np.geomspace(max(samples / 64.0, 1.0), max(samples, 16.0), WINDOW - 1)
    return (samples, *sorted({int(min(samples + np.ceil(each), length)) for each in ahead}))


def _variance(weights: np.ndarray, sweeps: int) -> np.ndarray:
    """Of the logarithm of the mean weight, from batch means of the chains, for every population."""
    chains = weights.reshape(len(weights), -1, max(sweeps, 1)).mean(axis=2)
    return chains.var(axis=1) / chains.shape[1] / np.maximum(weights.mean(axis=1), 1e-300) ** 2
