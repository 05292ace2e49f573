"""Regions of the elements' laws that the motion of a record visits, draw by draw of a posterior.

A piecewise-linear law has as many regions as it was given slopes, but a break point may lie where the motion never
goes: then the record tells nothing of what is beyond it, and the law is one with fewer regions. With N the number of
regions that the motion enters under the record's inputs,

    P(N = n | record) = Σ_M P(M | record) Σ_i w_i [N(θ_i, M) = n]

says how many regions the *record* has, whichever model. Modes of other laws are counted alike: a gap that closes or
not, a spring that yields or not, a slider that slips or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.errors import InvalidInput
from vibayes.excitation import Sampled, StraightLines
from vibayes.problem import Problem
from vibayes.simulation import simulate
from vibayes.solvers import Solver
from vibayes.structure import Structure
from vibayes.structure.declaration import GROUND
from vibayes.structure.element import Element, Local, bind

Values = Mapping[str, np.ndarray]
_FINER = 4
"""Instants per sample at which motions are looked at."""
MOST = 1_000_000
"""Instants of all sets that are held in memory at once, about; longer records are looked at by fewer draws."""
_AT_ONCE = 32
"""Sets that are filtered at once."""


@runtime_checkable
class Visiting(Protocol):
    """A simulator of one's own that knows which regions of its laws a record visits."""

    def regions_visited(self, values: Values) -> Mapping[str, Any]:
        """By the name of a law: whether each set enters each of its regions, (sets, regions)."""
        ...


@dataclass(frozen=True)
class Visits:
    """Regions that draws of a posterior visit.

    Attributes:
        visited: by element, whether each draw enters each region, (draws, regions).
        regions: names of the regions, by element.
        effective: draws that are worth something, at most the number of those simulated.
        failures: draws that could not be simulated, and are left out.

    Examples:
        >>> import numpy as np
        >>> from vibayes.visits import Visits
        >>> seen = np.array([[True, True, False]] * 30 + [[True, True, True]] * 10)
        >>> found = Visits({"spring": seen}, {"spring": ("region 1", "region 2", "region 3")}, 40.0)
        >>> found.numbers()
        {'spring': {2: 0.75, 3: 0.25}}
        >>> found.probabilities()["spring"]["region 3"], round(found.errors()["spring"][3], 3)
        (0.25, 0.068)
    """

    visited: Mapping[str, np.ndarray] = field(default_factory=dict)
    regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effective: float = 0.0
    failures: int = 0

    def __bool__(self) -> bool:
        return bool(self.visited)

    def numbers(self) -> dict[str, dict[int, float]]:
        """Probability of every number of visited regions, by element."""
        found = {}
        for name, each in self.visited.items():
            counts, times = np.unique(each.sum(axis=1), return_counts=True)
            found[name] = {int(n): float(t) / len(each) for n, t in zip(counts, times, strict=True)}
        return found

    def errors(self) -> dict[str, dict[int, float]]:
        """Monte Carlo standard errors of the same."""
        many = max(self.effective, 1.0)
        return {
            name: {n: float(np.sqrt(p * (1.0 - p) / many)) for n, p in each.items()}
            for name, each in self.numbers().items()
        }

    def probabilities(self) -> dict[str, dict[str, float]]:
        """Probability that each region is visited, by element and name of the region."""
        return {
            name: dict(zip(self.regions[name], each.mean(axis=0).tolist(), strict=True))
            for name, each in self.visited.items()
        }


class Numbers(NamedTuple):
    """Numbers of regions that a record visits, by element.

    Attributes:
        probabilities: of every number.
        errors: Monte Carlo standard errors of the same.
    """

    probabilities: dict[str, dict[int, float]]
    errors: dict[str, dict[int, float]]

    def words(self) -> str:
        """For a line of text, the most probable number first; empty if there is nothing to count.

        Examples:
            >>> from vibayes.visits import Numbers
            >>> Numbers({"spring": {2: 0.05, 3: 0.95}}, {"spring": {2: 0.01, 3: 0.01}}).words()
            '3 (0.95 ± 0.01), 2 (0.05 ± 0.01)'
        """
        parts = []
        for name, each in self.probabilities.items():
            ranked = sorted(each.items(), key=lambda pair: -pair[1])
            said = ", ".join(f"{n} ({p:.2f}{_plus(self.errors[name].get(n, 0.0))})" for n, p in ranked if p >= 0.005)
            parts.append(said if len(self.probabilities) == 1 else f"{said} of {name}")
        return "; ".join(parts)


def _plus(error: float) -> str:
    return f" ± {error:.2f}" if error >= 0.005 else ""


