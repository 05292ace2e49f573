"""Likelihoods where the input was not measured: how many per second, and how many effective draws they give.

Every filter is given the same record and the same parameter sets, the first of which is the truth; its log-likelihood
there says whether it is the same model. Peers step with Runge and Kutta where ours is exact in what is linear, and so
differ a little. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import measure
import numpy as np
import unmeasured
from jax.experimental.compilation_cache import compilation_cache
from results import Effective, Likelihoods

import vibayes as vb
from vibayes.filters.verb import log_likelihoods
from vibayes.samplers import diagnostics
from vibayes.targets import ProblemTarget

MANY = 64
FILTERPY, JAX_PEER = 100.0, 3.0
"""How many times as fast ours has to be."""


def likelihoods(quick: bool) -> list[Likelihoods]:
    """Both structures, one parameter set and many."""
    if quick:
        sizes = (unmeasured.bilinear(100), 4), (unmeasured.chain(40), 1)
    else:
        sizes = [(case, count) for case in (unmeasured.bilinear(), unmeasured.chain()) for count in (1, MANY)]
    with _compiling_afresh():
        return [entry for case, count in sizes for entry in _compared(case, count, repeats=2 if quick else 7)]


@dataclass(frozen=True)
class _Way:
    """Of computing the log-likelihoods of many sets; ``against`` is the way of ours it is compared with."""

    name: str
    function: Callable[[], np.ndarray]
    against: int | None = None
    required: float | None = None
    sets: int | None = None
    note: str = ""


def _compared(case: unmeasured.Case, count: int, repeats: int) -> list[Likelihoods]:
    """All filters in turn, so that whatever else the machine does hits all of them."""
    ways = [*_ours(case, count), *_jax_peers(case, count), *_filterpy(case, count)]
    first = [measure.timed(way.function) for way in ways]
    costs = measure.alternate([way.function for way in ways], repeats)
    entries: list[Likelihoods] = []
    for way, (found, begun), cost in zip(ways, first, costs, strict=True):
        sets = way.sets or count
        entries.append(
            Likelihoods(
                f"{case.problem.name}, {count}: {way.name}", sets / cost.wall, sets / cost.cpu, float(found[0]),
                begun.wall, note=way.note, ours=None if way.against is None else entries[way.against],
                required=way.required,
            )
        )  # fmt: skip
    return entries


def _ours(case: unmeasured.Case, count: int) -> list[_Way]:
    """In one call on one core, and as samplers do it: so many at a time on every core."""
    structure, record, noise = case.structure, case.problem.record, case.problem.noise
    values = {name: jnp.asarray(value) for name, value in case.sets(count).items()}
    unscented, extended = (
        partial(log_likelihoods, vb.filtering(structure, record, noise, method), values)
        for method in (vb.UnscentedFilter(), vb.ExtendedFilter())
    )
    target = ProblemTarget(case.problem)
    ways = [_Way("vibayes UnscentedFilter()", lambda: np.asarray(unscented()))]
    if _small(case):
        ways.append(_Way("vibayes ExtendedFilter()", lambda: np.asarray(extended())))
    if count > 1:
        points = _normal(target, case.sets(count))
        ways.append(_Way("vibayes, on every core", lambda: target.log_likelihood(points), note="as samplers do"))
    return ways


def _jax_peers(case: unmeasured.Case, count: int) -> list[_Way]:
    values = {name: jnp.asarray(value) for name, value in case.sets(count).items()}
    given = case.plain, values, case.deviations, case.outputs, case.strength
    ways = []
    if _installed("dynamax"):
        import peer_dynamax

        run = partial(peer_dynamax.log_likelihoods, *given)
        ways.append(_Way("dynamax, unscented", lambda run=run: np.asarray(run()), 0, JAX_PEER))
    if _installed("cuthbert"):
        import peer_cuthbert

        for extended in (False, *([True] if _small(case) else [])):
            run = partial(peer_cuthbert.log_likelihoods, *given, extended=extended)
            name = f"cuthbert, {'extended' if extended else 'unscented'}"
            required = None if extended else JAX_PEER
            ways.append(_Way(name, lambda run=run: np.asarray(run()), int(extended), required))
    return ways


def _filterpy(case: unmeasured.Case, count: int) -> list[_Way]:
    """Of the oscillator alone, and of one set: more take as many times as long."""
    if not _small(case) or not _installed("filterpy"):
        return []
    import peer_filterpy

    noise = np.asarray(case.plain(case.truth, case.deviations).noise)
    given = unmeasured.DAMPING, case.problem.record.dt, noise, case.deviations[0], case.outputs
    run = partial(peer_filterpy.log_likelihood, case.truth, *given)
    return [_Way("filterpy, unscented", lambda: np.array([run()]), 0, FILTERPY, sets=1, note="one set at a time")]


# ---- effective draws --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Of the record and of both samplers."""

    samples: int
    ours: vb.AdaptiveMetropolis
    walkers: int
    burn_in: int
    draws: int


