"""A record that goes on: what is believed after more of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vibayes.candidates import Count
from vibayes.errors import InvalidInput
from vibayes.forking import require_usable_jax
from vibayes.inference import listener
from vibayes.posterior import Level, ModelPosterior, Posterior
from vibayes.record import Record
from vibayes.samplers.ibis import State
from vibayes.sampling import followed, stopwatch
from vibayes.targets import ProblemTarget


def update(posterior: Posterior, more: Record, *, progress: bool | Callable[[Level], None] = False) -> Posterior:
    """Take further samples of a record into account, without beginning anew.

    The result is, draw for draw, what `infer` would have given for the whole record with the same key. Where inputs
    between samples depend on samples to come, as with `BandLimited`, the likelihood of the last samples is not final
    before those have come: `update` goes back to before them, by as many as the hold looks ahead.

    Args:
        posterior: made by `infer` with `IBIS`, or by `update`; it stays as it is.
        more: the samples that have come since, of the same channels; none is missing in between. A gap in the outputs
            is filled with NaN.
        progress: as in `infer`.

    Returns:
        The posterior after all samples.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> springs = [vb.Spring("k"), vb.Damper(0.3)]
        >>> oscillator = vb.Structure.single_dof(1.0, springs, sensors=[vb.Velocity("mass")])
        >>> record = vb.Record.from_arrays(rate=10.0, output=np.sin(3.0 * np.arange(60) / 10.0))
        >>> first, rest = record.segment(0, 40), record.segment(40, 60)
        >>> priors = {"k": vb.LogNormal(8.0, 1.5)}
        >>> problem = vb.Problem(oscillator.driven_by(vb.WhiteNoise(0.1)), first, priors, noise=0.05)
        >>> posterior = vb.infer(0, problem, vb.IBIS(particles=50))
        >>> vb.update(posterior, rest).selected.problem.record.samples
        60
    """
    require_usable_jax("update")
    elapsed = stopwatch()
    models = [_require_stream(model) for model in posterior.models]
    targets, runs = [], []
    for model, state in models:
        problem = replace(model.problem, record=_joined(model.problem.motions, more))
        count = Count(model.simulations, model.failures, model.first_failure)
        targets.append(ProblemTarget(problem, count))
        runs.append(partial(state.method.proceed, copy.deepcopy(state.settled or state)))
    show = listener(progress, [target.problem for target in targets])
    found = followed(targets, runs, show, lambda level: "", elapsed)
    return replace(found, trace=(*posterior.trace, *found.trace), seconds=posterior.seconds + found.seconds)


def _require_stream(model: ModelPosterior) -> tuple[ModelPosterior, State]:
    state = None if model.sample is None else model.sample.state
    if not isinstance(state, State):
        got, remedy = "another", "call infer with method=IBIS()"
        raise InvalidInput("update.posterior", "a posterior of IBIS, which goes along the record", got, remedy)
    if state.time != model.problem.record.samples:
        got = f"one that was ended after {state.time:,} of {model.problem.record.samples:,} samples"
        raise InvalidInput("update.posterior", "a run that has reached the end of its record", got, "run it again")
    prepared = model.problem.filtering()
    if getattr(prepared, "lookahead", 0) is None:
        got = f"{type(model.problem.hold).__name__}, whose pieces may depend on any later sample"
        remedy = "state its lookahead, or use StraightLines() or BandLimited()"
        raise InvalidInput("update.posterior", "inputs that become final as the record goes on", got, remedy)
    if not getattr(prepared, "sequential", True):
        remedy = "use ODEFilter(diffusion=Running())"
        raise InvalidInput("update.posterior", "likelihoods of the past alone", "a diffusion of all samples", remedy)
    return model, state


def _joined(record: Record, more: Any) -> Record:
    """Both, one after the other."""
    if not isinstance(more, Record):
        raise InvalidInput("update.more", "a Record", type(more).__name__, "make one with Record.from_arrays")
    if more.rate != record.rate:
        expected, got = f"{record.rate:g} samples per second", f"{more.rate:g}"
        raise InvalidInput("update.more", expected, got, "resample it first")
    if more.units != record.units:
        expected = f"the channels and units {record.units}"
        raise InvalidInput("update.more", expected, str(more.units), "rename, select or convert them")
    wanted = record.start + record.samples / record.rate
    if abs(more.start - wanted) > 1e-3 / record.rate:
        expected, got = f"samples from {wanted:g} s on, where the record ended", f"from {more.start:g} s on"
        remedy = "fill a gap in the outputs with NaN; set the start with Record.from_arrays(start=...)"
        raise InvalidInput("update.more", expected, got, remedy)
    joined = (np.concatenate([getattr(each, name) for each in (record, more)]) for name in ("input", "output"))
    return replace(record, **dict(zip(("input", "output"), joined, strict=True)))
