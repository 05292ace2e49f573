"""Results of runs as commands tell them: lines for people, plain numbers for programs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from vibayes.cli.speech import Speech
from vibayes.errors import InvalidInput
from vibayes.interval import PROB
from vibayes.io.files import require_replaceable
from vibayes.io.stored_results import StoredModel, StoredPosterior
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.runs import Run, report_run
from vibayes.visits import Numbers


def told(run: Run, posterior: Posterior, speech: Speech, page: bool) -> None:
    """What came of a run, and where it is, and the page of one that is done."""
    speech.say(posterior.summary())
    speech.say()
    speech.say(f"Posterior: {run.folder / 'posterior.nc'}")
    written = None
    if run.state == "interrupted":
        pass  # how to go on is said on standard error, also where nothing else is said
    elif page and _is_of_the_user(run.folder / "report.html"):
        speech.warn(f"'{run.folder / 'report.html'}' is not replaced; for a page: vibayes report {run.folder} -o FILE")
    elif page:
        written = str(report_run(run))
        speech.say(f"Report:    {written}")
    else:
        speech.say(f"A page to forward: vibayes report {run.folder}")
    speech.result({"folder": str(run.folder), "state": run.state, "report": written, **results_of(posterior)})


def _is_of_the_user(path: Path) -> bool:
    try:
        require_replaceable("", path)
    except InvalidInput:
        return True
    return False


def results_of(posterior: Posterior | StoredPosterior) -> dict[str, Any]:
    """A posterior in numbers that JSON can hold; None for what is not known."""
    return {
        "models": [model_of(model) for model in posterior.models],
        "regions_visited": regions_of(posterior.regions_visited),
        "threshold": number(posterior.threshold),
        "simulations": posterior.simulations,
        "seconds": round(posterior.seconds, 3),
        "notes": list(posterior.notes),
    }


def model_of(model: ModelPosterior | StoredModel) -> dict[str, Any]:
    """One model likewise."""
    parameters = {}
    if len(model.weights):
        means, deviations = model.mean(), model.standard_deviation()
        for name in model.draws:
            low, high = model.interval(name)
            parameters[name] = {
                "mean": means[name], "standard_deviation": deviations[name], "low": low, "high": high, "prob": PROB,
            }  # fmt: skip
    numbers = ("probability", "standard_error", "log_evidence", "log_evidence_error")
    return {
        "name": model.name,
        **{name: number(getattr(model, name)) for name in numbers},
        "draws": len(model.weights),
        "simulations": model.simulations,
        "failures": model.failures,
        "parameters": parameters,
        "regions_visited": regions_of(model.regions_visited),
    }


def regions_of(found: Numbers) -> dict[str, Any]:
    """Probabilities of numbers of visited regions, by element, and their standard errors; empty without regions."""
    return {
        name: {
            "probabilities": {str(n): p for n, p in each.items()},
            "standard_errors": {str(n): e for n, e in found.errors[name].items()},
        }
        for name, each in found.probabilities.items()
    }


def number(value: float) -> float | None:
    """A number, or None for what JSON cannot say.

    Examples:
        >>> number(float("nan")), number(2.5)
        (None, 2.5)
    """
    return float(value) if math.isfinite(value) else None


def usable(posterior: Posterior) -> bool:
    """Whether there is a model with draws."""
    return any(len(model.weights) for model in posterior.models)
