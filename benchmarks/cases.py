"""The two cases every peer is given: a structure, its input and many parameter sets around the truth.

    trilinear:  m x″ + c x′ + f(x) = u(t),           f continuous with slopes kL, k0, kR and breaks dL < 0 < dR
    Bouc–Wen:   m x″ + c x′ + k x + z = u(t),        z′ = α x′ − β (γ |x′| z + δ x′ |z|)

Both start at rest and are driven by samples joined by straight lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import vibayes as vb

TRILINEAR = {"m": 1.0, "c": 2.0, "kL": 3e3, "k0": 1e3, "kR": 7e3, "dL": -1e-3, "dR": 0.5e-3}
BOUC_WEN = {"m": 2.0, "c": 10.0, "k": 5e4, "alpha": 5e4, "beta": 1e3, "gamma": 0.8, "delta": -1.1}


@dataclass(frozen=True)
class Case:
    """What to simulate: ``parameters`` maps each name to one value per set, the first set being the truth."""

    structure: vb.Structure
    excitation: vb.Sampled
    parameters: dict[str, np.ndarray]

    @property
    def sets(self) -> int:
        return len(self.parameters["m"])

    @property
    def interval(self) -> float:
        return 1.0 / self.excitation.rate

    @property
    def input(self) -> np.ndarray:
        return np.ascontiguousarray(self.excitation.values[:, 0])

    def take(self, sets: int) -> Case:
        """The first few sets."""
        return Case(self.structure, self.excitation, {name: p[:sets] for name, p in self.parameters.items()})

    def set(self, index: int) -> dict[str, float]:
        """One set as plain numbers."""
        return {name: float(p[index]) for name, p in self.parameters.items()}

    def simulate(self, method: Any) -> np.ndarray:
        """Displacements (sets, samples) by this library."""
        solution = vb.simulate(self.structure, self.excitation, self.parameters, method=method, states=False)
        if not solution.successful.all():
            raise RuntimeError(solution.summary())
        return np.asarray(solution.outputs)[..., 0]


def trilinear(sets: int, samples: int = 1000) -> Case:
    """A mass between two stops: 20 Hz noise at 100 samples per second."""
    spring = vb.PiecewiseLinearSpring(("kL", "k0", "kR"), ("dL", "dR"))
    force = vb.band_limited_noise(jax.random.key(1), 100.0, samples, 2.0, high_hz=20.0, hold=vb.StraightLines())
    return Case(_mass_with(spring), force, _scatter(TRILINEAR, sets))


def bouc_wen(sets: int, samples: int = 1500, rate: float = 750.0) -> Case:
    """The hysteretic benchmark of nonlinear identification: a multisine of 5 to 150 Hz."""
    law = vb.BoucWenBenchmark("alpha", "beta", "gamma", "delta", 1.0)
    signal = vb.random_phase_multisine(jax.random.key(2), rms=50.0, low_hz=5.0, high_hz=150.0, period=1.0)
    force = signal.sampled(rate, samples, vb.StraightLines())
    return Case(_mass_with(vb.Spring("k"), law), force, _scatter(BOUC_WEN, sets))


def errors(result: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """For each set the largest error of any sample, in units of the standard deviation of the response."""
    return np.max(np.abs(result - reference), axis=-1) / np.std(reference, axis=-1)


def _mass_with(*elements: vb.Element) -> vb.Structure:
    return vb.Structure.single_dof("m", [vb.Damper("c"), *elements], sensors=[vb.Displacement("mass")])


def _scatter(truth: dict[str, float], sets: int) -> dict[str, np.ndarray]:
    """Log-normal with 10 % scatter, the same sets whatever their number."""
    factors = np.exp(0.1 * np.random.default_rng(0).standard_normal((sets, len(truth))))
    factors[0] = 1.0
    return {name: value * factors[:, i] for i, (name, value) in enumerate(truth.items())}
