"""The record and the study of the demonstration; that it finds the truth is tested with the first page."""

import pytest

import vibayes as vb

pytest.importorskip("plotly")
from vibayes.demo import DATA, MODELS, STUDY, TRUTH, simulated_record, structure_of, study_text
from vibayes.study import read_study


@pytest.mark.slow
def test_the_record_is_as_noisy_as_it_is_said_to_be():
    record = simulated_record(1, 3.0)
    force = vb.Sampled(record.input, record.rate, vb.StraightLines())
    truth = structure_of(3).measuring(vb.RelativeAcceleration("mass"), vb.Displacement("mass"))
    clean, displacement = vb.simulate(truth, force, TRUTH).outputs.T
    assert record.samples == 300 and record.channel("force").std() == pytest.approx(2.0)
    assert (record.output[:, 0] - clean).std() == pytest.approx(0.05 * clean.std(), rel=0.15)
    # It has gone through all three regions.
    assert displacement.min() < TRUTH["d1"] and displacement.max() > TRUTH["d2"]


def test_every_further_region_of_the_study_has_two_unknowns(tmp_path):
    record = vb.Record.from_arrays(
        rate=100.0, input={"force": [0.0, 1.0, 0.0]}, output={"acceleration": [0.0, 1.0, 2.0]}
    )
    vb.write_record(record, tmp_path / DATA)
    (tmp_path / STUDY).write_text(study_text(1, False), encoding="utf-8")
    problems = read_study(tmp_path / STUDY).problems
    assert tuple(problem.name for problem in problems) == MODELS
    assert [len(problem.parameters) for problem in problems] == [3, 5, 7, 9]
    assert set(TRUTH) == set(problems[2].parameters)
