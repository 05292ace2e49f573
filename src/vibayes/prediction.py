"""What the models say the structure does: draws of the posterior, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.excitation import Sampled
from vibayes.excitation.concrete import as_key
from vibayes.excitation.sampled import Realisation
from vibayes.forking import require_usable_jax
from vibayes.interval import PROB, tails
from vibayes.judging import outputs_of_function
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.simulation import realise, simulate
from vibayes.simulation.settling import settling_time
from vibayes.structure import Structure
from vibayes.visits import begins

_AT_ONCE = 32
"""Sets whose inputs are held in memory."""
_FINER = 10
"""Samples of a random input per sample of the record."""
_LONGEST = 20.0
"""Times the record that structures are in motion before it, at most."""


@dataclass(frozen=True)
class Prediction:
    """Simulated outputs beside those that were measured; `vibayes.prediction.predict` makes it.

    The spread of the draws is what is not known of the parameters. The noise of the measurement is not part of it.

    Attributes:
        record: what drove the model, and what was measured.
        outputs: of the draws, of shape (draws, samples, outputs); those that failed are left out.
        at_mean: outputs with the posterior mean of the parameters, of shape (samples, outputs); NaN if that failed, or
            if inputs are random.
        failures: draws that could not be simulated.
        distance: that of the problem if it is the normalised mean square error, else the latter as it is.
        model: the name of the model.
        random: inputs were drawn anew for each draw, so a band tells what could happen, and the mean of the draws is no
            guess at what did.
    """

    record: Record
    outputs: np.ndarray
    at_mean: np.ndarray
    failures: int = 0
    distance: NMSE = field(default_factory=NMSE)
    model: str = ""
    random: bool = False

    def mean(self) -> np.ndarray:
        """Of the draws, at every sample: of shape (samples, outputs)."""
        return self.outputs.mean(axis=0)

    def band(self, prob: float = PROB) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper edge of the central range that holds a share ``prob`` of the draws, at every sample.

        Examples:
            >>> import numpy as np
            >>> import vibayes as vb
            >>> from vibayes.prediction import Prediction
            >>> record = vb.Record.from_arrays(rate=1.0, output=[0.0, 1.0])
            >>> outputs = np.arange(5.0)[:, None, None] * np.ones((5, 2, 1))
            >>> low, high = Prediction(record, outputs, outputs[2]).band(0.5)
            >>> low[:, 0].tolist(), high[:, 0].tolist()
            ([1.0, 1.0], [3.0, 3.0])
        """
        low, high = np.quantile(self.outputs, tails("band", prob), axis=0)
        return low, high

    @property
    def nmse(self) -> float:
        """Normalised mean square error of the mean prediction, in percent."""
        return self.distance.between(self.record, self.mean())

    @property
    def nmse_at_mean(self) -> float:
        """Normalised mean square error of the model with the posterior mean of the parameters, in percent."""
        return self.distance.between(self.record, self.at_mean)


def predict(
    key: Any, posterior: Posterior | ModelPosterior, record: Record | None = None, draws: int = 200
) -> Prediction:
    """Simulate draws of the posterior.

    Where inputs are random processes, every draw has a realisation of its own: what the structure would do in another
    storm or earthquake of this kind. (What it did is told by `vibayes.estimate`.) It begins as the structure does
    (`Structure.driven_by`): in ongoing vibration or at rest. A record that has all inputs drives the draws with them,
    from rest.

    Args:
        key: a whole number or a JAX random key, to choose the draws.
        posterior: one model, or all of them: then the most probable one is meant.
        record: another record of the same channels, as one that was kept back; by default the one that was learnt from.
            Simulators of your own take the parameters only, so they cannot be driven by another record.
        draws: how many; they are taken in proportion to their weights.

    Returns:
        The outputs of all draws, with their mean, their spread, and their distance from what was measured.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.prediction import predict
        >>> time = np.arange(40) / 10.0
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time)})
        >>> def decay(rate):
        ...     return np.exp(-rate * time)
        >>> problem = vb.Problem(decay, record, {"rate": vb.Uniform(0.1, 2.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=100, draws=200, threshold=1.0))
        >>> prediction = predict(1, posterior, draws=50)
        >>> prediction.outputs.shape, prediction.nmse < 1.0
        ((50, 40, 1), True)
    """
    require_usable_jax("predict")
    model = _require_model(posterior)
    if not (isinstance(draws, int) and draws > 0):
        raise InvalidInput("predict.draws", "a positive whole number", repr(draws), "leave it out for 200")
    problem, key = model.problem, as_key("predict.key", key)
    shown = problem.motions if record is None else _require_like(problem, record)
    values, means = model.resampled(int(jax.random.bits(key)), draws), model.mean()
    # The mean goes along as one more set: a batch of its own would be compiled anew.
    together = {name: np.append(values[name], means[name]) for name in values}
    random = problem.random and shown.input.shape[1] < len(_structure(problem).inputs)
    if random:
        outputs, message = _under_new_inputs(jax.random.fold_in(key, 1), problem, shown, together), ""
        outputs[-1] = np.nan
    elif isinstance(problem.model, Structure):
        learnt = begins(problem, together) if record is None else {}
        signal = Sampled(shown.input, shown.rate, problem.hold)
        outputs, message = _simulated(problem, signal, together, learnt), ""
    else:
        outputs, message = outputs_of_function(problem)(together)
    good = np.all(np.isfinite(outputs[:-1]), axis=(1, 2))
    if not good.any():
        got = f"{draws} failures" + (f", the first: {message}" if message else "")
        raise InvalidInput(f"predict({model.name!r})", "draws that can be simulated", got, "check the record")
    distance = problem.distance if isinstance(problem.distance, NMSE) else NMSE()
    failures = int((~good).sum())
    return Prediction(shown, outputs[:-1][good], outputs[-1], failures, distance, model.name, random)


