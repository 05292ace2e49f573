"""State event location: the published examples.

Trilinear elastic, bilinear hysteresis (flow-controlled F against mixed M), Bouc–Wen with no (A), all (B) and
velocity events only (C), and Bouc–Wen–Baber–Noori, each at relative tolerances from 1e-3 to 1e-10 against a highly
converged solution.

The excitations are only drawn in the paper. Here: one cycle of a sine and an amplitude-modulated sine, of
amplitudes that visit every mode several times. The trilinear case has a pair of crossings shortly after one
another, of the kind that is lost at a relative tolerance of 0.00077426 when only the ends of a step are looked at;
that tolerance is among those tried.

Nothing here is random: every seed gives the same figures.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import vibayes as vb
from vibayes.accuracy import AccuracyStudy, accuracy
from vibayes.report import figure_of_accuracy, figure_of_event_times, figure_of_history, figure_of_loop, save

PECULIAR = 0.00077426
BWBN = dict(
    alpha=0.1, k=1.0, beta=1.5, n=1.0, gamma=-0.5, delta_eta=0.05, delta_nu=0.005, q=0.1, zeta10=0.97, p=1.0, psi0=0.2,
    delta_psi=0.002, lam=0.1,
)  # fmt: skip


def sine_cycle(amplitude: float, duration: float) -> vb.Sine:
    """One cycle of a sine."""
    return vb.Sine(amplitude=amplitude, frequency_hz=1.0 / duration)


def modulated(amplitude: float, frequency: float, duration: float) -> vb.ModulatedSine:
    """A sine that swells and fades once."""
    return vb.ModulatedSine(amplitude=amplitude, frequency_hz=frequency, modulation_hz=1.0 / duration)


def oscillator(element: vb.Element) -> vb.Structure:
    """A unit mass on the element."""
    link = element.between("ground", "mass", name="spring")
    return vb.Structure.single_dof(
        1.0, [link], sensors=[vb.Displacement("mass"), vb.Velocity("mass"), vb.ElementForce("spring")]
    )


def models() -> dict[str, tuple[vb.Structure, vb.Structure | None, object, float, bool]]:
    """By name: structure, the one to run without events, excitation, duration, whether events are located."""
    trilinear = oscillator(vb.PiecewiseLinearSpring((0.3, 1.0, 0.3), (-0.75, 0.75)))
    mixed = oscillator(vb.BilinearHysteresis(1.0, 0.75, 0.3))
    flow = oscillator(vb.BilinearHysteresisFlow(1.0, 0.75, 0.3))
    all_events = oscillator(vb.BoucWen(0.5, 0.25, 0.25))
    velocity_only = oscillator(vb.BoucWen(0.5, 0.25, 0.25, force_events=False))
    pinching = oscillator(vb.BoucWenBaberNoori(**BWBN))
    cycle, swell = sine_cycle(2.9, 60.0), modulated(1.5, 0.1, 60.0)
    bouc_wen = modulated(0.5, 0.22, 60.0)
    return {
        "trilinear_elastic": (trilinear, trilinear, sine_cycle(1.32, 80.0), 80.0, True),
        "bilinear_F_sine": (flow, mixed, cycle, 60.0, True),
        "bilinear_M_sine": (mixed, mixed, cycle, 60.0, True),
        "bilinear_F_modulated": (flow, mixed, swell, 60.0, True),
        "bilinear_M_modulated": (mixed, mixed, swell, 60.0, True),
        "bouc_wen_A": (all_events, None, bouc_wen, 60.0, False),
        "bouc_wen_B": (all_events, all_events, bouc_wen, 60.0, True),
        "bouc_wen_C": (velocity_only, all_events, bouc_wen, 60.0, True),
        "bwbn": (pinching, pinching, modulated(0.5, 0.045, 60.0), 60.0, True),
    }


def figures_of(study: AccuracyStudy, plain: AccuracyStudy | None, located: bool) -> dict[str, object]:
    """What the JSON says of one model."""
    result: dict[str, object] = {"tp_slope": study.tp_slope}
    if located:
        result |= {
            "event_count": int(study.event_counts[0]),
            "event_count_constant": study.event_count_constant,
            "lost_events": study.lost_events,
        }
    if plain is not None:
        result["work_ratio_no_events"] = study.work_ratio(plain)
    return result


def draw(
    name: str, structure: vb.Structure, excitation, duration: float, studies: dict[str, AccuracyStudy], out: Path
) -> None:
    """Time histories, loops and diagrams of one model."""
    located = next(iter(studies.values())).locates_events
    method = vb.EventLocated(rtol=1e-3, events=located)
    solution = vb.simulate(structure, excitation, rate=20.0, samples=int(20 * duration) + 1, method=method)
    save(figure_of_history(solution), out / f"{name}_history.png")
    save(figure_of_loop(solution, "displacement of mass", "element force of spring", name), out / f"{name}_loop.png")
    save(figure_of_accuracy(studies, name), out / f"{name}_accuracy.png")
    if located:
        save(figure_of_event_times(studies["located"], name), out / f"{name}_events.png")


def main() -> None:
    """Run all models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="accepted for uniformity; nothing here is random")
    parser.add_argument("--quick", action="store_true", help="fewer tolerances")
    parser.add_argument("--out", type=Path, help="folder for figures and tables")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="accepted for uniformity; not used")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object at the end")
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    tolerances = sorted({*np.logspace(-3, -10, 15 if options.quick else 43).tolist(), PECULIAR}, reverse=True)
    results: dict[str, dict[str, object]] = {}
    plain_runs: dict[tuple[int, str], AccuracyStudy] = {}
    for name, (structure, without, excitation, duration, located) in models().items():
        begin = time.perf_counter()
        settings = dict(duration=duration, tolerances=tolerances, repeats=1 if options.quick else 3)
        study = accuracy(structure, excitation, method=vb.EventLocated(events=located), **settings)
        plain = None
        if without is not None:
            key = (id(without), repr(excitation))
            if key not in plain_runs:
                plain_runs[key] = accuracy(without, excitation, method=vb.EventLocated(events=False), **settings)
            plain = plain_runs[key]
        results[name] = figures_of(study, plain, located) | {"seconds": time.perf_counter() - begin}
        print(f"{name}\n{study}\n", flush=True)
        if options.out:
            study.to_csv(options.out / f"{name}.csv")
            if located:
                study.events_to_csv(options.out / f"{name}_events.csv")
            shown = {"located" if located else "not located": study} | ({"not located": plain} if plain else {})
            draw(name, structure, excitation, duration, shown, options.out)
    if options.json:
        print(json.dumps({"models": results}))


if __name__ == "__main__":
    main()
