"""What a page says first: which model, how sure, its parameters, and what to distrust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from vibayes.findings import Finding, worst
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.report.words import number, probability, sparkline, table, unit_words

_TRUST = {
    "good": "Nothing speaks against these numbers.",
    "notice": "The numbers can be relied on; a few things are worth knowing.",
    "warning": "Take the numbers with care: see what to distrust.",
    "serious": "Do not rely on these numbers yet: see what to distrust.",
}
_TAGS = {"good": "good", "notice": "note", "warning": "warning", "serious": "serious"}


def verdict(posterior: Posterior, findings: Sequence[Finding]) -> str:
    """Two sentences: which model and how surely, and how far to trust that."""
    trust = _TRUST[worst(findings)]
    if worst(findings) == "notice" and any(each.about == "prior" and each.rank for each in findings):
        trust = (
            "The numbers can be relied on, but for parameters of which the record says nothing: theirs are the prior's."
        )
    return f'<div class="verdict"><p>{_sentence(posterior)}</p><p>{trust}</p></div>'


def _sentence(posterior: Posterior) -> str:
    drawn = [model for model in posterior if len(model.weights)]
    ranked = sorted((m for m in posterior if m.probability > 0), key=lambda m: m.probability, reverse=True)
    within = f" within a threshold of {number(posterior.threshold)}" if np.isfinite(posterior.threshold) else ""
    if not ranked and not drawn and any(np.isnan(model.probability) for model in posterior):
        return "The run was ended before the models were weighed: which explains the record is not known."
    if not ranked and not drawn:
        return "None of the models has been found to explain the record."
    if not ranked:
        names = ", ".join(f"<strong>{escape(model.name)}</strong>" for model in drawn)
        return f"The parameters of {names} were found; which model is the most probable is not known."
    first, *others = ranked
    name = f"<strong>{escape(first.name)}</strong>"
    if len(posterior.models) == 1:
        explains = f" It explains the record{within}." if within else ""
        return f"The model {name} was fitted to the record; there was no other to compare it with.{explains}"
    seen = posterior.regions_visited.words()
    seen = (
        f" Regions that the record visits, whichever model, with their probabilities: {escape(seen)}." if seen else ""
    )
    sentence = f"The most probable model is {name}, with probability {probability(first)}"
    if not others:
        why = "the others are far behind" if posterior.white_noise else f"no other explains the record{within}"
        return f"{sentence}: {why}.{seen}"
    return f"{sentence}; next comes {escape(others[0].name)} with {probability(others[0])}.{seen}"


def parameters(model: ModelPosterior, units: Mapping[str, str], prob: float) -> str:
    """Table of one model's parameters, each with a small picture of what is believed of it."""
    means, deviations = model.mean(), model.standard_deviation()
    quantiles = (np.arange(2000) + 0.5) / 2000
    rows = []
    for name, values in model.draws.items():
        low, high = model.interval(name, prob)
        prior = np.asarray(model.problem.priors[name].icdf(quantiles), float)
        words = (
            f"posterior of {name}: mean {number(means[name])}, {100 * prob:g} % from {number(low)} to {number(high)}"
        )
        shown = values if len(values) <= 20000 else values[:: len(values) // 20000]
        weights = model.weights if len(values) <= 20000 else model.weights[:: len(values) // 20000]
        picture = sparkline(shown, weights / weights.sum(), prior, words)
        unit = f' <span class="unit">{escape(unit_words(units[name]))}</span>' if units.get(name) else ""
        interval = f"{number(low)} … {number(high)}"
        rows.append((escape(name) + unit, number(means[name]), interval, picture, number(deviations[name], 2)))
    head = ("parameter", "mean", f"{100 * prob:g} % interval", "belief", "standard deviation")
    note = "Bars: belief after the record; line: before it, where the bars are."
    return table(f"Parameters of {model.name}", head, rows, raw=(0, 3)) + f'<p class="soft">{note}</p>'


def findings_of(findings: Sequence[Finding]) -> str:
    """What to distrust, the gravest first, and what was looked at and found in order."""
    bad, good = ([f for f in findings if bool(f.rank) is wanted] for wanted in (True, False))
    parts = [f'<ul class="findings">{"".join(map(_finding, bad))}</ul>' if bad else "<p>Nothing was found wrong.</p>"]
    if good:
        listed = "".join(map(_finding, good))
        words = f"{len(good)} checks found nothing wrong"
        parts.append(f'<details><summary>{words}</summary><ul class="findings">{listed}</ul></details>')
    return "".join(parts)


def _finding(finding: Finding) -> str:
    remedy = ""
    if finding.remedy:
        words = finding.remedy[0].upper() + finding.remedy[1:]
        remedy = f'<span class="remedy">{escape(words)}.</span>'
    tag = f'<span class="tag">{_TAGS[finding.severity]}</span>'
    return f'<li class="{finding.severity}">{tag}{escape(finding.sentence)}.{remedy}</li>'


def models(posterior: Posterior) -> str:
    """Table of all models."""
    head = ("model", "probability", "log evidence", "unknowns", "effective draws", "simulations", "of these failed")
    seen = [m.regions_visited.words() for m in posterior]
    head = (*head, "regions visited") if any(seen) else head
    rows = []
    for m, visited in zip(posterior, seen, strict=True):
        error = f" ± {number(m.log_evidence_error, 2)}" if np.isfinite(m.log_evidence) else ""
        evidence = "not known" if np.isnan(m.log_evidence) else number(m.log_evidence) + error
        rows.append(
            (m.name, probability(m), evidence, str(len(m.problem.parameters)),
             f"{m.effective_draws:,.0f}", f"{m.simulations:,}", f"{m.failures:,}",
             *([visited or "–"] if any(seen) else []))
        )  # fmt: skip
    return table("Models that were compared", head, rows)
