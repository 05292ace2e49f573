"""One default probability of intervals and bands, 95 %, and one name for it, `prob`, wherever a result is told."""

import importlib
import inspect
import pkgutil
import re

import pytest
from tests.reported import piecewise

import vibayes as vb
from vibayes.cli.results import results_of
from vibayes.errors import InvalidInput
from vibayes.report import write_report

TELLERS = {
    "ModelPosterior.interval", "Prediction.band", "IsolaProbability.range_interval", "IsolaProbability.peak_interval",
    "BranchDraws.frequency_band", "BranchDraws.amplitude_band", "figure_of_parameters", "figure_of_prediction",
    "figure_of_predictions", "figure_of_estimate", "figure_of_uncertainties", "figure_of_backbone_fit", "write_report",
    "predict",
}  # fmt: skip


def parameters() -> dict[str, inspect.Parameter]:
    """Of every public function and method of the package that says how probable an interval is."""
    found = {}
    for module in pkgutil.walk_packages(vb.__path__, "vibayes."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            own = {name: thing} if inspect.isfunction(thing) else {}
            if inspect.isclass(thing):
                own = {f"{name}.{n}": f for n, f in vars(thing).items() if inspect.isfunction(f)}
            for where, function in own.items():
                if function.__module__ == module.name and not where.startswith("_"):
                    named = inspect.signature(function).parameters
                    found |= {(where, n): p for n, p in named.items() if n in ("prob", "share", "credible")}
    return found


def test_every_interval_and_band_has_95_percent_by_default_and_calls_it_prob():
    found = {key: p.default for key, p in parameters().items() if isinstance(p.default, float)}
    assert {key: value for key, value in found.items() if key[1] != "prob"} == {}
    assert set(found.values()) == {0.95}
    assert TELLERS <= {where for where, _ in found}


def test_summary_json_and_report_tell_the_same_interval(tmp_path):
    posterior = piecewise()
    low, high = posterior.selected.interval("k1")
    assert (low, high) == posterior.selected.interval("k1", prob=0.95)
    assert f"95 % in {low:.5g} … {high:.5g}" in posterior.summary()
    told = results_of(posterior)["models"][1]["parameters"]["k1"]
    assert (told["low"], told["high"], told["prob"]) == (low, high, 0.95) and "share" not in told
    page = write_report(posterior, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "95 % interval" in page and f"{low:,.0f} … {high:,.0f}" in page
    assert not re.search(r"90 % (interval|band|in )", page + posterior.summary() + posterior.selected._repr_html_())


@pytest.mark.parametrize("prob", [0.0, 1.5, 95, float("nan")])
def test_a_probability_that_is_none_is_refused(prob):
    model = piecewise().selected
    with pytest.raises(InvalidInput, match=r"interval\.prob"):
        model.interval("k1", prob)
