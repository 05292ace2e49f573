"""The peer particles on the Bouc-Wen oscillator: ``python peer_particles.py problem.npz '{"particles": 200, ...}'``.

It runs in an environment of its own (`particles-constraints.txt`) and knows this library only by the file it is given.
Its IBIS with its defaults, waste-free moves among them, on the likelihood of a trajectory by Runge and Kutta, written
in NumPy for all particles at once. While particles stay the same the trajectory goes on from where it was; particles
that have moved follow the record once more from its beginning, as they do with ours.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np
import particles
from particles import distributions, smc_samplers

CHAIN = 10
"""Particles of the library's waste-free moves that come from each that was drawn."""


class Oscillator(smc_samplers.StaticModel):
    """Displacements with noise; unknown are some of the parameters."""

    def __init__(self, problem):
        names = [str(name) for name in problem["unknown"]]
        self.given = dict(zip(map(str, problem["names"]), map(float, problem["values"]), strict=True))
        rows = zip(names, problem["mean"], problem["sd"], strict=True)
        laws = {name: distributions.Normal(loc=mean, scale=sd) for name, mean, sd in rows}
        super().__init__(data=problem["output"], prior=distributions.StructDist(laws))
        self.force, self.step, self.noise = problem["input"], float(problem["interval"]), float(problem["noise"])
        self.kept, self.state, self.time, self.steps = None, None, -1, 0

    def flow(self, theta, state, push):
        """Rates of displacement, velocity and hysteretic force."""
        p = self.given | {name: theta[name] for name in theta.dtype.names}
        x, v, z = state
        rate = p["alpha"] * v - p["beta"] * (p["gamma"] * np.abs(v) * z + p["delta"] * v * np.abs(z))
        return np.stack([v, (push - p["c"] * v - p["k"] * x - z) / p["m"], rate])

    def after(self, theta, state, t):
        """The state at sample t, from that at the one before."""
        if t == 0:
            return np.zeros((3, len(theta)))
        self.steps += len(theta)
        a, b, h = self.force[t - 1], self.force[t], self.step
        first = self.flow(theta, state, a)
        second = self.flow(theta, state + 0.5 * h * first, 0.5 * (a + b))
        third = self.flow(theta, state + 0.5 * h * second, 0.5 * (a + b))
        fourth = self.flow(theta, state + h * third, b)
        return state + (h / 6.0) * (first + 2.0 * (second + third) + fourth)

    def log_density(self, state, t):
        return -0.5 * ((self.data[t] - state[0]) / self.noise) ** 2 - np.log(self.noise) - 0.5 * np.log(2.0 * np.pi)

    def follow(self, theta, last):
        """The state at a sample, from the beginning, and the log-likelihood up to it."""
        state, total = np.zeros((3, len(theta))), np.zeros(len(theta))
        with np.errstate(all="ignore"):
            for t in range(last + 1):
                state = self.after(theta, state, t)
                total += self.log_density(state, t)
        return state, np.nan_to_num(total, nan=-np.inf)

    def loglik(self, theta, t=None):
        """As its base class wants it."""
        return self.follow(theta, self.T - 1 if t is None else t)[1]

    def logpyt(self, theta, t):
        """As its base class wants it."""
        if t == self.time + 1 and self.kept is not None and np.array_equal(theta, self.kept):
            self.state = self.after(theta, self.state, t)
        else:
            self.kept, self.state = theta.copy(), self.follow(theta, t)[0]
        self.time = t
        return np.nan_to_num(self.log_density(self.state, t), nan=-np.inf)


def main() -> None:
    """Print one JSON line."""
    settings = json.loads(sys.argv[2])
    with np.load(sys.argv[1]) as problem:
        model = Oscillator(problem)
    np.random.seed(settings["seed"])
    run = particles.SMC(fk=smc_samplers.IBIS(model=model, len_chain=CHAIN), N=settings["particles"] // CHAIN)
    began = time.perf_counter()
    run.run()
    seconds = time.perf_counter() - began
    weights, theta = run.wgts.W, run.X.theta
    means = {name: float(weights @ theta[name]) for name in theta.dtype.names}
    found = {"seconds": seconds, "log_evidence": float(run.logLt), "mean": means, "steps": model.steps}
    print(json.dumps(found | {"version": version("particles")}))


if __name__ == "__main__":
    main()
