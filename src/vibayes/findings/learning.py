"""What the record told of each parameter: nothing, more than the prior allows, or a combination with another.

`vibayes.leaning` has the criteria.
"""

from __future__ import annotations

import numpy as np

from vibayes.findings.finding import Finding
from vibayes.leaning import Cut, Leaning, cut_by_constraints, like_prior, listed, overlap
from vibayes.posterior import ModelPosterior
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.samplers.ridges import ridges

_FAR = 3.0
"""Prior standard deviations from the middle of the prior at which a posterior speaks against it."""
_FEWEST = 50
"""Effective draws that tell a correlation or an overlap."""
_TOLD = 1500
"""Draws that ridges are sought in."""


def of_priors(model: ModelPosterior) -> list[Finding]:
    """Parameters of which the record says nothing, and such as the prior hardly allows."""
    effective = model.least_effective
    if effective < _FEWEST:
        return []
    found, scores, leans = [], model.scores(), model.leanings()
    for (name, _), z in zip(model.problem.priors.items(), scores.T, strict=True):
        if like_prior(z, model.weights, effective):
            common = 100 * overlap(z, model.weights)
            words = f"The record says nothing of {name}: posterior and prior overlap by {common:.0f} %"
            found.append(Finding("notice", "prior", words, "fix it, or measure something that it changes"))
        elif name in leans:
            found.append(_leans(name, leans[name]))
        elif abs(off := weighted_quantile(z, model.weights, 0.5)) > _FAR:
            words = f"The prior hardly allows what the record says of {name}: {off:+.1f} standard deviations off"
            found.append(Finding("warning", "prior", words, "widen the prior, or find out who is right"))
    found += [_cut(each) for each in cut_by_constraints(model.problem, scores, model.weights)]
    return found or [Finding("good", "prior", "The record tells something of every parameter, within the prior")]


def _leans(name: str, found: Leaning) -> Finding:
    """A posterior that its prior ends."""
    near = f"{100 * found.share:.0f} % of the draws lie in the tenth of the prior there"
    remedy = "widen the prior, if such values are possible; if not, quote the other end of the interval alone"
    if found.pressed:
        words = f"The record presses {name} against the end of its prior, {found.end:.4g}: {near}"
    else:
        density = f"its density there is {100 * found.density:.0f} % of the largest"
        words = f"The posterior of {name} leans on the end of its prior, {found.end:.4g}: {density}, and {near}"
    return Finding("warning", "prior", words, remedy)


def _cut(found: Cut) -> Finding:
    near = f"{100 * found.share:.0f} % of the draws lie within half a standard deviation of its border"
    words = f"The constraint {found.constraint} cuts the posterior of {listed(found.parameters)}: {near}"
    return Finding("warning", "prior", words, "see whether it must hold: the record would go beyond it")


def of_ridges(model: ModelPosterior) -> list[Finding]:
    """Parameters of which the record tells a combination only."""
    if len(model.problem.parameters) < 2 or model.least_effective < _FEWEST:
        return []
    chosen = np.random.default_rng(0).choice(len(model.weights), _TOLD, p=model.weights)
    values = np.stack(list(model.draws.values()), axis=1)[chosen]
    found = [
        Finding("notice", "ridge", said.sentence, said.remedy)
        for said in ridges(model.scores()[chosen], values, tuple(model.draws))
    ]
    return found or [Finding("good", "ridge", "No two parameters can be told only together")]
