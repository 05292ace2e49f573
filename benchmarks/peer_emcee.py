"""The peer emcee: its ensemble of walkers, all of which are judged in one call of a likelihood."""

from __future__ import annotations

from collections.abc import Callable

import emcee
import numpy as np


def sample(
    seed: int, log_density: Callable[[np.ndarray], np.ndarray], starts: np.ndarray, burn_in: int, draws: int
) -> tuple[np.ndarray, float]:
    """Draws (walkers, draws, size), and how many independent ones emcee itself takes them for: the fewest of any
    coordinate, by its autocorrelation time.
    """
    np.random.seed(seed)
    walkers, size = starts.shape
    sampler = emcee.EnsembleSampler(walkers, size, log_density, vectorize=True)
    state = sampler.run_mcmc(starts, burn_in)
    sampler.reset()
    sampler.run_mcmc(state, draws)
    times = sampler.get_autocorr_time(quiet=True, tol=0)
    return sampler.get_chain().swapaxes(0, 1), float(walkers * draws / np.max(times))
