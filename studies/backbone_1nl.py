"""Nonlinear stiffness from two measured backbones: the published structure with one nonlinear spring (1NL).

Sweep, release and record near both backbones, find points of them, and identify three cubic springs, of which two are
not there: as published, the same with our points in place of those of the moving Fourier window, and at second order.
Backbones that follow are compared with those of the true values. As two true values are zero, errors are given in
percent of the largest too.
"""

from __future__ import annotations

import time

import backbone_study as study

SYSTEM = study.System(
    name="1NL",
    coupling=1.0,
    truth={"alpha1": 0.5, "alpha2": 0.0, "alpha3": 0.0},
    sweeps=(
        study.Sweep("S1", (0.0022, 0.0022), 0.98, 1.12),
        study.Sweep("S2", (0.0065, -0.0065), 1.70, 1.90),
    ),
)


def main() -> None:
    """Run the study."""
    chosen = study.options(__doc__)
    result, posteriors, measured = study.run(SYSTEM, chosen)
    begun = time.perf_counter()
    true, found = (
        study.curves_of(SYSTEM, values) for values in (SYSTEM.truth, study.central(posteriors["second_order"].selected))
    )
    result |= {
        "backbone_error": study.backbone_errors(found, true),
        "isola_probability": None,
        "isola_range": None,
        "isola_peak": None,
        "seconds_continuation": time.perf_counter() - begun,
    }
    study.draw(SYSTEM, posteriors, measured, chosen)
    branches = study.named(true, "true") | study.named(found, "estimated")
    study.save_branches(branches, study.measured_at(measured[1], SYSTEM, 1), chosen, "backbones")
    study.deliver(result, chosen)


if __name__ == "__main__":
    main()
