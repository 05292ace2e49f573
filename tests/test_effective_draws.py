"""One rule for how many effective draws are enough: in the notes of a run, its diagnosis and its report."""

from dataclasses import dataclass

import numpy as np
import pytest

import vibayes as vb
from vibayes import report
from vibayes.samplers.settings import ENOUGH_DRAWS, FEW_DRAWS
from vibayes.samplers.shapes import Draws, Snapshot

TIME = np.linspace(0.0, 1.0, 50)
RECORD = vb.Record.from_arrays(rate=49.0, output={"y": TIME + 0.1 * np.random.default_rng(0).standard_normal(50)})


def line(a):
    return a[:, None] * TIME


@dataclass(frozen=True)
class Drawn:
    """A method whose draws are worth a given number of independent ones: one heavy draw among many light ones."""

    effective: float
    probabilities: tuple[float, ...] = (1.0,)

    def levels(self, rng, candidates):
        count = 2000
        # Σ w² of a heavy weight h and equal others is h² + (1 - h)² / (n - 1) = 1 / effective.
        heavy = (1.0 + np.sqrt(1.0 - count * (1.0 - (count - 1.0) / self.effective))) / count
        weights = np.full(count, (1.0 - heavy) / (count - 1))
        weights[0] = heavy
        points = 0.5 + 0.02 * rng.standard_normal((count, 1))
        draws = Draws(points, weights, candidates[0].judge(points, np.inf), -3.0, 0.1)
        zeros = (0.0,) * len(candidates)
        yield Snapshot("done", 30.0, 1.0, np.nan, self.probabilities, zeros, (draws,) * len(candidates), done=1.0)


def problem(name="line"):
    return vb.Problem(line, RECORD, {"a": vb.Uniform(0.0, 2.0)}, name, vectorised=True)


@pytest.mark.parametrize("effective", [29, 101, ENOUGH_DRAWS - 1, ENOUGH_DRAWS, 1000])
def test_notes_diagnosis_and_report_agree_on_what_is_few(effective, tmp_path):
    found = vb.infer(0, problem(), Drawn(effective))
    assert found.selected.effective_draws == pytest.approx(effective)
    few, words = effective < ENOUGH_DRAWS, f"draws are worth {effective} independent ones"
    assert any(words in note for note in found.notes) is few
    assert any(words in said for said in found.selected.diagnostics().verdicts) is few
    told = [each for each in vb.diagnose(found) if each.about == "draws"]
    severity = "good" if not few else "warning" if effective < FEW_DRAWS else "notice"
    assert [each.severity for each in told] == [severity] and (words in told[0].sentence) is few
    page = report.write_report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(f"The {words}") == int(few), "told once"


def test_draws_of_a_model_that_is_out_of_the_question_carry_no_note():
    found = vb.infer(0, [problem("likely"), problem("unlikely")], Drawn(29, (0.999, 0.001)))
    assert [note.split(":")[0] for note in found.notes] == ["likely"]


def test_the_same_number_of_draws_of_chains_is_called_few():
    from vibayes.diagnosis import diagnosis
    from vibayes.samplers.likely import Sample

    rng = np.random.default_rng(0)
    for count in (200, 2000):
        points = 0.1 * rng.standard_normal((4, count // 4, 1))
        found = diagnosis(Sample(points, np.zeros((4, count // 4)), 0.4), {"a": points.ravel()})
        assert any("few effective draws of a" in said for said in found.verdicts) is (count < ENOUGH_DRAWS)
