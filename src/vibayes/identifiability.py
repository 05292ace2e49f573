"""What a record cannot tell, found before any sampling.

A linear structure goes from sample to sample as x' = F x + B w, with readings H x. Motions x that inputs can cause (in
the range of B, F B, F² B, …) and that no reading shows (H x = H F x = H F² x = … = 0) cannot be known. Nor can a
parameter that no likelihood depends on, wherever the others are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.filters import Filtering
from vibayes.filters.discrete import discretise
from vibayes.filters.verb import start
from vibayes.naming import quoted
from vibayes.problem import Problem
from vibayes.structure.element import as_arrays, bind
from vibayes.structure.structure import Structure
from vibayes.targets import ProblemTarget

_MOST = 2000
"""Samples over which motions are followed."""
_MOVED = 1e-4
"""Share of the largest motion that counts; what inputs move less is known to be at rest."""
_SHOWN = 1e-10
"""Share of the largest reading below which it is rounding."""
_NOTHING = 1e-7
"""Change of a likelihood, and of a frequency, that is rounding."""
_PART = 0.1
"""Of a direction without readings, in a state of a mass that cannot be known."""
_EDGES = 0.001, 0.999
"""Shares of the belief between which a linear structure should be stable."""
_PLACES = -1.5, 0.0, 1.5
"""Where parameters are varied, in all coordinates: a limit that is high enough is never felt."""
_ENOUGH = 10
"""Steps per period that only the solver that is the default makes do with."""
_DRAWS = 16
"""Of the prior; parameters are varied at the best of them too."""


def doubts(target: ProblemTarget) -> tuple[str, ...]:
    """Sentences on what the record of a problem cannot tell; none if there is nothing to say.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> sensors = [vb.AbsoluteAcceleration("m1")]
        >>> storey = vb.Structure.chain([1.0], [[vb.Spring("k"), vb.Damper(0.8)]], sensors=sensors)
        >>> record = vb.Record.from_arrays(rate=40.0, output=np.sin(np.arange(12.0)))
        >>> priors = {"k": vb.LogNormal(40.0, 1.2)}
        >>> problem = vb.Problem(storey.driven_by(vb.KanaiTajimi(12.0, 0.4, 0.5)), record, priors, noise=0.1)
        >>> print(*doubts(ProblemTarget(problem)))
        the record lasts 0.275 s, and a period 0.995 s in the slowest mode at the medians of the priors: it hardly tells
        stiffness and damping of that mode; take a longer record, or trust the priors to know them
    """
    problem = target.problem
    structure = problem.model
    assert isinstance(structure, Structure)
    if problem.of_backbones:
        return ()  # backbones say nothing of motions in time
    names = structure.parameters
    median = {n: np.asarray(problem.priors[n].icdf(0.5), float) for n in names}
    edges = [(n, float(np.asarray(problem.priors[n].icdf(share)))) for n in names for share in _EDGES]
    sets = [median, *(median | {name: np.asarray(value)} for name, value in edges)]
    values = {name: np.stack([each[name] for each in sets]) for name in names}
    slopes, full, read, noise = (np.asarray(each) for each in _at_rest(structure, problem.motions.dt, values))
    if not all(np.isfinite(each).all() for each in (slopes, full[0], read[0], noise[0])):
        return ()
    said = _short(problem, slopes[0]) + _coarse(problem, slopes[0])
    said += _endless(target, slopes[0], {**median, **_noise_medians(problem)})
    if all(link.element.linear for link in structure.links):
        said += _unstable(slopes, edges, problem.priors)
        said += _unseen(problem, full[0], read[0], noise[0])
    return tuple(said)


@compiled_soon
def _at_rest(structure: Structure, interval: float, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """For every set: the flow at rest, F, H and B."""

    def one(values):
        model = discretise(as_arrays(bind(structure, values)), interval, 1)
        rest = jnp.concatenate([model.rest, jnp.zeros(model.size - model.system.size)])
        given = jnp.zeros(structure.processes.count(None))
        read = jax.jacfwd(lambda x: model.measure(x[:, None], 0, given)[:, 0])(rest)
        pushed = model.given_full[:, : len(given)]
        return model.slope, model.full, read, jnp.concatenate([model.noise, pushed], axis=1)

    return jax.vmap(one)(values) if values else jax.tree.map(lambda each: each[None], one({}))


def _short(problem: Problem, slope: np.ndarray) -> list[str]:
    """Of a record that is shorter than a period."""
    turns = np.abs(np.linalg.eigvals(slope).imag)
    turns = turns[turns > _NOTHING * max(turns.max(), 1e-300)]
    if not turns.size or problem.motions.duration >= 2.0 * np.pi / turns.min():
        return []
    lengths = f"the record lasts {problem.motions.duration:.3g} s, and a period {2.0 * np.pi / turns.min():.3g} s"
    return [
        f"{lengths} in the slowest mode at the medians of the priors: it hardly tells stiffness and damping of that "
        "mode; take a longer record, or trust the priors to know them"
    ]


def _noise_medians(problem: Problem) -> dict[str, np.ndarray]:
    """Of the unknowns that are not the structure's."""
    assert isinstance(problem.model, Structure)
    others = (name for name in problem.priors if name not in problem.model.parameters)
    return {name: np.asarray(problem.priors[name].icdf(0.5), float) for name in others}


