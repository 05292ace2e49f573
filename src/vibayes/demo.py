"""The demonstration: a hysteretic oscillator, its pictures and its events.

Run it with ``python -m vibayes.demo --out DIR``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import vibayes as vb
from vibayes.report import figure_of_history, figure_of_loop, save

_UNITS = {
    "excitation": "N",
    "displacement of mass": "m",
    "velocity of mass": "m/s",
    "element force of spring": "N",
    "hysteretic energy of spring": "J",
}


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
    solution = vb.simulate(oscillator, force, rate=100.0, samples=6001)
    assert solution.events is not None and solution.work is not None
    history = figure_of_history(solution, units=_UNITS, excitation=force, title="Bilinear hysteretic oscillator")
    save(history, out / "history.png")
    loop = figure_of_loop(
        solution, "displacement of mass", "element force of spring", "Bilinear hysteresis", units=_UNITS
    )
    save(loop, out / "loop.png")
    solution.events.write_csv(out / "events.csv")
    print("A mass on a spring that yields, under a force that swells and fades, simulated exactly for 60 s.")
    first = solution.events.time[0]
    print(f"  {len(solution.events)} events: the spring began or ceased to yield, the first at {first:.3f} s")
    print(f"  {solution.work.steps} steps for {len(solution.times)} samples")
    print(f"  {solution['hysteretic energy of spring'][-1]:.3f} J taken up by the spring")
    print("Written:")
    for name, what in (
        ("history.png", "force, motion and energy over time, events marked"),
        ("loop.png", "spring force over displacement"),
        ("events.csv", "every event: when, from which mode to which"),
    ):
        print(f"  {out / name}  {what}")


if __name__ == "__main__":
    main()
