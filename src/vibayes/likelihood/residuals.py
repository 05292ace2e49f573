"""Sums of squared residuals at given samples of a record, for structures and for simulators of one's own.

S_c(t) = Σ_{i ≤ t} (y_ic − ŷ_ic)²     for every output c that was measured at sample i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.judging import outputs_of_function
from vibayes.problem import Problem
from vibayes.simulation import EventLocated, Exact, FixedStep, Method, Status
from vibayes.simulation.checks import check_method
from vibayes.simulation.cores import cores
from vibayes.simulation.residual_sums import Bound, Measured, Window, track
from vibayes.simulation.verb import excite
from vibayes.structure import Structure
from vibayes.structure.element import as_arrays

COLUMNS = 12
"""Checkpoints of one call at most: arrays of the compiled program have room for as many."""
_LANES = 256
"""Sets that one core advances together: enough for its vector units, few enough for its cache."""
_ROOM = 2048
"""Sets that one call of the compiled program takes; it is compiled once for a fixed number."""
_NUMBERS = 200_000
"""Simulated numbers that a simulator of one's own holds at a time."""


class Stop(NamedTuple):
    """Where a simulation may end before its last checkpoint: Σ_c a_c log(S_c + b_c) + w_c S_c exceeds a limit, within
    the first checkpoint. ``scale`` is w_c for every set, (sets, outputs), and ``limit`` has one entry per set.
    """

    power: np.ndarray
    floor: np.ndarray
    scale: np.ndarray
    limit: np.ndarray


class Residuals(NamedTuple):
    """Sums at the checkpoints, (sets, checkpoints, outputs), infinite where a set was stopped or failed; which failed;
    and what the first failure said.
    """

    sums: np.ndarray
    failed: np.ndarray
    message: str = ""


ResidualSums = Callable[[Mapping[str, np.ndarray], Sequence[int], Stop, int], Residuals]
"""Of values, checkpoints (numbers of samples in increasing order), where to stop, and a level of accuracy."""


def methods_of(problem: Problem) -> tuple[Method, ...]:
    """Methods of simulation from the quickest to the most accurate; one alone where there is nothing to choose.

    Piecewise-linear structures are solved to rounding error at once. Smooth laws have fixed steps first, whose error is
    held to what the likelihood can see (`TrajectoryTarget.refine`), and laws with events adaptive ones.
    """
    if not isinstance(problem.model, Structure):
        return ()
    if problem.method is not None:
        return (problem.method,)
    elements = [link.element for link in problem.model.links]
    if all(element.affine for element in elements):
        return (Exact(),)
    if any(element.guard_names() for element in elements):
        return EventLocated(1e-4, 1e-7), EventLocated(1e-6, 1e-10), EventLocated()
    return FixedStep(1), FixedStep(2), FixedStep(4), FixedStep(8), FixedStep(16), EventLocated()


def residual_sums_of(problem: Problem, before_batch: Callable[[], None] = lambda: None) -> ResidualSums:
    """The function for a problem. ``before_batch`` is called before every batch, in its thread, and ends the
    simulations by what it raises.
    """
    if isinstance(problem.model, Structure):
        return _OfStructure(problem, before_batch)
    return _of_function(problem, before_batch)


