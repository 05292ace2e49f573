"""The demonstration, from a file of measurements to a report: which of four models explains a simulated record?

Run it with ``vibayes demo`` or ``python -m vibayes.demo``. The structure is an oscillator with a spring of trilinear
stiffness, the candidates are springs with one to four regions. Truth, noise and priors are those of a published study
of this problem: section 4.1 of the article on piecewise-linear restoring forces and approximate Bayesian computation.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np

import vibayes as vb
from vibayes.atomic_write import write_whole
from vibayes.errors import InvalidInput
from vibayes.runs import begin_run, identify_run, report_run
from vibayes.study import read_study

TRUTH = {"m": 1.0, "c0": 2.0, "k0": 1e3, "k1": 3e3, "k2": 7e3, "d1": -1e-3, "d2": 0.5e-3}
MODELS = ("linear", "bilinear", "trilinear", "quadlinear")
RATE, NOISE = 100.0, 0.05
DATA, STUDY, RUN = "record.csv", "study.toml", "run"
_HEAD = """\
# The study of the demonstration: which spring is it? A force and an acceleration were measured.
title = "Which spring was it?"
seed = {seed}

[output]
folder = "{run}"

[data]
file = "{data}"
input = "force"
output = "acceleration"
time = "time"

[method]
type = "DataAnnealedSMC"
{settings}
# What is believed before; models take those of their own unknowns.
[priors]
m = {{ type = "LogUniform", low = 0.5, high = 1.5 }}
c0 = {{ type = "LogUniform", low = 0.1, high = 4.0 }}
k0 = {{ type = "LogUniform", low = 500.0, high = 1500.0 }}
"""
_PRIORS = """\
k{i} = {{ type = "LogUniform", low = 500.0, high = 1e4 }}
d{i} = {{ type = "Uniform", low = -10e-3, high = 10e-3 }}
"""
_MODEL = """
[[model]]
name = "{name}"
constraints = [{{ type = "distinct_slopes", element = "spring", relative = 0.05 }}]
[model.structure]
mass = "m"
sensors = [{{ type = "RelativeAcceleration", on = "mass" }}]
[[model.structure.elements]]
type = "Damper"
coefficient = "c0"
[[model.structure.elements]]
type = "PiecewiseLinearSpring.around_zero"
name = "spring"
central = "k0"
others = {others}
breaks = {breaks}
"""
_INTRO = """\
A mass on a spring was shaken by a random force for {seconds:g} s, in a simulation. The spring is stiffer beyond \
either of two displacements. Four models are compared, whose springs have one to four regions of stiffness. They see \
the force and the acceleration, the latter with {noise:g} % noise, and know neither the number of regions nor any \
parameter.

True values: {truth}."""


def structure_of(regions: int) -> vb.Structure:
    """An oscillator whose spring has some regions, with unknowns m, c0, k0, k1, …, d1, …."""
    stiffnesses, breaks = ([f"{letter}{i}" for i in range(1, regions)] for letter in "kd")
    spring = vb.PiecewiseLinearSpring.around_zero("k0", stiffnesses, breaks)
    elements = [vb.Damper("c0"), spring.between("ground", "mass", name="spring")]
    return vb.Structure.single_dof("m", elements, sensors=[vb.RelativeAcceleration("mass")])


def simulated_record(seed: int, seconds: float) -> vb.Record:
    """Force and noisy acceleration of the true structure."""
    force = vb.band_limited_noise(seed, RATE, round(seconds * RATE), standard_deviation=2.0, high_hz=20.0)
    acceleration = np.asarray(vb.simulate(structure_of(3), force, TRUTH).outputs)[:, 0]
    noise = NOISE * acceleration.std() * np.random.default_rng(seed).standard_normal(len(acceleration))
    return vb.Record.from_arrays(
        rate=RATE,
        input={"force": np.asarray(force.values)[:, 0]},
        output={"acceleration": acceleration + noise},
        units={"force": "N", "acceleration": "m/s^2"},
    )


def study_text(seed: int, quick: bool) -> str:
    """A study file of all four models."""
    settings = "effective = 400\npopulations = 2\nchains = 50\n" if quick else ""
    parts = [_HEAD.format(seed=seed, run=RUN, data=DATA, settings=settings)]
    parts += [_PRIORS.format(i=i) for i in range(1, len(MODELS))]
    for regions, name in enumerate(MODELS, start=1):
        others, breaks = ([f"{letter}{i}" for i in range(1, regions)] for letter in "kd")
        text = _MODEL.format(name=name, others=str(others).replace("'", '"'), breaks=str(breaks).replace("'", '"'))
        parts.append(text if regions > 1 else text.replace(*_LINEAR))
    return "".join(parts)


_LINEAR = 'constraints = [{ type = "distinct_slopes", element = "spring", relative = 0.05 }]\n', ""
"""One region needs no other to differ from."""


def main(arguments: list[str] | None = None) -> None:
    """Write a record and a study, identify, report, and say where the files are."""
    parser = argparse.ArgumentParser(description="Identify a simulated oscillator of piecewise-linear stiffness.")
    parser.add_argument("--out", default="demo_output", type=Path, help="folder for record, study, run and report")
    parser.add_argument("--seed", default=1, type=int, help="of the record and of the inference")
    parser.add_argument("--quick", action="store_true", help="a short record and few draws, to see that it works")
    parser.add_argument("--force", action="store_true", help="replace what is in the folder under the same names")
    given = parser.parse_args(arguments)
    out, seconds = _emptied(given.out, given.force), 3.0 if given.quick else 10.0
    vb.write_record(simulated_record(given.seed, seconds), out / DATA)
    write_whole("vibayes demo", out / STUDY, study_text(given.seed, given.quick).encode("utf-8"))
    print(f"A mass on a spring of unknown law, {seconds:g} s of force and acceleration. Which law is it?", flush=True)
    run = begin_run(read_study(out / STUDY))
    print(identify_run(run, progress=True).summary())
    truth = ", ".join(f"{name} = {value:g}" for name, value in TRUTH.items())
    print(f"true: {truth}", flush=True)
    page = report_run(run, intro=_INTRO.format(seconds=seconds, noise=100 * NOISE, truth=truth))
    print(
        f"Written:\n"
        f"  {page}  the report, in one file\n"
        f"  {out / STUDY}  the study; change it, and then: vibayes identify {out / STUDY} --folder another\n"
        f"  {out / DATA}  the record"
    )


def _emptied(out: Path, force: bool) -> Path:
    """The folder, without an earlier demonstration; what else is in it stays."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        first = _HEAD.partition("\n")[0]
        ours = (out / STUDY).is_file() and (out / STUDY).read_text(encoding="utf-8", errors="replace").startswith(first)
        there = [] if ours or force else [name for name in (STUDY, DATA, RUN) if (out / name).exists()]
        if there:
            remedy = "name another folder with --out, or add --force to replace it"
            raise InvalidInput("vibayes demo", "a folder for the demonstration", f"'{out / there[0]}' in it", remedy)
        if (out / RUN / "run.json").is_file():
            shutil.rmtree(out / RUN)
    except OSError as trouble:
        remedy = "name another with --out"
        raise InvalidInput("vibayes demo", "a folder that can be written", str(trouble), remedy) from None
    return out


if __name__ == "__main__":
    main()
