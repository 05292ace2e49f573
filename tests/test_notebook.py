"""What objects show of themselves in notebooks."""

import numpy as np
from tests.reported import believed, empty, posterior_of

import vibayes as vb

RECORD = vb.Record.from_arrays(
    rate=10.0, input={"<force>": np.arange(9.0)}, output={"x": [np.nan, *range(8)]}, units={"x": "mm"}
)
SPRING = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.1)], sensors=[vb.Displacement("mass")])
PROBLEM = vb.Problem(SPRING, RECORD, {"k": vb.Uniform(1.0, 9.0)}, "<b>spring</b>")


def test_a_record_shows_its_channels_with_units_ends_and_gaps():
    shown = RECORD._repr_html_()
    assert "&lt;force&gt;" in shown and "<force>" not in shown
    assert all(f">{word}<" in shown for word in ("mm", "7", "1")) and "9 samples at 10 Hz" in shown


def test_a_structure_shows_its_parts_and_unknowns():
    shown = SPRING._repr_html_()
    assert "Spring" in shown and "ground – mass" in shown and "Unknowns: k" in shown


def test_a_problem_shows_its_priors_and_no_name_becomes_markup():
    shown = PROBLEM._repr_html_()
    assert "Uniform(low=1.0, high=9.0)" in shown and "<b>" not in shown and "9 samples of x" in shown


def test_a_posterior_and_its_models_show_what_was_found():
    model = believed(PROBLEM, {"k": 4.0})
    posterior = posterior_of(model, empty(vb.Problem(SPRING, RECORD, {"k": vb.Uniform(1.0, 9.0)}, "other")))
    assert "1.000" in posterior._repr_html_() and "&lt;b&gt;spring" in posterior._repr_html_()
    assert f"{model.mean()['k']:.5g}" in model._repr_html_() and "no draws" in posterior["other"]._repr_html_()