def over_models(models: Sequence[tuple[float, float, Visits]]) -> Numbers:
    """Numbers of visited regions whichever model, from the models' probabilities, their errors and visits.

    A model that has no law with regions under some name has one region there.

    Examples:
        >>> import numpy as np
        >>> from vibayes.visits import Visits, over_models
        >>> all_three = Visits({"s": np.ones((50, 3), bool)}, {"s": ("1", "2", "3")}, 50.0)
        >>> three_of_four = Visits({"s": np.array([[True] * 3 + [False]] * 50)}, {"s": ("1", "2", "3", "4")}, 50.0)
        >>> over_models([(0.25, 0.0, all_three), (0.5, 0.0, three_of_four), (0.25, 0.0, Visits())]).probabilities
        {'s': {1: 0.25, 3: 0.75}}
    """
    names = list(dict.fromkeys(name for _, _, each in models for name in each.visited))
    if not all(np.isfinite(p) for p, _, _ in models):
        return Numbers({}, {})
    chances, errors = {}, {}
    for name in names:
        rows = [(p, e, each.numbers().get(name, {1: 1.0}), each.errors().get(name, {})) for p, e, each in models if p]
        counts = sorted({n for _, _, numbers, _ in rows for n in numbers})
        chances[name] = {n: float(sum(p * numbers.get(n, 0.0) for p, _, numbers, _ in rows)) for n in counts}
        errors[name] = {
            n: float(np.sqrt(sum((p * own.get(n, 0.0)) ** 2 + (e * (numbers.get(n, 0.0) - chances[name][n])) ** 2
                                 for p, e, numbers, own in rows)))
            for n in counts
        }  # fmt: skip
    return Numbers(chances, errors)


def visits(problem: Problem, values: Values, effective: float | None = None) -> Visits:
    """Regions that parameter sets visit under the inputs of a record.

    Motions are simulated, and looked at four times per sample where the inputs are straight lines in between. Where
    inputs are random the estimated motion at the samples counts, and laws without memory alone. Points of backbones
    have no motion.

    Args:
        problem: with a structure, or a simulator that has a method ``regions_visited``.
        values: of all unknowns, arrays with one entry per set.
        effective: sets that are worth something; by default all of them.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.visits import visits
        >>> spring = vb.gap("k", "d").between("ground", "mass", name="stop")
        >>> oscillator = vb.Structure.single_dof(
        ...     1.0, [vb.Spring(100.0), vb.Damper(1.0), spring], sensors=[vb.Displacement("mass")]
        ... )
        >>> record = vb.Record.from_arrays(rate=50.0, input=np.sin(np.arange(100) / 5.0), output=np.zeros(100))
        >>> problem = vb.Problem(oscillator, record, {"k": vb.Uniform(1.0, 1e4), "d": vb.Uniform(0.0, 1.0)},
        ...                      distance=lambda measured, simulated: 0.0)
        >>> found = visits(problem, {"k": np.array([500.0, 500.0]), "d": np.array([0.001, 0.9])})
        >>> found.regions["stop"], found.visited["stop"].tolist()
        (('open', 'closed'), [[True, True], [True, False]])
    """
    count = len(next(iter(values.values()))) if values else 0
    many = float(count) if effective is None else min(float(effective), float(count))
    if isinstance(problem.model, Structure):
        elements = {str(link.name): link.element for link in problem.model.links if has_regions(link.element)}
        if not elements or problem.of_backbones or not count:
            return Visits()
        found = _estimated(problem, elements, values) if problem.random else _simulated(problem, elements, values)
        good = np.all([each.any(axis=1) for each in found.values()], axis=0) if found else np.zeros(count, bool)
        if not good.any():
            return Visits()
        names = {name: tuple(dict.fromkeys(elements[name].regions)) for name in found}
        return Visits({name: each[good] for name, each in found.items()}, names, many, int((~good).sum()))
    if not isinstance(problem.model, Visiting):
        return Visits()
    told = {str(name): np.asarray(each, bool) for name, each in problem.model.regions_visited(values).items()}
    for name, each in told.items():
        if each.ndim != 2 or each.shape[0] != count:
            expected = f"true or false for each of {count} sets and each region"
            raise InvalidInput(f"regions_visited[{name!r}]", expected, f"shape {each.shape}", "return (sets, regions)")
    return Visits(told, {n: tuple(f"region {i + 1}" for i in range(e.shape[1])) for n, e in told.items()}, many)


def has_regions(element: Element) -> bool:
    """Whether a law has regions to visit; a piecewise-linear law with one has."""
    return bool(element.regions) and all(element.regions)


