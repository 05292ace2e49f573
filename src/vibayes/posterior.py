"""What is believed after the record: the probability of every model, and weighted draws of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vibayes.constraints import Increasing
from vibayes.diagnosis import Diagnosis, diagnosis, diagnosis_of_weighted
from vibayes.errors import InvalidInput
from vibayes.interval import PROB, Interval, tails
from vibayes.leaning import Leaning, leaning
from vibayes.naming import nearest
from vibayes.notebook import card
from vibayes.priors import normal_scores
from vibayes.problem import Problem
from vibayes.samplers.kernel import Kernel
from vibayes.samplers.likely import Sample
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.visits import MOST, Numbers, Visits, over_models, visits

_FEWEST = 50
"""Effective draws that tell how a posterior ends."""
_VISITING = 128
"""Draws that are simulated to see which regions they visit."""


@dataclass(frozen=True)
class ModelPosterior:
    """One model after the record.

    Attributes:
        problem: the model as it was posed.
        probability: of the model, given that one of those posed is right. NaN if it is not known, as after a run that
            was ended before all models were weighed.
        standard_error: Monte Carlo standard error of the probability.
        log_evidence: logarithm of the probability density of the record under the model. Of `FollowAndWeigh` by
            default, against that of white noise about the record's mean, both of unknown size; of a method with a
            threshold of distance, of the prior mass within it, minus infinity if no point is. NaN if unknown.
        log_evidence_error: its standard error.
        draws: parameters by name, one entry per draw.
        weights: of the draws; their sum is one.
        distances: of the draws.
        simulations: that the model has cost.
        failures: simulations that could not be carried out or gave no finite numbers.
        first_failure: what the first of them said.
        log_likelihoods: of the draws, of a method that works with a likelihood.
        chains: that the draws come from, one after the other and all of one length.
        sample: the same draws as a sampler of a likelihood saw them.
    """

    problem: Problem
    probability: float
    standard_error: float
    log_evidence: float
    log_evidence_error: float
    draws: dict[str, np.ndarray]
    weights: np.ndarray
    distances: np.ndarray
    simulations: int
    failures: int
    first_failure: str = ""
    log_likelihoods: np.ndarray = field(default_factory=lambda: np.empty(0))
    chains: int = 1
    sample: Sample | None = None

    @property
    def name(self) -> str:
        """Of the model."""
        return self.problem.name

    @property
    def effective_draws(self) -> float:
        """Equally weighted draws that would tell as much."""
        return float(1.0 / np.sum(self.weights**2)) if len(self.weights) else 0.0

    @property
    def least_effective(self) -> float:
        """The same of the parameter that has fewest; 0 where that cannot be told."""
        found = [each.ess_bulk for each in self.diagnostics()] if len(self.weights) else []
        return float(np.nanmin(found)) if np.isfinite(found).any() else 0.0

    def scores(self) -> np.ndarray:
        """Draws in coordinates in which the prior is standard normal, (draws, parameters)."""
        # Samplers may have parameters in order in coordinates of their own: where they lie among one another.
        if self.sample is not None and not any(isinstance(each, Increasing) for each in self.problem.constraints):
            return self.sample.flat
        return np.stack([normal_scores(p, self.draws[n]) for n, p in self.problem.priors.items()], axis=1)

    @cached_property
    def visits(self) -> Visits:
        """Regions of the elements' laws that the record visits, from at most 128 simulated draws; empty without any."""
        if not len(self.weights):
            return Visits()
        count = min(_VISITING, len(self.weights), max(MOST // self.problem.record.samples, 16))
        try:
            return visits(self.problem, self.resampled(0, count), self.effective_draws)
        except Exception:  # a result is not lost because its draws cannot be simulated: others tell of that
            return Visits()

    @property
    def regions_visited(self) -> Numbers:
        """Probability of every number of regions that the record visits, by element, with Monte Carlo errors."""
        return Numbers(self.visits.numbers(), self.visits.errors())

    def leanings(self) -> dict[str, Leaning]:
        """Ends of priors that posteriors lean on, by parameter: there the prior decides how far an interval goes."""
        effective = self.least_effective
        if effective < _FEWEST:
            return {}
        pairs = zip(self.problem.priors.items(), self.scores().T, strict=True)
        found = {name: leaning(prior, z, self.weights, effective) for (name, prior), z in pairs}
        return {name: each for name, each in found.items() if each is not None}

    def mean(self) -> dict[str, float]:
        """Posterior mean of every parameter."""
        self._require_draws()
        return {name: float(self.weights @ values) for name, values in self.draws.items()}

    def standard_deviation(self) -> dict[str, float]:
        """Posterior standard deviation of every parameter."""
        means = self.mean()
        return {n: float(np.sqrt(self.weights @ (v - means[n]) ** 2)) for n, v in self.draws.items()}

    def interval(self, name: str, prob: float = PROB) -> Interval:
        """Central interval of a parameter that holds a posterior probability."""
        self._require_draws()
        if name not in self.draws:
            raise InvalidInput("interval.name", "a parameter", repr(name), nearest(name, tuple(self.draws)))
        ends = tails("interval", prob)
        return Interval(*(weighted_quantile(self.draws[name], self.weights, each) for each in ends))

    def best(self) -> dict[str, float]:
        """The draw with the smallest distance, or the largest likelihood."""
        self._require_draws()
        order = self.distances if len(self.distances) else -self.log_likelihoods
        return {name: float(values[np.argmin(order)]) for name, values in self.draws.items()}

    def diagnostics(self) -> Diagnosis:
        """Whether the draws can be believed, and what the record told of each parameter; print it for a table.

        Draws with weights have no chains: there R-hat, tails and what was learned are NaN.
        """
        self._require_draws()
        if self.sample is None or self.sample.weights is not None:
            return diagnosis_of_weighted(self.draws, self.weights, self.sample)
        return diagnosis(self.sample, self.draws)

    def _repr_html_(self) -> str:
        if not len(self.weights):
            return card(f"Model: {self.name}", (), (), ["It has no draws."])
        means, deviations = self.mean(), self.standard_deviation()
        rows = [
            (name, f"{means[name]:.5g}", f"{deviations[name]:.2g}", "{:.5g} … {:.5g}".format(*self.interval(name)))
            for name in means
        ]
        head = ("parameter", "mean", "deviation", f"{100 * PROB:g} % interval")
        return card(f"Model: {self.name}", head, rows, [f"Worth {self.effective_draws:,.0f} independent draws."])

    def resampled(self, seed: int, count: int) -> dict[str, np.ndarray]:
        """Equally weighted draws, for predictions and pictures."""
        self._require_draws()
        chosen = np.random.default_rng(seed).choice(len(self.weights), count, p=self.weights)
        return {name: values[chosen] for name, values in self.draws.items()}

    def _require_draws(self) -> None:
        if not len(self.weights):
            remedy = "ask a model that has"
            raise InvalidInput(f"model {self.name!r}", "draws within the threshold", "none", remedy)


def _probability(model: ModelPosterior) -> tuple[str, str]:
    """Of a model, and its standard error, in words where they are not known."""
    if np.isnan(model.probability):
        return "not known", ""
    return f"{model.probability:.3f}", f"{model.standard_error:.3f}"


@dataclass(frozen=True)
class Level:
    """One line of the trace of a run: what was done, with which model, and what it had cost by then."""

    stage: str
    model: str
    threshold: float
    followed: float
    acceptance: float
    particles: tuple[int, ...]
    probabilities: tuple[float, ...]
    simulations: int
    seconds: float
    done: float = float("nan")
    """Share of the work, as far as can be said."""
    rhat: float = float("nan")
    """Largest R-hat of the parameters so far, of a method that has chains."""


@dataclass(frozen=True)
class Posterior:
    """All models after the record; `vibayes.infer` makes it.

    Attributes:
        models: in the order they were posed.
        threshold: of distance, the largest that counts; NaN for a method that works with a likelihood.
        trace: what happened, level by level.
        seconds: the whole inference, compilation included.
        notes: what must be known of the result; empty if all is well.
        white_noise: measured values n, where draws count by ρ^(-n/2) of their distance ρ, the likelihood of white noise
            of unknown size; 0 where all within the threshold count alike, and for a method that works with a
            likelihood of its own.
    """

    models: tuple[ModelPosterior, ...]
    threshold: float
    trace: tuple[Level, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    white_noise: int = 0

    @property
    def selected(self) -> ModelPosterior:
        """The most probable model."""
        if not any(model.probability > 0 for model in self.models):
            got = "; ".join(self.notes) or "none"
            if any(np.isnan(model.probability) for model in self.models):
                remedy = "let the run go on to its end, or take a model by its name, as posterior['linear']"
                raise InvalidInput("Posterior.selected", "probabilities of the models", f"not known: {got}", remedy)
            raise InvalidInput("Posterior.selected", "a model within the threshold", got, "see Posterior.notes")
        return max(self.models, key=lambda model: model.probability)

    @property
    def probabilities(self) -> dict[str, float]:
        """Of the models, by name."""
        return {model.name: model.probability for model in self.models}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Of the probabilities, by the name of the model."""
        return {model.name: model.standard_error for model in self.models}

    @cached_property
    def regions_visited(self) -> Numbers:
        """Probability of every number of regions that the record visits, by element, whichever model.

        A model with more regions is no more than one with fewer where a break point lies beyond the motion: this number
        says what the record shows. Draws of every model are simulated when it is asked for first.
        """
        return over_models([(m.probability, m.standard_error, m.visits) for m in self.models])

    @property
    def simulations(self) -> int:
        """Of all models."""
        return sum(model.simulations for model in self.models)

    def __getitem__(self, name: str) -> ModelPosterior:
        for model in self.models:
            if model.name == name:
                return model
        names = tuple(model.name for model in self.models)
        raise InvalidInput("Posterior[...]", "the name of a model", repr(name), nearest(name, names))

    def __iter__(self) -> Iterator[ModelPosterior]:
        return iter(self.models)

    def below(self, threshold: float) -> dict[str, float]:
        """Probabilities of the models at a smaller threshold, within which all counts alike, from the same draws."""
        if np.isnan(self.threshold):
            got, remedy = "one that works with a likelihood", "see Posterior.probabilities"
            raise InvalidInput("Posterior.below", "a method that works with a distance", got, remedy)
        logs = []
        for model in self.models:
            inside = model.distances <= threshold if len(model.weights) else np.zeros(0, bool)
            with np.errstate(divide="ignore"):
                weights = np.log(model.weights[inside]) + self._log_odds(model.distances[inside])
            prior = np.log(model.problem.prior_probability)
            mass = np.logaddexp.reduce(weights) if inside.any() else -np.inf
            logs.append(model.log_evidence + prior + mass)
        top = max(logs)
        if not np.isfinite(top):
            return {model.name: 0.0 for model in self.models}
        shares = np.exp(np.array(logs) - top)
        return dict(zip(self.probabilities, (shares / shares.sum()).tolist(), strict=True))

    def _log_odds(self, distances: np.ndarray) -> np.ndarray:
        """Of counting alike against counting by the likelihood of white noise."""
        return -Kernel(self.white_noise).log_weights(distances)

    def _repr_html_(self) -> str:
        rows = [
            (
                m.name,
                *_probability(m),
                f"{m.effective_draws:,.0f}",
                f"{m.simulations:,}",
            )
            for m in self.models
        ]
        head = ("model", "probability", "error", "effective draws", "simulations")
        return card(f"Posterior of {len(self.models)} models", head, rows, self.notes)

    def _within(self) -> str:
        if self.white_noise:
            return f"likelihood of white noise, distances up to {self.threshold:.4g}"
        return f"threshold {self.threshold:.4g}"

    def summary(self) -> str:
        """A few lines for people."""
        cost = f"{self.simulations:,} simulations, {self.seconds:.1f} s"
        lines = [f"{self._within()}, {cost}" if np.isfinite(self.threshold) else cost]
        width = max(len(model.name) for model in self.models)
        for model in self.models:
            error = f" ± {model.standard_error:.2f}" if model.probability > 0 else ""
            failed = f"  ({model.failures:,} of {model.simulations:,} simulations failed)" if model.failures else ""
            seen = model.regions_visited.words() if model.probability > 0 else ""
            seen = f"  regions visited: {seen}" if seen else ""
            lines.append(f"  {model.name:<{width}}  {_probability(model)[0]:>6}{error}{seen}{failed}")
        if len(self.models) > 1 and (words := self.regions_visited.words()):
            lines.append(f"regions that the record visits, whichever model: {words}")
        if any(model.probability > 0 for model in self.models):
            chosen = self.selected
            means, leans = chosen.mean(), chosen.leanings()
            lines.append(f"{chosen.name}:")
            wide = max(len(name) for name in means)
            for name, mean in means.items():
                low, high = chosen.interval(name)
                end = f"   leans on the end of its prior, {leans[name].end:.4g}" if name in leans else ""
                lines.append(f"  {name:<{wide}}  {mean:.5g}   {100 * PROB:g} % in {low:.5g} … {high:.5g}{end}")
            if chosen.sample is not None:
                lines.append(f"  {chosen.diagnostics().line()}")
            if chosen.problem.beginning:
                lines.append(f"  {chosen.problem.beginning}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
