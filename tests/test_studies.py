"""The studies run as a user would run them, and their results are those claimed."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


def run(study: str, *options: str) -> dict:
    """The JSON object on the last line of a study's output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "studies" / f"{study}.py"), "--json", *options]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert finished.returncode == 0, finished.stderr[-2000:]
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def models() -> dict:
    return run("state_events", "--quick", "--seed", "3")["models"]


@pytest.fixture(scope="module")
def located(models) -> dict:
    return {name: result for name, result in models.items() if result["events_located"]}


def test_state_events_cover_the_published_models(models):
    assert set(models) == {
        "trilinear_elastic", "bilinear_F_sine", "bilinear_M_sine", "bilinear_F_modulated", "bilinear_M_modulated",
        "bouc_wen_A", "bouc_wen_B", "bouc_wen_C", "bwbn",
    }  # fmt: skip


def test_with_located_events_the_error_is_proportional_to_the_tolerance(located):
    assert {name: r["tp_slope"] for name, r in located.items() if not 0.9 < r["tp_slope"] < 1.1} == {}


def test_no_event_is_lost_or_made_up_at_any_tolerance(located):
    assert {name: r["lost_events"] for name, r in located.items() if r["lost_events"]} == {}
    assert all(r["event_count_constant"] and r["event_count"] > 0 for r in located.values())


def test_locating_events_saves_work_for_the_same_error(located):
    assert {name: r["work_ratio_no_events"] for name, r in located.items() if not r["work_ratio_no_events"] > 1.0} == {}


def test_both_bilinear_formulations_and_both_event_choices_see_the_same_events(models):
    for kind in ("sine", "modulated"):
        assert models[f"bilinear_F_{kind}"]["event_count"] == models[f"bilinear_M_{kind}"]["event_count"]
    assert models["bouc_wen_C"]["event_count"] < models["bouc_wen_B"]["event_count"]


def test_a_pair_of_crossings_within_a_step_is_found_where_signs_at_its_ends_would_lose_it(models):
    pair = models["trilinear_elastic"]
    assert pair["closest_events_seconds"] < pair["mean_step_seconds"]
    assert pair["events_at_0.00077426"] == pair["event_count"]
    assert pair["scipy_events_at_0.00077426"] == pair["event_count"] - 2


REPORTED = {
    "selected", "probabilities", "standard_errors", "threshold", "posterior_mean", "simulations", "seconds", "notes",
}  # fmt: skip


@pytest.mark.parametrize("study", ["pwl_stiffness", "pwl_damping", "pwl_cubic"])
def test_studies_of_piecewise_linear_oscillators_report_what_they_found(study, tmp_path):
    found = run(study, "--quick", "--seed", "1", "--out", str(tmp_path))
    assert set(found) >= REPORTED | {"noise_floor", "mean_model_nmse"}
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)
    assert found["selected"] in ("trilinear", "quadlinear")
    if study != "pwl_cubic":
        assert found["threshold"] < 2.0 * found["noise_floor"]
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "trace.png", "parameters.png", "prediction.png", "force_map.png",
    }  # fmt: skip


def test_the_study_of_dampers_checks_its_models_on_the_test_part():
    data = ROOT.parent / "shared" / "data"
    if not data.exists():
        pytest.skip("the measured data are not here")
    found = run("static_damper", "--quick", "--seed", "1", "--data", str(data))
    for part in (found, found["shock_absorber"]):
        assert set(part) >= REPORTED
        assert set(part["test_nmse"]) >= {"trilinear", "quadlinear"}
        assert all(0.0 < error < 100.0 for error in part["test_nmse"].values())


@pytest.fixture(scope="module")
def output_only() -> dict:
    return run("bilinear_output_only", "--quick", "--seed", "2")


def test_outputs_alone_give_the_figures_the_study_promises(output_only):
    parameters = {"D_y", "alpha", "k"}
    for name in ("posterior_mean", "ci95", "error_percent", "truth_in_95"):
        assert set(output_only[name]) == parameters
    assert {"min_ess", "rhat_max", "seconds", "log_evidence", "log_evidence_error", "augmented_ukf"} <= set(output_only)


@pytest.mark.parametrize(
    ("study", "parameters"),
    [
        ("chain_output_only", {f"{kind}{i}" for kind in ("k", "D_y", "alpha") for i in range(1, 5)}),
        ("shear_wall_twin", {"k_f", "k", "xi", "D_y"}),
    ],
)
def test_larger_structures_give_the_figures_their_studies_promise(study, parameters):
    data = ROOT.parent / "shared" / "data"
    if study == "shear_wall_twin" and not data.exists():
        pytest.skip("the measured data are not here")
    found = run(study, "--quick", "--seed", "1", "--data", str(data))
    for name in ("error_percent", "truth_in_95"):
        assert set(found[name]) == parameters
    for name in ("posterior_mean", "ci95"):
        assert set(found[name]) == parameters | ({"S0"} if study == "shear_wall_twin" else set())
    assert found["min_ess"] > 5.0
    assert "collapsed" in found["augmented_ukf"]


def test_outputs_alone_find_a_short_record_consistent_with_the_truth(output_only):
    assert sum(output_only["truth_in_95"].values()) >= 2
    assert output_only["nrmse"]["element force of spring"] < 1.0


