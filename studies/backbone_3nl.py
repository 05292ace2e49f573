"""Nonlinear stiffness from two measured backbones, and the isola nobody measured: three nonlinear springs (3NL).

Sweep, release and record near both backbones, find points of them, and identify three cubic springs: as published, the
same with our points in place of those of the moving Fourier window, and at second order. Then what lies far from the
data: an isolated backbone, the response to a force in the first mode, and the isola that a force in the second one has,
with its probability.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

import backbone_study as study
import numpy as np

import vibayes as vb

SYSTEM = study.System(
    name="3NL",
    coupling=0.105,
    truth={"alpha1": 0.5, "alpha2": 0.05, "alpha3": 0.4},
    sweeps=(
        study.Sweep("S1", (0.0018, 0.0018), 0.98, 1.20),
        study.Sweep("S2", (0.0028, -0.0028), 1.08, 1.25),
    ),
)
FIRST_MODE, SECOND_MODE = {"m1": 0.002, "m2": 0.002}, {"m1": 0.01, "m2": -0.01}
"""Forces of figures 8 and 9."""


def predicted(posteriors: Mapping[str, vb.Posterior], chosen: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    """Figures of what lies far from the data, and the branches behind them: true and estimated ones."""
    model = posteriors["second_order"].selected
    structure, branches = SYSTEM.structure(), []
    for values in (dict(SYSTEM.truth), study.central(model)):
        forced = vb.isolas(structure, values, SECOND_MODE, study.SPAN, amplitude=study.REACH)
        branches.append((forced, vb.forced_response(structure, values, FIRST_MODE, (0.9, 1.3))))
    draws = {name: model.resampled(chosen.seed, 16 if chosen.quick else 64)[name] for name in study.NAMES}
    odds = vb.isola_probability(structure, draws, SECOND_MODE, study.SPAN, amplitude=study.REACH)
    (true, _), (found, _) = branches
    assert true.backbones is not None and found.backbones is not None
    real = true.isolas[0] if true.isolas else None
    result = {
        "isola_probability": odds.probability,
        "isola_probability_error": odds.standard_error,
        "isola_range": {
            "interval90": odds.range_interval(0.9),
            "interval95": odds.range_interval(),
            "median": np.nanmedian(odds.ranges, axis=0).tolist(),
            "truth": None if real is None else list(real.frequency_range),
        },
        "isola_peak": {
            "interval90": list(odds.peak_interval("m2", 0.9)),
            "interval95": list(odds.peak_interval("m2")),
            "median": float(np.nanmedian(odds.peaks[:, 1])),
            "truth": None if real is None else float(real.amplitude("m2").max()),
        },
        "backbone_error": study.backbone_errors(found.backbones, true.backbones),
    }
    return result, branches


def main() -> None:
    """Run the study."""
    chosen = study.options(__doc__)
    result, posteriors, measured = study.run(SYSTEM, chosen)
    begun = time.perf_counter()
    found, branches = predicted(posteriors, chosen)
    result |= found | {"seconds_continuation": time.perf_counter() - begun}
    print(f"isola with probability {result['isola_probability']:.3f}, {result['isola_range']}", flush=True)
    study.draw(SYSTEM, posteriors, measured, chosen)
    curves, first, second = {}, {}, {}
    for what, (forced, response) in zip(("true", "estimated"), branches, strict=True):
        curves |= study.named(forced.backbones, what)
        first[what] = response
        second |= {f"main, {what}": forced.main}
        second |= {f"isola {i + 1}, {what}": isola for i, isola in enumerate(forced.isolas)}
    study.save_branches(curves, study.measured_at(measured[1], SYSTEM, 1), chosen, "backbones")
    study.save_branches(first, None, chosen, "forced_first_mode")
    study.save_branches(second, None, chosen, "forced_second_mode")
    study.deliver(result, chosen)


if __name__ == "__main__":
    main()
