"""Runs that are killed again and again, and end with the draws of a run that was left alone.

Every method of inference works on a tiny problem in a process of its own, with a journal. The process is killed
(SIGKILL) at random moments and begun again; what it ends with is compared, bit for bit, with an undisturbed run.

    python studies/kill_and_resume.py --times 10
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from arguments import parser_of

import vibayes as vb
from vibayes.journal import Journal

SAMPLES = 40
TIME = np.linspace(0.0, 1.0, SAMPLES)


def constant(a):
    """A simulator that is too simple."""
    return np.full((len(a), SAMPLES), 1.0) * a[:, None]


def line(a, b):
    """A simulator that is right."""
    return a[:, None] + b[:, None] * TIME


@cache
def by_distance() -> list[vb.Problem]:
    """Two simulators."""
    measured = 0.3 + 0.8 * TIME + 0.05 * np.random.default_rng(5).standard_normal(SAMPLES)
    record = vb.Record.from_arrays(rate=SAMPLES - 1.0, output={"y": measured})
    level, slope = vb.Uniform(-2.0, 2.0), vb.Normal(0.0, 1.0)
    return [
        vb.Problem(constant, record, {"a": level}, vectorised=True),
        vb.Problem(line, record, {"a": level, "b": slope}, vectorised=True),
    ]


def _oscillator(*springs: Any) -> vb.Structure:
    return vb.Structure.single_dof(1.0, [*springs, vb.Damper("c")], sensors=[vb.Displacement("mass")])


@cache
def _forced() -> vb.Record:
    force = np.random.default_rng(1).normal(size=SAMPLES)
    truth = _oscillator(vb.Spring(30.0), vb.Duffing(0.0, 200.0))
    signal = vb.Sampled(force, 10.0, vb.StraightLines())
    clean = np.asarray(vb.simulate(truth, signal, {"c": 0.8}).outputs)
    noise = 0.005 * np.random.default_rng(2).standard_normal(clean.shape)
    return vb.Record.from_arrays(rate=10.0, input=force, output=clean + noise)


_PRIORS = {"k": vb.LogNormal(25.0, 1.5), "c": vb.LogNormal(0.5, 2.0)}


@cache
def by_simulation() -> list[vb.Problem]:
    """Two structures that are simulated."""
    stiffening = _oscillator(vb.Duffing("k", "k3"))
    priors = {**_PRIORS, "k3": vb.LogUniform(10.0, 1000.0)}
    return [
        vb.Problem(_oscillator(vb.Spring("k")), _forced().segment(0, 24), _PRIORS, name="linear"),
        vb.Problem(stiffening, _forced().segment(0, 24), priors, name="stiffening"),
    ]


@cache
def by_solver() -> vb.Problem:
    """A structure whose solver has an error that is known."""
    priors = {**_PRIORS, "sigma": vb.LogUniform(1e-3, 0.1)}
    return vb.Problem(
        _oscillator(vb.Duffing("k", 200.0)),
        _forced().segment(0, 24),
        priors,
        noise="sigma",
        filter=vb.ODEFilter(order=2, corrected=False),
    )


@cache
def by_filter() -> vb.Problem:
    """A structure whose input is random."""
    structure = _oscillator(vb.Spring("k")).driven_by(vb.WhiteNoise(0.5))
    record = vb.Record.from_arrays(rate=10.0, output=_forced().output[:24])
    return vb.Problem(structure, record, _PRIORS, noise=0.005)


@cache
def by_backbone() -> vb.Problem:
    """Points of a backbone."""
    structure = vb.Structure({"m": 1.0}, [vb.Duffing("k", "k3").between("ground", "m")])
    amplitudes = np.linspace(0.1, 0.8, 12)
    truth = {"k": 1.0, "k3": 0.4}
    curve = vb.backbone_curve(vb.normal_form(structure), amplitudes, truth, mode=1)
    noise = 0.002 * np.random.default_rng(3).standard_normal(len(amplitudes))
    points = vb.BackbonePoints(curve.frequency + noise, curve.amplitudes)
    priors = {"k": vb.LogNormal(1.2, 1.3), "k3": vb.Normal(0.0, 1.0), "s": vb.LogUniform(1e-4, 0.5)}
    return vb.Problem(structure, points, priors, noise="s")


CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "FollowAndWeigh, distance": (by_distance, vb.FollowAndWeigh(fits=10, particles=60, draws=200)),
    "FollowAndWeigh, simulation": (by_simulation, vb.FollowAndWeigh(fits=10, searches=2, particles=40, draws=100)),
    "ABCNestedSampling, distance": (by_distance, vb.ABCNestedSampling(n_s=60)),
    "ABCSMC, distance": (by_distance, vb.ABCSMC(particles=60, threshold=20.0)),
    "ABCRejection, distance": (by_distance, vb.ABCRejection(threshold=50.0, particles=100)),
    "Metropolis, filter": (by_filter, vb.Metropolis(draws=40, chains=3)),
    "AdaptiveMetropolis, filter": (by_filter, vb.AdaptiveMetropolis(draws=20, chains=8, warmup=20, particles=40)),
    "AdaptiveMetropolis, solver": (by_solver, vb.AdaptiveMetropolis(draws=20, chains=8, warmup=20, particles=40)),
    "AdaptiveMetropolis, backbone": (by_backbone, vb.AdaptiveMetropolis(draws=20, chains=8, warmup=20, particles=40)),
    "TemperedSMC, backbone": (by_backbone, vb.TemperedSMC(particles=60, max_moves=4)),
    "TemperedSMC, solver": (by_solver, vb.TemperedSMC(particles=60, max_moves=4)),
    "IBIS, filter": (by_filter, vb.IBIS(particles=40, threshold=0.9, max_moves=4)),
    "IBIS, solver": (by_solver, vb.IBIS(particles=40, max_moves=4)),
    "Laplace, filter": (by_filter, vb.Laplace(starts=6, draws=60)),
    "Laplace, solver": (by_solver, vb.Laplace(starts=6, draws=60, correct=True)),
    "NUTS, backbone": (by_backbone, vb.NUTS(draws=100, chains=2, warmup=100, particles=60)),
}
"""Problems and method by name."""


def numbers(posterior: vb.Posterior) -> dict[str, np.ndarray]:
    """All that a resumed run must have the same, by name."""
    found = {"threshold": posterior.threshold, "notes": "; ".join(posterior.notes)}
    for model in posterior.models:
        fields = ("probability", "standard_error", "log_evidence", "log_evidence_error", "simulations", "failures")
        found |= {f"{model.name} {name}": getattr(model, name) for name in fields}
        found |= {f"{model.name} {name}": values for name, values in model.draws.items()}
        found |= {f"{model.name} {n}": getattr(model, n) for n in ("weights", "distances", "log_likelihoods")}
    trace = [(lv.stage, lv.model, lv.acceptance, lv.simulations, lv.probabilities) for lv in posterior.trace]
    return {name: np.asarray(value) for name, value in (found | {"trace": json.dumps(trace)}).items()}


def different(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[str]:
    """Names of what is not the same to the last bit."""
    return [n for n in one | other if n not in one or n not in other or one[n].tobytes() != other[n].tobytes()]


def inferred(name: str, seed: int, journal: Journal | None, **settings: Any) -> vb.Posterior:
    """A case, from its beginning or from where its journal ends."""
    problems, method = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vb.IdentifiabilityWarning)
        return vb.infer(seed, problems(), method, journal=journal, **settings)


def work(name: str, seed: int, folder: Path) -> None:
    """What a process of its own does."""
    with Journal(folder / "journal.bin", worth_keeping=np.inf) as journal:
        print("ready", len(journal), flush=True)
        start = time.perf_counter()
        found = numbers(inferred(name, seed, journal))
        np.savez(folder / "end.tmp.npz", seconds=time.perf_counter() - start, **found)
    os.replace(folder / "end.tmp.npz", folder / "end.npz")


def begin(name: str, seed: int, folder: Path) -> subprocess.Popen[str]:
    """A process that works in a folder; it is ready when it says so."""
    cache_folder = os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(Path(tempfile.gettempdir()) / "vibayes-kill")
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": cache_folder,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    command = [sys.executable, __file__, "--work", name, "--seed", str(seed), "--out", str(folder)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE)


def killed(name: str, seed: int, folder: Path, seconds: float) -> bool:
    """Whether a process was killed so many seconds after it was ready, before it had ended."""
    process = begin(name, seed, folder)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    if process.returncode not in (0, -9):
        raise SystemExit(f"{name}: a run ended with {process.returncode}")
    return process.returncode != 0


def main() -> None:
    """Kill runs of every method."""
    parser = parser_of(__doc__, "two kills of each")
    parser.add_argument("--times", type=int, default=10, help="kills of each run")
    parser.add_argument("--only", default="", help="methods with this in their name")
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work, chosen.seed, chosen.out)
        return
    times, rng, results = 2 if chosen.quick else chosen.times, np.random.default_rng(chosen.seed), {}
    for name in (each for each in CASES if chosen.only in each):
        with tempfile.TemporaryDirectory() as where:
            alone, disturbed = Path(where, "alone"), Path(where, "disturbed")
            alone.mkdir(), disturbed.mkdir()
            killed(name, chosen.seed, alone, 600.0)  # compiles
            (alone / "journal.bin").unlink()
            killed(name, chosen.seed, alone, 600.0)
            with np.load(alone / "end.npz") as file:
                expected = dict(file)
            seconds, kills = float(expected.pop("seconds")), 0
            for _ in range(times):
                kills += killed(name, chosen.seed, disturbed, rng.uniform(0.0, 1.5 * seconds / times))
            while not (disturbed / "end.npz").exists():
                killed(name, chosen.seed, disturbed, 600.0)
            with np.load(disturbed / "end.npz") as file:
                found = dict(file)
            found.pop("seconds")
        wrong = different(expected, found)
        results[name] = {"kills": kills, "seconds": seconds, "different": wrong}
        print(f"{name:<30} {seconds:6.1f} s, killed {kills} times: {'; '.join(wrong) or 'the same'}", flush=True)
    if chosen.json:
        print(json.dumps(results))
    if any(each["different"] for each in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
