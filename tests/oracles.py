"""Solutions that share no code with the library: what the simulators are compared with.

- `linear_response`: the matrix exponential of a linear system augmented by its held or straight-line input.
- `piecewise_linear_oscillator`: one mass on a piecewise-linear spring in 30 digits, by the closed form of each
  region and the closed form of where its derivatives change sign, so that no crossing can be missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy.linalg import expm

DIGITS = 30


def linear_response(
    A: np.ndarray, B: np.ndarray, values: np.ndarray, interval: float, lines: bool, start: np.ndarray | None = None
) -> np.ndarray:
    """States at the samples of dy/dt = A y + B u, the input held between samples or joined by straight lines.

    Exact up to rounding: the input and its slope are states of a larger linear system with constant rates.
    """
    n, m = B.shape
    augmented = np.zeros((n + 2 * m,) * 2)
    augmented[:n, :n], augmented[:n, n : n + m] = A, B
    augmented[n : n + m, n + m :] = np.eye(m)
    advance = expm(augmented * interval)
    states = np.zeros((len(values), n))
    states[0] = 0.0 if start is None else start
    for i, (now, after) in enumerate(pairwise(values)):
        slope = (after - now) / interval if lines else np.zeros(m)
        states[i + 1] = advance[:n] @ np.concatenate([states[i], now, slope])
    return states


def first_order(M: np.ndarray, C: np.ndarray, K: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M a + C v + K x = load u as dy/dt = A y + B u with y = (x, v)."""
    n, inverse = len(M), np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ C]])
    return A, np.vstack([np.zeros_like(load), inverse @ load])


# ---- one mass on a piecewise-linear spring, in 30 digits ------------------------------------------------------------


class _Motion:
    """x(t) = e^(−at) (P cos wt + Q sin wt) + e + s t from a state, in one region under a straight-line force."""

    def __init__(self, mass, damping, stiffness, intercept, x, v, force, slope):
        self.a = damping / (2 * mass)
        self.w = mpmath.sqrt(stiffness / mass - self.a**2)
        self.s = slope / stiffness
        self.e = (force - intercept - damping * self.s) / stiffness
        self.P = x - self.e
        self.Q = (v - self.s + self.a * self.P) / self.w

    def __call__(self, t):
        """Displacement and velocity."""
        decay, c, s = mpmath.exp(-self.a * t), mpmath.cos(self.w * t), mpmath.sin(self.w * t)
        free = decay * (self.P * c + self.Q * s)
        turned = decay * (self.Q * c - self.P * s)
        return free + self.e + self.s * t, self.w * turned - self.a * free + self.s

    def inflections(self, until):
        """Times at which the acceleration changes sign: those of a decaying sine, in closed form."""
        a, w = self.a, self.w
        cosine = (a * a - w * w) * self.P - 2 * a * w * self.Q
        sine = (a * a - w * w) * self.Q + 2 * a * w * self.P
        t, half = mpmath.atan2(-cosine, sine) / w, mpmath.pi / w
        t -= half * mpmath.floor(t / half)
        times = []
        while t < until:
            times.append(t)
            t += half
        return times


def _root(function, low, high, f_low):
    """The zero of a monotone function between two times, by bisection and then secants kept inside the bracket."""
    up = f_low < 0
    for _ in range(12):
        middle = (low + high) / 2
        if (function(middle) < 0) == up:
            low = middle
        else:
            high = middle
    a, b, fa, fb = low, high, function(low), function(high)
    for _ in range(60):
        if fa == fb or abs(b - a) <= abs(b) * mpf(10) ** (2 - DIGITS):
            break
        c = b - fb * (b - a) / (fb - fa)
        c = c if low <= c <= high else (low + high) / 2
        fc = function(c)
        if (fc < 0) == up:
            low = c
        else:
            high = c
        a, fa, b, fb = b, fb, c, fc
    return b


def _monotone_pieces(motion, until):
    """Times between which the displacement is monotone."""
    cuts = [mpf(0), *motion.inflections(until), until]
    turns = []
    for low, high in pairwise(cuts):
        v_low, v_high = motion(low)[1], motion(high)[1]
        if (v_low < 0) != (v_high < 0):
            turns.append(_root(lambda t: motion(t)[1], low, high, v_low))
    return [mpf(0), *turns, until]


def _first_exit(motion, until, low, high):
    """When the displacement first leaves (low, high), and through which end (−1 or 1); (until, 0) if it stays."""
    times = _monotone_pieces(motion, until)
    for begin, end in pairwise(times):
        there = motion(end)[0]
        for border, side in ((low, -1), (high, 1)):
            if side * (there - border) > 0:
                return _root(lambda t: motion(t)[0] - border, begin, end, -side), side  # noqa: B023
    return until, 0


@dataclass(frozen=True)
class Response:
    """Displacement and velocity at the samples, and the times of all crossings of a break point."""

    displacement: np.ndarray
    velocity: np.ndarray
    crossings: np.ndarray


def piecewise_linear_oscillator(
    mass: float, damping: float, slopes: Any, breaks: Any, values: np.ndarray, interval: float
) -> Response:
    """One mass from rest on a spring with the given slopes (left to right) between break points; straight-line force.

    The spring passes through the origin, which is not a break point. All regions must be stiff enough to vibrate.
    """
    with mp.workdps(DIGITS):
        m, c, h = mpf(float(mass)), mpf(float(damping)), mpf(float(interval))
        k, b = [mpf(float(s)) for s in slopes], [mpf("-inf"), *(mpf(float(q)) for q in breaks), mpf("inf")]
        f = [mpf(0)]
        for i, border in enumerate(b[1:-1]):
            f.append(f[-1] + (k[i] - k[i + 1]) * border)
        region = sum(border < 0 for border in b[1:-1])
        f = [intercept - f[region] for intercept in f]
        u, x, v, time = [mpf(float(value)) for value in values], mpf(0), mpf(0), mpf(0)
        displacement, velocity, crossings = [x], [v], []
        for now, after in pairwise(u):
            rate, left, force = (after - now) / h, h, now
            while True:
                motion = _Motion(m, c, k[region], f[region], x, v, force, rate)
                t, side = _first_exit(motion, left, b[region], b[region + 1])
                x, v = motion(t)
                if not side:
                    break
                region, left, force = region + side, left - t, force + rate * t
                x = b[region] if side > 0 else b[region + 1]
                crossings.append(time + h - left)
            time += h
            displacement.append(x)
            velocity.append(v)
        return Response(*(np.array([float(q) for q in column]) for column in (displacement, velocity, crossings)))
