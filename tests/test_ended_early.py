"""What is not known yet is NaN, and said in words, wherever the numbers of a run go."""

import json

import numpy as np
import pytest

import vibayes as vb
from vibayes import report
from vibayes.cli.compare import probabilities, table
from vibayes.cli.results import results_of
from vibayes.samplers.shapes import Draws, probabilities_of

TIME = np.linspace(0.0, 1.0, 60)
RECORD = vb.Record.from_arrays(
    rate=59.0, output={"y": 0.3 + 0.02 * TIME + 0.05 * np.random.default_rng(5).standard_normal(60)}
)
METHOD = vb.FollowAndWeigh(fits=20, searches=1, particles=100, draws=300, rounds=2)
LEVEL, SLOPE = vb.Uniform(-2.0, 2.0), vb.Uniform(-0.2, 0.2)


def constant(a):
    return np.full((len(a), 60), 1.0) * a[:, None]


def line(a, b):
    return a[:, None] + b[:, None] * TIME


@pytest.fixture(scope="module")
def problems():
    return [
        vb.Problem(constant, RECORD, {"a": LEVEL}, vectorised=True, sequential=False),
        vb.Problem(line, RECORD, {"a": LEVEL, "b": SLOPE}, vectorised=True, sequential=False),
    ]


@pytest.fixture(scope="module")
def whole(problems):
    return vb.infer(0, problems, METHOD)


@pytest.fixture(scope="module")
def ended(problems, whole):
    """After the first model was weighed and before the second was."""
    after = next(level for level in whole.trace if level.stage == "weigh" and level.model == "line").simulations
    found = vb.infer(0, problems, METHOD, max_simulations=after)
    assert found.trace[-1].model == "line" and len(found["constant"].weights)
    return found


def test_a_model_that_was_not_weighed_is_not_impossible(whole, ended):
    assert 0.2 < whole.probabilities["line"] < 0.8
    assert all(np.isnan(each.probability) and np.isnan(each.standard_error) for each in ended)
    assert np.isfinite(ended["constant"].log_evidence) and np.isnan(ended["line"].log_evidence)


def test_no_level_of_a_run_tells_a_probability_before_all_are_weighed(whole):
    rounds = [level for level in whole.trace if level.stage == "weigh"]
    first = next(i for i, level in enumerate(rounds) if np.isfinite(level.probabilities).all())
    assert sum(level.model == "line" for level in rounds[:first]) == METHOD.rounds - 1
    assert all(np.isnan(level.probabilities).all() for level in rounds[:first])
    assert all(sum(level.probabilities) == pytest.approx(1.0) for level in rounds[first:])


def test_one_mass_that_is_not_known_makes_all_probabilities_unknown(problems):
    from vibayes.candidates import ProblemCandidate

    candidates = [ProblemCandidate(each) for each in problems]
    none = np.empty(0)
    known = Draws(none, none, none, -3.0, 0.1)
    assert np.isnan(probabilities_of([known, Draws.unknown(2)], candidates)[0]).all()
    np.testing.assert_array_equal(probabilities_of([known, Draws.none(2)], candidates)[0], [1.0, 0.0])


def test_the_summary_and_the_card_say_so_in_words(ended):
    for text in (ended.summary(), ended._repr_html_()):
        assert text.count("not known") == 2 and "nan" not in text.replace("NaN", "nan").lower().split("note")[0]
    assert "max_simulations" in ended.summary()


def test_the_most_probable_model_is_refused_in_words(ended):
    with pytest.raises(vb.InvalidInput, match=r"not known.*let the run go on to its end"):
        _ = ended.selected


def test_json_has_null(ended):
    told = json.loads(json.dumps(results_of(ended), allow_nan=False))
    assert [each["probability"] for each in told["models"]] == [None, None]
    assert told["models"][0]["log_evidence"] is not None and told["models"][1]["log_evidence"] is None


def test_the_table_of_compare_says_so_in_words(whole, ended):
    runs = {"whole": whole, "ended": ended}
    lines = table(runs, probabilities(runs))
    assert [line.count("not known") for line in lines[1:5]] == [1, 1, 2, 3]
    assert not any("nan" in line for line in lines)


def test_diagnosis_and_report_say_so_in_words(ended, tmp_path):
    said = [each for each in vb.diagnose(ended) if each.about == "models"]
    assert [each.sentence for each in said] == ["Probabilities of the models are not known"]
    assert "let the run go on" in said[0].remedy
    text = report.write_report(ended, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "which model is the most probable is not known" in text and ">nan" not in text.lower()


def test_nothing_at_all_is_known_of_a_run_that_was_ended_at_once(problems):
    found = vb.infer(0, problems, METHOD, max_simulations=10)
    assert found.summary().count("not known") == 2
    assert not any("None of the models" in each.sentence for each in vb.diagnose(found))
