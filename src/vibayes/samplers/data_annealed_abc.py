"""Approximate Bayesian computation along the record: the loop of `data_annealed` with a threshold for a likelihood.

Particles are those within a threshold of the distance D_t of the first t samples, which follows the best fit; at the
end all models share one threshold ε, a little above the smallest distance of all. The mass of the prior within it is
the evidence of a model. A smaller part of the record does not bound which parameters come within ε at its end, so that
masses are estimated at the end, by bridge sampling, and none of the way there is part of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vibayes.samplers.annealing import tighten
from vibayes.samplers.data_annealed import DataAnnealedSMC, Race
from vibayes.samplers.kernels import Kernel, Threshold
from vibayes.samplers.settings import require_within
from vibayes.samplers.shapes import Snapshot

_TIGHTENINGS = 40
"""Steps towards the common threshold after which a model that has not come within it is given up."""


@dataclass(frozen=True)
class DataAnnealedABC(DataAnnealedSMC):
    """Approximate Bayesian computation by sequential Monte Carlo along the record, for all models at once.

    For residuals that are no white noise, and for distances of one's own (`Problem.distance`), which are of the whole
    record: all parameters within the threshold count alike.

    Args:
        effective: effective sample size of every unknown of every model that matters (above 1 %).
        populations: independent ones.
        chains: of each population at the end of the record.
        min_moves: sweeps of the chains in each step, at least.
        max_moves: sweeps at most; fewer, if chains have forgotten where they began.
        conditional_ess: share of particles that stay within the threshold in a step.
        forgotten: correlation with where chains began below which they have forgotten it.
        margin: nats behind the best model at which a model is dropped, under noise that is as rough as the threshold.
        max_sweeps: of the chains at the end of the record.
        excess: the threshold in units of the smallest distance found. By default one and three times the unknowns per
            sample, about where the truth lies if the noise is white.
        threshold: the threshold itself, in place of ``excess``.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(40) / 10.0
        >>> noise = 0.02 * np.random.default_rng(0).normal(size=40)
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time) + noise})
        >>> def decay(rate):
        ...     return np.exp(-np.asarray(rate)[:, None] * time)
        >>> problem = vb.Problem(decay, record, {"rate": vb.Uniform(0.1, 2.0)}, vectorised=True)
        >>> posterior = vb.infer(0, problem, vb.DataAnnealedABC(chains=50))
        >>> 0.7 in posterior["decay"].interval("rate")
        True
    """

    effective: int = 400
    excess: float | None = None
    threshold: float | None = None

    sees: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.excess is not None:
            require_within(self, "excess", 1.0, np.inf)
        if self.threshold is not None:
            require_within(self, "threshold", 0.0, np.inf)

    def levels(self, rng: np.random.Generator, candidates: Sequence[Any]) -> Iterator[Snapshot]:
        """Work block by block; the last snapshot is the result."""
        yield from _ThresholdRace(self, rng, candidates).run()


class _ThresholdRace(Race):
    """Models that come down to one threshold."""

    method: DataAnnealedABC

    def kernel(self, model: int) -> Kernel:
        """Within a threshold that is as far above the best fit for every model."""
        target, method = self.targets[model], self.method
        unknowns = max(target.size for target in self.targets)
        return Threshold(unknowns, method.excess, method.threshold, max(target.measured / target.samples, 0.0))

    def _behind(self) -> dict[int, tuple[float, float]]:
        """Nats of the best fits, with as many independent residuals as make the threshold that of white noise."""
        best = {model: float(self.now[model].logs[:, :, 0].max()) for model in self.alive}
        top = max(best.values())
        if self.method.threshold is not None:  # what is too far away now will not come back
            gone = -np.log(self.method.threshold)
            return {model: (np.inf if log < gone else 0.0, 0.0) for model, log in best.items()}
        kernel = self.now[self.alive[0]].kernel
        assert isinstance(kernel, Threshold)
        per_nat = kernel.unknowns / kernel.room(max(self.now[model].samples for model in self.alive))
        return {model: (1.5 * per_nat * (top - log), 0.0) for model, log in best.items()}

    def _level_out(self) -> Iterator[Snapshot]:
        """All models to the threshold of the best."""
        logs = {model: self.now[model].logs[:, :, 0] for model in self.alive}
        kernels = {model: self.now[model].kernel for model in self.alive}
        level = max(k.goal(logs[m], self.gates[-1]) for m, k in kernels.items() if isinstance(k, Threshold))
        for model in list(self.alive):
            for _ in range(_TIGHTENINGS):
                now = self.now[model]
                if now.level == level or not now.logs[:, :, 0].max() >= level:
                    break
                self.now[model] = tighten(self.rng, self.targets[model], now, self.plan, level)
                yield self._snapshot("anneal", model, np.nan)
            if self.now[model].level != level:
                self.alive.remove(model)
                closest = float(np.exp(-self.now[model].logs[:, :, 0].max()))
                self.dropped[model] = (
                    f"{self.targets[model].name} comes no closer than {closest:.4g}, where the threshold is "
                    f"{np.exp(-level):.4g}"
                )
        self._remember(self.gates[-1])

    def _threshold(self) -> float:
        """Of the models that are left."""
        levels = [self.now[model].level for model in self.alive if model in self.now]
        return float(np.exp(-min(levels))) if levels else np.nan

    def _white_noise(self) -> int:
        return 0
