"""The demonstration: which of four models explains a simulated record, and with which parameters.

Run it with ``python -m vibayes.demo --out DIR``. The structure is an oscillator with a spring of trilinear stiffness,
the candidates are springs with one to four regions. Truth, noise and priors are those of a published study of this
problem: section 4.1 of the article on piecewise-linear restoring forces and approximate Bayesian computation.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import vibayes as vb
from vibayes.prediction import predict
from vibayes.report import (
    figure_of_force_map,
    figure_of_parameters,
    figure_of_prediction,
    figure_of_trace,
    page_of,
    save,
)

TRUTH = {"m": 1.0, "c0": 2.0, "k0": 1e3, "k1": 3e3, "k2": 7e3, "d1": -1e-3, "d2": 0.5e-3}
MODELS = ("linear", "bilinear", "trilinear", "quadlinear")
RATE, NOISE = 100.0, 0.05
_INTRO = """\
A mass on a spring was shaken by a random force for {seconds:g} s, in a simulation. The spring is stiffer beyond
either of two displacements. Four models are compared, whose springs have one to four regions of stiffness. They see
the force and the acceleration, the latter with {noise:g} % noise, and know neither the number of regions nor any
parameter.

True values: {truth}."""


def structure_of(regions: int) -> vb.Structure:
    """An oscillator whose spring has some regions, with unknowns m, c0, k0, k1, …, d1, …."""
    stiffnesses, breaks = ([f"{letter}{i}" for i in range(1, regions)] for letter in "kd")
    spring = vb.PiecewiseLinearSpring.around_zero("k0", stiffnesses, breaks)
    elements = [vb.Damper("c0"), spring.between("ground", "mass", name="spring")]
    return vb.Structure.single_dof("m", elements, sensors=[vb.RelativeAcceleration("mass")])


def problem_of(regions: int, record: vb.Record) -> vb.Problem:
    """The model with some regions, and what is believed of it before the record."""
    priors: dict[str, Any] = {
        "m": vb.LogUniform(0.5, 1.5),
        "c0": vb.LogUniform(0.1, 4.0),
        "k0": vb.LogUniform(500.0, 1500.0),
    }
    for i in range(1, regions):
        priors |= {f"k{i}": vb.LogUniform(500.0, 1e4), f"d{i}": vb.Uniform(-10e-3, 10e-3)}
    structure = structure_of(regions)
    spring: Any = structure.links[structure.element_index("spring")].element
    return vb.Problem(structure, record, priors, MODELS[regions - 1], [vb.distinct_slopes(spring, 0.05)])


def simulated_record(seed: int, seconds: float) -> tuple[vb.Record, np.ndarray]:
    """Force and noisy acceleration of the true structure, and the displacement nobody measured."""
    force = vb.band_limited_noise(seed, RATE, round(seconds * RATE), standard_deviation=2.0, high_hz=20.0)
    truth = structure_of(3).measuring(vb.RelativeAcceleration("mass"), vb.Displacement("mass"))
    acceleration, displacement = np.asarray(vb.simulate(truth, force, TRUTH).outputs).T
    noise = NOISE * acceleration.std() * np.random.default_rng(seed).standard_normal(len(acceleration))
    record = vb.Record.from_arrays(
        rate=RATE,
        input={"force": np.asarray(force.values)[:, 0]},
        output={"acceleration": acceleration + noise},
        units={"force": "N", "acceleration": "m/s^2"},
    )
    return record, displacement


def figures_of(posterior: vb.Posterior, displacement: np.ndarray) -> dict[str, tuple[str, Any]]:
    """By the name of the file: a title and a figure each."""
    trace = {"trace.png": ("How the inference went", figure_of_trace(posterior))}
    if not any(model.probability > 0 for model in posterior):  # as when it was interrupted
        return trace
    model = posterior.selected
    true_spring = vb.PiecewiseLinearSpring((TRUTH["k1"], TRUTH["k0"], TRUTH["k2"]), (TRUTH["d1"], TRUTH["d2"]))
    force_map = figure_of_force_map(
        model,
        "spring",
        truth=lambda x: vb.static_force(true_spring, deformation=x),
        span=(float(displacement.min()), float(displacement.max())),
        units={"deformation": "m", "force": "N"},
    )
    # Beside a model of another number of regions the truth means nothing: its names stand for other things.
    known = TRUTH if model.name == "trilinear" else None
    return trace | {
        "parameters.png": (f"Parameters of the {model.name} model", figure_of_parameters(model, known)),
        "force_map.png": ("Force of the spring", force_map),
        "prediction.png": ("Acceleration, measured and predicted", figure_of_prediction(predict(0, model))),
    }


def main(arguments: list[str] | None = None) -> None:
    """Identify, draw, and say where the files are."""
    parser = argparse.ArgumentParser(description="Identify a simulated oscillator of piecewise-linear stiffness.")
    parser.add_argument("--out", default="demo_output", type=Path, help="folder for the figures and the page")
    parser.add_argument("--seed", default=1, type=int, help="of the record and of the inference")
    parser.add_argument("--quick", action="store_true", help="a short record and few draws, to see that it works")
    given = parser.parse_args(arguments)
    out, seconds = given.out, 3.0 if given.quick else 10.0
    out.mkdir(parents=True, exist_ok=True)
    record, displacement = simulated_record(given.seed, seconds)
    print(f"A mass on a spring of unknown law, {seconds:g} s of force and acceleration. Which law is it?", flush=True)
    problems = [problem_of(regions, record) for regions in range(1, 5)]
    method = vb.FollowAndWeigh(particles=500, draws=1000) if given.quick else None
    posterior = vb.infer(given.seed, problems, method, progress=True)
    print(posterior.summary())
    truth = ", ".join(f"{name} = {value:g}" for name, value in TRUTH.items())
    print(f"true: {truth}")
    figures = figures_of(posterior, displacement)
    page = page_of(
        posterior,
        dict(figures.values()),
        out / "identification.html",
        title="Which spring was it?",
        intro=_INTRO.format(seconds=seconds, noise=100 * NOISE, truth=truth),
    )
    print(f"Written:\n  {page}  all of it on one page")
    for name, (title, figure) in figures.items():
        print(f"  {save(figure, out / name)}  {title}")


if __name__ == "__main__":
    main()
