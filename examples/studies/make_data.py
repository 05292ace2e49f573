"""Writes the data that the studies in this folder read: simulated, with noise, the same every time.

Run it with ``python examples/studies/make_data.py [folder]``; by default the files go beside the studies.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

import vibayes as vb

HERE = Path(__file__).resolve().parent


def oscillator(*elements, sensor):
    return vb.Structure.single_dof(1.0, elements, sensors=[sensor("mass")])


def simulated(structure, excitation, values, noise, inputs, outputs, units=None):
    """A record of a structure, with noise in percent of every output."""
    clean = np.asarray(vb.simulate(structure, excitation, values, states=False).outputs)
    scatter = noise * clean.std(axis=0) * np.random.default_rng(0).standard_normal(clean.shape)
    given = np.asarray(excitation.values)
    return vb.Record.from_arrays(
        rate=excitation.rate, input=dict(zip(inputs, given.T, strict=True)) if inputs else None,
        output=dict(zip(outputs, (clean + scatter).T, strict=True)), units=units,
    )  # fmt: skip


def piecewise():
    spring = vb.PiecewiseLinearSpring((3e3, 1e3, 7e3), (-1e-3, 0.5e-3))
    structure = oscillator(vb.Damper(2.0), spring, sensor=vb.RelativeAcceleration)
    force = vb.band_limited_noise(1, 100.0, 400, standard_deviation=2.0, high_hz=20.0)
    units = {"force": "N", "acceleration": "m/s^2"}
    return simulated(structure, force, {}, 0.05, ["force"], ["acceleration"], units)


def output_only():
    structure = oscillator(
        vb.Damper(0.25), vb.BilinearHysteresis(6.14, 0.4, 0.1), sensor=vb.Velocity
    ).driven_by(vb.WhiteNoise(0.2, envelope=vb.Trapezoid(5.0, 50.0, 61.0)))  # fmt: skip
    push = vb.realise(2, structure, rate=5.0, samples=301)
    every = (len(push.values) - 1) // 300
    found = vb.simulate(structure, push, states=False)
    velocity = np.asarray(found.outputs)[::every, 0]
    noise = 0.1 * velocity.std() * np.random.default_rng(2).standard_normal(len(velocity))
    return vb.Record.from_arrays(rate=5.0, output={"velocity": velocity + noise}, units={"velocity": "m/s"})


def solver():
    structure = oscillator(vb.Damper(1.0), vb.Duffing(100.0, 2000.0), sensor=vb.Displacement)
    force = vb.band_limited_noise(3, 50.0, 200, standard_deviation=10.0, high_hz=5.0)
    return simulated(structure, force, {}, 0.02, ["force"], ["displacement"])


def backbone():
    """Points of the first-order backbones of two masses with cubic springs: Ω² = ω² + 3/4 α V² of each mode."""
    amplitude = np.linspace(0.05, 0.6, 12)
    rng = np.random.default_rng(4)
    in_phase = np.sqrt(1.0 + 0.75 * 0.25 * amplitude**2)
    against = np.sqrt(3.0 + 0.75 * 0.25 * amplitude**2)
    zero = np.zeros_like(amplitude)
    frequency = np.concatenate([in_phase, against]) * (1.0 + 1e-4 * rng.standard_normal(24))
    modes = np.stack([np.concatenate([amplitude, zero]), np.concatenate([zero, amplitude])], axis=1)
    return np.column_stack([frequency, modes])


def frame():
    storeys = [[vb.Spring(2000.0), vb.Damper(2.0)], [vb.BilinearHysteresis(800.0, 1.5e-3, 0.1)]]
    sensors = [vb.Displacement("m1"), vb.Displacement("m2")]
    structure = vb.Structure.chain([1.0, 0.5], storeys, sensors=sensors, damping=vb.Rayleigh(0.1, 1e-3))
    ground = vb.band_limited_noise(3, 100.0, 200, 3.0, high_hz=20.0)
    return simulated(structure, ground, {}, 0.03, ["ground"], ["lower", "upper"])


def simulator():
    sys.path.insert(0, str(HERE))
    from pendulum import RATE, SAMPLES, swing

    angle = np.array(swing(0.8, 0.3)) + 0.02 * np.random.default_rng(2).standard_normal(SAMPLES)
    return vb.Record.from_arrays(rate=RATE, output={"angle": angle}, units={"angle": "rad"})


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in (*HERE.glob("*.toml"), *HERE.glob("*.py")):
        if folder.resolve() != HERE:
            shutil.copy(each, folder / each.name)
    for make in (piecewise, output_only, solver, frame, simulator):
        vb.write_record(make(), folder / f"{make.__name__}.csv")
    header = "frequency,mode 1,mode 2"
    np.savetxt(folder / "backbone.csv", backbone(), delimiter=",", header=header, comments="")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
