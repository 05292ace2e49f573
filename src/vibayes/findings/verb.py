"""The verb: everything there is to say on whether a result can be believed."""

from __future__ import annotations

from collections.abc import Callable

from vibayes.errors import InvalidInput
from vibayes.findings import comparison, coverage, draws, learning, reach, regions, run, whiteness
from vibayes.findings.finding import Finding
from vibayes.findings.residuals import Residuals, residuals_of
from vibayes.forking import require_usable_jax
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.prediction import Prediction, predict

_DRAWS = 100
"""That are simulated to see what the model leaves of the record."""
_OF_RANDOM = 32
"""With inputs of their own, from which only the size of the motion is taken."""
_OF_RESIDUALS: tuple[Callable[[Residuals], list[Finding]], ...] = (
    reach.of_fit, whiteness.of_residuals, whiteness.against_inputs, coverage.coverage,
)  # fmt: skip


def diagnose(
    posterior: Posterior, *, prediction: Prediction | None = None, residuals: Residuals | None = None
) -> tuple[Finding, ...]:
    """Say in plain sentences whether a result can be believed, and what to do where it cannot.

    Chains and draws, acceptance, evidence, what was learned against the prior, ridges, failures and notes are told from
    the posterior. Residuals, their coverage and the reach of the model need simulations of the most probable model:
    a hundred, unless a prediction is given.

    Args:
        posterior: of all models.
        prediction: of the record it was learnt from, by `vibayes.predict`, if there is one already.
        residuals: what the model leaves of the record, if they are known already.

    Returns:
        Findings, the gravest first; those that are "good" say what was looked at and found in order.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(60) / 10.0
        >>> noise = 0.01 * np.random.default_rng(0).normal(size=60)
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time) * np.cos(5.0 * time) + noise})
        >>> def decay(rate, unused):
        ...     return np.exp(-rate * time) * np.cos(5.0 * time)
        >>> priors = {"rate": vb.Uniform(0.1, 2.0), "unused": vb.Uniform(0.0, 1.0)}
        >>> posterior = vb.infer(0, vb.Problem(decay, record, priors), vb.FollowAndWeigh(particles=200, draws=800))
        >>> print(vb.diagnose(posterior)[0].sentence.split(":")[0])
        The record says nothing of unused
    """
    require_usable_jax("diagnose")
    if not isinstance(posterior, Posterior):
        got = type(posterior).__name__
        raise InvalidInput("diagnose.posterior", "a Posterior", got, "give what infer returns")
    found = [*reach.of_models(posterior), *comparison.of_models(posterior), *run.of_notes(posterior)]
    several = len(posterior.models) > 1
    for model in posterior:
        found += [*run.of_failures(model), *draws.of_evidence(model, several)]
    model = chosen(posterior)
    if model is not None:
        found += [*draws.of_sample(model), *learning.of_priors(model), *learning.of_ridges(model)]
        found += regions.of_visits(model)
        found += _of_record(model, prediction, residuals)
    return tuple(sorted(found, key=lambda finding: -finding.rank))


def chosen(posterior: Posterior) -> ModelPosterior | None:
    """The most probable model with draws; the first of them where probabilities are not known."""
    drawn = [model for model in posterior if len(model.weights)]
    return max(drawn, key=lambda model: model.probability if model.probability > 0 else 0.0, default=None)


def _of_record(model: ModelPosterior, prediction: Prediction | None, residuals: Residuals | None) -> list[Finding]:
    """What the model leaves of the record."""
    found = []
    needed = (residuals is None and not model.problem.likely) or model.problem.random
    if prediction is None and needed:
        try:
            prediction = predict(0, model, draws=_OF_RANDOM if model.problem.random else _DRAWS)
        except InvalidInput as trouble:
            return [Finding("serious", "reach", f"Draws cannot be simulated: {trouble.got}", trouble.remedy)]
    if residuals is None:
        residuals = residuals_of(model, prediction)
    if prediction is not None:
        found += reach.of_random(prediction)
    if residuals is not None:
        found += [finding for matter in _OF_RESIDUALS for finding in matter(residuals)]
    return found
