"""Solvers in the likelihood: steps of particles per second, of the solver alone and of a whole run along a record.

All are given the same Bouc-Wen oscillator, record and parameter sets. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import json
from functools import partial

import cases
import environments
import jax.numpy as jnp
import measure
import numpy as np
from results import Speed, Steps

import vibayes as vb
from vibayes.filters.verb import log_likelihoods

SETS, SAMPLES, RATE, ORDER = 500, 2049, 4096.0, 2
PARTICLES, NOISE, SCATTER, SEED = 500, 0.05, 0.1, 1
UNKNOWN = "c", "k", "alpha"


def solver_speeds(quick: bool) -> list[Speed]:
    """ODE filter and Runge-Kutta of ours, in one call on one core, and probdiffeq's filter vmapped."""
    case = cases.bouc_wen(8 if quick else SETS, 129 if quick else SAMPLES, RATE)
    exact = case.simulate(vb.EventLocated(rtol=1e-9))
    record = vb.Record.from_arrays(rate=RATE, input=case.input, output=exact[0])
    values = {name: jnp.asarray(value) for name, value in case.parameters.items()}
    ways = []
    for name, method in (
        (
            f"vibayes ODEFilter({ORDER}), likelihood and diffusion too",
            vb.ODEFilter(order=ORDER, linearised=False, corrected=False),
        ),
        (f"vibayes ODEFilter({ORDER}, linearised), the same", vb.ODEFilter(order=ORDER, corrected=False)),
        ("vibayes RungeKutta(), likelihood too", vb.RungeKutta()),
    ):
        prepared = vb.solving(case.structure, record, NOISE * exact[0].std(), method)
        found = vb.solve(prepared, case.parameters).means[..., 0]
        ways.append((name, partial(log_likelihoods, prepared, values), found, None))
    if importlib.util.find_spec("probdiffeq"):
        import peer_probdiffeq

        run = peer_probdiffeq.solver(case.parameters, case.input, case.interval, ORDER)
        ways.append((f"probdiffeq, TS0, order {ORDER}, vmapped, solution alone", run, run(), 0))
    costs = measure.alternate([lambda each=each: np.asarray(each[1]()) for each in ways], 2 if quick else 7)
    steps, entries = case.sets * (len(case.input) - 1), []
    for (name, _, found, against), cost in zip(ways, costs, strict=True):
        errors = cases.errors(found, exact)
        entries.append(
            Speed(
                name, steps / cost.wall, steps / cost.cpu, float(np.median(errors)), float(errors.max()),
                ours=None if against is None else entries[against],
            )
        )  # fmt: skip
    return entries


def sequential_runs(quick: bool) -> list[Steps]:
    """IBIS of ours and of the library ``particles``, with Runge and Kutta's trajectory for both; ours with the ODE
    filter beside.
    """
    case = cases.bouc_wen(1, 129 if quick else SAMPLES, RATE)
    count = 100 if quick else PARTICLES
    clean = case.simulate(vb.EventLocated(rtol=1e-9))[0]
    noise = NOISE * float(clean.std())
    output = clean + noise * np.random.default_rng(SEED).standard_normal(len(clean))
    truth = case.set(0)
    priors = {name: vb.Normal(1.1 * truth[name], SCATTER * truth[name]) for name in UNKNOWN}
    hysteresis = vb.BoucWenBenchmark("alpha", truth["beta"], truth["gamma"], truth["delta"], 1.0)
    elements = [vb.Damper("c"), vb.Spring("k"), hysteresis]
    structure = vb.Structure.single_dof(truth["m"], elements, sensors=[vb.Displacement("mass")])
    record = vb.Record.from_arrays(rate=RATE, input=case.input, output=output)
    whole, entries = count * len(output), []
    for name, method in (
        ("RungeKutta()", vb.RungeKutta()),
        (f"ODEFilter({ORDER})", vb.ODEFilter(order=ORDER, linearised=False, corrected=False)),
    ):
        problem = vb.Problem(structure, record, priors, name, noise=noise, filter=method)
        vb.infer(SEED, problem, vb.IBIS(particles=count))  # compiles
        posterior = vb.infer(SEED, problem, vb.IBIS(particles=count))
        model = posterior.selected
        title = f"vibayes IBIS({count}), {name}"
        entries.append(Steps(title, whole / posterior.seconds, posterior.seconds, model.log_evidence, model.mean()))
    arrays = {
        "input": case.input, "output": output, "interval": case.interval, "noise": noise, "unknown": np.array(UNKNOWN),
        "names": np.array(list(truth)), "values": np.array(list(truth.values())),
        "mean": np.array([1.1 * truth[name] for name in UNKNOWN]),
        "sd": np.array([SCATTER * truth[name] for name in UNKNOWN]),
    }  # fmt: skip
    found, why = environments.run("particles", arrays, json.dumps({"particles": count, "seed": SEED}))
    if found is None:
        return [*entries, Steps("particles", note=why)]
    name = f"particles {found['version']} IBIS({count}), waste-free, NumPy"
    seconds = found["seconds"]
    return [*entries, Steps(name, whole / seconds, seconds, found["log_evidence"], found["mean"], ours=entries[0])]
