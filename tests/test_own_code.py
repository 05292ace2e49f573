"""Code of one's own is part of a model: a run whose code was changed does not go on with it."""

import importlib.util
import sys
from functools import partial

import jax
import numpy as np
import pytest
from tests.test_kill import Ended, Ending

import vibayes as vb
from vibayes.fingerprint import fingerprint
from vibayes.runs import RefusedRun, begin_run, open_run
from vibayes.study import read_study

TIME = np.linspace(0.0, 1.0, 20)
RECORD = vb.Record.from_arrays(rate=19.0, output={"y": 0.3 + 0.5 * TIME})
MODEL = """
import numpy as np
import vibayes as vb
import helper
from package.parts import scale

TIME = np.linspace(0.0, 1.0, 20)
GAINS = [1.0, 1.0]

def offset(a):
    return GAINS[0] * a

def simulator(a):
    from lazily import power
    # A comment, which says nothing to a computer.
    return scale(offset(a)) + helper.bend(a, TIME) + 0.5 * TIME ** power

class Line(vb.Element):
    stiffness: float | str
    def force(self, local):
        return self.stiffness * local.deformation

class Simulator:
    def __init__(self, gain):
        self.gain = gain
    def __call__(self, a):
        return self.gain * simulator(a)
"""
FILES = {
    "model.py": MODEL,
    "helper.py": "def bend(a, time):\n    return 0.0 * a * time\n",
    "package/__init__.py": "",
    "package/parts.py": "from .deeper import FACTOR\n\ndef scale(a):\n    return FACTOR * a\n",
    "package/deeper.py": "FACTOR = 1.0\n",
    "lazily.py": "power = 1\n",
    "unrelated.py": "x = 1\n",
}
STUDY = """
data = { file = "data.csv", output = "y", time = "time" }
method = { type = "ABCSMC", particles = 20 }
[model]
simulator = "model:simulator"
priors = { a = { type = "Uniform", low = 0.0, high = 1.0 } }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    vb.write_record(RECORD, tmp_path / "data.csv")
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    forget()


def forget():
    """As a new process would."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("model", "helper", "package", "lazily") or name.startswith("model_"):
            del sys.modules[name]


def loaded(folder):
    forget()
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        return importlib.import_module("model")
    finally:
        sys.dont_write_bytecode = before


@pytest.mark.parametrize("changed", ["model.py", "helper.py", "package/parts.py", "package/deeper.py", "lazily.py"])
def test_a_run_whose_code_was_changed_is_refused_by_the_name_of_the_file(folder, changed):
    run = begin_run(read_study(folder / "study.toml", trust=["model"]))
    assert "unrelated.py" not in run.details.code and len(run.details.code) == 6
    forget()
    open_run(run.folder, trust=["model"])
    (folder / changed).write_text(FILES[changed] + "\nx = 1\n")
    forget()
    with pytest.raises(RefusedRun, match=f"the code '{changed}' as it was, got one that was changed; restore it"):
        open_run(run.folder, trust=["model"])
    (folder / changed).write_text(FILES[changed])
    forget()
    open_run(run.folder, trust=["model"])


CHANGES = {
    "a function": ("model.py", "GAINS[0] * a", "GAINS[0] * a + 1e-9"),
    "a number in a list": ("model.py", "GAINS = [1.0,", "GAINS = [1.1,"),
    "a module": ("helper.py", "0.0 * a", "1e-9 * a"),
    "a function of a package": ("package/parts.py", "FACTOR * a", "FACTOR * a + 1.0"),
    "a number of a package": ("package/deeper.py", "1.0", "1.5"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_simulator_that_was_changed_has_another_fingerprint(folder, what):
    name, before, after = CHANGES[what]
    wrappers = (
        lambda m: m.simulator, lambda m: partial(m.simulator, 1.0), lambda m: m.Simulator(2.0),
        lambda m: m.Simulator(2.0).__call__, lambda m: jax.jit(m.simulator), lambda m: np.vectorize(m.simulator),
        lambda m: lambda a: m.simulator(a),
    )  # fmt: skip
    was = [fingerprint(wrap(loaded(folder))) for wrap in wrappers]
    assert was == [fingerprint(wrap(loaded(folder))) for wrap in wrappers]
    (folder / name).write_text(FILES[name].replace(before, after))
    assert FILES[name].replace(before, after) != FILES[name]
    module = loaded(folder)
    assert not set(was) & {fingerprint(wrap(module)) for wrap in wrappers}


def test_a_comment_or_another_function_is_no_change_of_a_function_but_its_element_is(folder):
    was, line = (fingerprint(each) for each in (loaded(folder).simulator, loaded(folder).Line("k")))
    (folder / "model.py").write_text(MODEL.replace("# A comment, which says nothing", "# Nothing").replace(
        "self.stiffness * local", "2.0 * self.stiffness * local"))  # fmt: skip
    module = loaded(folder)
    assert fingerprint(module.simulator) == was and fingerprint(module.Line("k")) != line


def test_code_that_refers_to_itself_has_a_fingerprint():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert fingerprint(even) == fingerprint(even) != fingerprint(odd)


def test_a_simulator_changed_between_kill_and_resume_gives_draws_of_the_new_one_alone(folder, tmp_path):
    """The change shows only where the first answer does not: at larger values than the first batch has."""

    def infer(journal=None):
        problem = vb.Problem(loaded(folder).simulator, RECORD, {"a": vb.Uniform(0.0, 1.0)})
        return vb.infer(0, problem, vb.ABCSMC(particles=20, threshold=30.0), journal=journal).selected.draws["a"]

    with Ending(tmp_path / "j", worth_keeping=np.inf) as journal, pytest.raises(Ended):
        journal.left = 2
        infer(journal)
    rare = "GAINS[0] * a if abs(a - 0.3) > 0.02 else 0.3"
    (folder / "model.py").write_text(MODEL.replace("GAINS[0] * a", rare))
    alone = infer()
    with (
        pytest.warns(RuntimeWarning, match="none of the 2 results"),
        Ending(tmp_path / "j", worth_keeping=np.inf) as journal,
    ):
        resumed = infer(journal)
    assert np.array_equal(resumed, alone)
