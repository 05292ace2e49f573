"""Runs that are ended at any moment go on, and end with the draws of a run that was left alone, bit for bit.

Most are ended by an exception after a frame of the journal, which is as good as a kill and much faster; some by a kill.
"""

import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from tests.likelihoods import gaussian

import vibayes as vb
from vibayes.candidates import ProblemCandidate
from vibayes.journal import Journal, always_computed
from vibayes.samplers.fit import fits_at, improve
from vibayes.samplers.likely import finished

sys.path.insert(0, str(Path(__file__).parent.parent / "studies"))
import kill_and_resume as study  # type: ignore[import-not-found]

KEEP: Any = {"worth_keeping": np.inf}
QUICK = [name for name in study.CASES if name.endswith("distance")]
SLOW = ["IBIS, solver", "Metropolis, filter", "TemperedSMC, solver", "TemperedSMC, backbone"]


class Ended(BaseException):
    """Nothing catches it."""


class Ending(Journal):
    """A journal that ends a run after so many frames."""

    left = 10**9

    def _append(self, key, arrays, seconds):
        if not self.left:
            raise Ended
        self.left -= 1
        super()._append(key, arrays, seconds)

    def __enter__(self) -> Self:
        return self


@cache
def undisturbed(name):
    return study.numbers(study.inferred(name, 0, None))


def disturbed(name, path, frames, torn=0):
    """A run that was ended after so many frames, of which the last lost so many bytes."""
    with Ending(path, **KEEP) as journal, pytest.raises(Ended):
        journal.left = frames
        study.inferred(name, 0, journal)
    if torn:
        whole = path.read_bytes()
        path.write_bytes(whole[:-torn])


def ends_as_if_undisturbed(name, path):
    with Ending(path, **KEEP) as journal:
        found = study.numbers(study.inferred(name, 0, journal))
        assert study.different(undisturbed(name), found) == []
        return len(journal)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)])
