"""Problems whose evidence is known from elsewhere: in closed form, by quadrature, or by nested sampling (dynesty)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from tests.polynomials import linear_in_unknowns

import vibayes as vb
from vibayes.likelihood import TrajectoryTarget

sys.path.insert(0, str(Path(__file__).parents[1]))

X = np.linspace(-1.0, 1.0, 80)


def _record(values: np.ndarray, rate: float = 10.0) -> vb.Record:
    return vb.Record.from_arrays(rate=rate, output={"y": values})


# ---- a line ------------------------------------------------------------------------------------------------------


def lines() -> list[vb.Problem]:
    """A line through the origin, and any line, which contains it; the record is of the latter."""

    def slope(a):
        return a[:, None] * X

    def line(a, b):
        return a[:, None] * X + b[:, None]

    y = _record(0.8 * X + 0.06 + 0.2 * np.random.default_rng(5).standard_normal(len(X)))
    priors = {"a": vb.Uniform(0.0, 2.0), "b": vb.Uniform(-1.0, 1.0)}
    small = vb.Problem(slope, y, {"a": priors["a"]}, vectorised=True)
    return [small, vb.Problem(line, y, priors, vectorised=True)]


def evidences_of_lines() -> dict[str, float]:
    """In closed form: the posterior ends far from the ends of the priors, each of which is two wide."""
    y, designs = lines()[0].motions.output[:, 0], {"slope": X[:, None], "line": np.stack([X, np.ones_like(X)], axis=1)}
    return {name: linear_in_unknowns(d, y, d.shape[1] * np.log(2.0))[0] for name, d in designs.items()}


# ---- two modes ---------------------------------------------------------------------------------------------------


def two_modes() -> vb.Problem:
    """y = a² (1 + a/4) x² + b: two values of a do as well, one of which fills more of the prior."""

    def parabola(a, b):
        return _parabola(a, b)

    y = _parabola(np.array([0.7]), np.array([0.1]))[0] + 0.1 * np.random.default_rng(1).standard_normal(len(X))
    return vb.Problem(parabola, _record(y), {"a": vb.Uniform(-1.0, 2.0), "b": vb.Uniform(-1.0, 1.0)}, vectorised=True)


def evidence_of_two_modes(side: float = 0.0) -> float:
    """By quadrature over a grid; with ``side`` minus one or one over that side of zero alone."""
    y = two_modes().motions.output[:, 0]
    a, b = -1.0 + 3.0 * (np.arange(1200) + 0.5) / 1200, -1.0 + 2.0 * (np.arange(800) + 0.5) / 800
    rows = []
    for each in a:
        rest = np.sum((y - _parabola(np.full(len(b), each), b)) ** 2, axis=1)
        rows.append(-0.5 * len(y) * np.log(rest / np.sum((y - y.mean()) ** 2)))
    kept = np.ones(len(a), bool) if side == 0.0 else np.sign(a) == side
    return float(logsumexp(np.array(rows)[kept]) - np.log(len(a) * len(b)))


def _parabola(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a**2 * (1.0 + 0.25 * a))[:, None] * X**2 + b[:, None]


# ---- ten unknowns ------------------------------------------------------------------------------------------------

TEN, SIGMA = 10, 0.3


def ten_unknowns() -> vb.Problem:
    """Weights of ten bumps that overlap, with Gaussian priors and noise of known deviation."""

    def bumps(**weights):
        return np.stack(list(weights.values()), axis=1) @ _bumps().T

    rng = np.random.default_rng(3)
    y = _bumps() @ (1.0 + 0.5 * rng.standard_normal(TEN)) + SIGMA * rng.standard_normal(len(X))
    priors = {f"w{i}": vb.Normal(1.0, 0.5) for i in range(TEN)}
    return vb.Problem(bumps, _record(y), priors, noise=SIGMA, vectorised=True)


def evidence_of_ten_unknowns() -> float:
    """The record is Gaussian with the mean Φ 1 and the covariance σ² I + Φ Φᵀ / 4."""
    basis, y = _bumps(), ten_unknowns().motions.output[:, 0]
    covariance = SIGMA**2 * np.eye(len(y)) + 0.25 * basis @ basis.T
    rest = y - basis.sum(axis=1)
    log_determinant = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
    return float(-0.5 * (rest @ np.linalg.solve(covariance, rest) + log_determinant))


def _bumps() -> np.ndarray:
    return np.exp(-0.5 * ((X[:, None] - np.linspace(-1.0, 1.0, TEN)) / 0.3) ** 2)


# ---- oscillators -------------------------------------------------------------------------------------------------


def bilinear() -> vb.Problem:
    """A piecewise-linear oscillator with four unknowns."""
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1",), ("d1",))
    truth = {"c": 1.0, "k0": 400.0, "k1": 1500.0, "d1": 2e-3}
    priors = {
        "c": vb.LogUniform(0.5, 2.0), "k0": vb.LogUniform(200.0, 800.0), "k1": vb.LogUniform(500.0, 5000.0),
        "d1": vb.Uniform(-0.01, 0.01),
    }  # fmt: skip
    return _oscillator("bilinear", [vb.Damper("c"), spring], truth, priors)


def duffing() -> vb.Problem:
    """A cubic oscillator."""
    truth = {"m": 1.0, "c": 1.0, "k": 400.0, "k3": 5e6}
    priors = {
        "m": vb.LogUniform(0.5, 2.0), "c": vb.LogUniform(0.5, 2.0), "k": vb.LogUniform(200.0, 800.0),
        "k3": vb.LogUniform(1e6, 2e7),
    }  # fmt: skip
    return _oscillator("duffing", [vb.Damper("c"), vb.Duffing("k", "k3")], truth, priors, "m")


def springs() -> list[vb.Problem]:
    """A trilinear and a quadlinear spring, which contains it; the record is of the former."""
    problems = []
    for breaks, name in ((2, "trilinear"), (3, "quadlinear")):
        slopes, points = ([f"{letter}{i + 1}" for i in range(breaks)] for letter in "kd")
        spring = vb.PiecewiseLinearSpring.around_zero("k0", tuple(slopes), tuple(points))
        priors = {
            "c": vb.LogUniform(0.5, 2.0), "k0": vb.LogUniform(200.0, 800.0),
            **dict.fromkeys(slopes, vb.LogUniform(500.0, 5000.0)), **dict.fromkeys(points, vb.Uniform(-0.01, 0.01)),
        }  # fmt: skip
        truth = {"c": 1.0, "k0": 400.0, "k1": 2500.0, "k2": 1500.0, "d1": -2e-3, "d2": 2e-3}
        problems.append((name, [vb.Damper("c"), spring], truth, priors))
    first = _oscillator(*problems[0])
    return [first, _oscillator(*problems[1], record=first.motions)]


def _oscillator(
    name: str, elements: list, truth: dict[str, float], priors: Mapping[str, vb.Uniform | vb.LogUniform],
    mass: float | str = 1.0, record: vb.Record | None = None,
) -> vb.Problem:  # fmt: skip
    """160 samples of the displacement with 10 % noise, or a given record."""
    structure = vb.Structure.single_dof(mass, elements, sensors=[vb.Displacement("mass")])
    return vb.Problem(structure, record or _measured(structure, truth), priors, name)


def _measured(structure: vb.Structure, truth: dict[str, float]) -> vb.Record:
    force = vb.band_limited_noise(2, 50.0, 160, 2.0, high_hz=10.0)
    clean = np.asarray(vb.simulate(structure, force, truth, states=False).outputs)
    noisy = clean + 0.1 * clean.std() * np.random.default_rng(4).standard_normal(clean.shape)
    return vb.Record.from_arrays(rate=50.0, input={"f": np.asarray(force.values)[:, 0]}, output={"x": noisy[:, 0]})


# ---- nested sampling ---------------------------------------------------------------------------------------------


@cache
def nested_sampling(make: Callable[[], vb.Problem], live: int = 800) -> tuple[float, float]:
    """Logarithm of the evidence and its standard error by dynesty, from the most accurate simulation there is."""
    from benchmarks import peer_dynesty  # installed with the peers alone

    target = TrajectoryTarget(make())
    found = peer_dynesty.sample(0, target.log_likelihoods_at_best, target.size, live, at_once=256, sample="rwalk")
    # dynesty integrates over all points, of which the constraints leave a share that the prior is normalised over.
    share = target.feasible
    return found.log_evidence - share.log_share, float(np.hypot(found.error, share.error))
