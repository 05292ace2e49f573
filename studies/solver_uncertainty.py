"""What it costs to take a solver at its word: bias and coverage against the step (ours).

A Duffing oscillator of about 1 Hz is identified from its displacement, with noise of 1 % of its root mean square, again
and again with other forces and other noise. There is one step per sample, so that a coarse record has coarse steps.
Euler's method and that of Runge and Kutta (with inputs that are band-limited between samples) are taken at their word;
the ODE filter (EKF1) puts its own error into the likelihood, corrected by samples on the way, so that errors that last
count once and not in every sample anew; without corrections, as ode_filter_alone has it, they do count anew.
"""

from typing import Any

import numpy as np
from solver_based import deliver, options

import vibayes as vb

TRUTH = {"k": 40.0, "c": 0.5, "k3": 40.0}
PRIORS = {"k": vb.LogNormal(40.0, 1.2), "c": vb.LogNormal(0.5, 1.5), "k3": vb.LogNormal(40.0, 1.5)}
SECONDS, FINE, NOISE = 12.0, 480.0, 0.01
RATES = 32.0, 16.0, 12.0, 8.0
METHODS: dict[str, tuple[vb.Solver, vb.Hold]] = {
    "euler": (vb.Euler(), vb.BandLimited()),
    "runge_kutta": (vb.RungeKutta(), vb.BandLimited()),
    "ode_filter": (vb.ODEFilter(second_order=True), vb.StraightLines()),
    "ode_filter_alone": (vb.ODEFilter(corrected=False, second_order=True), vb.StraightLines()),
}


def oscillator() -> vb.Structure:
    """With names for what is unknown."""
    members = [vb.Damper("c"), vb.PolynomialSpring(("k", "k3"), (1, 3))]
    return vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass")])


def measured(seed: int, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Force and displacement at the fine rate, noise for each of its samples, and the standard deviation of that."""
    rng = np.random.default_rng([seed, number])
    times = np.arange(round(SECONDS * FINE) + 1) / FINE
    frequencies = np.linspace(0.3, 1.8, 12)
    phases = rng.uniform(0.0, 2.0 * np.pi, 12)
    force = 2.5 * np.sum(np.cos(2.0 * np.pi * frequencies * times[:, None] + phases), axis=1)
    force *= np.minimum(times / 2.0, 1.0) ** 2 * (3.0 - 2.0 * np.minimum(times / 2.0, 1.0))
    signal = vb.Sampled(force, FINE, vb.BandLimited())
    clean = np.asarray(vb.simulate(oscillator(), signal, TRUTH, states=False).outputs)[:, 0]
    level = NOISE * float(np.sqrt(np.mean(clean**2)))
    return force, clean, level * rng.standard_normal(len(times)), level


def judged(record: vb.Record, level: float, method: str, key: int, particles: int) -> dict[str, list[float]]:
    """Of every parameter the error in per cent, the half-width of its interval, and whether that has the truth."""
    solver, hold = METHODS[method]
    problem = vb.Problem(oscillator(), record, PRIORS, method, noise=level, filter=solver, hold=hold)
    try:
        model = vb.infer(key, problem, vb.TemperedSMC(particles=particles, max_moves=12)).selected
    except vb.InvalidInput:  # nowhere in the prior does it give a number: it runs away
        return {}
    found = {}
    for name, value in TRUTH.items():
        span = model.interval(name)
        found[name] = [100.0 * (model.mean()[name] / value - 1.0), 50.0 * (span[1] - span[0]) / value, value in span]
    return found


def summed(judgements: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Mean error and interval of every parameter, and the share of intervals that have the truth."""
    done = [each for each in judgements if each]
    if not done:
        return {"coverage": 0.0, "failed": 1.0, "bias": None, "half_width": None}
    table = np.array([[each[name] for name in TRUTH] for each in done])
    bias, width = (dict(zip(TRUTH, table[..., i].mean(axis=0).tolist(), strict=True)) for i in (0, 1))
    covered = float(table[..., 2].sum() / (len(TRUTH) * len(judgements)))
    return {"coverage": covered, "failed": 1.0 - len(done) / len(judgements), "bias": bias, "half_width": width}


def draw(found: dict[str, dict[str, Any]], out) -> None:
    """Coverage and bias of the stiffness against the step."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for method in METHODS:
        rates = [float(rate) for rate in found]
        left.plot(rates, [found[rate][method]["coverage"] for rate in found], "o-", label=method.replace("_", " "))
        bias = [found[rate][method]["bias"] for rate in found]
        right.plot(rates, [np.nan if each is None else abs(each["k"]) for each in bias], "o-")
    left.axhline(0.95, color="grey", lw=0.8)
    left.set(xlabel="samples per second (one step each)", ylabel="share of 95 % intervals with the truth", xscale="log")
    right.set(
        xlabel="samples per second (one step each)", ylabel="bias of the stiffness, %", xscale="log", yscale="log"
    )
    left.legend(frameon=False)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "solver_uncertainty.png", dpi=150)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore", vb.IdentifiabilityWarning)
    chosen = options(__doc__)
    sets, particles, rates = (2, 60, (24.0, 8.0)) if chosen.quick else (30, 100, RATES)
    judgements: dict[str, dict[str, list]] = {f"{rate:g}": {method: [] for method in METHODS} for rate in rates}
    for number in range(sets):
        force, clean, noise, level = measured(chosen.seed, number)
        for rate in rates:
            every = round(FINE / rate)
            output = (clean + noise)[::every]
            record = vb.Record.from_arrays(rate=rate, input=force[::every], output=output)
            for method in METHODS:
                judgements[f"{rate:g}"][method].append(judged(record, level, method, number, particles))
        if not chosen.json:
            print(f"{number + 1} of {sets} data sets", flush=True)
    found = {rate: {method: summed(each) for method, each in by.items()} for rate, by in judgements.items()}
    for rate, by in found.items():
        print(f"{rate:>4} Hz  " + "   ".join(f"{method} {each['coverage']:.2f}" for method, each in by.items()))
    result: dict[str, Any] = {
        what: {method: {rate: found[rate][method][what] for rate in found} for method in METHODS}
        for what in ("coverage", "bias", "half_width", "failed")
    }
    if chosen.out:
        draw(found, chosen.out)
    deliver(result | {"data_sets": sets}, chosen)
