"""What the studies of backbone curves share: the published structure, its simulated test, posteriors, predictions."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from arguments import parser_of
from output_only import deliver

import vibayes as vb
from vibayes.posterior import ModelPosterior

NAMES = ("alpha1", "alpha2", "alpha3")
FIRST = vb.BackboneResidual(order=1, remainder=False)
"""The published likelihood: residuals of the first order with a constant scatter for each equation."""
SECOND = vb.BackboneResidual(order=2, scatter=vb.MeasuredScatter())
"""Second order; errors of points are carried through the equations, and the next term may be anything."""
ORDERS = "published", "first_order", "second_order"
NOISE, RATE, SECONDS = 5e-4, 4.0, 1500.0
"""Standard deviation of displacements, samples per second, and seconds of decay."""
SPAN, REACH = (0.8, 2.2), 2.5
"""Frequencies and amplitudes within which branches are followed."""


@dataclass(frozen=True)
class Sweep:
    """A sine that is swept towards a backbone: forces on both masses, rad/s from and to, and seconds."""

    backbone: str
    forces: tuple[float, float]
    start: float
    stop: float
    seconds: float = 12000.0


@dataclass(frozen=True)
class System:
    """One of the published parameter sets."""

    name: str
    coupling: float
    truth: Mapping[str, float]
    sweeps: tuple[Sweep, ...]

    def structure(self, known: bool = False) -> vb.Structure:
        """Two masses and three springs, whose cubic coefficients are unknown unless they are wanted known."""
        cubic = [self.truth[name] if known else name for name in NAMES]
        places = (("ground", "m1"), ("m1", "m2"), ("ground", "m2"))
        elements = []
        for place, linear, each, damper in zip(
            places, (1.0, self.coupling, 1.0), cubic, (2e-3, 1e-3, 2e-3), strict=True
        ):
            elements += [vb.Duffing(linear, each).between(*place), vb.Damper(damper).between(*place)]
        return vb.Structure({"m1": 1.0, "m2": 1.0}, elements, [vb.Force("m1"), vb.Force("m2")])


def options(description: str | None) -> argparse.Namespace:
    """What every study accepts."""
    return parser_of(description, "fewer draws in the predictions").parse_args()


def tested(system: System, seed: int) -> tuple[list[vb.ReleasedDecay], vb.BackbonePoints, vb.BackbonePoints]:
    """Sweep, release and record near every backbone; points of all, by least squares (ours) and by the moving window of
    the paper.
    """
    known = system.structure(known=True)
    modes = vb.linear_modes(known)
    tests, points, moving = [], [], []
    for number, sweep in enumerate(system.sweeps):
        chirp = vb.Chirp(1.0, sweep.start / (2.0 * np.pi), sweep.stop / (2.0 * np.pi), sweep.seconds)
        test = vb.released_decay(
            [seed, number], known, chirp, sweep.forces, seconds=SECONDS, rate=RATE, noise=NOISE
        )  # fmt: skip
        tests.append(test)
        points.append(vb.decay_points(test.decay, modes, backbone=sweep.backbone))
        moving.append(vb.decay_points(test.decay, modes, backbone=sweep.backbone, estimator=vb.MovingFourier()))
    return tests, vb.joined(points), vb.joined(moving)


def posed(system: System, points: vb.BackbonePoints, moving: vb.BackbonePoints) -> dict[str, vb.Problem]:
    """The paper's method (points by its moving window, first order, its priors); the same with our points; and second
    order with our points, priors that reach below zero, and every decade of σ.

    A true value of zero is at the very end of a prior from zero on, where no interval can hold it.
    """
    problems = {}
    flat, decades = vb.Uniform(0.0, 0.5), vb.LogUniform(1e-5, 0.5)
    for name, some, low, level, method in (
        ("published", moving, 0.0, flat, FIRST),
        ("first_order", points, 0.0, flat, FIRST),
        ("second_order", points, -1.0, decades, SECOND),
    ):
        priors = {each: vb.Uniform(low, 3.0) for each in NAMES} | dict.fromkeys(("sigma1", "sigma2"), level)
        problems[name] = vb.Problem(
            system.structure(), some, priors, name=name, noise=("sigma1", "sigma2"), filter=method
        )  # fmt: skip
    return problems


def identified(
    system: System, points: vb.BackbonePoints, moving: vb.BackbonePoints, chosen: argparse.Namespace
) -> dict[str, vb.Posterior]:
    """All posteriors, of 12,800 draws each."""
    method = vb.AdaptiveMetropolis(draws=100, chains=128, warmup=150)
    return {name: vb.infer(chosen.seed, problem, method) for name, problem in posed(system, points, moving).items()}


def figures_of(posterior: vb.Posterior, truth: Mapping[str, float]) -> dict[str, Any]:
    """The numbers of one posterior. An error in percent of zero is not defined: it is given of the largest instead."""
    model = posterior.selected
    means, largest = model.mean(), max(truth.values())
    errors = {name: abs(means[name] - value) for name, value in truth.items()}
    return {
        "posterior_mean": {name: means[name] for name in truth},
        "error_percent": {name: 100.0 * errors[name] / value if value else None for name, value in truth.items()},
        "error_percent_of_largest": {name: 100.0 * errors[name] / largest for name in truth},
        "sigma": {name: means[name] for name in ("sigma1", "sigma2")},
        "posterior_deviation": {name: float(np.std(model.draws[name])) for name in truth},
        "ci99": {name: list(model.interval(name, 0.99)) for name in truth},
        "truth_in_99": {name: value in model.interval(name, 0.99) for name, value in truth.items()},
        "draws": len(model.draws[NAMES[0]]),
        "min_ess": float(min(row.ess_bulk for row in model.diagnostics())),
        "seconds": posterior.seconds,
        "notes": list(posterior.notes),
    }


def table_of(result: Mapping[str, Any], truth: Mapping[str, float]) -> str:
    """Tables 3 and 4 of the paper: its method, the same with our points, and second order side by side."""
    heads = " | ".join(f"{head:>12} {'error':>9}" for head in ("published", "first order", "second order"))
    lines = [f"{'':8} {'true':>8} | {heads}  99 % interval"]
    for name, value in truth.items():
        cells = []
        for order in ORDERS:
            share = result[order]["error_percent"][name]
            shown = "–" if share is None else f"{share:.3f} %"
            cells.append(f"{result[order]['posterior_mean'][name]:12.6f} {shown:>9}")
        low, high = result["second_order"]["ci99"][name]
        lines.append(f"{name:8} {value:8.4g} | {' | '.join(cells)}  {low:.6f} … {high:.6f}")
    for name in ("sigma1", "sigma2"):
        cells = [f"{result[order]['sigma'][name]:12.3e} {'':>9}" for order in ORDERS]
        lines.append(f"{name:8} {'':>8} | {' | '.join(cells)}")
    return "\n".join(lines)


def branch_error(found: vb.Branch, true: vb.Branch) -> float:
    """Largest relative error of a backbone's frequency, at equal amplitudes of both masses."""
    place, frequency = found.amplitudes, found.frequencies
    errors = []
    for size, wanted in zip(true.amplitudes, true.frequencies, strict=True):
        steps = np.diff(place, axis=0)
        share = np.clip(np.sum((size - place[:-1]) * steps, axis=1) / np.sum(steps**2, axis=1), 0.0, 1.0)
        apart = np.linalg.norm(place[:-1] + share[:, None] * steps - size, axis=1)
        near = int(np.argmin(apart))
        if apart[near] < 0.02 * np.linalg.norm(size):  # beyond the end of a branch there is nothing to compare
            errors.append(frequency[near] + share[near] * (frequency[near + 1] - frequency[near]) - wanted)
            errors[-1] = abs(errors[-1]) / wanted
    return float(max(errors, default=np.nan))


