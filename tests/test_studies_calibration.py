"""The study of calibration gives the figures it promises; in full, every route passes and every control fails."""

import pytest
from tests.studies import as_shown, run

ROUTES = "trajectory", "abc", "filter", "ode_filter", "backbone", "models"


@pytest.mark.slow
def test_the_study_of_calibration_gives_the_figures_it_promises(tmp_path):
    found = as_shown("calibration", tmp_path)
    assert list(tmp_path.glob("*/*.png"))
    for each in (found, found["control"]):
        assert {"coverage", "rank_p", "ess_min", "seconds"} <= set(each)
    assert found["records"] == 6 and set(found["coverage"]) == {"50", "90", "95"}


@pytest.mark.verify
@pytest.mark.parametrize("route", ROUTES)
def test_every_route_is_calibrated_and_its_control_is_not(route):
    found = run("calibration", "--route", route, "--records", "100", "--seed", "3")
    assert found["calibrated"] and not found["control"]["calibrated"]
    if route == "trajectory":
        assert found["integrated"]["calibrated"] and not found["integrated"]["control"]["calibrated"]
    if route == "models":
        assert {"brier", "right_when_above_90", "probability_bins"} <= set(found)
