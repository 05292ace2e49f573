"""The electro-mechanical positioning system: mass, viscous and Coulomb friction with true sticking (section 4.3).

M x'' + Fv x' + Fc sign(x') + offset = force, learnt from the estimation record and tested on the validation record,
24.8 s each at 1 kHz, with pulses in the second. Both were recorded in closed loop, and nothing pulls the carriage back:
what is not in the model adds up in an open-loop simulation. So every position corrects the solution on the way, and the
diffusion of the acceleration, which the solver calibrates, stands for all that neither model nor solver knows.

free_run   every particle simulated from the first position and velocity of the validation record, never corrected
one_step   each position as it was expected after all those before it, 1 ms ahead
ahead      simulations that begin anew, from the filtered state, every quarter of a second
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from output_only import skip
from scipy.io import loadmat
from solver_based import deliver, draw, errors_of, figures_of, options

import vibayes as vb

PRIORS = {
    "M": vb.LogNormal(100.0, 1.3),
    "Fv": vb.LogNormal(200.0, 1.3),
    "Fc": vb.LogNormal(20.0, 1.5),
    "offset": vb.Normal(0.0, 5.0),
    "sigma": vb.LogUniform(1e-7, 1e-4),
}
RATE, AHEAD = 1000.0, 250


def carriage(*sensors: vb.Sensor) -> vb.Structure:
    """With names for what is unknown."""
    members = [vb.Damper("Fv"), vb.CoulombFriction("Fc", offset="offset")]
    return vb.Structure.single_dof("M", members, sensors=sensors or (vb.Displacement("mass"),))


def recorded(file: str, samples: int, chosen: Any) -> vb.Record:
    """Force and position."""
    data = loadmat(chosen.data / "emps" / f"{file}.mat")
    force = float(data["gtau"].item()) * data["vir"].ravel()
    return vb.Record.from_arrays(rate=RATE, input=force[:samples], output=data["qm"].ravel()[:samples])


def begins(record: vb.Record) -> dict[str, float]:
    """Position and velocity at the first sample."""
    position = np.asarray(record.output)[:2, 0]
    return {"displacement": float(position[0]), "velocity": float(np.diff(position)[0] * RATE)}


def corrected(record: vb.Record) -> vb.ODEFilter:
    """The solver of both records."""
    return vb.ODEFilter(
        order=2, linearised=True, corrected=True, second_order=True, start_displacement=1e-5, start_velocity=1e-2,
        **begins(record),
    )  # fmt: skip


@eqx.filter_jit
def expected(prepared: vb.Solving, values: Any) -> Any:
    """Each sample as it was expected after those before it, (samples, sets)."""
    return prepared.increments(values)[0].expected[:, 0]


def tested(record: vb.Record, draws: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Errors of all draws, in metres."""
    position, structure = np.asarray(record.output)[:, 0], carriage()
    own = {name: draws[name] for name in structure.parameters}
    free = vb.solve(vb.solving(structure, record, 1.0, vb.RungeKutta(steps=2, **begins(record))), own)
    prepared = vb.solving(structure, record, "sigma", corrected(record))
    one = np.asarray(expected(prepared, {name: jnp.asarray(value) for name, value in draws.items()})).T
    filtered = vb.solve(prepared, draws, of=[vb.Displacement("mass"), vb.Velocity("mass")]).means
    return {
        "free_run": errors_of(free.means[:, :, 0], position),
        "one_step": errors_of(one, position),
        "ahead": errors_of(_ahead(record, own, filtered), position),
    }


def _ahead(record: vb.Record, own: dict[str, np.ndarray], filtered: np.ndarray) -> np.ndarray:
    """Simulations that begin anew from the filtered state of each draw, again and again."""
    found, samples, count = np.empty(filtered.shape[:2]), record.samples, len(filtered)
    names = [f"{what}{i}" for what in ("x", "v") for i in range(1)]
    for first in range(0, samples - 1, AHEAD):
        last = min(first + AHEAD + 1, samples)
        part = record.segment(first, last)
        solver = vb.RungeKutta(steps=2, displacement=names[0], velocity=names[1])
        values = own | dict(zip(names, filtered[:, first].T, strict=True))
        found[:, first:last] = vb.solve(vb.solving(carriage(), part, 1.0, solver), values).means[:, :, 0]
    assert count == len(found)
    return found


if __name__ == "__main__":
    chosen = options(__doc__)
    for file in ("DATA_EMPS", "DATA_EMPS_PULSES"):
        skip(f"emps/{file}.mat", chosen)
    samples = 1500 if chosen.quick else 24_841
    record, other = (recorded(file, samples, chosen) for file in ("DATA_EMPS", "DATA_EMPS_PULSES"))
    problem = vb.Problem(carriage(), record, PRIORS, "EMPS", noise="sigma", filter=corrected(record))
    method = vb.IBIS(particles=50 if chosen.quick else 100)
    posterior = vb.infer(chosen.seed, problem, method, progress=not chosen.json)
    print(f"Positioning system, seed {chosen.seed}\n{posterior.summary()}", flush=True)
    result = figures_of(posterior) | tested(other, posterior.selected.resampled(chosen.seed, method.particles))
    for name in ("free_run", "one_step", "ahead"):
        print(name, result[name], flush=True)
    draw(posterior, None, chosen)
    deliver(result, chosen)
