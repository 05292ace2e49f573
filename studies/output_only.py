"""What the studies of output-only identification share: the record, the run, its figures and its JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arguments import parser_of
from augmented import augmented

import vibayes as vb
from vibayes.posterior import ModelPosterior

QUICK = "a short record and few draws"


def options(description: str | None) -> argparse.Namespace:
    """What every study accepts."""
    return parser_of(description, QUICK).parse_args()


@dataclass(frozen=True)
class Measured:
    """A simulated record, the standard deviations of its noise, and the true responses of some sensors."""

    record: vb.Record
    noise: list[float]
    truth: np.ndarray
    """(samples, responses)."""
    peak_input: float
    """Largest value of the excitation."""


def measure(
    structure: vb.Structure,
    values: Mapping[str, float],
    seed: int,
    rate: float,
    samples: int,
    responses: Sequence[vb.Sensor],
    noise: float = 0.1,
    refinement: int = 20,
) -> Measured:
    """Draw an excitation, simulate with located events, and add noise in proportion to the root mean square."""
    force = vb.realise(seed, structure, values, rate=rate, samples=samples, refinement=refinement)
    peak, count = float(np.abs(force.values).max()), len(structure.sensors)
    everything = structure.measuring(*structure.sensors, *responses)
    clean = np.asarray(vb.simulate(everything, force, values, states=False).outputs)[::refinement]
    levels = noise * np.sqrt(np.mean(clean[:, :count] ** 2, axis=0))
    rng = np.random.default_rng([seed, 1])
    outputs = clean[:, :count] + levels * rng.standard_normal((samples, count))
    named = {sensor.name: outputs[:, i] for i, sensor in enumerate(structure.sensors)}
    return Measured(vb.Record.from_arrays(rate=rate, output=named), levels.tolist(), clean[:, count:], peak)


def figures_of_model(model: ModelPosterior) -> dict[str, Any]:
    """The numbers of one model, where no truth is known."""
    judged, means = list(model.diagnostics()), model.mean()
    return {
        "posterior_mean": means,
        "ci95": {name: list(model.interval(name)) for name in means},
        "min_ess": min(each.ess_bulk for each in judged),
        "min_ess_tail": min(each.ess_tail for each in judged),
        "rhat_max": max(each.rhat for each in judged),
        "log_evidence": model.log_evidence,
        "log_evidence_error": model.log_evidence_error,
    }


def figures_of(posterior: vb.Posterior, truth: Mapping[str, float]) -> dict[str, Any]:
    """The numbers every study reports."""
    model = posterior.selected
    means = model.mean()
    return figures_of_model(model) | {
        "error_percent": {name: 100.0 * abs(means[name] / value - 1.0) for name, value in truth.items()},
        "truth_in_95": {name: value in model.interval(name) for name, value in truth.items()},
        "likelihoods": posterior.simulations,
        "seconds": posterior.seconds,
        "notes": list(posterior.notes),
    }


def nrmse(estimate: np.ndarray, truth: np.ndarray) -> list[float]:
    """Root mean square error of each column over the root mean square of the truth."""
    return (np.sqrt(np.mean((estimate - truth) ** 2, axis=0)) / np.sqrt(np.mean(truth**2, axis=0))).tolist()


def inside(found: vb.Estimate, truth: np.ndarray) -> list[float]:
    """Share of the samples of each column within its 95 % band."""
    return np.mean(np.abs(found.mean - truth) < 1.96 * np.maximum(found.deviation, 1e-300), axis=0).tolist()


def identified(
    problem: vb.Problem, truth: Mapping[str, float], method: Any, chosen: argparse.Namespace
) -> tuple[vb.Posterior, dict[str, Any]]:
    """The posterior and its numbers, and what the augmented filter makes of the record."""
    posterior = vb.infer(chosen.seed, problem, method, progress=not chosen.json)
    return posterior, figures_of(posterior, truth) | {"augmented_ukf": augmented(problem)}


def run(
    title: str, problem: vb.Problem, measured: Measured, truth: Mapping[str, float], responses: Sequence[vb.Sensor],
    method: Any, chosen: argparse.Namespace, beside: Callable[[vb.Posterior], dict[str, Any]] = lambda posterior: {},
) -> dict[str, Any]:  # fmt: skip
    """Identify, compare, estimate and print; ``beside`` gives further figures of the posterior."""
    posterior, result = identified(problem, truth, method, chosen)
    print(f"{title}, seed {chosen.seed}\n{posterior.summary()}", flush=True)
    result |= beside(posterior)
    draws = posterior.selected.resampled(chosen.seed, 8 if chosen.quick else 64)
    found = vb.estimate(problem.filtering(), draws, responses)
    names = [sensor.name for sensor in responses]
    result["nrmse"] = dict(zip(names, nrmse(found.mean, measured.truth), strict=True))
    result["inside_95"] = dict(zip(names, inside(found, measured.truth), strict=True))
    result["peak_input"] = measured.peak_input
    if not chosen.quick:
        whole = vb.estimate(problem.filtering(), draws, responses, smoothed=True)
        result["nrmse_smoothed"] = dict(zip(names, nrmse(whole.mean, measured.truth), strict=True))
        result["inside_95_smoothed"] = dict(zip(names, inside(whole, measured.truth), strict=True))
    if chosen.out:
        draw(posterior, truth, found, measured, chosen.out)
    deliver(result, chosen)
    return result


def deliver(result: Mapping[str, Any], chosen: argparse.Namespace) -> None:
    """As a file and as the last line, where they were asked for."""
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "result.json").write_text(json.dumps(result, indent=1))
    if chosen.json:
        print(json.dumps(result))


def skip(file: str, chosen: argparse.Namespace) -> None:
    """End in peace where a file of measured data is not there."""
    if not (chosen.data / file).exists():
        print(json.dumps({"skipped": f"no file {file} in {chosen.data}"}))
        raise SystemExit(0)


def draw(posterior, truth, found: vb.Estimate, measured: Measured, out: Path) -> None:
    """Parameters, pairs of them, responses and forces that were not measured, and the loop of the first spring."""
    from vibayes import report

    out.mkdir(parents=True, exist_ok=True)
    real = dict(zip(found.names, measured.truth.T, strict=True))
    report.save(report.figure_of_parameters(posterior.selected, truth), out / "parameters.png")
    report.save(report.figure_of_pairs(posterior.selected, truth), out / "pairs.png")
    report.save(report.figure_of_estimate(found, real), out / "responses.png")
    force = next((name for name in found.names if name.startswith("element force")), None)
    if force:
        report.save(report.figure_of_estimated_loop(found, found.names[0], force, real), out / "loop.png")
