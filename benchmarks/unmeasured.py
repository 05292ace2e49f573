"""The two structures under excitation that nobody measured, as this library and as its peers are given them.

    bilinear:  x″ + c x′ + k (α x + (1 − α) z) = w(t),       z′ = x′ with |z| ≤ D_y,       x′ measured
    chain:     four such springs in a row on a ground that moves as a Kanai–Tajimi process, two accelerations measured

They are those of the studies, records included. A peer is given a `Plain` model: what somebody who writes it out for
that peer would write, in JAX, with one step of Runge and Kutta per sample, and noise that enters between steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

import vibayes as vb

sys.path.insert(0, str(Path(__file__).parents[1] / "studies"))

import bilinear_output_only as bilinear_study
import chain_output_only as chain_study
import output_only

SEED = 0
DAMPING = 2.0 * 0.05 * bilinear_study.TRUTH["k"] ** 0.5
"""Of the oscillator."""
_SCATTER = 0.01
_SURE = 1e-12
"""Variance added to every state: peers that keep covariances need them positive definite."""


class Plain(NamedTuple):
    """One parameter set of a model, for a peer: x′ = advance(x, strength) + N(0, noise), y = read(x) + N(0, error)."""

    advance: Callable[[Any, Any], Any]
    read: Callable[[Any], Any]
    noise: Any
    error: Any
    start: Any
    """Covariance at the first sample; the mean is zero."""


@dataclass(frozen=True)
class Case:
    """A problem, the truth, and the same as a `Plain` model of values and standard deviations of the readings."""

    problem: vb.Problem
    truth: dict[str, float]
    plain: Callable[[Any, Any], Plain]
    strength: np.ndarray
    """Of the excitation in the middle of the interval before each sample."""

    @property
    def structure(self) -> vb.Structure:
        assert isinstance(self.problem.model, vb.Structure)
        return self.problem.model

    @property
    def outputs(self) -> np.ndarray:
        return np.asarray(self.problem.record.output)

    @property
    def deviations(self) -> np.ndarray:
        return np.asarray(self.problem.noise, float)

    def sets(self, count: int) -> dict[str, np.ndarray]:
        """Around the truth, which is the first."""
        factors = np.exp(_SCATTER * np.random.default_rng(SEED).standard_normal((count, len(self.truth))))
        factors[0] = 1.0
        return {name: value * factors[:, i] for i, (name, value) in enumerate(self.truth.items())}


BILINEAR_RATE = 20.0


def bilinear(samples: int = 2001) -> Case:
    """Three states, one output; sampled so finely that filters agree that add noise after the law, as peers do."""
    study = bilinear_study
    measured = output_only.measure(study.oscillator(), study.TRUTH, SEED, BILINEAR_RATE, samples, [])
    problem = vb.Problem(study.oscillator(), measured.record, study.PRIORS, "bilinear", noise=measured.noise)
    return Case(problem, study.TRUTH, plain_bilinear, np.ones(samples))


def chain(samples: int = chain_study.SAMPLES) -> Case:
    """Fourteen states, two outputs."""
    study = chain_study
    measured = output_only.measure(study.chain(), study.TRUTH, SEED, study.RATE, samples, [])
    problem = vb.Problem(study.chain(), measured.record, study.PRIORS, "chain", noise=measured.noise)
    envelope = study.chain().processes[0].envelope
    return Case(problem, study.TRUTH, plain_chain, np.asarray(envelope.value((np.arange(samples) - 0.5) / study.RATE)))


def plain_bilinear(p: Any, deviations: Any) -> Plain:
    h, slope, limit = 1.0 / BILINEAR_RATE, p["alpha"], p["D_y"]

    def flow(state):
        x, v, z = state
        force = p["k"] * (slope * x + (1.0 - slope) * jnp.clip(z, -limit, limit))
        return jnp.stack([v, -DAMPING * v - force, v])

    def advance(state, strength):
        x, v, z = runge_kutta(flow, state, h)
        return jnp.stack([x, v, jnp.clip(z, -limit, limit)])

    # A force w(t) moves x and z by the integral of what it adds to the velocity.
    pushed = np.array([[h**3 / 3, h**2 / 2, h**3 / 3], [h**2 / 2, h, h**2 / 2], [h**3 / 3, h**2 / 2, h**3 / 3]])
    noise = 2.0 * np.pi * bilinear_study.DENSITY * pushed + _SURE * np.eye(3)
    return Plain(advance, lambda state: state[1:2], jnp.asarray(noise), jnp.diag(deviations**2), _SURE * jnp.eye(3))


def plain_chain(p: Any, deviations: Any) -> Plain:
    h, ground, ratio, density = 1.0 / chain_study.RATE, 10.0, 0.35, chain_study.DENSITY
    k, limit, slope = (jnp.stack([p[f"{name}{i}"] for i in range(1, 5)]) for name in ("k", "D_y", "alpha"))
    stretch = np.eye(4) - np.eye(4, k=-1)
    squares, shapes = jnp.linalg.eigh(stretch.T @ (k[:, None] * stretch))
    damping = (shapes * (2.0 * 0.05 * jnp.sqrt(squares))) @ shapes.T

    def passed(state):
        """Forces on the masses, which all weigh one."""
        x, v, z = state[:4], state[4:8], jnp.clip(state[8:12], -limit, limit)
        return -stretch.T @ (k * (slope * (stretch @ x) + (1.0 - slope) * z)) - damping @ v

    def advance(state, strength):
        def flow(state):
            v, (u, du) = state[4:8], state[12:]
            pull = ground**2 * u + 2.0 * ratio * ground * du
            return jnp.concatenate([v, passed(state) - strength * pull, stretch @ v, jnp.stack([du, -pull])])

        state = runge_kutta(flow, state, h)
        return jnp.concatenate([state[:8], jnp.clip(state[8:12], -limit, limit), state[12:]])

    intensity = 2.0 * np.pi * density
    noise = _SURE * np.eye(14)
    noise[12:, 12:] += intensity * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
    start = _SURE * np.eye(14)
    start[12, 12] = intensity / (4.0 * ratio * ground**3)
    start[13, 13] = intensity / (4.0 * ratio * ground)
    return Plain(
        advance, lambda state: passed(state)[np.array([0, 3])], jnp.asarray(noise), jnp.diag(deviations**2),
        jnp.asarray(start),
    )  # fmt: skip


def runge_kutta(flow: Callable[[Any], Any], state: Any, h: float) -> Any:
    """A step of fourth order."""
    a = flow(state)
    b = flow(state + 0.5 * h * a)
    c = flow(state + 0.5 * h * b)
    return state + (h / 6.0) * (a + 2.0 * (b + c) + flow(state + h * c))