def backbone_errors(found: vb.Backbones, true: vb.Backbones) -> dict[str, float | None]:
    """Of the backbones of both modes and of the isolated ones."""
    errors: dict[str, float | None] = {}
    for number, (one, other) in enumerate(zip(found.modes, true.modes, strict=True)):
        errors[f"S{number + 1}"] = branch_error(one, other)
    for number, other in enumerate(true.isolated):
        close = [branch_error(one, other) for one in found.isolated]
        errors[f"Si{number + 1}"] = min(close) if close else None
    return errors


def curves_of(system: System, values: Mapping[str, float]) -> vb.Backbones:
    """Backbones of the structure with these values."""
    return vb.backbones(system.structure(), values, REACH, SPAN)


def central(model: ModelPosterior) -> dict[str, float]:
    """Means of the unknown coefficients."""
    return {name: model.mean()[name] for name in NAMES}


def run(system: System, chosen: argparse.Namespace) -> tuple[dict[str, Any], dict[str, vb.Posterior], Any]:
    """From the test to posteriors and their tables; what is measured and all posteriors."""
    tests, points, moving = tested(system, chosen.seed)
    begun = time.perf_counter()
    posteriors = identified(system, points, moving, chosen)
    seconds = time.perf_counter() - begun
    result: dict[str, Any] = {name: figures_of(each, system.truth) for name, each in posteriors.items()}
    result |= {
        "points": {sweep.backbone: points.of(sweep.backbone).samples for sweep in system.sweeps},
        "truth": dict(system.truth),
        "seconds_mcmc": seconds,
    }
    print(f"{system.name}, seed {chosen.seed}: {points.samples} points\n{table_of(result, system.truth)}", flush=True)
    return result, posteriors, (tests, points)


