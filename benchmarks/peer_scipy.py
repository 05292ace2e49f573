"""The peer in SciPy: ``solve_ivp``, one parameter set at a time, with or without restarts at events and input samples.

Restarted at every kink, the solver sees a smooth equation and reaches its tolerance; the price is a call per sample and
event. In one call over the whole record it is faster, and its error is what stepping over the kinks leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

State = Sequence[float]
Mode = tuple[int, ...]


class Guard(NamedTuple):
    """Within a mode, a function of the state that stays positive, and the mode that follows when it does not."""

    value: Callable[[State], float]
    after: Mode


class Law(NamedTuple):
    """An equation of motion: states at rest, their rates, the mode they are in, and the guards of a mode."""

    size: int
    rates: Callable[[State, float, Mode], list[float]]
    mode_at: Callable[[State], Mode]
    first_mode: Mode
    guards: Callable[[Mode], list[Guard]]


def trilinear(p: Mapping[str, float]) -> Law:
    """Mode: the region, 0 to 2."""
    m, c, left, right = p["m"], p["c"], p["dL"], p["dR"]
    slopes = p["kL"], p["k0"], p["kR"]
    constants = (p["k0"] - p["kL"]) * left, 0.0, (p["k0"] - p["kR"]) * right

    def rates(y, u, mode):
        return [y[1], (u - c * y[1] - slopes[mode[0]] * y[0] - constants[mode[0]]) / m]

    def guards(mode):
        (r,) = mode
        down = [Guard(lambda y, b=(left, right)[r - 1]: y[0] - b, (r - 1,))] if r > 0 else []
        up = [Guard(lambda y, b=(left, right)[r]: b - y[0], (r + 1,))] if r < 2 else []
        return down + up

    return Law(2, rates, lambda y: (0 if y[0] < left else 1 if y[0] < right else 2,), (1,), guards)


def bouc_wen(p: Mapping[str, float], first_input: float) -> Law:
    """Mode: the signs of velocity and hysteretic force. At rest both are about to take that of the input."""
    m, c, k, alpha, beta, gamma, delta = (p[n] for n in ("m", "c", "k", "alpha", "beta", "gamma", "delta"))

    def rates(y, u, mode):
        x, v, z = y
        pull = beta * (gamma * mode[0] + delta * mode[1]) * z
        return [v, (u - c * v - k * x - z) / m, (alpha - pull) * v]

    def guards(mode):
        v, z = mode
        return [Guard(lambda y: v * y[1], (-v, z)), Guard(lambda y: z * y[2], (v, -z))]

    sign = 1 if first_input > 0 else -1
    return Law(3, rates, lambda y: (1 if y[1] > 0 else -1, 1 if y[2] > 0 else -1), (sign, sign), guards)


def restarted(law: Law, input: np.ndarray, interval: float, **options: Any) -> np.ndarray:
    """Displacements at the samples; a new call for each piece of input and after each event."""
    state, mode, out = np.zeros(law.size), law.first_mode, np.zeros(len(input))
    values = input.tolist()
    for i, (now, then) in enumerate(itertools.pairwise(values)):
        slope, t = (then - now) / interval, 0.0

        def flow(t, y, now=now, slope=slope):
            return law.rates(y.tolist(), now + slope * t, mode)  # noqa: B023 (called before it changes)

        while t < interval:
            guards = law.guards(mode)
            solution = solve_ivp(flow, (t, interval), state, events=[_event(g) for g in guards], **options)
            state, t = solution.y[:, -1], solution.t[-1]
            if solution.status == 1:
                mode = next(g.after for g, times in zip(guards, solution.t_events, strict=True) if len(times))
        out[i + 1] = state[0]
    return out


def in_one_call(law: Law, input: np.ndarray, interval: float, **options: Any) -> np.ndarray:
    """Displacements at the samples; kinks of the law and of the input are stepped over."""
    values, slopes, last = input.tolist(), (np.diff(input) / interval).tolist(), len(input) - 2

    def flow(t, y):
        i = min(int(t / interval), last)
        state = y.tolist()
        return law.rates(state, values[i] + slopes[i] * (t - i * interval), law.mode_at(state))

    times = interval * np.arange(len(input))
    solution = solve_ivp(flow, (0.0, times[-1]), np.zeros(law.size), t_eval=times, max_step=interval, **options)
    return solution.y[0]


def _event(guard: Guard) -> Any:
    def event(t, y):
        return guard.value(y)

    event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    return event