FULL = Sizes(unmeasured.bilinear_study.SAMPLES, vb.AdaptiveMetropolis(draws=60, chains=64, warmup=20), 64, 100, 500)
QUICK = Sizes(40, vb.AdaptiveMetropolis(draws=10, chains=8, warmup=5, particles=75), 16, 5, 20)


def effective_draws(quick: bool) -> list[Effective]:
    """Of the posterior of the oscillator, by ours and by emcee with the same likelihood."""
    sizes = QUICK if quick else FULL
    problem = unmeasured.bilinear(sizes.samples).problem
    target = ProblemTarget(problem)
    with _compiling_afresh():
        compiling = measure.timed(lambda: target.log_likelihood(np.zeros((1, target.size))))[1].wall
    posterior = vb.infer(unmeasured.SEED, problem, sizes.ours)
    model = posterior.selected
    chains = np.stack([values.reshape(model.chains, -1) for values in model.draws.values()], axis=-1)
    fewest = float(np.min(diagnostics.ess_bulk(chains)))
    ours = Effective("vibayes AdaptiveMetropolis", fewest, posterior.seconds, compiling, posterior.simulations)
    top = {name: values[np.argmax(model.log_likelihoods)][None] for name, values in model.draws.items()}
    return [ours, *_emcee(target, _normal(target, top)[0], sizes, ours)]


def _emcee(target: ProblemTarget, top: np.ndarray, sizes: Sizes, ours: Effective) -> list[Effective]:
    """Begun where ours found the likelihood highest, as if that had cost nothing; what its draws are worth by its own
    estimate or by ours, whichever is more.
    """
    if not _installed("emcee"):
        return []
    import peer_emcee

    rng = np.random.default_rng(unmeasured.SEED)
    begin = top + 0.01 * rng.standard_normal((sizes.walkers, target.size))

    def log_density(points: np.ndarray) -> np.ndarray:
        return target.log_likelihood(points) - 0.5 * np.sum(points**2, axis=1)

    before = target.count.simulations
    sample = partial(peer_emcee.sample, unmeasured.SEED, log_density, begin, sizes.burn_in, sizes.draws)
    (drawn, own), cost = measure.timed(sample)
    fewest = max(own, float(np.min(diagnostics.ess_bulk(drawn))))
    likelihoods = target.count.simulations - before
    name, note = f"emcee, {sizes.walkers} walkers", "begun where ours found the likelihood highest"
    return [Effective(name, fewest, cost.wall, ours.first_call, likelihoods, note, ours)]


def _normal(target: ProblemTarget, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Points whose values these are, by halving."""
    wanted = np.stack([values[name] for name in target.problem.priors], axis=1)
    low, high = np.full(wanted.shape, -8.0), np.full(wanted.shape, 8.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = np.stack(list(target.values(middle).values()), axis=1) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _small(case: unmeasured.Case) -> bool:
    """The oscillator; of the chain the extended filters are left out, and filterpy."""
    return case.plain is unmeasured.plain_bilinear


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


@contextmanager
def _compiling_afresh() -> Iterator[None]:
    """No compiled program comes from an earlier run."""
    kept = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", None)
        compilation_cache.reset_cache()
        yield
    finally:
        jax.config.update("jax_compilation_cache_dir", kept)
        compilation_cache.reset_cache()