def test_a_run_that_was_ended_again_and_again_ends_with_the_same_draws(name, tmp_path):
    frames = ends_as_if_undisturbed(name, tmp_path / "whole")  # a journal alone changes nothing
    path = tmp_path / "journal"
    disturbed(name, path, 0)
    disturbed(name, path, 1, torn=5)
    disturbed(name, path, frames // 3)
    disturbed(name, path, frames // 3, torn=40)
    known = len(Journal(path))
    assert frames // 3 < known < frames
    assert ends_as_if_undisturbed(name, path) == frames


def test_a_damaged_journal_never_gives_another_posterior(tmp_path):
    name, path, rng = "ABCSMC, distance", tmp_path / "journal", np.random.default_rng(0)
    ends_as_if_undisturbed(name, path)
    whole = path.read_bytes()
    for place in rng.integers(300, len(whole), 12):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                ends_as_if_undisturbed(name, path)
            except vb.InvalidInput as refused:
                assert "a whole header" in str(refused)


def test_a_limit_of_simulations_ends_a_resumed_run_where_it_would_have_ended(tmp_path):
    name = "FollowAndWeigh, distance"
    whole = study.inferred(name, 0, None, max_simulations=3000)
    with Ending(tmp_path / "j", **KEEP) as journal, pytest.raises(Ended):
        journal.left = 60
        study.inferred(name, 0, journal, max_simulations=3000)
    with Journal(tmp_path / "j", **KEEP) as journal:
        found = study.inferred(name, 0, journal, max_simulations=3000)
    assert study.different(study.numbers(whole), study.numbers(found)) == []
    assert any("max_simulations" in note for note in found.notes)


def test_max_seconds_counts_the_time_before_the_run_was_resumed(tmp_path):
    name = "ABCRejection, distance"
    with Ending(tmp_path / "j", **KEEP) as journal, pytest.raises(Ended):
        journal.left, journal._clock = 4, 1000.0  # as if it had taken that long
        study.inferred(name, 0, journal)
    with Journal(tmp_path / "j", **KEEP) as journal:
        found = study.inferred(name, 0, journal, max_seconds=900.0)
    assert found.seconds > 1000.0 and any("max_seconds" in note for note in found.notes)


def test_another_key_setting_or_record_finds_nothing_in_a_journal(tmp_path):
    problems, method = study.by_distance(), vb.ABCRejection(threshold=50.0, particles=20)
    with Journal(tmp_path / "j", **KEEP) as journal:
        vb.infer(0, problems, method, journal=journal)
        before = len(journal)
        vb.infer(0, problems, method, journal=journal)
        assert len(journal) == before
        for key, posed, other in (
            (1, problems, method),
            (0, problems[:1], vb.ABCRejection(threshold=50.0, particles=21)),
        ):
            vb.infer(key, posed, other, journal=journal)
            assert len(journal) > before
            before = len(journal)
    with pytest.raises(vb.InvalidInput, match=r"infer\.journal: expected a Journal"):
        vb.infer(0, problems, method, journal="journal.bin")  # type: ignore[arg-type]


class Remembered:
    """A toy whose likelihoods are kept, as those of problems are."""

    def __init__(self, journal):
        toy = gaussian(2)
        self.name, self.size, self.prior_probability = toy.name, toy.size, 1.0
        self.traceable, self.toy, self.recall = toy.traceable, toy, journal.recall

    def log_likelihood(self, points):
        return self.recall("log-likelihood", (points,), lambda: (self.toy.log_likelihood(points),))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [vb.NUTS(draws=100, chains=2, warmup=50, particles=50), vb.Laplace(starts=4, draws=50),
     vb.AdaptiveMetropolis(draws=20, chains=8, warmup=20, particles=40)],
    ids=lambda method: type(method).__name__,
)  # fmt: skip
def test_compiled_steps_and_gradients_are_kept_too(method, tmp_path):
    def sample(journal):
        return finished(method.sample(np.random.default_rng(0), Remembered(journal)))

    with Journal(tmp_path / "whole", **KEEP) as journal:
        whole, frames = sample(journal), len(journal)
    path = tmp_path / "j"
    with Ending(path, **KEEP) as journal, pytest.raises(Ended):
        journal.left = frames - 2
        sample(journal)
    with Ending(path, **KEEP) as journal:
        journal.left = 2
        found = sample(journal)
    assert found.points.tobytes() == whole.points.tobytes() and found.gradients == whole.gradients
    assert found.log_likelihoods.tobytes() == whole.log_likelihoods.tobytes()


@pytest.mark.slow
def test_a_process_that_is_killed_ends_with_the_same_draws(tmp_path):
    name, rng = "ABCNestedSampling, distance", np.random.default_rng(3)
    kills = sum(study.killed(name, 0, tmp_path, seconds) for seconds in rng.uniform(0.02, 0.2, 2))
    assert not study.killed(name, 0, tmp_path, 120.0)
    with np.load(tmp_path / "end.npz") as file:
        found = {each: file[each] for each in file if each != "seconds"}
    assert study.different(undisturbed(name), found) == []
    assert kills > 0


def test_a_step_of_a_fit_is_replayed_without_its_errors_which_are_too_large_to_keep(tmp_path):
    points = np.random.default_rng(0).random((10, 2))

    def steps():
        """Two steps: what the second gives, sets that it simulates, and all that were counted."""
        with Journal(tmp_path / "j", **KEEP) as journal:

            def remember(kind, inputs, compute):
                return (
                    always_computed(kind, inputs, compute)
                    if "errors" in kind
                    else journal.recall(kind, inputs, compute)
                )

            candidate = ProblemCandidate(study.by_distance()[1], remember=remember)
            fits = improve(candidate, fits_at(candidate, points, study.SAMPLES))
            simulated, compute = [], candidate._errors

            def counted(values, until):
                simulated.append(len(values["a"]))
                return compute(values, until)

            candidate._errors = counted  # type: ignore[assignment]
            fits = improve(candidate, fits)
            return fits.points.tobytes() + fits.errors.tobytes(), sum(simulated), candidate.count.simulations

    first, again = steps(), steps()
    assert first[1] > 40 and again[1] == 0
    assert again[0] == first[0] and again[2] == first[2]
