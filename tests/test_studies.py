"""Studies of events and of piecewise-linear oscillators give what they claim."""

import pytest
from tests.studies import as_shown, measured

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict:
    return as_shown("state_events", tmp_path_factory.mktemp("events"))["models"]


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
    "regions_visited", "regions_visited_by_model",
}  # fmt: skip


@pytest.mark.parametrize("study", ["pwl_stiffness", "pwl_damping", "pwl_cubic"])
def test_studies_of_piecewise_linear_oscillators_report_what_they_found(study, tmp_path):
    found = as_shown(study, tmp_path)
    assert set(found) >= REPORTED | {"noise_floor", "mean_model_nmse"}
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)
    assert sum(found["regions_visited"].values()) == pytest.approx(1.0)
    assert set(found["naive"]) == {"last_value", "parabola", "linear_model"}
    assert found["selected"] in ("trilinear", "quadlinear")
    if study != "pwl_cubic":
        assert found["threshold"] < 2.0 * found["noise_floor"]
    assert {path.name for path in tmp_path.glob("*/*.png")} == {
        "trace.png", "parameters.png", "prediction.png", "force_map.png",
    }  # fmt: skip


def test_the_study_of_dampers_checks_its_models_on_the_test_part(tmp_path):
    measured("mr_damper", "shock_absorber")
    found = as_shown("static_damper", tmp_path)
    for part in (found, found["shock_absorber"]):
        assert set(part) >= REPORTED
        assert set(part["test_nmse"]) >= {"trilinear", "quadlinear"}
        assert all(0.0 < error < 100.0 for error in part["test_nmse"].values())
        assert max(part["test_nmse"].values()) < part["naive"]["linear_model"]
        assert set(part["regions_visited"]) <= {"1", "2", "3", "4"}
