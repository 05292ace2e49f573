"""Study files say what the Python interface says, and every mistake is named by the path of its key."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.study import InvalidStudy, declared, read_study
from vibayes.study.names import public_names
from vibayes.study.signatures import arguments_of

sys.path.insert(0, str(Path(__file__).parent))
from example_studies import OWN, STUDIES, laid_out

BASIS = """
title = "A spring"
seed = 7
[data]
file = "piecewise.csv"
input = "force"
output = "acceleration"
time = "time"
[structure]
mass = "m"
elements = [{ type = "Spring", stiffness = "k", name = "spring" }, { type = "Damper", coefficient = 0.4 }]
sensors = [{ type = "RelativeAcceleration", on = "mass" }]
[priors]
m = { type = "LogUniform", low = 0.5, high = 2.0 }
k = { type = "LogUniform", low = 10.0, high = 1000.0 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return laid_out(tmp_path_factory.mktemp("studies"))


@pytest.fixture
def read(folder):
    """Read a study from its text."""

    def reading(text: str):
        path = folder / "written.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_study(path, trust=(*OWN, "broken", "odd"))

    return reading


@pytest.mark.parametrize("name", STUDIES)
def test_every_example_is_a_study(folder, name):
    study = read_study(folder / name, trust=OWN)
    assert study.problems and study.files[0].parent == folder and study.output.parent == folder
    assert study.text == (folder / name).read_text(encoding="utf-8")


def test_a_study_poses_the_problem_that_python_would(folder):
    """The demonstration's structure and priors, written by hand in `vibayes.demo`, are those of the example."""
    from vibayes.demo import structure_of

    study = read_study(folder / "piecewise.toml")
    for regions in (2, 3):
        assert study.problems[regions - 1].model == structure_of(regions)
    trilinear = study.problems[2]
    assert trilinear.priors["d1"] == vb.Uniform(-10e-3, 10e-3) and trilinear.priors["k0"] == vb.LogUniform(
        500.0, 1500.0
    )
    slopes = {"k0": 1.0, "k1": 1.01, "k2": 3.0, "d1": -1.0, "d2": 1.0}
    assert not trilinear.constraints[0]({name: np.array([value]) for name, value in slopes.items()})[0]


def test_settings_reach_their_objects(folder):
    study = read_study(folder / "solver.toml")
    assert study.method == vb.IBIS(particles=60, resampling=vb.stratified)
    assert study.problems[0].filter == vb.ODEFilter(order=3, linearised=True)
    assert study.problems[1].hold == vb.BandLimited()
    only: Any = read_study(folder / "output_only.toml").problems[0].model
    assert only.processes[0].envelope == vb.Trapezoid(5.0, 50.0, 61.0)
    assert read_study(folder / "piecewise.toml").limits.max_seconds == 600.0


def test_objects_of_ones_own_come_from_a_file_beside_the_study(folder):
    problem: Any = read_study(folder / "frame.toml", trust=OWN).problems[1]
    assert type(problem.model.links[2].element).__name__ == "FlagJoint"
    assert problem.distance(np.ones((2, 1)), np.zeros((2, 1))) == 50.0
    assert problem.constraints[0]({"opening": np.array([1e-4, 1e-3])}).tolist() == [False, True]


def test_a_study_without_models_has_the_one_of_its_structure(read):
    study = read(BASIS)
    assert [problem.parameters for problem in study.problems] == [("m", "k")]
    assert (study.title, study.seed, study.method) == ("A spring", 7, None)
    assert study.output.name == "written-run"


def test_a_copy_elsewhere_reads_the_files_of_where_it_was(folder, tmp_path):
    copy = tmp_path / "study.toml"
    copy.write_text((folder / "frame.toml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"data.file"):
        read_study(copy, trust=OWN)
    study = read_study(copy, beside=folder, trust=OWN)
    assert study.files == (folder / "frame.csv",) and study.output.parent == folder


def test_hertz_become_radians(read, folder):
    text = (folder / "backbone.toml").read_text().replace('unit = "rad/s"', 'unit = "Hz"')
    hertz: Any = read(text).record
    radians: Any = read_study(folder / "backbone.toml").record
    np.testing.assert_allclose(hertz.frequency, 2.0 * np.pi * radians.frequency)


def test_every_public_element_process_prior_and_sampler_has_arguments_that_can_be_declared():
    for name, make in public_names().items():
        if isinstance(make, type) and issubclass(make, vb.Element | vb.Process | vb.Envelope | vb.Sensor):
            for argument in arguments_of(make).values():
                assert argument.hint is not None, f"{name}.{argument.name}"
    hints = arguments_of(vb.KanaiTajimi)
    assert hints["envelope"].hint is vb.Envelope


def test_networks_are_declared_by_their_parts():
    parts = [{"type": "Spring", "stiffness": "k"}, {"type": "maxwell", "stiffness": 2, "damping": "c"}]
    table = {"type": "parallel", "parts": parts}
    assert declared(table, "x") == vb.parallel(vb.Spring("k"), vb.maxwell(2, "c"))


WRONG = {
    'mass = "m"': ("mss = 1.0", r"structure.mss: expected an argument of Structure.* got 'mss'; did you mean"),
    "low = 0.5": ('low = "half"', r"priors.m.low: expected a number, got 'half'; write a number"),
    'type = "Spring"': ('type = "Sprng"', r"elements\[0\].type: expected .* got 'Sprng'; did you mean 'Spring'"),
    "high = 1000.0": ("high = 1.0", r"priors.k: expected two finite bounds, low < high"),
    "low = 10.0": ("low = nan", r"priors.k.low: expected a finite number, got nan"),
    "seed = 7": ("seed = -7", r"seed: expected a whole number from 0"),
    'title = "A spring"': ("titel = 1", r"titel: expected a section .* got 'titel'; did you mean 'title'"),
    'input = "force"': ('input = "forse"', r"data.* got 'forse'; did you mean 'force'"),
    'file = "piecewise.csv"': ('file = "piecewse.csv"', r"data.file: expected an .*did you mean 'piecewise.csv'"),
    'on = "mass"': ('on = "mas"', r"structure.sensors.*'mas'; did you mean 'mass'"),
    'k = { type = "LogUniform"': ('kk = { type = "LogUniform"', r"model.priors: expected a prior for each of 'm', 'k'"),
    "[priors]": ("[priors", r"written.toml: expected TOML, got .*line 13"),
    "coefficient = 0.4": ("coefficient = 1979-05-27", r"elements\[1\].coefficient: expected a number or the name"),
    "[structure]": ("[method]\ntype = 'Metropolis'\n[structure]", r"method.type: expected a method without likelihood"),
    "time = ": ("rate = 1.0\ntime = ", r"data.*rate|time"),
}  # fmt: skip


@pytest.mark.parametrize("right", WRONG, ids=lambda text: text[:20])
def test_a_mistake_is_named_by_its_key(read, right):
    wrong, message = WRONG[right]
    assert right in BASIS
    with pytest.raises(InvalidInput, match=message):
        read(BASIS.replace(right, wrong, 1))


def test_several_mistakes_are_told_at_once(read):
    text = BASIS.replace("seed = 7", 'seed = "x"').replace("low = 0.5", "low = true").replace("high = 2.0", "hgh = 2.0")
    with pytest.raises(InvalidStudy) as problem:
        read(text)
    assert [mistake.where for mistake in problem.value.mistakes] == ["seed", "priors.m.hgh"]
    assert "2 mistakes" in str(problem.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"title = '\xff\xfe'", "text in UTF-8"),
        (b"x = " + b"[" * 5000, "TOML|tables"),
        (b"x = " + b"[" * 60 + b"]" * 60, "tables as the documentation shows"),
        (b"seed = " + b"9" * 5000, "TOML|whole number"),
        (b"", "at least one model|a table that says where the data are"),
        (b"\x00", "TOML"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_study_are_refused(read, content, message):
    with pytest.raises(InvalidInput, match=message):
        read(content)


def test_a_prior_that_no_model_uses_is_refused(read):
    with pytest.raises(InvalidInput, match=r"priors.q: expected the name of an unknown of some model"):
        read(BASIS + 'q = { type = "Uniform", low = 0.0, high = 1.0 }\n')


def test_a_module_that_fails_is_told_in_one_line(read, folder):
    (folder / "broken.py").write_text("raise RuntimeError('no licence')\n")
    with pytest.raises(InvalidInput, match=r"elements\[0\].type: expected a module .* no licence"):
        read(BASIS.replace('type = "Spring"', 'type = "broken:Spring"'))


def test_a_constructor_that_fails_is_told_at_its_key(read, folder):
    text = "import vibayes as vb\nclass Odd(vb.Element):\n    a: float\n    def __check_init__(self):\n        1 / 0\n"
    (folder / "odd.py").write_text(text)
    with pytest.raises(InvalidInput, match=r"structure.elements\[0\]: expected .*ZeroDivisionError"):
        read(BASIS.replace('type = "Spring", stiffness = "k"', 'type = "odd:Odd", a = 1.0'))


def test_functions_that_are_no_declarations_cannot_be_called(read):
    with pytest.raises(InvalidInput, match=r"elements\[0\].type"):
        read(BASIS.replace('type = "Spring", stiffness = "k"', 'type = "write_csv", record = 1.0, path = "x.csv"'))
