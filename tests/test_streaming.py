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


# ---- inputs between samples that depend on samples to come -----------------------------------------------------

HOLDS = vb.ZeroOrderHold(), vb.StraightLines(), vb.BandLimited(half_width=6)
SOLVERS = vb.ODEFilter(order=2, linearised=False, corrected=False), vb.RungeKutta(), vb.RungeKutta(steps=2)
VALUES = {"k": np.array([8.0, 10.0])}


@pytest.fixture(scope="module")
def driven():
    """Force and acceleration of a mass: what a sample reads depends on the force at it."""
    rng = np.random.default_rng(8)
    structure = vb.Structure.single_dof(
        1.0, [vb.Spring("k"), vb.Damper(0.5)], sensors=[vb.AbsoluteAcceleration("mass")]
    )
    force = rng.standard_normal(46)
    clean = vb.simulate(structure, vb.Sampled(force, 10.0, vb.StraightLines()), {"k": 9.0}).outputs
    noisy = np.asarray(clean)[:, 0] + 0.1 * rng.standard_normal(46)
    return structure, vb.Record.from_arrays(rate=10.0, input=force, output=noisy)


def posed_with(driven, samples, hold, solver=SOLVERS[1]):
    structure, record = driven
    return vb.Problem(
        structure, record.segment(0, samples), {"k": vb.LogNormal(8.0, 1.5)}, noise=0.1, filter=solver, hold=hold
    )


@pytest.mark.slow
@pytest.mark.parametrize(("hold", "solver"), list(zip(HOLDS, SOLVERS, strict=True)))
def test_likelihoods_that_are_settled_stay_as_they_are_when_more_samples_come(driven, hold, solver):
    whole, part = (posed_with(driven, n, hold, solver).filtering() for n in (46, 30))
    assert part.settled == 30 - hold.lookahead
    full, first = (np.asarray(each.increments(VALUES)[0].log_likelihood) for each in (whole, part))
    assert np.array_equal(full[: part.settled], first[: part.settled])
    assert np.array_equal(full[:30], first) == (hold.lookahead == 0)  # beyond, they do change


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
@pytest.mark.parametrize("hold", [vb.ZeroOrderHold(), vb.BandLimited(half_width=6)])
def test_parts_give_the_draws_of_the_whole_whatever_inputs_do_between_samples(driven, hold):
    method, record = vb.IBIS(particles=40), driven[1]
    whole = vb.infer(3, posed_with(driven, 46, hold), method).selected
    found = vb.infer(3, posed_with(driven, 1, hold), method)  # a first part of one sample
    for first, last in pairwise((1, 30, 46)):
        found = vb.update(found, record.segment(first, last))
    assert np.array_equal(whole.draws["k"], found.selected.draws["k"])
    assert whole.log_evidence == found.selected.log_evidence


@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_a_first_part_of_one_sample_is_no_dead_sensor(record):
    one = vb.infer(0, posed(record.segment(0, 1), vb.Spring("k")), vb.IBIS(particles=20))
    assert one.selected.problem.record.samples == 1 and np.isfinite(one.selected.log_evidence)


def test_a_hold_that_does_not_say_how_far_it_looks_ahead_is_not_streamed(driven):
    class Own(vb.StraightLines):
        @property
        def lookahead(self):  # type: ignore[override]
            return None

    method = vb.IBIS(particles=20)
    posterior = vb.infer(0, posed_with(driven, 30, Own()), method)
    with pytest.raises(vb.InvalidInput, match="become final as the record goes on, got Own"):
        vb.update(posterior, driven[1].segment(30, 46))
