"""The exact batch by itself: the first call, the cores it uses, and how its time grows."""

from __future__ import annotations

from functools import partial

import measure
from cases import Case, trilinear
from results import Figure

import vibayes as vb


def figures(quick: bool) -> list[Figure]:
    """Numbers about a batch of the trilinear case."""
    sets, samples, repeats = (512, 200, 3) if quick else (4096, 1000, 5)
    return [*_latency_and_cores(sets, samples, repeats), *_exponents(sets, samples)]


def _latency_and_cores(sets: int, samples: int, repeats: int) -> list[Figure]:
    cores = measure.cores()
    runs = [measure.fresh(cores, sets, samples, repeats) for _ in range(2)]
    fastest = min(runs, key=lambda run: run["wall"])
    busy = fastest["cpu"] / fastest["wall"]
    out = [
        Figure("import vibayes", min(run["import"] for run in runs), "s"),
        Figure("first simulation of the batch, compiling it", min(run["first"] for run in runs), "s", 5.0),
        Figure("processor time of that", min(run["first_cpu"] for run in runs), "s"),
        Figure(f"processors busy, of {len(cores)}", busy, "cpu/wall"),
    ]
    if len(cores) > 1:
        alone = measure.fresh(cores[:1], sets, samples, repeats)
        out.append(Figure(f"speed on {len(cores)} cores over that on one", alone["wall"] / fastest["wall"], "x"))
    return out


def _exponents(sets: int, samples: int) -> list[Figure]:
    """p in processor time ∝ size^p. One is linear; less means that a fixed cost is left."""
    lengths = [samples // 2, samples, 2 * samples]
    batches = [sets // 4, sets // 2, sets, 2 * sets]
    by_length = measure.exponent(lengths, [_processor_time(trilinear(sets, n)) for n in lengths])
    by_batch = measure.exponent(batches, [_processor_time(trilinear(n, samples)) for n in batches])
    return [
        Figure(f"exponent of processor time over {lengths[0]} to {lengths[-1]} samples", by_length, "", 1.1),
        Figure(f"exponent of processor time over {batches[0]} to {batches[-1]} sets", by_batch, "", 1.1),
    ]


def _processor_time(case: Case) -> float:
    simulate = partial(case.simulate, vb.Exact())
    simulate()
    return measure.best(simulate, 5, budget=8.0).cpu
