"""Posteriors to and from ArviZ and netCDF."""

import dataclasses
from typing import Any

import arviz
import numpy as np
import pytest

import vibayes as vb
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.samplers.diagnostics import rhat_of_groups

TIME = np.arange(40) / 10.0
RECORD = vb.Record.from_arrays(rate=10.0, output={"speed": np.sin(3.0 * TIME)})
PRIORS = {"k": vb.LogNormal(9.0, 1.5), "S0": vb.LogUniform(0.01, 10.0)}


def oscillator(stiffness: Any = "k"):
    springs = [vb.Spring(stiffness), vb.Damper(0.3)]
    return vb.Structure.single_dof(1.0, springs, sensors=[vb.Velocity("mass")]).driven_by(vb.WhiteNoise("S0"))


def posed(name="oscillator", record=RECORD, priors: Any = PRIORS, stiffness: Any = "k"):
    return vb.Problem(oscillator(stiffness), record, priors, name, noise=0.05)


@pytest.fixture(scope="module")
def posterior():
    method = vb.AdaptiveMetropolis(draws=40, chains=4, warmup=10, particles=32)
    stiff = posed("with a / in its name", priors={"S0": PRIORS["S0"]}, stiffness=9.0)
    return vb.infer(0, [posed(), stiff], method)


def same(a, b):
    """Every number and word, with NaN equal to itself; what samplers saw to their rounding."""
    for field in dataclasses.fields(ModelPosterior):
        mine, other = getattr(a, field.name), getattr(b, field.name)
        if field.name == "sample":
            assert (mine is None) == (other is None)
            if mine is not None:
                assert np.allclose(mine.points, other.points, atol=1e-9)
                assert np.array_equal(mine.log_likelihoods, other.log_likelihoods)
                assert mine.acceptance == other.acceptance and mine.note == other.note
        elif field.name == "draws":
            assert list(mine) == list(other) and all(np.array_equal(mine[n], other[n]) for n in mine)
        elif field.name == "problem":
            assert mine is other
        elif isinstance(mine, np.ndarray | float):
            assert np.array_equal(mine, other, equal_nan=True), field.name
        else:
            assert mine == other, field.name


@pytest.mark.slow
def test_a_file_gives_back_every_draw_and_number(posterior, tmp_path):
    vb.write_posterior(posterior, tmp_path / "run.nc")
    again = vb.read_posterior(tmp_path / "run.nc", [model.problem for model in reversed(posterior.models)])
    for mine, other in zip(posterior.models, again.models, strict=True):
        same(mine, other)
    assert again.notes == posterior.notes and again.seconds == posterior.seconds
    for mine, other in zip(posterior.trace, again.trace, strict=True):
        assert np.array_equal(mine.probabilities, other.probabilities, equal_nan=True)
        assert (mine.stage, mine.simulations, mine.particles) == (other.stage, other.simulations, other.particles)
    assert again.summary() == posterior.summary()
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_arviz_reads_the_file_and_agrees_on_the_diagnostics(posterior, tmp_path):
    vb.write_posterior(posterior, tmp_path / "run.nc")
    data: Any = arviz.InferenceData.from_netcdf(tmp_path / "run.nc", base_group="oscillator")
    model = posterior["oscillator"]
    table: Any = arviz.summary(data, round_to="none").T
    for name, mean in model.mean().items():
        assert table[name]["mean"] == pytest.approx(mean, rel=1e-12)
        assert table[name]["ess_bulk"] == pytest.approx(model.diagnostics()[name].ess_bulk, rel=1e-6)
    assert float(data.sample_stats.attrs["log_evidence"]) == model.log_evidence
    assert data.prior["k"].shape == (1, 1000)
    assert np.median(data.prior["k"]) == pytest.approx(9.0, rel=0.1)


