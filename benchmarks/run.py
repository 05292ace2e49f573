"""Measure speed and accuracy beside other libraries and a loop in C: ``python benchmarks/run.py [--quick]``.

Everything is measured in one run on one machine, after compilation unless it says otherwise, in double precision.
"""

import argparse
import json
import platform
import time

import measure
import peer_c
from comparisons import bouc_wen_speeds, trilinear_speeds
from filters import effective_draws, likelihoods
from growth import figures
from identification import identifications
from results import (
    EFFECTIVE_HEAD,
    FIGURE_HEAD,
    IDENTIFICATION_HEAD,
    LEGEND,
    LIKELIHOOD_HEAD,
    SOLVER_HEAD,
    SPEED_HEAD,
    STEPS_HEAD,
    table,
)
from solvers import sequential_runs, solver_speeds

PARTS = (
    ("trilinear", "Trilinear oscillator", SPEED_HEAD, trilinear_speeds),
    ("bouc_wen", "Bouc-Wen oscillator", SPEED_HEAD, bouc_wen_speeds),
    ("exact_batch", "Exact batch of the trilinear oscillator", FIGURE_HEAD, figures),
    ("identification", "Identification of the trilinear oscillator", IDENTIFICATION_HEAD, identifications),
    ("likelihoods", "Log-likelihoods of outputs alone, so many sets at once", LIKELIHOOD_HEAD, likelihoods),
    ("effective_draws", "Draws of the posterior of the bilinear oscillator", EFFECTIVE_HEAD, effective_draws),
    ("solvers", "Steps of particles, Bouc-Wen oscillator, so many sets in one call", SOLVER_HEAD, solver_speeds),
    ("sequential", "IBIS of the Bouc-Wen oscillator", STEPS_HEAD, sequential_runs),
)


def main() -> None:
    """Print a table for each part, and one JSON object if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run? The numbers mean little")
    parser.add_argument("--json", action="store_true", help="end with one JSON object on a line of its own")
    parser.add_argument("--part", choices=[part[0] for part in PARTS], help="this one only")
    options = parser.parse_args()
    began, records = time.perf_counter(), {}
    compiler = peer_c.compiler() or "none that works, so the C loop is left out"
    print(f"{platform.machine()}, {len(measure.cores())} cores; C compiler: {compiler}\n{LEGEND}")
    for key, title, head, measure_part in PARTS:
        if options.part not in (None, key):
            continue
        part = measure_part(options.quick)
        records[key] = [entry.record() for entry in part]
        print(table(title, head, [entry.row() for entry in part]), flush=True)
    print(f"\nmeasured in {time.perf_counter() - began:.0f} s")
    if options.json:
        print(json.dumps(records))


if __name__ == "__main__":
    main()
