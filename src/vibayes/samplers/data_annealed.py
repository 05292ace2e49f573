"""Data-annealed SMC of all models along the record, which race.

All models take in the record together, from one gate to the next. At a gate t they have taken in the same samples, and
their evidences can be compared: a model m that lies behind the best by more than a margin of B nats is dropped. If
m were right, the ratio of the other's evidence to its own would be a martingale of mean 1, so that it ever exceeds
e^B with a probability of at most e^-B (Ville 1939). At the end of the record the chains of the models that are left go
on until every unknown has enough effective draws, and evidences are refined by bridge sampling (`bridge`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vibayes.samplers.annealing import Annealable, Plan, Population, disagree, draw, from_prior, step
from vibayes.samplers.bridge import Evidence, bridge
from vibayes.samplers.diagnostics import effective_bulk
from vibayes.samplers.embedded_proposal import Embedding
from vibayes.samplers.kernels import Kernel, Power
from vibayes.samplers.likely import Sample
from vibayes.samplers.nested_ratio import Posterior, nested_ratio
from vibayes.samplers.pieces import pieces_of
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Draws, Snapshot, probabilities_of

_MATTERS = 0.01
"""Probability from which a model's parameters are asked for."""
_DRAWS = 8
"""States of each chain that are kept at the end."""
_BRIDGED = 4000
"""Draws for the evidence by bridge sampling."""
_EMBEDDED, _FEW = 2000, 50
"""Draws of a nested model that are embedded, and effective ones among them that are worth it."""
_CERTAIN = 0.03
"""Standard error, in nats, at which an evidence is good enough to spare another estimate."""
_ACCURATE = 0.1
"""Nats by which a quicker simulation may differ from the most accurate one before draws are weighted for it."""


@dataclass(frozen=True)
class DataAnnealedSMC:
    """Sequential Monte Carlo along the record, for all models at once, by the likelihood of simulated trajectories.

    The noise of the outputs is integrated out, or known, or has a prior (`Problem.noise`). Nested models, as springs
    with more and more regions, are compared by points embedded both ways.

    Args:
        effective: effective sample size of every unknown of every model that matters (above 1 %).
        populations: independent ones, which give the standard error of the evidence.
        chains: of each population.
        min_moves: sweeps of the chains in each step, at least.
        max_moves: sweeps at most; fewer, if chains have forgotten where they began.
        conditional_ess: share of particles that stay effective when a block of samples is taken in: it decides how long
            blocks are.
        forgotten: correlation with where chains began below which they have forgotten it.
        margin: nats behind the best model at which a model is dropped. The probability that the right model ever falls
            behind by that much is at most exp(-margin).
        max_sweeps: of the chains at the end of the record, whether or not there are draws enough by then.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(40) / 10.0
        >>> noise = 0.02 * np.random.default_rng(0).normal(size=40)
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time) + noise})
        >>> def decay(rate):
        ...     return np.exp(-np.asarray(rate)[:, None] * time)
        >>> problem = vb.Problem(decay, record, {"rate": vb.Uniform(0.1, 2.0)}, vectorised=True)
        >>> posterior = vb.infer(0, problem, vb.DataAnnealedSMC(chains=50))
        >>> 0.7 in posterior["decay"].interval("rate")
        True
    """

    effective: int = 1000
    populations: int = 4
    chains: int = 100
    min_moves: int = 4
    max_moves: int = 10
    conditional_ess: float = 0.3
    forgotten: float = 0.5
    margin: float = 30.0
    max_sweeps: int = 400

    sees: ClassVar[str] = "likelihood"
    """What it is given of a problem."""

    def __post_init__(self) -> None:
        require_counts(self, "effective", "populations", "chains", "min_moves", "max_moves", "max_sweeps")
        require_within(self, "conditional_ess", 0.0, 1.0)
        require_within(self, "forgotten", 0.0, 1.0)
        require_within(self, "margin", 0.0, np.inf)

    @property
    def plan(self) -> Plan:
        """The work of a step."""
        moves = self.min_moves, max(self.min_moves, self.max_moves)
        return Plan(self.populations, self.chains, moves, self.conditional_ess, self.forgotten)

    def levels(self, rng: np.random.Generator, candidates: Sequence[Any]) -> Iterator[Snapshot]:
        """Work block by block; the last snapshot is the result, and any earlier one that of the last gate."""
        yield from Race(self, rng, candidates).run()


