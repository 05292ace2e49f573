"""A record that comes in parts: the same draws as if it had come at once."""

from itertools import pairwise

import numpy as np
import pytest
from tests.test_ibis import shaken

import vibayes as vb

METHOD = vb.IBIS(particles=60)


def posed(record, spring=None):
    problem = shaken(vb.BilinearHysteresis("k", "y", 0.1) if spring is None else spring)
    return vb.Problem(problem.model, record, problem.priors, noise=problem.noise)


def state_of(posterior):
    sample = posterior.selected.sample
    assert sample is not None
    return sample.state


@pytest.fixture(scope="module")
def record():
    return shaken(vb.BilinearHysteresis("k", "y", 0.1)).record


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
@pytest.mark.parametrize("cuts", [(40,), (5, 6, 33, 79)])
def test_parts_give_the_same_draws_as_the_whole_bit_for_bit(record, cuts):
    whole = vb.infer(3, posed(record), METHOD)
    ends = (*cuts, record.samples)
    found = vb.infer(3, posed(record.segment(0, cuts[0])), METHOD)
    for first, last in pairwise(ends):
        found = vb.update(found, record.segment(first, last))
    one, other = whole.selected, found.selected
    for name in one.draws:
        assert np.array_equal(one.draws[name], other.draws[name])
    assert np.array_equal(one.weights, other.weights) and np.array_equal(one.log_likelihoods, other.log_likelihoods)
    assert one.log_evidence == other.log_evidence and one.log_evidence_error == other.log_evidence_error
    assert state_of(whole).rejuvenations == state_of(found).rejuvenations
    assert np.array_equal(other.problem.record.output, record.output)


@pytest.mark.slow
def test_what_was_known_before_stays_as_it_was(record):
    before = vb.infer(0, posed(record.segment(0, 50)), METHOD)
    draws, state = before.selected.draws["k"].copy(), state_of(before).rng.bit_generator.state
    once, twice = (vb.update(before, record.segment(50, 80)) for _ in range(2))
    assert np.array_equal(before.selected.draws["k"], draws)
    assert state_of(before).rng.bit_generator.state == state
    assert np.array_equal(once.selected.draws["k"], twice.selected.draws["k"])
    assert once.simulations > before.simulations and len(once.trace) > len(before.trace)


def test_what_does_not_follow_is_refused_in_words(record):
    first, rest = record.segment(0, 50), record.segment(50, 80)
    posterior = vb.infer(0, posed(first), METHOD)
    with pytest.raises(vb.InvalidInput, match=r"samples from 5 s on.*from 6 s on.*NaN"):
        vb.update(posterior, record.segment(60, 80))
    with pytest.raises(vb.InvalidInput, match="10 samples per second"):
        vb.update(posterior, vb.Record.from_arrays(rate=20.0, start=5.0, output=rest.output))
    with pytest.raises(vb.InvalidInput, match="the channels and units"):
        vb.update(posterior, vb.Record.from_arrays(rate=10.0, start=5.0, output={"speed": rest.output[:, 0]}))
    with pytest.raises(vb.InvalidInput, match="a Record"):
        vb.update(posterior, rest.output)  # type: ignore[arg-type]
    with pytest.raises(vb.InvalidInput, match="IBIS"):
        vb.update(vb.infer(0, posed(first), vb.Metropolis(draws=5, chains=2)), rest)
    cut = vb.infer(0, posed(record), METHOD, max_simulations=61)
    assert any("samples were taken into account" in note for note in cut.notes)
    with pytest.raises(vb.InvalidInput, match="ended after"):
        vb.update(cut, rest)
