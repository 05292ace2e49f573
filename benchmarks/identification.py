"""Identification to one threshold: ours, the published scheme and pyABC.

A peer that does not come down to the threshold within its limits is compared at the one it did reach. Each run is one
run of one seed; pyABC's workers draw their own seeds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import environments
import measure
import peer_c
import posed
from results import Identification

import vibayes as vb

SEED = 0


@dataclass(frozen=True)
class Sizes:
    """Settings of all methods, and the limits of the peers."""

    threshold: float
    particles: int
    seconds: float
    simulations: int
    ours: vb.FollowAndWeigh
    published: vb.ABCNestedSampling


FULL = Sizes(
    threshold=0.3,  # a little above the noise floor of about 0.25
    particles=1000,
    seconds=180.0,
    simulations=2_000_000,
    ours=vb.FollowAndWeigh(),
    # The library's limit of draws would end the published scheme before its time is up: draws that break a
    # constraint count, and cost little.
    published=vb.ABCNestedSampling(n_s=1000, max_draws=2_000_000),
)
QUICK = Sizes(
    threshold=150.0, particles=100, seconds=5.0, simulations=5000,
    ours=vb.FollowAndWeigh(particles=200, draws=500, rounds=2),
    published=vb.ABCNestedSampling(n_s=100),
)  # fmt: skip


def identifications(quick: bool) -> list[Identification]:
    """Ours at the common threshold, then every peer and ours where that peer ended."""
    sizes, problem = QUICK if quick else FULL, posed.trilinear(SEED)

    @cache
    def ours(threshold: float) -> Identification:
        method = replace(sizes.ours, threshold=threshold)
        name = f"vibayes FollowAndWeigh(threshold={threshold:.4g})"
        return _identified(name, vb.infer(SEED, problem, method), threshold)

    for method in (sizes.ours, sizes.published):
        vb.infer(SEED, problem, method, max_simulations=1)  # compiles
    entries = [ours(sizes.threshold)]
    for peer in (_published(problem, sizes), _pyabc(problem, sizes)):
        rival = ours(peer.threshold) if peer.threshold is not None else None
        entries += [replace(peer, ours=rival), *([rival] if rival and rival not in entries else [])]
    return entries


def _identified(name: str, posterior: vb.Posterior, asked: float) -> Identification:
    note = "; ".join(posterior.notes)
    return Identification(name, asked, posterior.threshold, posterior.simulations, posterior.seconds, note)


def _published(problem: vb.Problem, sizes: Sizes) -> Identification:
    method = replace(sizes.published, threshold=sizes.threshold)
    limits: dict[str, Any] = {"max_seconds": sizes.seconds, "max_simulations": sizes.simulations}
    return _identified(
        "published scheme, ABCNestedSampling", vb.infer(SEED, problem, method, **limits), sizes.threshold
    )


def _pyabc(problem: vb.Problem, sizes: Sizes) -> Identification:
    """In a process of its own, or why not."""
    name, asked = "pyABC", sizes.threshold
    if peer_c.compiler() is None:
        return Identification(name, asked, note="left out: no C compiler for its simulator")
    limits = {"seconds": sizes.seconds, "simulations": sizes.simulations}
    settings = json.dumps({"particles": sizes.particles, "threshold": asked, **limits})
    # Its processes share the cores, so none may start threads.
    variables = {"OMP_NUM_THREADS": "1", "PYABC_NUM_PROCS": str(len(measure.cores()))}
    found, why = environments.run("pyabc", posed.arrays(problem), settings, variables)
    if found is None:
        return Identification(name, asked, note=why)
    cost = found["threshold"], found["simulations"], found["seconds"]
    return Identification(f"pyABC {found['version']}, C loop", asked, *cost, found["ended"])