class Race:
    """Where all models are."""

    def __init__(self, method: DataAnnealedSMC, rng: np.random.Generator, targets: Sequence[Any]):
        self.method, self.rng, self.targets, self.plan = method, rng, targets, method.plan
        self.now: dict[int, Population] = {}
        self.alive = list(range(len(targets)))
        self.dropped: dict[int, str] = {}
        self.notes: list[str] = []
        first = max(target.first_block for target in targets)
        length = targets[0].samples
        self.gates = [gate for gate in (int(first * 2 ** (k / 2)) for k in range(128)) if 2 * gate <= length] + [length]
        self.draws = [Draws.unknown(target.size) for target in targets]
        self.reached = 0
        self.finished: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """Draws of the whole record and their log-likelihoods, of models that are done."""
        self.evidences: dict[int, Evidence] = {}

    def run(self) -> Iterator[Snapshot]:
        """All gates, then draws of the models that are left."""
        for number, gate in enumerate(self.gates):
            for model in self._by_size():
                yield from self._advance(model, gate, number)
            self._drop(gate)
            self._remember(gate)
            yield self._snapshot("gate", None, (number + 1) / (len(self.gates) + 1))
        yield from self._level_out()
        matter = self._probabilities()[0]
        # Smaller models first: their draws, embedded, are found by the larger ones that contain them.
        for model in self._by_size():
            enough = self.method.effective if matter[model] >= _MATTERS or self._contains(model) else 0
            self.draws[model] = self._drawn(model, enough)
            yield self._snapshot("draw", model, np.nan)
        yield self._snapshot("done", None, 1.0)

    def _by_size(self) -> list[int]:
        """Models that are left, the smallest first: proposals of those that contain them are made from them."""
        return sorted(self.alive, key=lambda model: self.targets[model].size)

    def _advance(self, model: int, gate: int, number: int) -> Iterator[Snapshot]:
        """One model up to a gate."""
        target: Annealable = self.targets[model]
        if model not in self.now:
            self.now[model] = from_prior(self.rng, target, self.plan, self.kernel(model))
        while self.now[model].samples < gate or not self.now[model].complete:
            self.now[model] = step(self.rng, target, self.now[model], self.plan, self.gates)
            yield self._snapshot("anneal", model, (number + model / len(self.targets)) / (len(self.gates) + 1))

    def kernel(self, model: int) -> Kernel:
        """How much likelihoods of a model count."""
        return Power()

    def _level_out(self) -> Iterator[Snapshot]:
        """Bring all models to one level of their kernels, where these differ."""
        yield from ()

    def _behind(self) -> dict[int, tuple[float, float]]:
        """Nats by which every model lies behind the best, and the standard error of that."""
        evidences = {model: evidence_of(self.now[model]) for model in self.alive}
        odds = {m: e.log + np.log(self.targets[m].prior_probability) for m, e in evidences.items()}
        best = max(odds, key=lambda model: odds[model])
        return {m: (odds[best] - odds[m], float(np.hypot(evidences[best].error, evidences[m].error))) for m in odds}

    def _drop(self, gate: int) -> None:
        """Models that have fallen behind."""
        behind = self._behind()
        best = min(behind, key=lambda model: behind[model][0])
        for model, (nats, error) in behind.items():
            if nats > self.method.margin + 3.0 * error:
                self.alive.remove(model)
                where = "" if gate == self.gates[-1] else f" on the first {gate:,} of {self.gates[-1]:,} samples"
                name = self.targets[model].name
                self.dropped[model] = f"{name} lies {nats:,.0f} nats behind {self.targets[best].name}{where}"

    def _remember(self, gate: int) -> None:
        """What there is if the run is ended before the next gate."""
        self.reached = gate
        for model, target in enumerate(self.targets):
            if model in self.alive:
                self.draws[model] = self._kept(target, self.now[model], evidence_of(self.now[model]))
            else:
                self.draws[model] = Draws.none(target.size)

    def _kept(self, target: Any, now: Population, evidence: Evidence) -> Draws:
        """Draws of a prefix: the last states of the chains."""
        chains = now.points.reshape(self.plan.populations, -1, now.sweeps, target.size)[:, :, -1]
        points = chains.reshape(-1, target.size)
        logs = now.logs.reshape(self.plan.populations, -1, now.sweeps, now.logs.shape[-1])[:, :, -1, 0].ravel()
        weights = np.full(len(points), 1.0 / len(points))
        return Draws(points, weights, np.empty(0), evidence.log + target.log_prior_share, evidence.error, None, logs)

    def _smaller(self, model: int) -> list[int]:
        """Models whose draws are there already, largest first."""
        drawn = [i for i in self.finished if self.targets[i].size < self.targets[model].size]
        return sorted(drawn, key=lambda i: -self.targets[i].size)

    def _contains(self, model: int) -> bool:
        """Whether a smaller model that is left is nested in this one."""
        target = self.targets[model]
        return any(
            target.preimages(self.targets[i], np.zeros((1, target.size))) is not None for i in self._smaller(model)
        )

    def _embedding(self, model: int) -> Embedding | None:
        """Draws of the largest nested model that are as good here, with what it lacks drawn from the prior."""
        target = self.targets[model]
        for other in self._smaller(model):
            points, logs = self.finished[other]
            if target.preimages(self.targets[other], np.zeros((1, target.size))) is None:
                continue
            chosen = np.linspace(0, len(points) - 1, _EMBEDDED).astype(int)
            into = target.embedded(self.rng, self.targets[other], points[chosen])
            there = self._logs(model)(into)
            # Importance weights, but for the preimages that a point has besides its own.
            weights = np.exp(np.minimum(there - logs[chosen], 0.0))
            if np.sum(weights) ** 2 / max(np.sum(weights**2), 1e-300) >= _FEW:
                into = into[self.rng.choice(len(into), _EMBEDDED, p=weights / weights.sum())]
                mixture = pieces_of(points, np.full(len(points), 1.0 / len(points)))
                return Embedding(into, mixture, self.targets[other], target)
        return None

    def _logs(self, model: int) -> Callable[[np.ndarray], np.ndarray]:
        """The kernel's logarithm at the end of the record, of points of a model."""
        target, now = self.targets[model], self.now[model]

        def logs_of(points: np.ndarray) -> np.ndarray:
            return now.kernel.log(target.prefix_log_likelihoods(points, (target.samples,))[:, 0], now.level)

        return logs_of

    def _drawn(self, model: int, effective: float) -> Draws:
        """Draws of the whole record, with the evidence."""
        target, now = self.targets[model], self.now[model]
        nested = self._embedding(model) if effective else None
        most = self.method.max_sweeps if effective else 1
        now, states, _ = draw(self.rng, target, now, self.plan, effective, most, nested)
        kept = np.unique(np.linspace(0, states.shape[1] - 1, _DRAWS).astype(int))
        points = states[:, kept]
        likelihoods = now.logs[:, :, 0].reshape(states.shape[:2])[:, kept].ravel()
        flat = points.reshape(-1, target.size)
        weights, note = self._weights(model, points, flat, likelihoods)
        evidence = self._refined(model, flat, now.kernel.log(likelihoods, now.level), weights)
        if note:
            self.notes.append(note if len(self.targets) == 1 else f"{target.name}: {note}")
        logs = likelihoods.reshape(points.shape[:2])
        sample = Sample(points, logs, now.acceptance, weights=None if np.ptp(weights) == 0.0 else weights)
        log_mass = evidence.log + target.log_prior_share
        return Draws(flat, weights, target.distances(flat), log_mass, evidence.error, sample, likelihoods)

    def _weights(self, model: int, points, flat, likelihoods) -> tuple[np.ndarray, str]:
        """Equal, unless the simulation was not accurate enough; and what is to be said of the draws."""
        target, now = self.targets[model], self.now[model]
        logs, note = np.zeros(len(flat)), ""
        if self.plan.populations > 1 and disagree(points):
            note = "populations disagree: modes mix slowly, and how probable each of them is, is known roughly only"
        if target.approximate:
            best = target.log_likelihoods_at_best(flat)
            differs = now.kernel.log(best, now.level) - now.kernel.log(likelihoods, now.level)
            if not np.sqrt(np.mean(differs**2)) < _ACCURATE:
                logs += np.where(np.isfinite(differs), differs, -np.inf)
        weights = np.exp(logs - logs.max())
        return weights / weights.sum(), note

    def _refined(self, model: int, flat, logs, weights) -> Evidence:
        """The more certain of bridge sampling and the ratio to a nested model.

        The estimate of SMC is a product over all blocks: a mode that was rare at first, and of which few particles were
        left, makes it too small by more than its standard error says.
        """
        target = self.targets[model]
        if np.ptp(weights) > 0.0:
            return evidence_of(self.now[model])
        self.finished[model] = flat, logs
        best = self._tied(model)
        if best is None or best.error > _CERTAIN:
            some = np.unique(np.linspace(0, len(flat) - 1, min(_BRIDGED, len(flat))).astype(int))
            effective = min(
                float(np.min(effective_bulk(flat.reshape(self.plan.populations, -1, target.size)))), len(some)
            )
            # The prior of a bridge is that of all points, of which the constraints allow a share.
            found = bridge(self.rng, self._logs(model), flat[some], logs[some], effective)
            bridged = found._replace(log=found.log - target.log_prior_share)
            best = bridged if best is None or bridged.error < best.error else best
        if not (np.isfinite(best.log) and np.isfinite(best.error)):  # no draw of the mixture came near the posterior
            best = evidence_of(self.now[model])
        self.evidences[model] = best
        return best

    def _posterior(self, model: int) -> Posterior:
        return Posterior(self.targets[model], self._logs(model), *self.finished[model])

    def _tied(self, model: int) -> Evidence | None:
        """The evidence by the most certain ratio to that of a nested model; None if there is none."""
        target, best = self.targets[model], None
        for other in self._smaller(model):
            small = self.targets[other]
            ratio = nested_ratio(self.rng, self._posterior(model), self._posterior(other))
            if ratio is not None:
                shares = small.log_prior_share - target.log_prior_share
                error = float(np.hypot(ratio.error, self.evidences[other].error))
                tied = Evidence(self.evidences[other].log + ratio.log + shares, error)
                best = tied if best is None or tied.error < best.error else best
        return best

    def _probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        return probabilities_of(self.draws, self.targets)

    def _snapshot(self, stage: str, model: int | None, done: float) -> Snapshot:
        p, errors = self._probabilities()
        followed = acceptance = np.nan
        if model is not None and model in self.now:
            followed, acceptance = self.now[model].samples / self.gates[-1], self.now[model].acceptance
        notes = [*self.notes]
        if stage not in ("draw", "done") and self.reached < self.gates[-1]:
            notes.append(f"only {self.reached:,} of {self.gates[-1]:,} samples were taken into account")
        notes += self.dropped.values()
        return Snapshot(
            stage, self._threshold(), followed, acceptance, tuple(p), tuple(errors), tuple(self.draws),
            "; ".join(notes), model, done, self._white_noise(),
        )  # fmt: skip

    def _threshold(self) -> float:
        """The largest distance that counts."""
        return max((float(d.distances.max()) for d in self.draws if len(d.distances)), default=np.nan)

    def _white_noise(self) -> int:
        """Measured values, for draws count by the likelihood of white noise."""
        return self.targets[0].measured


def evidence_of(now: Population) -> Evidence:
    """Mean over the populations, with the larger of two standard errors: from within them, and from between them."""
    count = len(now.log_evidence)
    top = now.log_evidence.max()
    relative = np.exp(now.log_evidence - top)
    within = float(np.sqrt(now.variance.mean() / count))
    between = float(np.std(relative, ddof=1) / np.sqrt(count) / relative.mean()) if count > 1 else 0.0
    return Evidence(float(top + np.log(relative.mean())), max(within, between))
