"""Draws of the joint prior of models and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.prior_space import meets, values_at
from vibayes.problem import Problem

_BATCH, _BATCHES = 64, 500
"""Draws of the prior at a time, and how often, until one meets the constraints."""


class Truth(NamedTuple):
    """What a record is simulated from: the number of a model, and values of its parameters by name."""

    model: int
    values: dict[str, float]


def draw_truth(rng: np.random.Generator, problems: Sequence[Problem]) -> Truth:
    """One draw: a model by its prior probability, then parameters from its prior.

    A prior that is normalised over its constraints is drawn from until a set meets them. Where it is not, a set that
    breaks one costs its model the draw: model and parameters are drawn again.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=1.0, output={"x": np.arange(3.0)})
        >>> problem = vb.Problem(lambda a: a * np.arange(3.0), record, {"a": vb.Uniform(1.0, 2.0)})
        >>> truth = draw_truth(np.random.default_rng(0), [problem])
        >>> truth.model, 1.0 < truth.values["a"] < 2.0
        (0, True)
    """
    odds = np.array([problem.prior_probability for problem in problems], float)
    for _ in range(_BATCHES):
        model = int(rng.choice(len(problems), p=odds / odds.sum()))
        problem = problems[model]
        values = values_at(problem, rng.random((_BATCH, len(problem.priors))))
        met = np.flatnonzero(meets(problem, values))
        normalised = problem.constrained_prior == "normalised"
        if normalised and not len(met):
            met = _until_met(rng, problem, values)
        if len(met) and (normalised or met[0] == 0):
            return Truth(model, {name: float(value[met[0]]) for name, value in values.items()})
    raise _never(problems[0], _BATCH * _BATCHES)


def _until_met(rng: np.random.Generator, problem: Problem, values: dict[str, np.ndarray]) -> np.ndarray:
    """Put draws in place of the values until one of them meets the constraints; which do."""
    for _ in range(_BATCHES):
        values.update(values_at(problem, rng.random((_BATCH, len(problem.priors)))))
        if len(met := np.flatnonzero(meets(problem, values))):
            return met
    raise _never(problem, _BATCH * _BATCHES)


def _never(problem: Problem, drawn: int) -> InvalidInput:
    remedy = "widen the priors or drop a constraint"
    expected = "priors that meet the constraints now and then"
    return InvalidInput(f"Problem {problem.name!r}", expected, f"never in {drawn:,} draws", remedy)