class _OfStructure:
    """Batches of simulations on every core, each of which stops by itself."""

    def __init__(self, problem: Problem, before_batch: Callable[[], None]):
        assert isinstance(problem.model, Structure)
        self._structure, self._before_batch, record = problem.model, before_batch, problem.motions
        excitation = problem.excitation()
        self._drive, _, clock, keep, _ = excite(self._structure, excitation, None, None)
        self._clock = clock._replace(max_steps=100_000 + 100 * clock.pieces)
        self._refinement = keep.refinement
        self._methods = []
        for method in methods_of(problem):
            if len(methods_of(problem)) == 1:
                check_method(method, self._structure, excitation, clock)
            self._methods.append(jax.tree.map(lambda leaf: jnp.asarray(leaf, float), method))
        known = np.isfinite(record.output)
        self._measured = Measured(jnp.asarray(np.where(known, record.output, 0.0)), jnp.asarray(known.astype(float)))

    def __call__(
        self, values: Mapping[str, np.ndarray], checkpoints: Sequence[int], stop: Stop, level: int
    ) -> Residuals:
        count = len(stop.limit)
        sums = np.full((count, len(checkpoints), self._measured.values.shape[1]), np.inf)
        failed, message = np.ones(count, bool), ""
        for method in self._methods[level:]:
            left = np.flatnonzero(failed)
            for chosen, found, status in self._in_batches(method, values, checkpoints, stop, left):
                good = (status == Status.SUCCESS) | (status == Status.OFF_TRACK)
                sums[chosen[good]] = found[good]
                failed[chosen[good]] = False
                if not good.all():
                    message = Status(int(status[~good][0])).message
            if not failed.any():
                break
        return Residuals(sums, failed, message if failed.any() else "")

    def _in_batches(self, method: Method, values, checkpoints, stop: Stop, left: np.ndarray):
        samples = self._measured.values.shape[0]
        column = np.full(samples, COLUMNS, np.int32)
        column[np.asarray(checkpoints) - 1] = np.arange(len(checkpoints))
        window = Window(jnp.asarray(column), jnp.asarray(checkpoints[-1] - 1, jnp.int32))
        names = self._structure.parameters

        def batch(chosen: np.ndarray):
            self._before_batch()
            padded = chosen[np.minimum(np.arange(_ROOM), len(chosen) - 1)]
            bound = as_arrays(self._structure.bind({name: values[name][padded] for name in names}))
            where = Bound(
                jnp.asarray(stop.power), jnp.asarray(stop.floor), jnp.asarray(stop.scale[padded]),
                jnp.asarray(stop.limit[padded]), jnp.asarray(checkpoints[0], jnp.int32),
            )  # fmt: skip
            many = jnp.asarray(len(chosen), jnp.int32)
            found = track(
                method, bound, self._drive, many, jnp.ones(_LANES), self._measured, where, window, COLUMNS,
                self._clock, self._refinement,
            )  # fmt: skip
            kept = np.asarray(found.sums)[: len(chosen), : len(checkpoints)]
            return chosen, kept, np.asarray(found.status)[: len(chosen)]

        workers = cores() if jax.default_backend() == "cpu" else 1
        parts = [each for each in np.array_split(left, workers * -(-len(left) // (workers * _ROOM))) if len(each)]
        if len(parts) == 1:
            return [batch(parts[0])]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(batch, parts))


def _of_function(problem: Problem, before_batch: Callable[[], None]) -> ResidualSums:
    """A simulator of one's own gives whole records: nothing can be stopped."""
    record = problem.motions
    outputs_of = outputs_of_function(problem, before_batch)
    known = np.isfinite(record.output)
    measured = np.where(known, record.output, 0.0)
    room = max(_NUMBERS // record.output.size, 1)

    def sums_of(values: Mapping[str, np.ndarray], checkpoints: Sequence[int], stop: Stop, level: int) -> Residuals:
        count, at = len(stop.limit), np.asarray(checkpoints) - 1
        sums = np.full((count, len(at), record.output.shape[1]), np.inf)
        first = ""

        def batch(begin: int) -> str:
            before_batch()
            some = {name: values[name][begin : begin + room] for name in problem.parameters}
            outputs, message = outputs_of(some)
            with np.errstate(over="ignore", invalid="ignore"):
                squares = np.where(known, (np.asarray(outputs) - measured) ** 2, 0.0)
                found = np.cumsum(squares, axis=1)[:, at]
            sums[begin : begin + len(found)] = np.where(np.isfinite(found), found, np.inf)
            return message

        # Array operations run beside one another; a simulator of plain Python would only get in its own way.
        with ThreadPoolExecutor(cores() if problem.vectorised else 1) as pool:
            for message in pool.map(batch, range(0, count, room)):
                first = first or message
        failed = np.asarray(~np.isfinite(sums).all(axis=(1, 2)))
        if failed.any() and not first:
            first = "the outputs are not finite"
        return Residuals(sums, failed, first)

    return sums_of
