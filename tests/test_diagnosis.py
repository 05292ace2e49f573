"""What a user is told of the draws of a model, on a structure of which some is known and some cannot be."""

import numpy as np
import pytest

import vibayes as vb

COMPUTES = True

VALUES = {"k": 40.0, "m": 1.0, "c": 0.8, "k2": 90.0}
PRIORS = {
    "m": vb.LogNormal(1.0, 1.4),
    "k": vb.LogNormal(40.0, 1.5),
    "c": vb.LogNormal(0.8, 1.5),
    "k2": vb.LogNormal(90.0, 1.2),
}


@pytest.fixture(scope="module")
def problem():
    """Two masses side by side on shaking ground, of which the first was measured: only k / m and c / m are told."""
    structure = vb.Structure(
        masses={"m1": "m", "m2": 1.0},
        elements=[
            vb.Spring("k").between("ground", "m1"),
            vb.Damper("c").between("ground", "m1"),
            vb.Spring("k2").between("ground", "m2"),
            vb.Damper(1.0).between("ground", "m2"),
        ],
        inputs=[vb.BaseAcceleration()],
        sensors=[vb.AbsoluteAcceleration("m1")],
    ).driven_by(vb.KanaiTajimi(12.0, 0.4, 0.5))
    ground = vb.realise(5, structure, VALUES, rate=40.0, samples=250, refinement=8)
    clean = np.asarray(vb.simulate(structure, ground, VALUES, states=False).outputs)[::8]
    record = vb.Record.from_arrays(rate=40.0, output=clean + 0.05 * np.random.default_rng(0).normal(size=clean.shape))
    return vb.Problem(structure, record, PRIORS, "side by side", noise=0.05)


@pytest.fixture(scope="module")
def posterior(problem):
    with pytest.warns(vb.IdentifiabilityWarning):
        return vb.infer(0, problem, vb.AdaptiveMetropolis(draws=150, chains=32, warmup=80, particles=300))


@pytest.mark.slow
def test_numbers_of_every_parameter_are_there(posterior):
    model = posterior.selected
    found = model.diagnostics()
    assert [each.name for each in found] == list(model.draws)
    for each in found:
        assert each.mean == pytest.approx(model.mean()[each.name])
        assert 0.0 < each.mcse < 0.2 * model.standard_deviation()[each.name]
        assert each.rhat < 1.05
        assert each.ess_bulk > 100 and each.ess_tail > 50
    assert 0.0 < found.acceptance < 1.0
    assert "R-hat" in str(found) and "k2" in str(found)


@pytest.mark.slow
def test_a_parameter_that_nothing_measured_depends_on_has_taught_nothing(posterior):
    found = posterior.selected.diagnostics()
    assert found["k2"].information < 0.1
    assert found["k"].information > 0.2
    assert any("The record says nothing of" in said and "k2 (0.0" in said for said in found.verdicts)


@pytest.mark.slow
def test_only_ratios_to_an_unknown_mass_are_told_of(posterior):
    assert any("tells m / k within" in said for said in posterior.selected.diagnostics().verdicts)


@pytest.mark.slow
def test_verdicts_are_among_the_notes_and_the_summary_has_the_worst(posterior):
    assert any(note.startswith("the record says nothing of") for note in posterior.notes)
    summary = posterior.summary()
    assert "effective draws at least" in summary and "of k2, and no less of others" in summary


@pytest.mark.slow
def test_a_parameter_that_is_not_there_is_refused(posterior):
    with pytest.raises(vb.InvalidInput, match="expected a parameter, got 'k3'"):
        posterior.selected.diagnostics()["k3"]


@pytest.mark.slow
def test_draws_with_weights_have_no_chains():
    time = np.arange(30) / 10.0
    record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time)})
    problem = vb.Problem(lambda rate: np.exp(-rate * time), record, {"rate": vb.Uniform(0.1, 2.0)}, "decay")
    posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=60, draws=200, rounds=2))
    model = posterior.selected
    found = model.diagnostics()
    assert found["rate"].ess_bulk == pytest.approx(model.effective_draws)
    assert 0.0 < found["rate"].mcse < model.standard_deviation()["rate"]
    assert np.isnan([found["rate"].rhat, found["rate"].ess_tail, found["rate"].information, found.acceptance]).all()
    assert "–" in str(found) and "R-hat" not in posterior.summary()