def test_weighted_draws_become_equal_for_arviz_and_come_back_as_they_were():
    slopes = np.linspace(0.0, 3.0, 400)
    weights = np.exp(-0.5 * ((slopes - 1.0) / 0.2) ** 2)
    problem = vb.Problem(lambda slope: slope * TIME, RECORD, {"slope": vb.Uniform(0.0, 3.0)}, "line")
    model = ModelPosterior(
        problem, 0.8, 0.1, -3.0, 0.2, {"slope": slopes}, weights / weights.sum(), slopes**2, 500, 3, "no reason"
    )
    data = vb.to_arviz(model)
    deviation = float(data.posterior["slope"].std())
    assert deviation == pytest.approx(0.2, rel=0.15)  # 400 draws: 4 standard errors; unweighted it is 0.87
    same(model, vb.from_arviz(data, problem))


def test_draws_along_the_record_keep_their_weights(tmp_path):
    posterior = vb.infer(0, posed(), vb.IBIS(particles=60))
    vb.write_posterior(posterior, tmp_path / "run.nc")
    again = vb.read_posterior(tmp_path / "run.nc", posed())
    assert np.array_equal(again.selected.weights, posterior.selected.weights)
    assert again.summary() == posterior.summary() and np.ptp(posterior.selected.weights) > 0


def test_draws_of_another_program_are_taken(posterior):
    model = posterior["oscillator"]
    chains = {name: values.reshape(4, -1) for name, values in model.draws.items()}
    found = vb.from_arviz(arviz.from_dict(chains), model.problem)
    assert found.mean() == model.mean() and found.chains == 4 and np.isnan(found.log_evidence)
    # R-hat itself may hang on a last digit: the two draws in the middle are equally far from the median.
    assert found.sample is not None and model.sample is not None
    np.testing.assert_allclose(found.sample.points, model.sample.points, rtol=0.0, atol=1e-12)
    mine, other = model.diagnostics()["k"], found.diagnostics()["k"]
    assert other.rhat == pytest.approx(rhat_of_groups(found.sample.points)[0], rel=1e-12)
    assert other.ess_bulk == pytest.approx(mine.ess_bulk) and other.information == pytest.approx(mine.information)


def test_a_model_without_draws_survives_a_file(tmp_path):
    problem = posed()
    draws = {name: np.empty(0) for name in problem.parameters}
    empty = ModelPosterior(problem, np.nan, np.nan, np.nan, np.nan, draws, np.empty(0), np.empty(0), 0, 0)
    vb.write_posterior(Posterior((empty,), np.nan, (), 0.0, ("stopped",)), tmp_path / "run.nc")
    same(empty, vb.read_posterior(tmp_path / "run.nc", problem).models[0])


def test_what_cannot_be_read_is_said_and_nothing_is_lost(posterior, tmp_path):
    file = tmp_path / "run.nc"
    vb.write_posterior(posterior, file)
    whole = file.read_bytes()
    problems = [model.problem for model in posterior.models]
    with pytest.raises(vb.InvalidInput, match="the problem 'oscillator'"):
        vb.read_posterior(file, problems[1:])
    other = vb.Record.from_arrays(rate=10.0, output={"speed": np.cos(3.0 * TIME)})
    with pytest.raises(vb.InvalidInput, match="another record"):
        vb.read_posterior(file, [posed(record=other), problems[1]])
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(vb.InvalidInput, match="cannot be read"):
        vb.read_posterior(file, problems)
    file.write_text("no netCDF")
    with pytest.raises(vb.InvalidInput, match="cannot be read"):
        vb.read_posterior(file, problems)
    vb.to_arviz(posterior.selected).to_netcdf(str(file))
    with pytest.raises(vb.InvalidInput, match="another netCDF file"):
        vb.read_posterior(file, problems)
    with pytest.raises(vb.InvalidInput, match="draws of 'k'"):
        vb.from_arviz(arviz.from_dict({"stiffness": np.ones((1, 9))}), problems[0])
    with pytest.raises(vb.InvalidInput, match="existing folder"):
        vb.write_posterior(posterior, tmp_path / "nowhere" / "run.nc")
