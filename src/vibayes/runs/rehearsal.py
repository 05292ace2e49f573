"""Writing results before they are there: what would fail at the end of a run fails before its beginning.

A posterior with the models, parameters and channels of a study but two draws of each prior is written where the real
one will be, read, and deleted.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vibayes.io.posterior import read_posterior, write_posterior
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.priors import normal_scores
from vibayes.problem import Problem
from vibayes.runs.details import unwritable
from vibayes.runs.refusal import RefusedRun
from vibayes.samplers.likely import Sample

_SHARES = np.array([1.0, 2.0]) / 3.0


def rehearse(problems: Sequence[Problem], folder: Path, where: str = "") -> None:
    """Write the result of a run of these problems for a trial; nothing is left of it.

    Args:
        problems: of the run.
        folder: that the result would be written to.
        where: what to blame in the message, if it is not the run.

    Raises:
        RefusedRun: it cannot be written to this folder, or does not come back as it was.
    """
    path = folder / f".rehearsal.{uuid.uuid4().hex}.tmp"
    try:
        posterior = Posterior(tuple(_believed(each) for each in problems), float("nan"), (), 0.0)
        write_posterior(posterior, path)
        again = read_posterior(path, problems)
        for one, other in zip(posterior, again, strict=True):
            if any(not np.array_equal(values, other.draws[name]) for name, values in one.draws.items()):
                raise ValueError(f"the draws of {one.name!r} come back as others")
    except RefusedRun:
        raise
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    except Exception as trouble:  # whatever it is, it is better known now than in the end
        got = " ".join(f"{type(trouble).__name__}: {trouble}".split())[:300]
        remedy = "cure that, or rename what it names, before hours are spent"
        raise RefusedRun(where or f"the run '{folder}'", "a posterior that can be written", got, remedy) from None
    finally:
        path.unlink(missing_ok=True)


def _believed(problem: Problem) -> ModelPosterior:
    draws = {name: np.asarray(prior.icdf(_SHARES), float) for name, prior in problem.priors.items()}
    weights, sample = np.full(2, 0.5), None
    if problem.likely:
        points = np.stack([normal_scores(problem.priors[name], each) for name, each in draws.items()], axis=-1)
        sample = Sample(points[None], np.zeros((1, 2)), float("nan"), 0.0, 0.0)
    return ModelPosterior(
        problem, 0.5, 0.0, 0.0, 0.0, draws, weights, np.empty(0) if problem.likely else np.zeros(2), 2, 0,
        log_likelihoods=np.zeros(2) if problem.likely else np.empty(0), sample=sample,
    )  # fmt: skip
