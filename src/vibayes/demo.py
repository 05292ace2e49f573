"""The demonstration: a hysteretic oscillator, its picture and its events.

Run it with ``python -m vibayes.demo --out DIR``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import vibayes as vb
from vibayes.report import figure_of_history, figure_of_loop, save


def main(arguments: list[str] | None = None) -> None:
    """Simulate, draw, and say where the files are."""
    parser = argparse.ArgumentParser(description="Simulate a bilinear hysteretic oscillator and draw it.")
    parser.add_argument("--out", default="demo_output", type=Path, help="folder for the figures and the table")
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    spring = vb.BilinearHysteresis(stiffness=1.0, yield_displacement=0.75, ratio=0.3)
    oscillator = vb.Structure.single_dof(
        mass=1.0,
        elements=[spring.between("ground", "mass", name="spring")],
        sensors=[
            vb.Displacement("mass"),
            vb.Velocity("mass"),
            vb.ElementForce("spring"),
            vb.HystereticEnergy("spring"),
        ],
    )
    force = vb.ModulatedSine(amplitude=1.5, frequency_hz=0.15, modulation_hz=1 / 60)
    solution = vb.simulate(oscillator, force, rate=20.0, samples=1201)
    assert solution.events is not None
    solution.events.write_csv(out / "events.csv")
    save(figure_of_history(solution), out / "history.png")
    loop = figure_of_loop(solution, "displacement of mass", "element force of spring", "Bilinear hysteresis")
    save(loop, out / "loop.png")
    print("A bilinear hysteretic oscillator under an amplitude-modulated sine, simulated exactly:")
    print(f"  {len(solution.times)} samples, {len(solution.events)} located events, {solution.work.steps} steps")
    print(f"  energy taken up by the spring: {solution['hysteretic energy of spring'][-1]:.6f}")
    print(f"Pictures and table are in {out}/: history.png, loop.png, events.csv")


if __name__ == "__main__":
    main()