def _simulated(problem: Problem, elements: Mapping[str, Element], values: Values) -> dict[str, np.ndarray]:
    """From the modes at all samples and three times in between; all false for sets that failed."""
    structure = problem.model
    assert isinstance(structure, Structure)
    own: dict[str, Any] = {name: values[name] for name in structure.parameters}
    settings: dict[str, Any] = {"method": problem.method, **begins(problem, values)}
    count = len(next(iter(values.values())))
    signal = _finer(problem, count)
    solution = simulate(structure, signal, own, **settings)
    good = np.broadcast_to(np.asarray(solution.successful), count).copy()
    if good.any() and not good.all():  # as many sets as before, or it would be compiled anew
        own = {name: np.where(good, value, value[np.argmax(good)]) for name, value in own.items()}
        solution = simulate(structure, signal, own, **settings)
    if not good.any() or solution.modes is None:
        return {}
    modes = np.asarray(solution.modes)
    return {n: entered(e, modes[..., structure.element_index(n)]) & good[:, None] for n, e in elements.items()}


def _finer(problem: Problem, sets: int) -> Sampled:
    """The inputs with more samples, where straight lines between them are what they were and there is room."""
    record = problem.motions
    if not isinstance(problem.hold, StraightLines) or record.samples * _FINER * sets > MOST:
        return problem.excitation()
    times = np.arange((record.samples - 1) * _FINER + 1) / _FINER
    columns = [np.interp(times, np.arange(record.samples), column) for column in np.asarray(record.input).T]
    return Sampled(np.stack(columns, axis=1), record.rate * _FINER, problem.hold)


def entered(element: Element, modes: np.ndarray) -> np.ndarray:
    """Regions that sets enter, (sets, regions), from their modes at many instants, (sets, instants)."""
    numbers = range(len(element.modes))
    if element.ordered:  # one that was passed between two instants was entered
        seen = [(modes.min(axis=1) <= mode) & (mode <= modes.max(axis=1)) for mode in numbers]
    else:
        seen = [(modes == mode).any(axis=1) for mode in numbers]
    names = tuple(dict.fromkeys(element.regions))
    return np.stack(
        [np.any([seen[i] for i in numbers if element.regions[i] == name], axis=0) for name in names], axis=1
    )


def begins(problem: Problem, values: Values) -> dict[str, np.ndarray]:
    """Displacements and velocities at the first sample, (sets, masses), where a solver has learnt them."""
    if not isinstance(problem.filter, Solver) or not set(problem.filter.names) & set(values):
        return {}
    assert isinstance(problem.model, Structure)
    count, found = len(next(iter(values.values()))), problem.filter.begins(len(problem.model.masses))
    columns = ([np.broadcast_to(values[n] if isinstance(n, str) else n, count) for n in each] for each in found)
    return {name: np.stack(each, axis=1) for name, each in zip(("displacement", "velocity"), columns, strict=True)}


def _estimated(problem: Problem, elements: Mapping[str, Element], values: Values) -> dict[str, np.ndarray]:
    """From estimated deformations and their rates; of laws that have no memory and do not stick."""
    known = {name: each for name, each in elements.items() if not each.states and not each.sticks}
    if not known:
        return {}
    structure, prepared = problem.model, problem.filtering()
    assert isinstance(structure, Structure)
    sets = {name: jnp.asarray(each, float) for name, each in values.items()}
    states = np.asarray(_filtered(prepared, sets))
    masses, found = len(structure.masses), {}
    ends = {str(link.name): (link.start, link.stop) for link in structure.links}
    for name, element in known.items():
        bound = bind(element, {n: each[:, None] for n, each in sets.items()}).prepare()
        x, v = (_apart(states[..., first : first + masses], structure, *ends[name]) for first in (0, masses))
        local = Local(x, v)
        modes = np.broadcast_to(np.asarray(bound.mode_at(local)), states.shape[:2])
        found[name] = entered(element, modes)
    return found


@compiled_soon
def _filtered(prepared: Any, sets: Mapping[str, Any]) -> Any:
    """Means of the states given the record up to each sample, (sets, samples, states)."""
    return jax.lax.map(lambda one: prepared.moments(one, False)[3].mean, dict(sets), batch_size=_AT_ONCE)


def _apart(motion: np.ndarray, structure: Structure, start: str, stop: str) -> np.ndarray:
    """Deformation between two points, or its rate."""
    ground = np.zeros(motion.shape[:-1])
    at = {each: ground if each == GROUND else motion[..., structure.mass_index(each)] for each in (stop, start)}
    return at[stop] - at[start]
