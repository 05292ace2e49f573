"""A Bouc–Wen oscillator, its solver's error in the likelihood, sample by sample (section 4.1).

Acceleration at 4,096 Hz over 3 s with noise of 5 % of its root mean square, under a random-phase multisine of 0.5 to
100 Hz that grows over the first tenth to 208 N at most; simulated with the fourth-order scheme of Runge and Kutta at
131,072 Hz. Truth and signs are those of the public benchmark, on whose two displacement records the posterior is
tested: each of its particles is simulated with band-limited inputs. Errors of naive predictions stand beside
(`baselines`): the first sample held, a parabola through the first three, and a linear oscillator.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from baselines import fitted, from_start, told
from output_only import skip
from scipy.io import loadmat
from solver_based import deliver, draw, errors_of, figures_of, options, readings_of

import vibayes as vb

TRUTH = {"m": 2.0, "c": 10.0, "k": 5e4, "alpha": 5e4, "beta": 1e3, "gamma": 0.8, "delta": -1.1}
PRIORS = {
    "m": vb.Normal(2.1, np.sqrt(0.011), low=0.0),
    "c": vb.Normal(8.8, np.sqrt(6.97), low=0.0),
    "k": vb.Normal(5.9e4, np.sqrt(2.18e8), low=0.0),
    "alpha": vb.Normal(4.4e4, np.sqrt(1.74e8), low=0.0),
    "beta": vb.Normal(8.6e2, np.sqrt(6.66e4), low=0.0),
    "gamma": vb.Normal(0.93, np.sqrt(0.0541)),
    "delta": vb.Normal(-1.3, np.sqrt(0.1056)),
}
FINE, RATE, SECONDS = 131_072, 4096, 3
NOISE, LINES, LARGEST = 0.05, 2000, 208.0
BENCHMARK_RATE, FINER = 750.0, 4
PUBLISHED = vb.ODEFilter(order=2, linearised=False, corrected=False)
"""The paper's solver: EKF0, a step per sample."""


def oscillator(sensor: vb.Sensor) -> vb.Structure:
    """With names for what is unknown."""
    hysteresis = vb.BoucWenBenchmark(alpha="alpha", beta="beta", gamma="gamma", delta="delta", nu=1.0)
    return vb.Structure.single_dof("m", [vb.Damper("c"), vb.Spring("k"), hysteresis], sensors=[sensor])


