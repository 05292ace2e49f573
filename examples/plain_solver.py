"""What a plain solver of differential equations makes of laws with corners, beside what vibayes makes of them.

Three structures with a law that is only piecewise smooth go through SciPy's Runge–Kutta pair of orders 5 and 4, with
the switching written into the right-hand side, and through `vibayes.simulate`, which uses the same pair in
`EventLocated` but ends a step at every switch. The reference is `Exact`, which has no step size to choose.

Run it with ``python examples/plain_solver.py``.
"""

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import vibayes as vb

LIMIT = 50_000
"""Evaluations of the right-hand side after which the plain solver is stopped."""


class GaveUp(Exception):
    """The plain solver went on for too long."""


def plain(flow, start, times, rtol, **options):
    """SciPy's solution and the evaluations it took; None in place of a solution that was given up."""
    count = 0

    def counted(t, y):
        nonlocal count
        count += 1
        if count > LIMIT:
            raise GaveUp
        return flow(t, y)

    settings = {"method": "RK45", "rtol": rtol, "atol": 1e-12, "t_eval": times, **options}
    try:
        return solve_ivp(counted, (times[0], times[-1]), start, **settings), count
    except GaveUp:
        return None, count


def yielding() -> None:
    """Bilinear hysteresis: the tolerance asked for and the error that comes out."""
    k, x_y, ratio, c, force = 1.0, 0.75, 0.05, 0.05, vb.Sine(amplitude=0.6, frequency_hz=0.12)
    structure = vb.Structure.single_dof(1.0, [vb.Damper(c), vb.BilinearHysteresis(k, x_y, ratio)])
    settings = {"rate": 1.0, "samples": 101}
    exact = vb.simulate(structure, force, **settings)["displacement of mass"]
    times = np.arange(101) / 1.0

    def flow(t, y):
        x, v, z = y
        slides = (z >= x_y and v > 0) or (z <= -x_y and v < 0)
        u = 0.6 * np.sin(2 * np.pi * 0.12 * t)
        return v, u - c * v - k * (ratio * x + (1 - ratio) * z), 0.0 if slides else v

    print("A yielding oscillator, 100 s: largest error of the displacement (evaluations)")
    print(f"{'rtol':>6}  {'plain solver':>20}  {'events located':>20}")
    for rtol in (1e-4, 1e-6, 1e-8):
        rough, count = plain(flow, (0.0, 0.0, 0.0), times, rtol)
        method = vb.EventLocated(rtol=jnp.asarray(rtol))  # an array, so that one compiled program serves all tolerances
        located = vb.simulate(structure, force, method=method, **settings)
        errors = [np.abs(x - exact).max() for x in (rough.y[0], located["displacement of mass"])]
        work = located.work.evaluations + located.work.rejected_evaluations
        print(f"{rtol:6.0e}  {errors[0]:10.0e} {f'({count})':>9}  {errors[1]:10.0e} {f'({work})':>9}")


def sticking() -> None:
    """Coulomb friction: sgn(v) has no value at rest, where a stuck mass has to be held."""
    k, limit, force = 100.0, 5.0, vb.Sine(amplitude=6.0, frequency_hz=0.5)
    friction = vb.CoulombFriction(limit).between("ground", "mass", name="friction")
    structure = vb.Structure.single_dof(1.0, [vb.Spring(k), friction])
    exact = vb.simulate(structure, force, rate=100.0, samples=401)
    stuck = np.mean(exact.modes[:, 1] == 1)

    def flow(t, y):
        x, v = y
        return v, 6.0 * np.sin(np.pi * t) - k * x - limit * np.sign(v)

    print("\nA mass that sticks and slips, 4 s")
    print(f"vibayes: {exact.work.steps} steps, {len(exact.events)} events, stuck {stuck:.0%} of the time")
    for rtol in (1e-4, 1e-6):
        rough, count = plain(flow, (0.0, 0.0), exact.times, rtol)
        print(
            f"plain solver, rtol {rtol:.0e}: {count} evaluations, {'given up' if rough is None else 'reached the end'}"
        )


def touching() -> None:
    """A stop that is only just touched: who looks for sign changes from step to step walks past it."""
    stop, opening = 100.0, 1.0 - 1e-5
    structure = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.gap(stop, opening)])
    silence = vb.Sine(amplitude=0.0, frequency_hz=1.0)
    exact = vb.simulate(structure, silence, rate=1.0, samples=41, velocity=1.0)

    def flow(t, y):
        x, v = y
        return v, -x - stop * max(x - opening, 0.0)

    def contact(t, y):
        return y[0] - opening

    print("\nA stop that is only just touched, 40 s of free vibration: crossings found")
    print(f"vibayes: {len(exact.events)}")
    for rtol in (1e-4, 1e-6, 1e-8):
        rough, _ = plain(flow, (0.0, 1.0), exact.times, rtol, events=contact)
        print(f"plain solver, rtol {rtol:.0e}: {len(rough.t_events[0])}")


if __name__ == "__main__":
    yielding()
    sticking()
    touching()
