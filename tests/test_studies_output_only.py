"""Studies of outputs alone give what they claim."""

import importlib

import pytest
from tests.studies import ROOT, as_shown, measured, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output_only(tmp_path_factory) -> dict:
    return as_shown("bilinear_output_only", tmp_path_factory.mktemp("bilinear"))


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
def test_larger_structures_give_the_figures_their_studies_promise(study, parameters, tmp_path):
    measured(*(["ground_motions"] if study == "shear_wall_twin" else []))
    found = as_shown(study, tmp_path)
    for name in ("error_percent", "truth_in_95"):
        assert set(found[name]) == parameters
    for name in ("posterior_mean", "ci95"):
        assert set(found[name]) == parameters | ({"S0"} if study == "shear_wall_twin" else set())
    assert found["min_ess"] > 5.0
    assert "collapsed" in found["augmented_ukf"]
    if study == "shear_wall_twin":
        for each, errors in found["naive"].items():
            assert set(errors) == {"nearest_floor", "last_value", "parabola", "linear_model"}
            assert found["nrmse"][each] < min(errors["nearest_floor"], errors["last_value"], errors["parabola"])


def test_outputs_alone_find_a_short_record_consistent_with_the_truth(output_only):
    assert sum(output_only["truth_in_95"].values()) >= 2
    assert output_only["nrmse"]["element force of spring"] < 1.0


@pytest.fixture(scope="module")
def building(tmp_path_factory) -> dict:
    data = measured("building")
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
    data = measured("building")
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    study = importlib.import_module("building")
    linear, bilinear = study.problems(study.read(data, 1, 4.0), "third", None)
    values = {"k": 5000.0, "xi": 0.1, "low": 8.0, "high": 20.0, "S0": 0.1, "sigma": 0.1}
    expected = float(linear.filtering().log_likelihood(values))
    for ratio in (0.1, 0.9):
        found = float(bilinear.filtering().log_likelihood(values | {"y": 100.0, "alpha": ratio}))
        assert found == pytest.approx(expected, abs=1e-6)


def test_bands_are_measured_filtered_and_smoothed(tmp_path):
    found = as_shown("band_coverage", tmp_path)
    assert set(found) == {"records", "oscillator", "nearly plastic"}
    for case in set(found) - {"records"}:
        for word in ("filtered", "smoothed"):
            assert all(0.0 <= share <= 1.0 for share in found[case][word]["inside"].values())


@pytest.mark.verify
@pytest.mark.parametrize("case", ["chain", "nearly plastic"])
def test_filtered_bands_hold_the_truth_at_their_rate_and_smoothed_ones_of_the_chain_less_often(case, monkeypatch):
    """Seeds other than those of the documentation."""
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    study = importlib.import_module("band_coverage")
    found = study.coverage(study.CASES[case], range(5000, 5016))
    for name, share in found["filtered"]["inside"].items():
        assert share + 3.0 * found["filtered"]["standard_error"][name] > 0.94, name
    smoothed = found["smoothed"]["inside"].values()
    assert case != "chain" or max(smoothed) < 0.95, "the documentation says that they are too sure"
    assert min(smoothed) > 0.8


def test_a_study_without_its_measured_data_says_so(tmp_path):
    assert "skipped" in run("building", "--data", str(tmp_path))
