"""Studies of backbones give what they claim."""

import pytest
from tests.studies import as_shown, measured, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("study", "published"), [("backbone_1nl", 1.9), ("backbone_3nl", 2.4)])
def test_backbones_give_springs_within_the_published_errors_and_second_order_the_truth(study, published, tmp_path):
    result = as_shown(study, tmp_path)
    first, second = result["first_order"], result["second_order"]
    assert max(each for each in first["error_percent"].values() if each is not None) < published
    published = result["published"]  # points by the moving window too
    assert published["draws"] == first["draws"] and published["posterior_mean"] != first["posterior_mean"]
    assert max(second["error_percent_of_largest"].values()) < 0.5
    assert max(each for each in second["error_percent"].values() if each is not None) < 0.5
    assert all(second["truth_in_99"].values()) and not all(first["truth_in_99"].values())
    assert second["draws"] >= 10_000 and max(result["backbone_error"].values()) < 2e-3
    if study == "backbone_3nl":
        assert result["isola_probability"] > 0.95
        for side, (low, high) in enumerate(result["isola_range"]["interval90"]):
            assert abs(result["isola_range"]["truth"][side] - (low + high) / 2) < 3.0 * (high - low)


def test_the_ring_down_of_the_beam_predicts_the_force_that_its_amplitudes_take():
    data = measured("brake_reuss_beam/HammerImpact.mat")
    result = run("beam_ringdown", "--quick", "--data", str(data))
    assert result["points"] > 30 and result["frequency_scatter_hz"] < 0.02
    low, high = result["damping_ratio_percent"]
    assert 0.1 < low < 0.15 < 0.2 < high < 0.3
    inside = [level for level in result["forced"]["levels"] if level["within_ring_down"]]
    assert all({"last_value", "linear_model"} <= set(each["naive"]) for each in result["forced"]["levels"])
    assert inside and all(abs(level["least_force_error_percent"]) < 15.0 for level in inside)
