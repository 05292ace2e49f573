"""How often 95 % bands of estimated responses hold the truth, filtered and smoothed, at the true parameters.

The chain of `chain_output_only`, the same with a ground motion of ten times the density, the oscillator of
`bilinear_output_only`, and the same with a post-yield ratio of 0.01, which hardly draws back what has yielded. Each
record is drawn from a seed of its own; the shares are means over the records, with their standard errors. The first ten
samples, where everything is still known to be at rest, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import bilinear_output_only as bilinear
import chain_output_only as chain
import numpy as np
from arguments import parser_of
from output_only import deliver, measure, nrmse

import vibayes as vb

FIRST = 10


class Case(NamedTuple):
    """A structure, its true parameters, what is estimated of it, and its record."""

    structure: vb.Structure
    truth: Mapping[str, float]
    responses: Sequence[vb.Sensor]
    rate: float
    samples: int


CASES = {
    "chain": Case(chain.chain(), chain.TRUTH, chain.RESPONSES, chain.RATE, chain.SAMPLES),
    "chain, strong": Case(chain.chain(density=10.0), chain.TRUTH, chain.RESPONSES, chain.RATE, chain.SAMPLES),
    "oscillator": Case(bilinear.oscillator(), bilinear.TRUTH, bilinear.RESPONSES, bilinear.RATE, 501),
    "nearly plastic": Case(
        bilinear.oscillator(), {**bilinear.TRUTH, "alpha": 0.01}, bilinear.RESPONSES, bilinear.RATE, 501
    ),
}


def coverage(case: Case, seeds: Sequence[int], samples: int | None = None) -> dict[str, Any]:
    """Shares within 95 % bands and relative errors of filtered and smoothed estimates, by response."""
    names = [sensor.name for sensor in case.responses]
    inside: dict[bool, list[Any]] = {True: [], False: []}
    errors: dict[bool, list[Any]] = {True: [], False: []}
    for seed in seeds:
        measured = measure(case.structure, case.truth, seed, case.rate, samples or case.samples, case.responses)
        prepared = vb.filtering(case.structure, measured.record, measured.noise)
        for smoothed in (False, True):
            found = vb.estimate(prepared, case.truth, case.responses, smoothed=smoothed)
            off = np.abs(found.mean - measured.truth) <= 1.96 * found.deviation
            inside[smoothed].append(off[FIRST:].mean(axis=0))
            errors[smoothed].append(nrmse(found.mean[FIRST:], measured.truth[FIRST:]))
    figures: dict[str, Any] = {}
    for smoothed, word in ((False, "filtered"), (True, "smoothed")):
        shares = np.array(inside[smoothed])
        columns = {
            "inside": shares.mean(axis=0),
            "standard_error": shares.std(axis=0) / np.sqrt(max(len(shares) - 1, 1)),
            "lowest": shares.min(axis=0),
            "nrmse": np.mean(errors[smoothed], axis=0),
        }
        figures[word] = {what: dict(zip(names, each.tolist(), strict=True)) for what, each in columns.items()}
    return figures


def main() -> None:
    """All cases, as a table and as JSON."""
    parser = parser_of(__doc__, "two short records, of the oscillators alone")
    parser.add_argument("--records", type=int, default=24, help="of each structure")
    chosen = parser.parse_args()
    count, samples = (2, 41) if chosen.quick else (chosen.records, None)
    seeds = range(1000 * chosen.seed, 1000 * chosen.seed + count)
    result: dict[str, Any] = {"records": count}
    for name, case in CASES.items():
        if chosen.quick and len(case.structure.masses) > 1:
            continue
        result[name] = coverage(case, seeds, samples)
        for word, figures in result[name].items():
            told = (
                f"{response} {100 * share:.0f} ± {100 * figures['standard_error'][response]:.0f} % "
                f"(lowest {100 * figures['lowest'][response]:.0f}, error {figures['nrmse'][response]:.3f})"
                for response, share in figures["inside"].items()
            )
            print(f"{name}, {word}: {'; '.join(told)}", flush=True)
    deliver(result, chosen)


if __name__ == "__main__":
    main()