@pytest.fixture(scope="module")
def building(tmp_path_factory) -> dict:
    data = ROOT.parent / "shared" / "data"
    if not (data / "building").exists():
        pytest.skip("the measured data are not here")
    out = tmp_path_factory.mktemp("building")
    found = run("building", "--quick", "--seed", "1", "--data", str(data), "--out", str(out))
    return found | {"figures": {path.name for path in out.glob("*.png")}}


def test_the_measured_building_gives_both_models_their_evidence(building):
    assert set(building["models"]) == {"linear", "bilinear"}
    assert sum(building["probabilities"].values()) == pytest.approx(1.0)
    for model in building["models"].values():
        assert model["log_evidence_error"] > 0.0
        assert {"posterior_mean", "ci95", "min_ess", "rhat_max", "log_evidence", "nrmse"} <= set(model)
    assert {"seconds", "augmented_ukf", "selected"} <= set(building)


def test_the_floor_that_was_left_out_is_estimated_better_than_by_nothing(building):
    assert building["measured"] != building["left_out"]
    assert building["models"]["linear"]["nrmse"]["acceleration"] < 1.0
    assert building["figures"] == {
        "parameters_linear.png", "parameters_bilinear.png", "pairs_linear.png", "pairs_bilinear.png",
        "left_out_floor.png", "loop.png",
    }  # fmt: skip


def test_both_models_of_the_building_are_one_where_nothing_yields(monkeypatch):
    data = ROOT.parent / "shared" / "data"
    if not (data / "building").exists():
        pytest.skip("the measured data are not here")
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    study = importlib.import_module("building")
    linear, bilinear = study.problems(study.read(data, 1, 4.0), "third", None)
    values = {"k": 5000.0, "xi": 0.1, "low": 8.0, "high": 20.0, "S0": 0.1, "sigma": 0.1}
    expected = float(linear.filtering().log_likelihood(values))
    for ratio in (0.1, 0.9):
        found = float(bilinear.filtering().log_likelihood(values | {"y": 100.0, "alpha": ratio}))
        assert found == pytest.approx(expected, abs=1e-6)


def test_a_study_without_its_measured_data_says_so(tmp_path):
    assert "skipped" in run("building", "--data", str(tmp_path))


@pytest.mark.parametrize("study", ["bouc_wen_pn", "solver_uncertainty"])
def test_studies_with_solvers_give_the_figures_they_promise(study, tmp_path):
    data = ROOT.parent / "shared" / "data"
    if study != "solver_uncertainty" and not data.exists():
        pytest.skip("the measured data are not here")
    found = run(study, "--quick", "--seed", "1", "--data", str(data), "--out", str(tmp_path))
    assert list(tmp_path.glob("*.png"))
    if study == "solver_uncertainty":
        assert found["coverage"]["ode_filter"]["8"] > found["coverage"]["runge_kutta"]["8"]
        return
    assert {"posterior_mean", "truth_in_95", "log_evidence", "rejuvenations", "acceptance", "seconds"} <= set(found)
    for signal in ("sweep", "multisine"):
        assert 0.0 < found[signal]["rmse_min"] <= found[signal]["rmse_mean"] <= found[signal]["rmse_max"] < 1e-4


def test_the_positioning_system_is_known_a_step_ahead_and_not_by_free_runs(tmp_path):
    data = ROOT.parent / "shared" / "data"
    if not data.exists():
        pytest.skip("the measured data are not here")
    found = run("emps_pn", "--quick", "--seed", "1", "--data", str(data), "--out", str(tmp_path))
    assert list(tmp_path.glob("*.png"))
    assert found["one_step"]["rmse_mean"] < 1e-6 < 1e-4 < found["free_run_least"] < found["free_run"]["rmse_min"]
    assert found["one_step"]["rmse_mean"] < found["horizons"]["0.1"] < found["horizons"]["0.3"]
    assert found["closed_loop"]["rmse_mean"] < 1e-5


@pytest.mark.parametrize(("study", "published"), [("backbone_1nl", 1.9), ("backbone_3nl", 2.4)])
def test_backbones_give_springs_within_the_published_errors_and_second_order_the_truth(study, published):
    result = run(study, "--quick", "--seed", "5")
    first, second = result["first_order"], result["second_order"]
    assert max(each for each in first["error_percent"].values() if each is not None) < published
    assert max(second["error_percent_of_largest"].values()) < 0.5
    assert max(each for each in second["error_percent"].values() if each is not None) < 0.5
    assert all(second["truth_in_99"].values()) and not all(first["truth_in_99"].values())
    assert second["draws"] >= 10_000 and max(result["backbone_error"].values()) < 2e-3
    if study == "backbone_3nl":
        assert result["isola_probability"] > 0.95
        for side, (low, high) in enumerate(result["isola_range"]["interval90"]):
            assert abs(result["isola_range"]["truth"][side] - (low + high) / 2) < 3.0 * (high - low)


def test_the_ring_down_of_the_beam_predicts_the_force_that_its_amplitudes_take():
    data = ROOT.parent / "shared" / "data"
    if not (data / "brake_reuss_beam" / "HammerImpact.mat").exists():
        pytest.skip("no measured data of the beam")
    result = run("beam_ringdown", "--quick", "--data", str(data))
    assert result["points"] > 30 and result["frequency_scatter_hz"] < 0.02
    low, high = result["damping_ratio_percent"]
    assert 0.1 < low < 0.15 < 0.2 < high < 0.3
    inside = [level for level in result["forced"]["levels"] if level["within_ring_down"]]
    assert inside and all(abs(level["least_force_error_percent"]) < 15.0 for level in inside)
