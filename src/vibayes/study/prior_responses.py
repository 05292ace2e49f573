"""What a study expects before it looks at its data: responses to parameters that were drawn from the priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.prior_space import meets, values_at
from vibayes.problem import Problem
from vibayes.simulation import realise, simulate
from vibayes.simulation.settling import settling_time
from vibayes.structure import Structure

_TRIES = 20_000
_LONGEST = 5.0
"""Times the record that a structure is in motion before it, at most."""
_REFINEMENT = 4
"""Samples of a random excitation per sample of the record; enough to look at."""


@dataclass(frozen=True)
class PriorResponses:
    """Draws of one model's priors and the responses to them.

    Attributes:
        problem: whose priors they are.
        values: of the parameters by name, (draws,).
        outputs: (draws, samples, outputs); NaN where a simulation failed. None for points of backbones.
    """

    problem: Problem
    values: Mapping[str, np.ndarray]
    outputs: np.ndarray | None

    @property
    def failures(self) -> int:
        """Simulations that came to no end."""
        return 0 if self.outputs is None else int((~np.isfinite(self.outputs).all(axis=(1, 2))).sum())


def prior_values(seed: int, problem: Problem, draws: int) -> dict[str, np.ndarray]:
    """Parameters from the priors, as far as constraints allow them.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=1.0, output={"x": np.arange(3.0)})
        >>> problem = vb.Problem(lambda a: a * np.arange(3.0), record, {"a": vb.Uniform(1.0, 2.0)})
        >>> values = prior_values(0, problem, 5)["a"]
        >>> values.shape, bool((values > 1.0).all())
        ((5,), True)
    """
    points = np.random.default_rng(seed).random((_TRIES, len(problem.priors)))
    values = values_at(problem, points)
    allowed = meets(problem, values)
    if not allowed.any():
        remedy = "widen the priors or drop a constraint"
        got = f"never in {_TRIES:,} draws"
        raise InvalidInput(f"model {problem.name!r}", "priors that meet the constraints now and then", got, remedy)
    chosen = np.flatnonzero(allowed)[:draws]
    return {name: value[chosen] for name, value in values.items()}


def prior_responses(seed: int, problem: Problem, draws: int = 24) -> PriorResponses:
    """Responses of a model to draws of its priors, under the inputs of the record or of its random processes.

    Args:
        seed: of the draws.
        problem: whose priors and inputs are taken.
        draws: how many.
    """
    values = prior_values(seed, problem, draws)
    if problem.of_backbones:
        return PriorResponses(problem, values, None)
    if isinstance(problem.model, Structure):
        return PriorResponses(problem, values, responses(seed, problem, values))
    return PriorResponses(problem, values, _of_function(problem, values))


def responses(seed: int, problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Outputs of a structure for several sets of its parameters, (sets, samples, outputs)."""
    structure = problem.model
    assert isinstance(structure, Structure)
    own = {name: values[name] for name in structure.parameters}
    sets = len(next(iter(values.values())))
    if problem.random:
        return np.stack([_driven(seed + i, problem, {n: v[i] for n, v in own.items()}) for i in range(sets)])
    if not own:
        once = np.asarray(simulate(structure, problem.excitation(), method=problem.method, states=False).outputs)
        return np.broadcast_to(once, (sets, *once.shape))
    try:
        return _together(problem, own)
    except InvalidInput:  # some draw is one that no structure can have; the others can
        return np.concatenate([_alone(problem, {n: v[i : i + 1] for n, v in own.items()}) for i in range(sets)])


def _together(problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    model: Any = problem.model
    found = simulate(model, problem.excitation(), values, method=problem.method, states=False, events=False)
    return np.asarray(found.outputs)


def _alone(problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    try:
        return _together(problem, values)
    except InvalidInput:
        return np.full((1, *problem.motions.output.shape), np.nan)


def _driven(seed: int, problem: Problem, values: Mapping[str, float]) -> np.ndarray:
    """One response to one realisation of the random inputs."""
    structure, record = problem.model, problem.motions
    assert isinstance(structure, Structure)
    given = record.input if record.input.shape[1] else None
    settle = 0.0
    if structure.stationary:
        settle = float(np.minimum(settling_time(structure, values)[0], _LONGEST * record.duration))
    drive = realise(
        seed, structure, values, rate=record.rate, samples=record.samples, refinement=_REFINEMENT, given=given,
        settle=settle,
    )  # fmt: skip
    return np.asarray(simulate(structure, drive, values, states=False, events=False).outputs)[::_REFINEMENT]


def _of_function(problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Outputs of a simulator of the user's; NaN where it raises."""
    model: Any = problem.model
    shape = problem.motions.output.shape
    found = np.full((len(next(iter(values.values()))), *shape), np.nan)
    for number in range(len(found)):
        one = {name: each[number : number + 1] if problem.vectorised else each[number] for name, each in values.items()}
        try:
            found[number] = np.asarray(model(**one), float).reshape(shape)
        except Exception:  # as in an inference, a simulation that fails is a draw that cannot be
            continue
    return found
