"""Both cases, solved by this library and by its peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import measure
import numpy as np
import peer_c
import peer_diffrax
import peer_scipy
from cases import Case, bouc_wen, errors, trilinear
from peer_scipy import in_one_call, restarted
from results import Speed, speed

import vibayes as vb


def trilinear_speeds(quick: bool) -> list[Speed]:
    """The exact batch beside a C loop, SciPy and diffrax."""
    case = trilinear(512 if quick else 4096)
    some = case.take(64 if quick else 256)
    result, loop_result, cost, loop_cost = _exact_and_c_loop(case, 3 if quick else 8)
    scipy = partial(_scipy, some, peer_scipy.trilinear, 2 if quick else 4)
    if loop_result is None:
        reference = scipy(restarted, "DOP853", 1e-13)[0]
    else:
        reference = peer_c.displacements(some.parameters, some.input, some.interval, reference=True)
    ours = speed("vibayes Exact()", case.sets, cost, result, reference)
    speeds = [ours]

    def against(name, sets, result, cost, **more):
        speeds.append(speed(name, sets, cost, result, reference, ours=ours, **more))

    if loop_result is not None:
        agreeing = 100 * np.mean(errors(loop_result, result) < 1e-9)
        note = f"agrees with Exact() to 1e-9 in {agreeing:.2f} % of the sets"
        against(f"C loop, {len(measure.cores())} threads", case.sets, loop_result, loop_cost, required=0.5, note=note)
    alone = "one set at a time, one core; the quickest of a few"
    tight = scipy(restarted, "DOP853", 1e-13)
    against("SciPy DOP853 1e-13, restarted", 1, *tight, required=2000, note=alone)
    against("SciPy DOP853 1e-6, restarted", 1, *scipy(restarted, "DOP853", 1e-6), note=alone)
    against("SciPy RK45 1e-6, in one call", 1, *scipy(in_one_call, "RK45", 1e-6), note=alone)

    note = f"in a batch of {some.sets}"
    equal = _diffrax(some, peer_diffrax.trilinear, 2, steps=10)
    against("diffrax Dopri5, 10 steps per sample", some.sets, *equal(1.0), note=note)
    solve = _diffrax(some, peer_diffrax.trilinear, 2)
    against("diffrax Dopri5 1e-6", some.sets, *solve(1e-6), note=note)
    against("diffrax Dopri5 1e-9", some.sets, *solve(1e-9), note=note)
    against("diffrax Dopri5 1e-11", some.sets, *solve(1e-11), note=note, required=20)
    return speeds


def bouc_wen_speeds(quick: bool) -> list[Speed]:
    """Adaptive and fixed steps on a hysteretic law; each peer beside our fastest method that is as accurate."""
    case = bouc_wen(64 if quick else 256, 150 if quick else 750)
    reference = case.take(8).simulate(vb.EventLocated(rtol=1e-12, atol=1e-18))
    methods = [vb.EventLocated(rtol=1e-8), vb.FixedStep(4)]
    if not quick:
        methods += [vb.EventLocated(rtol=1e-11, atol=1e-15), vb.EventLocated(rtol=1e-6), vb.EventLocated(rtol=1e-4)]
        methods += [vb.FixedStep(16, events=True), vb.FixedStep(4, events=True)]
    ours = []
    for method in methods:
        result = case.simulate(method)
        cost = measure.best(partial(case.simulate, method), 3, budget=3.0)
        ours.append(speed(f"vibayes {method!r}", case.sets, cost, result, reference))
    peers = []

    def against(name, sets, result, cost):
        peer = speed(name, sets, cost, result, reference)
        as_good = [mine for mine in ours if mine.error <= peer.error]
        rival = max(as_good, key=lambda mine: mine.per_second, default=None)
        note = f"beside {rival.solver.removeprefix('vibayes ')}" if rival else "none of ours is as accurate"
        peers.append(replace(peer, ours=rival, note=note))

    scipy = partial(_scipy, case, partial(peer_scipy.bouc_wen, first_input=float(case.input[0])), 2 if quick else 4)
    against("SciPy DOP853 1e-11, restarted", 1, *scipy(restarted, "DOP853", 1e-11))
    against("SciPy RK45 1e-9, restarted", 1, *scipy(restarted, "RK45", 1e-9))
    against("SciPy RK45 1e-6, restarted", 1, *scipy(restarted, "RK45", 1e-6))
    against("SciPy RK45 1e-6, in one call", 1, *scipy(in_one_call, "RK45", 1e-6))
    solve = _diffrax(case, peer_diffrax.bouc_wen, 3)
    against("diffrax Dopri5 1e-10", case.sets, *solve(1e-10))
    against("diffrax Dopri5 1e-8", case.sets, *solve(1e-8))
    against("diffrax Dopri5 1e-6", case.sets, *solve(1e-6))
    against("diffrax Dopri5 1e-4", case.sets, *solve(1e-4))
    return ours + peers


def _exact_and_c_loop(case: Case, repeats: int) -> tuple[Any, Any, measure.Timing, measure.Timing | None]:
    """Results and costs of both, measured in turn; nothing for the loop where there is no compiler."""
    exact = partial(case.simulate, vb.Exact())
    if peer_c.compiler() is None:
        return exact(), None, measure.best(exact, repeats), None
    loop = partial(peer_c.displacements, case.parameters, case.input, case.interval)
    result, loop_result = exact(), loop()
    cost, loop_cost = measure.alternate([exact, loop], repeats)
    return result, loop_result, cost, loop_cost


def _scipy(
    case: Case, law: Callable[[dict[str, float]], peer_scipy.Law], sets: int, run: Callable, method: str, rtol: float
) -> tuple[np.ndarray, measure.Timing]:
    """Displacements of a few sets, and the cost of the quickest."""
    options = {"method": method, "rtol": rtol, "atol": 1e-4 * rtol}
    runs = [partial(run, law(case.set(i)), case.input, case.interval, **options) for i in range(sets)]
    results, costs = zip(*map(measure.timed, runs), strict=True)
    return np.stack(results), min(costs)


def _diffrax(case: Case, flow: Any, size: int, steps: int = 0) -> Callable[[float], tuple[Any, measure.Timing]]:
    """Compiled once for any tolerance; gives displacements and their cost."""
    shared = case.parameters, case.input, case.interval
    solve = peer_diffrax.displacements.lower(flow, size, *shared, 1e-6, 1e-10, steps).compile()
    return lambda rtol: measure.timed(lambda: np.asarray(solve(*shared, rtol, 1e-4 * rtol)))
