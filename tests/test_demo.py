"""The demonstration finds the truth and leaves what it says it leaves."""

import pytest

import vibayes as vb

pytest.importorskip("matplotlib")
from vibayes.demo import TRUTH, main, problem_of, simulated_record, structure_of


@pytest.mark.slow
def test_demo_identifies_the_spring_and_writes_what_it_says(tmp_path, capsys):
    main(["--quick", "--out", str(tmp_path / "new" / "folder")])
    told = capsys.readouterr().out
    for name in ("trace.png", "parameters.png", "force_map.png", "prediction.png"):
        path = tmp_path / "new" / "folder" / name
        assert path.read_bytes().startswith(b"\x89PNG")
        assert str(path) in told
    page = tmp_path / "new" / "folder" / "identification.html"
    assert str(page) in told
    text = page.read_text(encoding="utf-8")
    assert "The most probable model is <strong>trilinear</strong>" in text
    assert "True values: m = 1, c0 = 2, k0 = 1000, k1 = 3000, k2 = 7000, d1 = -0.001, d2 = 0.0005." in text
    assert text.count("data:image/png;base64,") == 4
    # The simpler springs cannot follow the record.
    assert "<td>linear</td><td>0.000</td>" in text and "<td>bilinear</td><td>0.000</td>" in text


@pytest.mark.slow
def test_the_record_is_as_noisy_as_it_is_said_to_be():
    record, displacement = simulated_record(1, 3.0)
    force = vb.Sampled(record.input, record.rate, vb.StraightLines())
    clean = vb.simulate(structure_of(3), force, TRUTH).outputs
    assert record.samples == 300 and record.channel("force").std() == pytest.approx(2.0)
    assert (record.output - clean).std() == pytest.approx(0.05 * clean.std(), rel=0.15)
    # It has gone through all three regions.
    assert displacement.min() < TRUTH["d1"] and displacement.max() > TRUTH["d2"]


def test_every_further_region_has_two_unknowns():
    record = vb.Record.from_arrays(
        rate=100.0, input={"force": [0.0, 1.0, 0.0]}, output={"acceleration": [0.0, 1.0, 2.0]}
    )
    problems = [problem_of(regions, record) for regions in range(1, 5)]
    assert [len(problem.parameters) for problem in problems] == [3, 5, 7, 9]
    assert set(TRUTH) == set(problems[2].parameters)
