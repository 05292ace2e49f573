"""The peer pyABC on the trilinear oscillator: ``python peer_pyabc.py problem.npz '{"seconds": 60, ...}'``.

It runs in an environment of its own (`pyabc-constraints.txt`) and knows this library only by the file it is given. The
simulator is the loop in C, so that what is compared is the sampler; pyABC calls it in as many processes as there are
cores. A set that leaves the prior or breaks a constraint is drawn anew and costs no simulation, as with ours. pyABC
sees the share of the prior that lies below each parameter, in which the prior is uniform, as our samplers do.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from multiprocessing import ProcessError
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("m", "c0", "k0", "k1", "k2", "d1", "d2")


class Oscillator:
    """A record and the priors; judges one set of shares at a time."""

    def __init__(self, problem: Mapping[str, Any], accelerations: Callable[..., np.ndarray]):
        self.accelerations = accelerations
        self.input, self.measured = np.asarray(problem["input"]), np.asarray(problem["output"])
        self.interval, self.distinct = float(problem["interval"]), float(problem["distinct"])
        self.low, high, self.log = (np.asarray(problem[name]) for name in ("low", "high", "log"))
        self.span = np.where(self.log, np.log(np.abs(high / self.low)), high - self.low)
        self.scale = 100.0 / (len(self.measured) * self.measured.var())

    def row(self, shares: np.ndarray) -> np.ndarray:
        """Parameters as the C loop wants them: slopes from left to right, k0 being the one at zero."""
        step = self.span * shares
        m, c, k0, k1, k2, d1, d2 = np.where(self.log, self.low * np.exp(step), self.low + step).tolist()
        slopes = (k0, k1, k2) if d1 > 0 else (k1, k2, k0) if d2 < 0 else (k1, k0, k2)
        return np.array([m, c, *slopes, d1, d2])

    def allowed(self, shares: np.ndarray) -> bool:
        """Within the prior, borders in order and neighbouring slopes distinct."""
        if not (shares.min() > 0.0 and shares.max() < 1.0):
            return False
        _, _, left, middle, right, low, high = self.row(shares).tolist()
        pairs = (left, middle), (middle, right)
        return low < high and all(abs(a - b) >= self.distinct * min(a, b) for a, b in pairs)

    def distance(self, shares: np.ndarray) -> float:
        """NMSE in percent."""
        error = self.accelerations(self.row(shares)[None], self.input, self.interval)[0] - self.measured
        return float(self.scale * (error @ error))


def main() -> None:
    """Print one JSON line: the last population that was completed within the limits, and what it had cost by then."""
    import peer_c

    oscillator, settings = Oscillator(np.load(sys.argv[1]), peer_c.accelerations), json.loads(sys.argv[2])
    oscillator.distance(np.full(len(NAMES), 0.5))  # compiles
    print(json.dumps(identify(oscillator, **settings)))


def identify(
    oscillator: Oscillator, particles: int, threshold: float, seconds: float, simulations: int
) -> dict[str, Any]:
    """ABC-SMC with pyABC's defaults but for the number of particles: median thresholds, Gaussian kernels, all cores."""
    import pyabc

    logging.getLogger("ABC").setLevel(logging.ERROR)
    deadline = time.monotonic() + seconds

    class Prior(pyabc.random_variables.DistributionBase):
        """Uniform among the sets that are allowed."""

        def rvs(self, *_args: Any, **_more: Any) -> pyabc.Parameter:
            shares = np.random.random(len(NAMES))
            while not oscillator.allowed(shares):
                shares = np.random.random(len(NAMES))
            return pyabc.Parameter(dict(zip(NAMES, shares.tolist(), strict=True)))

        def pdf(self, x: Mapping[str, float]) -> float:
            return float(oscillator.allowed(_shares(x)))

        def get_parameter_names(self) -> list[str]:
            return list(NAMES)

    def simulate(parameters: Mapping[str, float]) -> dict[str, float]:
        # pyABC looks at the clock between populations only, and the next one might take days.
        if time.monotonic() > deadline:
            sys.exit(1)  # of a worker; pyABC then raises ProcessError
        # One number: whole simulations would have to be sent from process to process.
        return {"distance": oscillator.distance(_shares(parameters))}

    def distance(simulated: Mapping[str, float], _measured: Mapping[str, float]) -> float:
        return simulated["distance"]

    ended = ""
    with tempfile.TemporaryDirectory() as folder:
        run = pyabc.ABCSMC(simulate, Prior(), distance, population_size=particles)
        began = datetime.now()
        run.new(f"sqlite:///{Path(folder) / 'history.db'}", {"distance": 0.0})
        try:
            run.run(minimum_epsilon=threshold, max_total_nr_simulations=simulations)
        except ProcessError:
            if time.monotonic() < deadline:
                raise
            ended = f"stopped after {seconds:g} s"
        populations = run.history.get_all_populations()
    trace = [
        {
            "threshold": float(p.epsilon),
            "simulations": int(total),
            "seconds": (p.population_end_time - began).total_seconds(),
        }
        for p, total in zip(populations.itertuples(), populations.samples.cumsum(), strict=True)
        if p.t >= 0  # those before are draws of the prior, that count as simulations
    ]
    if not trace:
        sys.exit(f"no population in {seconds:g} s")
    if not ended and trace[-1]["threshold"] > threshold:
        ended = f"stopped after {simulations:,} simulations"
    return {**trace[-1], "ended": ended, "version": pyabc.__version__, "trace": trace}


def _shares(parameters: Mapping[str, float]) -> np.ndarray:
    return np.array([parameters[name] for name in NAMES])


if __name__ == "__main__":
    main()
