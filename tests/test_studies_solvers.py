"""Studies with solvers in the likelihood give what they claim."""

import pytest
from tests.studies import as_shown, measured

pytestmark = pytest.mark.slow
NAIVE = {"last_value", "parabola", "linear_model"}


@pytest.mark.parametrize("study", ["bouc_wen_pn", "solver_uncertainty"])
def test_studies_with_solvers_give_the_figures_they_promise(study, tmp_path):
    measured(*(["bouc_wen"] if study == "bouc_wen_pn" else []))
    found = as_shown(study, tmp_path)
    assert list(tmp_path.glob("*/*.png"))
    if study == "solver_uncertainty":
        assert found["coverage"]["ode_filter"]["8"] > found["coverage"]["runge_kutta"]["8"]
        return
    assert {"posterior_mean", "truth_in_95", "log_evidence", "rejuvenations", "acceptance", "seconds"} <= set(found)
    for signal in ("sweep", "multisine"):
        assert 0.0 < found[signal]["rmse_min"] <= found[signal]["rmse_mean"] <= found[signal]["rmse_max"] < 1e-4
        assert set(found[signal]["naive"]) == NAIVE
        assert found[signal]["rmse_mean"] < min(found[signal]["naive"].values())


@pytest.fixture(scope="module")
def positioning(tmp_path_factory) -> dict:
    measured("emps")
    folder = tmp_path_factory.mktemp("emps")
    found = as_shown("emps_pn", folder)
    assert list(folder.glob("*/*.png"))
    return found


def test_the_positioning_system_is_known_a_step_ahead_and_not_by_free_runs(positioning):
    found = positioning
    assert found["one_step"]["rmse_mean"] < 1e-6 < 1e-4 < found["free_run_least"] < found["free_run"]["rmse_min"]
    assert found["one_step"]["rmse_mean"] < found["horizons"]["0.1"] < found["horizons"]["0.3"]
    assert found["closed_loop"]["rmse_mean"] < 1e-5


def test_naive_predictions_stand_beside_every_error_of_the_positioning_system(positioning):
    found, naive = positioning, positioning["naive"]
    assert set(naive) == {"closed_loop", "free_run", "one_step", "horizons"}
    assert all(NAIVE <= set(naive[kind]) for kind in ("closed_loop", "free_run", "one_step"))
    assert set(naive["horizons"]) == set(found["horizons"])
    assert naive["one_step"]["parabola"] < found["one_step"]["rmse_mean"], "a step ahead tells nothing of a model"
    for seconds, error in found["horizons"].items():
        assert error < min(naive["horizons"][seconds].values())
    assert found["closed_loop"]["rmse_mean"] < naive["closed_loop"]["reference"]
    assert list(found).index("closed_loop") < list(found).index("horizons") < list(found).index("one_step")


def test_finer_steps_and_offsets_follow_the_silverbox_better(tmp_path):
    measured("silverbox/SNLS80mV.csv")
    found = as_shown("silverbox_pn", tmp_path)
    assert list(tmp_path.glob("*/*.png"))
    published, linearised, finer = (found[name] for name in ("published", "linearised", "band_limited"))
    assert 0.0 < finer["rmse_mean"] < linearised["rmse_mean"] < published["rmse_mean"] < 0.05
    assert "the solver loses the solution" in found.pop("published_order_3")["no_posterior"]
    assert all(set(each["naive"]) == NAIVE for each in found.values())
    assert all(each["rmse_mean"] < min(each["naive"].values()) for each in (linearised, finer))
    assert set(finer["posterior_mean"]) == {"m", "c", "k", "k3", "k2", "u0", "sigma"}