def _endless(target: ProblemTarget, slope: np.ndarray, median: Mapping[str, Any]) -> list[str]:
    """Of a structure without the stationary state that it is taken to be in at the first sample."""
    prepared, values = target.problem.filtering(), np.linalg.eigvals(slope)
    if not (isinstance(prepared, Filtering) and prepared.stationary):
        return []
    linear = all(link.element.linear for link in prepared.structure.links)
    if linear and values.real.max() < -_NOTHING * np.abs(values).max():
        return []
    if np.isfinite(start(prepared, {name: jnp.asarray(value)[None] for name, value in median.items()}).lower).all():
        return []
    return [
        "at the medians of the priors the structure has no stationary state, in which it is taken to be at the first "
        "sample: nothing damps it, or nothing draws it back, and it moves ever farther; such parameters are taken for "
        'impossible; add damping or a spring, or begin at rest: driven_by(..., start="rest")'
    ]


def _coarse(problem: Problem, slope: np.ndarray) -> list[str]:
    """Of a solver with few steps per period."""
    solver = None if problem.random else problem.solver()
    fastest = np.abs(np.linalg.eigvals(slope).imag).max()
    if solver is None or not fastest > 0.0:
        return []
    steps = 2.0 * np.pi / fastest * problem.motions.rate * solver.steps
    if steps >= solver.needed:
        return []
    more = int(np.ceil(solver.needed * solver.steps / steps))
    return [
        f"a period of the fastest mode has {steps:.3g} steps of the solver at the medians of the priors, and intervals "
        f"hold the truth too seldom with fewer than {solver.needed}: take {type(solver).__name__}(steps={more})"
        + ("" if solver.needed < _ENOUGH else ", or the default ODEFilter()")
    ]


def _unstable(slopes: np.ndarray, edges: list[tuple[str, float]], priors: Mapping[str, Any]) -> list[str]:
    """Of priors at whose edges a linear structure runs away, though not at the medians."""
    values = np.linalg.eigvals(slopes)
    runs = values.real.max(axis=1) > 1e-6 * np.abs(values).max(axis=1)
    found = {} if runs[0] else dict(edge for edge, away in zip(edges, runs[1:], strict=True) if away)
    return [
        f"the prior of {name}, {priors[name]}, allows {value:.4g}, at which the structure runs away from rest: leave "
        "such values out, if they are not meant, as Normal(mean, deviation, low=0.0) or LogNormal do"
        for name, value in found.items()
    ]


def _unseen(problem: Problem, full: np.ndarray, read: np.ndarray, noise: np.ndarray) -> list[str]:
    """Of masses whose motion no sensor shows."""
    if np.abs(np.linalg.eigvals(full)).max() > 1.0 + 1e-6:
        return []
    moved, shown, columns, rows = [], [], noise, read
    for _ in range(min(problem.record.samples, _MOST)):
        moved.append(columns)
        shown.append(rows)
        columns, rows = full @ columns, rows @ full
    motions = np.concatenate(moved, axis=1)
    scale = np.linalg.norm(motions, axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)
    _, sizes, axes = np.linalg.svd(np.linalg.qr((motions / scale[:, None]).T, mode="r"), full_matrices=False)
    axes = axes[sizes > _MOVED * sizes[0]].T
    readings = np.concatenate(shown) @ (scale[:, None] * axes)
    _, sizes, directions = np.linalg.svd(np.linalg.qr(readings, mode="r"))
    blind = np.ones(axes.shape[1], bool)
    blind[: sizes.size] = sizes <= _SHOWN * sizes[0]
    amplitudes = np.linalg.norm(axes @ directions[blind].T, axis=1)
    assert isinstance(problem.model, Structure)
    masses = problem.model.mass_names
    unseen = [m for i, m in enumerate(masses) if max(amplitudes[i], amplitudes[i + len(masses)]) > _PART]
    if not unseen:
        return []
    return [
        f"the outputs do not show the whole motion of {quoted(unseen)}: it cannot be estimated, nor what depends on it "
        "alone; add a sensor there, or leave out what nobody measured"
    ]


def unfelt(target: ProblemTarget) -> tuple[str, ...]:
    """Of parameters that no likelihood depends on, at places of the prior; only the posterior can tell for sure."""
    size = target.size
    drawn = np.random.default_rng(0).normal(size=(_DRAWS, size))
    best = drawn[np.argmax(target.log_likelihood(drawn))]
    places = np.stack([*(np.full(size, each) for each in _PLACES), best])
    steps = np.concatenate([np.zeros((1, size)), np.eye(size), -np.eye(size)])
    logs = target.log_likelihood((places[:, None] + steps).reshape(-1, size)).reshape(len(places), -1)
    logs = logs[np.isfinite(logs[:, 0])]
    if not len(logs):
        return ()
    changes = np.abs(logs[:, 1:] - logs[:, :1]) / np.maximum(np.abs(logs[:, :1]), 1.0)
    felt = changes.reshape(len(logs), 2, size).max(axis=(0, 1)) > _NOTHING
    names = [name for name, is_felt in zip(target.problem.parameters, felt, strict=True) if not is_felt]
    if not names:
        return ()
    where = f"at {len(logs)} places of the prior no output depends on {quoted(names)}"
    return (f"{where}: if it is so everywhere, the posterior is the prior; fix such values, or add a sensor",)
