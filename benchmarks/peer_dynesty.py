"""The peer dynesty: nested sampling, whose walkers' calls of a likelihood meet in one call for all of them.

dynesty has no likelihood of many points. Its pool evolves several live points side by side, each of which asks for one
likelihood after another: threads that wait for one another turn these into batches, as our likelihood wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

import dynesty
import numpy as np
from scipy.special import ndtri


class Nested(NamedTuple):
    """Logarithm of the evidence and its standard error; draws, their weights; likelihoods that it took."""

    log_evidence: float
    error: float
    points: np.ndarray
    weights: np.ndarray
    evaluations: int


class Gathering:
    """A pool for dynesty, and the likelihood of one point."""

    def __init__(self, log_likelihoods: Callable[[np.ndarray], np.ndarray], size: int):
        self.size, self._function = size, log_likelihoods
        self._threads, self._lock = ThreadPoolExecutor(size), Lock()
        self._working, self._waiting = 0, []

    def __call__(self, point: np.ndarray) -> float:
        answer: Future = Future()
        with self._lock:
            self._waiting.append((point, answer))
        self._answer()
        return answer.result()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Results for all items, in their order."""
        items = list(items)
        results: list[Any] = [None] * len(items)
        numbers = iter(range(len(items)))
        self._working = min(self.size, len(items))

        def work() -> None:
            try:
                for number in numbers:
                    results[number] = function(items[number])
            finally:
                with self._lock:
                    self._working -= 1
                self._answer()

        for done in [self._threads.submit(work) for _ in range(self._working)]:
            done.result()
        return results

    def _answer(self) -> None:
        """All that wait, once nobody is left who could join them."""
        with self._lock:
            if not self._waiting or len(self._waiting) < self._working:
                return
            calls, self._waiting = self._waiting, []
        try:
            values = self._function(np.stack([point for point, _ in calls]))
        except BaseException as problem:
            for _, answer in calls:
                answer.set_exception(problem)
            return
        for (_, answer), value in zip(calls, values, strict=True):
            answer.set_result(float(value))


def sample(
    seed: int, log_likelihoods: Callable[[np.ndarray], np.ndarray], size: int, live: int, at_once: int = 64,
    remaining: float | None = None, **settings: Any,
) -> Nested:  # fmt: skip
    """A static run, with dynesty's bounds and its way of sampling unless told otherwise.

    Args:
        seed: of all that is random.
        log_likelihoods: of points (n, size) in coordinates whose prior is standard normal; minus infinity where zero.
        size: number of unknowns.
        live: points.
        at_once: live points that are replaced side by side.
        remaining: logarithm of the share of the evidence at which it stops; by default dynesty's own.
        settings: of dynesty.
    """
    pool = Gathering(log_likelihoods, at_once)
    sampler = dynesty.NestedSampler(
        pool, ndtri, size, nlive=live, rstate=np.random.default_rng(seed), pool=pool, queue_size=at_once,
        use_pool={"prior_transform": False, "update_bound": False}, **settings,
    )  # fmt: skip
    sampler.run_nested(dlogz=remaining, print_progress=False)
    found = sampler.results
    points = np.asarray(found["samples"])
    weights = np.exp(found["logwt"] - found["logwt"].max())
    evaluations = int(np.sum(found["ncall"]))
    return Nested(float(found["logz"][-1]), float(found["logzerr"][-1]), points, weights / weights.sum(), evaluations)