def multisine(seed: int) -> np.ndarray:
    """Force at twice the fine rate, so that the scheme has it in the middle of steps."""
    frequencies = np.linspace(0.5, 100.0, LINES)
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, LINES)
    count, block = 2 * FINE * SECONDS + 1, 1024
    # cos(a + b) for all pairs of a block's beginning a and a time b within it is one product of matrices.
    begins = np.arange(-(-count // block)) * block / (2.0 * FINE)
    within = np.arange(block) / (2.0 * FINE)
    beginning = np.exp(1j * (2.0 * np.pi * begins[:, None] * frequencies + phases))
    force = (beginning @ np.exp(2j * np.pi * frequencies[:, None] * within)).real.ravel()[:count]
    return LARGEST * force / np.abs(force).max() * np.minimum(np.arange(count) / (0.1 * count), 1.0)


@jax.jit
def accelerations(force: jax.Array) -> jax.Array:
    """At all fine steps; written out here, so that nothing of the library simulates its own test."""
    m, c, k, alpha, beta, gamma, delta = TRUTH.values()
    h = 1.0 / FINE

    def flow(state, u):
        x, v, z = state
        rate = alpha * v - beta * (gamma * jnp.abs(v) * z + delta * v * jnp.abs(z))
        return jnp.stack([v, (u - c * v - k * x - z) / m, rate])

    def step(state, u):
        first = flow(state, u[0])
        second = flow(state + 0.5 * h * first, u[1])
        third = flow(state + 0.5 * h * second, u[1])
        fourth = flow(state + h * third, u[2])
        return state + (h / 6.0) * (first + 2.0 * (second + third) + fourth), first[1]

    pushes = jnp.stack([force[:-2:2], force[1:-1:2], force[2::2]], axis=1)
    last, found = jax.lax.scan(step, jnp.zeros(3), pushes)
    return jnp.append(found, flow(last, force[-1])[1])


def measured(seed: int, seconds: float) -> tuple[vb.Record, float]:
    """The record, and the standard deviation of its noise."""
    force, every = multisine(seed), FINE // RATE
    clean = np.asarray(accelerations(jnp.asarray(force)))[::every]
    level = NOISE * float(np.sqrt(np.mean(clean**2)))
    noisy = clean + level * np.random.default_rng([seed, 1]).standard_normal(len(clean))
    record = vb.Record.from_arrays(rate=float(RATE), input=force[:: 2 * every], output=noisy)
    return record.segment(0, round(seconds * RATE) + 1), level


def straight(sensor: vb.Sensor) -> vb.Structure:
    """The oscillator without hysteresis."""
    return vb.Structure.single_dof("m", [vb.Damper("c"), vb.Spring("k")], sensors=[sensor])


def tested(signal: str, draws: dict[str, np.ndarray], linear: dict[str, float], chosen) -> dict[str, Any]:
    """Errors of all draws on a record of the benchmark, in metres, and of naive predictions."""
    quick = chosen.quick
    folder = chosen.data / "bouc_wen"
    force = loadmat(folder / f"uval_{signal}.mat")[f"uval_{signal}"].ravel()
    displacement = loadmat(folder / f"yval_{signal}.mat")[f"yval_{signal}"].ravel()
    if quick:
        force, displacement = force[:8192], displacement[:8192]
    steady = signal == "multisine"
    # The multisine was recorded in steady state: run through it once before.
    driven = np.tile(force, 2) if steady else force
    record = vb.Record.from_arrays(rate=BENCHMARK_RATE, input=driven, output=np.resize(displacement, len(driven)))
    structure = oscillator(vb.Displacement("mass"))
    how = vb.RungeKutta(steps=FINER), vb.BandLimited()
    found = readings_of(structure, record, draws, *how)
    one = {name: np.full(1, value) for name, value in linear.items()}
    simple = readings_of(straight(vb.Displacement("mass")), record, one, *how)[0, -len(displacement) :, 0]
    errors = errors_of(found[:, -len(displacement) :, 0], displacement)
    return errors | {"naive": from_start(displacement, simple)}


if __name__ == "__main__":
    chosen = options(__doc__)
    for name in ("uval_multisine", "yval_multisine", "uval_sinesweep", "yval_sinesweep"):
        skip(f"bouc_wen/{name}.mat", chosen)
    record, level = measured(chosen.seed, 0.25 if chosen.quick else SECONDS)
    structure = oscillator(vb.AbsoluteAcceleration("mass"))
    problem = vb.Problem(structure, record, PRIORS, "Bouc-Wen", noise=level, filter=PUBLISHED)
    method = vb.IBIS(particles=100 if chosen.quick else 500)
    posterior = vb.infer(chosen.seed, problem, method, progress=not chosen.json)
    print(f"Bouc-Wen oscillator, seed {chosen.seed}\n{posterior.summary()}", flush=True)
    result = figures_of(posterior, TRUTH)
    draws = posterior.selected.resampled(chosen.seed, method.particles)
    stiff = {"m": TRUTH["m"], "c": TRUTH["c"], "k": TRUTH["k"] + TRUTH["alpha"]}
    linear = fitted(straight(vb.AbsoluteAcceleration("mass")), record, stiff)
    for name, signal in (("sweep", "sinesweep"), ("multisine", "multisine")):
        result[name] = tested(signal, draws, linear, chosen)
        print(name, {each: value for each, value in result[name].items() if each != "naive"}, flush=True)
        told(result[name]["naive"])
    draw(posterior, TRUTH, chosen)
    deliver(result, chosen)