def draw(system: System, posteriors: Mapping[str, vb.Posterior], measured: Any, chosen: argparse.Namespace) -> None:
    """Figures of the test, the posteriors and how points agree with what they predict."""
    if not chosen.out:
        return
    from vibayes import report

    chosen.out.mkdir(parents=True, exist_ok=True)
    tests, points = measured
    modes = vb.linear_modes(system.structure(known=True))
    for sweep, test in zip(system.sweeps, tests, strict=True):
        figure = report.figure_of_decay(test, modes, points.of(sweep.backbone))
        report.save(figure, chosen.out / f"decay_{sweep.backbone}.png")
    for order, posterior in posteriors.items():
        model = posterior.selected
        report.save(report.figure_of_parameters(model, system.truth), chosen.out / f"parameters_{order}.png")
        figure = report.figure_of_backbone_fit(model, draws=200, seed=chosen.seed, prob=0.997)  # ±3σ, as published
        report.save(figure, chosen.out / f"fit_{order}.png")


def measured_at(points: vb.BackbonePoints, system: System, mass: int) -> dict[str, tuple[Any, Any]]:
    """Frequencies and amplitudes of a mass at the measured points of each backbone."""
    shapes = np.asarray(vb.linear_modes(system.structure(known=True)).shapes)
    found = {}
    for name in dict.fromkeys(points.backbone):
        some = points.of(name)
        found[f"measured {name}"] = (some.frequency, np.abs(some.amplitudes @ shapes[mass]))
    return found


def named(found: vb.Backbones, what: str) -> dict[str, vb.Branch]:
    """Branches by the names that figures give them."""
    names = [f"S{i + 1}" for i in range(len(found.modes))] + [f"Si{i + 1}" for i in range(len(found.isolated))]
    return {f"{name}, {what}": branch for name, branch in zip(names, found.all, strict=True)}


def save_branches(branches: Mapping[str, vb.Branch], points: Any, chosen: argparse.Namespace, file: str) -> None:
    """A figure of branches, the true ones beneath the estimated ones, where figures were asked for; and where plotly is
    there a page to explore them on.
    """
    if not chosen.out:
        return
    from vibayes import report

    chosen.out.mkdir(parents=True, exist_ok=True)
    found = {name: branch for name, branch in branches.items() if not name.endswith("true")}
    true = [branch for name, branch in branches.items() if name not in found]
    beneath = {"true parameters" + " " * number: branch for number, branch in enumerate(true)}
    report.save(report.figure_of_branches(found, "m2", points=points, beneath=beneath), chosen.out / f"{file}.png")
    if find_spec("plotly"):
        report.page_of_branches(branches, chosen.out / f"{file}.html", points=points)


__all__ = ["deliver", "options"]
