"""What the studies of piecewise-linear oscillators share: excitation, candidates, the run, its figures and its JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from arguments import parser_of
from baselines import ahead_of, fitted, nmse, rmse, told

import vibayes as vb
from vibayes import report

NAMES = ("linear", "bilinear", "trilinear", "quadlinear")
RATE, SAMPLES, NOISE = 100.0, 1000, 0.05
STIFFNESSES = 700.0, 1e3, 1.5e3, 2.2e3, 3.2e3, 5e3, 8e3
"""From which the best linear spring is sought."""
QUICK = vb.FollowAndWeigh(fits=80, particles=250, draws=750, rounds=2)
QUICK_LIKELIHOOD = vb.DataAnnealedSMC(effective=100, populations=2, chains=40, max_sweeps=40)


@dataclass(frozen=True)
class Case:
    """One published example."""

    title: str
    true_structure: vb.Structure
    candidate: Callable[..., vb.Problem]
    """The problem of a record and a number of break points."""
    truth: dict[str, float] | None
    """Of the selected model's parameters, if it is the true one."""
    noise: float = NOISE
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of our method, other than by default."""


def measure(structure: vb.Structure, seed: int, noise: float, samples: int) -> tuple[vb.Record, float]:
    """A simulated record, and the NMSE of the true parameters on it."""
    force = vb.band_limited_noise(seed, RATE, samples, 2.0, high_hz=20.0, hold=vb.StraightLines())
    clean = np.asarray(vb.simulate(structure, force, states=False).outputs)
    rng = np.random.default_rng([seed, 1])
    measured = clean + noise * clean.std() * rng.standard_normal(clean.shape)
    record = vb.Record.from_arrays(
        rate=RATE,
        input={"force": np.asarray(force.values)[:, 0]},
        output={"acceleration": measured[:, 0]},
        units={"force": "N", "acceleration": "m/s^2"},
    )
    return record, vb.NMSE().between(record, clean)


def names_of(letter: str, count: int) -> tuple[str, ...]:
    """k1, k2, …"""
    return tuple(f"{letter}{i}" for i in range(1, count + 1))


def options(description: str | None, **more: dict[str, Any]) -> argparse.Namespace:
    """What every study accepts, which scheme, and further options of one study."""
    parser = parser_of(description, "two candidates, a third of the record, fewer draws")
    parser.add_argument("--published", action="store_true", help="with the published scheme instead of ours")
    readings = (
        "what algorithm 5 of the published scheme draws models from: their shares of the active particles, or the prior"
    )
    parser.add_argument("--models", choices=("population", "prior"), default="population", help=readings)
    for name, settings in more.items():
        parser.add_argument(f"--{name}", **settings)
    return parser.parse_args()


def method_of(
    chosen: argparse.Namespace, settings: Mapping[str, Any] = MappingProxyType({}), particles: int = 1000,
    first: float = 200.0,
) -> Any:  # fmt: skip
    """Ours or the published one, with its number of particles and first threshold."""
    if chosen.published:
        return vb.ABCNestedSampling(200 if chosen.quick else particles, first, models=chosen.models)
    return replace(QUICK if chosen.quick else vb.FollowAndWeigh(), **settings)


def run(case: Case, description: str | None, **more: dict[str, Any]) -> None:
    """Identify, draw and print; values of further options go to the candidates."""
    chosen = options(description, **more)
    own = {name: getattr(chosen, name) for name in more}
    record, floor = measure(case.true_structure, chosen.seed, case.noise, 300 if chosen.quick else SAMPLES)
    problems = [case.candidate(record, breaks, **own) for breaks in ((1, 2) if chosen.quick else range(4))]
    posterior = vb.infer(chosen.seed, problems, method_of(chosen, case.settings), progress=not chosen.json)
    likelihood = QUICK_LIKELIHOOD if chosen.quick else vb.DataAnnealedSMC()
    trajectory = vb.infer(chosen.seed, problems, likelihood, progress=not chosen.json)
    print(f"{case.title}, seed {chosen.seed}: noise floor {floor:.4g}\n{posterior.summary()}")
    print(f"By the likelihood of trajectories:\n{trajectory.summary()}")
    result = figures_of(posterior) | {"noise_floor": floor}
    result |= {name: answer_of(each, case.truth) for name, each in (("abc", posterior), ("trajectory", trajectory))}
    model = posterior.selected
    if case.truth is not None and set(case.truth) == set(model.draws):
        for percent in (90, 95):
            inside = {name: value in model.interval(name, percent / 100.0) for name, value in case.truth.items()}
            result[f"truth_in_{percent}"] = inside
    result["mean_model_nmse"] = vb.predict(chosen.seed, model, draws=20 if chosen.quick else 200).nmse_at_mean
    result["best_model_nmse"] = float(np.min(model.distances))
    result["naive"] = naive_of(record, STIFFNESSES[::3] if chosen.quick else STIFFNESSES)
    told(result["naive"])
    if chosen.out:
        draw(posterior, case, chosen.out, chosen.seed)
        (chosen.out / "result.json").write_text(json.dumps(result, indent=1))
    if chosen.json:
        print(json.dumps(result))


def naive_of(record: vb.Record, stiffnesses: Sequence[float]) -> dict[str, float]:
    """NMSE of the last value and a parabola, a sample ahead, and of the best linear oscillator on the record itself."""
    outputs = record.output[:, 0]
    members, sensors = [vb.Spring("k"), vb.Damper("c")], [vb.RelativeAcceleration("mass")]
    oscillator = vb.Structure.single_dof("m", members, sensors=sensors)
    errors = []
    for k in stiffnesses:  # least squares ends in the valley where it begins
        values = fitted(oscillator, record, {"m": 1.0, "c": 2.0, "k": k})
        signal = vb.Sampled(record.input, record.rate, vb.StraightLines())
        one = {name: np.full(4, value) for name, value in values.items()}
        errors.append(rmse(np.asarray(vb.simulate(oscillator, signal, one, states=False).outputs)[0, :, 0], outputs))
    naive = {**ahead_of(outputs), "linear_model": min(errors)}
    return {name: nmse(error, outputs) for name, error in naive.items()}


def figures_of(posterior: vb.Posterior) -> dict[str, Any]:
    """The numbers every study reports."""
    return {
        "selected": posterior.selected.name,
        "probabilities": posterior.probabilities,
        "standard_errors": posterior.standard_errors,
        "threshold": posterior.threshold,
        **regions_of(posterior),
        "posterior_mean": posterior.selected.mean(),
        "simulations": posterior.simulations,
        "seconds": posterior.seconds,
        "notes": list(posterior.notes),
    }


def answer_of(posterior: vb.Posterior, truth: Mapping[str, float] | None) -> dict[str, Any]:
    """One answer; parameters are those of the true model, if it is among the candidates, else of the selected one."""
    drawn = [model for model in posterior if len(model.weights)]
    right = [model for model in drawn if truth is not None and set(truth) == set(model.draws)]
    model = right[0] if right else posterior.selected
    answer = {
        "probabilities": posterior.probabilities,
        "log_evidence": {each.name: each.log_evidence for each in posterior},
        "log_evidence_error": {each.name: each.log_evidence_error for each in posterior},
        "ess": {each.name: each.least_effective for each in drawn},
        "parameters_of": model.name,
        "posterior_mean": model.mean(),
        "ci95": {name: list(model.interval(name, 0.95)) for name in model.draws},
        "regions_visited": regions_of(posterior)["regions_visited"],
        "simulations": posterior.simulations,
        "seconds": posterior.seconds,
        "notes": list(posterior.notes),
    }
    if right and truth is not None:
        answer["truth_in_95"] = {name: value in model.interval(name, 0.95) for name, value in truth.items()}
    return answer


def regions_of(posterior: vb.Posterior) -> dict[str, Any]:
    """Probabilities of numbers of regions that the record visits: whichever model, and of each model."""

    def plain(found: dict[str, dict[int, float]]) -> dict[str, Any]:
        told = {name: {str(n): p for n, p in each.items()} for name, each in found.items()}
        return next(iter(told.values())) if len(told) == 1 else told

    drawn = [model for model in posterior if len(model.weights)]
    return {
        "regions_visited": plain(posterior.regions_visited.probabilities),
        "regions_visited_errors": plain(posterior.regions_visited.errors),
        "regions_visited_by_model": {model.name: plain(model.regions_visited.probabilities) for model in drawn},
    }


def draw(posterior: vb.Posterior, case: Case, out: Path, seed: int) -> None:
    """Figures as in the paper, into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    model = posterior.selected
    report.save(report.figure_of_trace(posterior), out / "trace.png")
    truth = case.truth if case.truth is not None and set(case.truth) == set(model.draws) else None
    report.save(report.figure_of_parameters(model, truth), out / "parameters.png")
    report.save(report.figure_of_prediction(vb.predict(seed, model)), out / "prediction.png")
    assert isinstance(model.problem.model, vb.Structure)
    laws = (vb.PiecewiseLinearSpring, vb.PiecewiseLinearDamper)
    law = next((link.element for link in model.problem.model.links if isinstance(link.element, laws)), None)
    true_law = case.true_structure.links[-1].element
    motion = "velocity" if isinstance(law, vb.PiecewiseLinearDamper) else "deformation"
    if law is not None:
        figure = report.figure_of_force_map(model, law, truth=lambda x: vb.static_force(true_law, **{motion: x}))
        report.save(figure, out / "force_map.png")
