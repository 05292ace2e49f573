"""The verb: simulate records from the priors of a problem, infer each, and see where the truth lies."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.calibration.records import record_simulator
from vibayes.calibration.replication import Replication, Setting, replicate
from vibayes.calibration.result import Calibration
from vibayes.errors import IdentifiabilityWarning, InvalidInput
from vibayes.excitation.concrete import as_key, require_count
from vibayes.fingerprint import fingerprint
from vibayes.forking import require_usable_jax
from vibayes.journal import Journal, Recall, always_computed
from vibayes.problem import Problem
from vibayes.samplers.likely import LikelihoodSampler
from vibayes.samplers.shapes import Sampler

_EVERY = {True: 0.2, False: 10.0}
"""Seconds between lines of progress, on a terminal and elsewhere."""


def calibrate(
    key: Any,
    problems: Problem | Sequence[Problem],
    method: Sampler | LikelihoodSampler | None = None,
    *,
    records: int = 200,
    noise: float = 0.05,
    max_simulations: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Callable[[Replication], None] = False,
    journal: Journal | None = None,
) -> Calibration:
    """Whether intervals hold the truth as often as they say, and models have the probability they are given.

    Simulation-based calibration (Cook, Gelman & Rubin 2006; Talts et al. 2018): a model is drawn by its prior
    probability, its parameters from their prior, a record is simulated as the problem describes it, and the posterior
    is inferred as usual. Over many records the rank of the truth among draws of the posterior is uniform, if priors,
    simulation, likelihood and sampler fit together. So is the rank of its log-likelihood, which sees faults that
    parameters do not show, as a posterior that ignores the record (Modrák et al. 2023).

    The record of the problem gives inputs, rate, sensors and missing samples; its measured outputs play no part.

    Args:
        key: a whole number or a JAX random key. Every replication has a key of its own: the i-th is the same whatever
            ``records`` is.
        problems: the model, or several candidates.
        method: of inference, as in `infer`.
        records: to simulate.
        noise: standard deviation of the noise of the outputs over that of the clean output, where the problem has no
            ``noise`` and it is integrated out. Ranks are uniform to a good approximation then: that likelihood has the
            scale-free prior dσ/σ, which nothing can be drawn from. Give the noise a prior for an exact test.
        max_simulations: of each inference; one that is ended by it counts as a failure.
        max_seconds: likewise.
        progress: show how far it is on the terminal, or a function that is called with every `Replication`.
        journal: keeps what was computed: a calibration that was interrupted, and is called again with the same
            arguments or with more records, goes on from there.

    Returns:
        Ranks, coverage, tests and a verdict. Interrupted from the keyboard, those of the records so far, with a note.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(30) / 10.0
        >>> def ramp(slope):
        ...     return np.asarray(slope)[:, None] * time
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": time})
        >>> problem = vb.Problem(ramp, record, {"slope": vb.Normal(1.0, 0.2)}, noise=0.3, vectorised=True)
        >>> found = vb.calibrate(0, problem, vb.DataAnnealedSMC(effective=100, populations=2, chains=50), records=24)
        >>> found
        Calibration(24 records of 'ramp': calibrated)
        >>> list(found.ranks), found.coverage[90] > 0.7
        (['slope', 'log-likelihood'], True)
    """
    require_usable_jax("calibrate")
    posed = _require_problems(problems)
    require_count("calibrate.records", records, 1, "give a whole number")
    if not (np.isfinite(noise) and noise >= 0.0):
        raise InvalidInput("calibrate.noise", "a number from 0", repr(noise), "give a share of the clean output")
    start, own = time.perf_counter(), _own(as_key("calibrate.key", key))
    limits = {"max_simulations": max_simulations, "max_seconds": max_seconds}
    setting = Setting(posed, [record_simulator(each, noise) for each in posed], method, limits)
    recall = _recall(journal, (np.asarray(jax.random.key_data(own)), posed, method, noise, limits))
    show = progress if callable(progress) else _Progress(records, sys.stderr) if progress else lambda _: None
    done, notes = _replications(own, records, setting, recall, show)
    return Calibration(tuple(p.name for p in posed), records, tuple(done), time.perf_counter() - start, notes)


def _replications(
    key: Any, records: int, setting: Setting, recall: Recall, show: Callable[[Replication], Any]
) -> tuple[list[Replication], tuple[str, ...]]:
    """All replications, or those before an interruption, and a note of that."""
    done: list[Replication] = []
    try:
        with warnings.catch_warnings():
            # What a record cannot tell is no news after the first of hundreds, and no fault of a posterior.
            warnings.simplefilter("ignore", IdentifiabilityWarning)
            for number in range(records):
                done.append(_recalled(jax.random.fold_in(key, number), number, setting, recall))
                show(done[-1])
    except KeyboardInterrupt:
        return done, (f"interrupted from the keyboard after {len(done)} of {records} records",)
    finally:
        getattr(show, "close", lambda: None)()
    return done, ()


def _recalled(key: Any, number: int, setting: Setting, recall: Recall) -> Replication:
    """A replication, computed or from a journal."""
    computed: list[Replication] = []

    def compute() -> Sequence[np.ndarray]:
        computed.append(replicate(key, number, setting))
        return (computed[-1].packed(),)

    (kept,) = recall("replication", (number,), compute)
    return computed[-1] if computed else Replication.unpacked(kept)


def _recall(journal: Journal | None, context: Any) -> Recall:
    if journal is None:
        return always_computed
    if not isinstance(journal, Journal):
        raise InvalidInput("calibrate.journal", "a Journal", repr(journal), 'write journal=Journal("journal.bin")')
    return journal.recalling(fingerprint(*context))


def _require_problems(problems: Any) -> tuple[Problem, ...]:
    given = (problems,) if isinstance(problems, Problem) else tuple(problems)
    if not given or not all(isinstance(each, Problem) for each in given):
        raise InvalidInput("calibrate.problems", "a Problem, or several", repr(problems), "pose one")
    names = [each.name for each in given]
    if len(set(names)) < len(names):
        raise InvalidInput("calibrate.problems", "models with names of their own", repr(names), "give each a name")
    shapes = {each.record.output.shape for each in given}
    if len(shapes) > 1 or len({each.of_backbones for each in given}) > 1:
        raise InvalidInput("calibrate.problems", "models of one record", "different records", "pose them with the same")
    return given


def _own(key: Any) -> Any:
    """A typed key, also of the raw form."""
    return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)


class _Progress:
    """A line that is rewritten on a terminal, and now and then a line elsewhere."""

    def __init__(self, records: int, stream: TextIO):
        self._records, self._stream, self._live = records, stream, stream.isatty()
        self._start, self._shown, self._failed, self._wide = time.monotonic(), -1e9, 0, 0

    def __call__(self, replication: Replication) -> None:
        """Show how far it is, unless that was shown a moment ago."""
        self._failed += bool(replication.failure)
        now, done = time.monotonic(), replication.number + 1
        if now - self._shown < _EVERY[self._live] and done < self._records:
            return
        self._shown = now
        left = (now - self._start) * (self._records - done) / done
        failed = f", {self._failed} failed" if self._failed else ""
        line = f"{done} of {self._records} records{failed}, about {left:.0f} s left"
        self._stream.write(line.ljust(self._wide) + ("\r" if self._live else "\n"))
        self._stream.flush()
        self._wide = len(line) if self._live else 0

    def close(self) -> None:
        """Leave the last line on the terminal."""
        if self._live and self._wide:
            self._stream.write("\n")
