"""What the studies with solvers in the likelihood share: figures of a posterior, errors of its draws, and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
from output_only import deliver

import vibayes as vb

__all__ = ["deliver", "draw", "errors_of", "figures_of", "options", "readings_of"]


def options(description: str | None) -> argparse.Namespace:
    """What every study accepts."""
    from arguments import parser_of

    return parser_of(description, "a short record and few particles").parse_args()


def figures_of(posterior: vb.Posterior, truth: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The numbers every study reports."""
    model = posterior.selected
    assert model.sample is not None
    state = model.sample.state
    means = model.mean()
    result: dict[str, Any] = {
        "posterior_mean": means,
        "ci95": {name: list(model.interval(name)) for name in means},
        "log_evidence": model.log_evidence,
        "log_evidence_error": model.log_evidence_error,
        "rejuvenations": len(state.rejuvenations),
        "rejuvenated_after": [each.sample for each in state.rejuvenations],
        "acceptance": float(np.mean([each.acceptance for each in state.rejuvenations] or [np.nan])),
        "likelihoods": posterior.simulations,
        "seconds": posterior.seconds,
        "notes": list(posterior.notes),
    }
    if truth is not None:
        result["truth_in_95"] = {name: value in model.interval(name) for name, value in truth.items()}
    return result


def readings_of(
    structure: vb.Structure, record: vb.Record, draws: Mapping[str, np.ndarray], solver: vb.Solver, hold: vb.Hold
) -> np.ndarray:
    """What every draw does under the inputs of a record, (draws, samples, outputs)."""
    return vb.solve(vb.solving(structure, record, 1.0, solver, hold), draws).means


def errors_of(simulated: np.ndarray, measured: np.ndarray) -> dict[str, float]:
    """Root mean square errors of draws (draws, samples): their mean, least and largest."""
    errors = np.sqrt(np.mean((simulated - measured) ** 2, axis=1))
    return {"rmse_mean": float(errors.mean()), "rmse_min": float(errors.min()), "rmse_max": float(errors.max())}


def draw(posterior: vb.Posterior, truth: Mapping[str, float] | None, chosen: argparse.Namespace) -> None:
    """Parameters, pairs of them, and how particles fared along the record."""
    if not chosen.out:
        return
    from vibayes import report

    chosen.out.mkdir(parents=True, exist_ok=True)
    model = posterior.selected
    report.save(report.figure_of_parameters(model, truth), chosen.out / "parameters.png")
    report.save(report.figure_of_pairs(model, truth), chosen.out / "pairs.png")
    report.save(report.figure_of_particles(model), chosen.out / "particles.png")
    problem = model.problem
    found = vb.solve(problem.filtering(), model.resampled(chosen.seed, 32))
    (name,), level = found.names, problem.noise
    noise = {name: model.mean()[level] if isinstance(level, str) else float(level)}
    measured = {name: np.asarray(problem.record.output)[:, 0]}
    last = float(found.times[-1])
    figure = report.figure_of_uncertainties(found, noise, measured, span=(last - min(0.3, last), last))
    report.save(figure, chosen.out / "uncertainties.png")