def _require_model(posterior: Any) -> ModelPosterior:
    if isinstance(posterior, Posterior):
        return posterior.selected
    if isinstance(posterior, ModelPosterior):
        return posterior
    got = type(posterior).__name__
    raise InvalidInput("predict.posterior", "a Posterior or a model of one", got, "give what infer returns")


def _require_like(problem: Problem, record: Record) -> Record:
    """Another record of the same channels; inputs that were random may have been measured this time."""
    if not isinstance(problem.model, Structure):
        remedy = "leave the record out, or pose the problem with a Structure"
        raise InvalidInput("predict.record", "none for a simulator of your own", "a record", remedy)
    if not isinstance(record, Record):
        raise InvalidInput("predict.record", "a Record", type(record).__name__, "make one with Record.from_arrays")
    old, inputs = problem.motions, record.input.shape[1]
    wanted, got = (dict(zip(each.output_names, each.output_units, strict=True)) for each in (old, record))
    if not problem.random:
        wanted, got = old.units, record.units
    if wanted != got:
        what = f"the channels and units {wanted}"
        raise InvalidInput("predict.record", what, str(got), "rename, select or convert them")
    if inputs not in (old.input.shape[1], len(problem.model.inputs)):
        expected = (
            f"{old.input.shape[1]} inputs as in the record that was learnt from, or all {len(problem.model.inputs)}"
        )
        raise InvalidInput("predict.record", expected, str(inputs), "select inputs in the order of the structure")
    return record


def _structure(problem: Problem) -> Structure:
    assert isinstance(problem.model, Structure)
    return problem.model


def _under_new_inputs(key: Any, problem: Problem, record: Record, values: dict[str, np.ndarray]) -> np.ndarray:
    """Every set with a realisation of its own of the inputs that are random, some sets at a time."""
    structure, count = _structure(problem), len(next(iter(values.values())))
    keys = jax.random.split(key, count)
    settle = _settle(structure, record, values)
    parts = []
    for first in range(0, count, _AT_ONCE):
        chosen = np.minimum(np.arange(first, first + _AT_ONCE), count - 1)  # parts of one size are compiled once
        some = {name: value[chosen] for name, value in values.items()}
        signals = []
        for number, index in enumerate(chosen):
            one = {name: float(some[name][number]) for name in structure.parameters}
            drawn = realise(
                keys[index], structure, one, rate=record.rate, samples=record.samples, refinement=_FINER,
                given=record.input, settle=settle,
            )  # fmt: skip
            signals.append(drawn)
        drawn, before = (jnp.stack(each) for each in zip(*((s.values, s.before) for s in signals), strict=True))
        together = Realisation(drawn, signals[0].rate, signals[0].hold, before)
        parts.append(_simulated(problem, together, some)[: count - first, ::_FINER])
    return np.concatenate(parts)


def _settle(structure: Structure, record: Record, values: dict[str, np.ndarray]) -> float:
    """Seconds of motion before the record, of all sets alike; none if the structure begins at rest."""
    if not structure.stationary:
        return 0.0
    return float(np.minimum(settling_time(structure, values).max(), _LONGEST * record.duration))


def _simulated(
    problem: Problem, signal: Sampled, values: dict[str, np.ndarray], start: Mapping[str, np.ndarray] | None = None
) -> np.ndarray:
    structure = _structure(problem)
    own = {name: values[name] for name in structure.parameters}
    rest: dict[str, Any] = dict(start or {})
    return np.asarray(simulate(structure, signal, own, method=problem.method, states=False, **rest).outputs)
