"""Runs that are interrupted or reach a limit: what is said, what is kept, and how soon it ends."""

import importlib
import os
import signal
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import vibayes as vb
from vibayes.budget import Budget, LimitReached
from vibayes.cli.app import run
from vibayes.runs import begin_run, identify_run, open_run
from vibayes.runs import identify as identifies
from vibayes.runs.details import write_details
from vibayes.study import read_study

TIME = np.linspace(0.0, 1.0, 20)
SIMULATOR = """
import numpy as np

TIME = np.linspace(0.0, 1.0, 20)

def line(a, b):
    return a + b * TIME
"""
STUDY = """
seed = 3
data = { file = "data.csv", output = "y", time = "time" }
method = { type = "ABCSMC", particles = 30, threshold = 40.0 }
[model]
simulator = "simulator:line"
[model.priors]
a = { type = "Uniform", low = 0.0, high = 1.0 }
b = { type = "Uniform", low = 0.0, high = 1.0 }
"""


@pytest.fixture(scope="module", autouse=True)
def keyboard():
    """Ctrl-C does something, although a test run in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "config.toml").write_text(f"[trust]\nfolders = ['{folder}']\n")
    noise = 0.05 * np.random.default_rng(0).standard_normal(20)
    vb.write_record(vb.Record.from_arrays(rate=19.0, output={"y": 0.3 + 0.5 * TIME + noise}), folder / "data.csv")
    (folder / "simulator.py").write_text(SIMULATOR)
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VIBAYES_CONFIG", str(folder / "config.toml"))
        yield folder / "study.toml"


@pytest.fixture(scope="module")
def whole(study):
    """Draws of a run that was left alone."""
    return draws(identify_run(begin_run(read_study(study), study.parent / "whole")))


def signalled(number):
    """This process, as by a batch system or the keyboard."""
    os.kill(os.getpid(), number)
    time.sleep(0.01)


def draws(posterior):
    return {name: values.tobytes() for name, values in posterior.selected.draws.items()}


@pytest.mark.parametrize(
    ("when", "name"),
    [("reading", "SIGTERM"), ("beginning", "SIGINT"), ("working", "SIGINT"), ("working", "SIGTERM"),
     ("working", "SIGHUP"), ("saving", "SIGINT"), ("saving", "SIGTERM"), ("reporting", "SIGINT")],
)  # fmt: skip
def test_an_interrupted_command_ends_with_3_and_says_how_to_go_on(study, whole, when, name, monkeypatch, capsys):
    folder = study.parent / f"{when}-{name}"
    with monkeypatch.context() as patched:
        interrupt(patched, when, getattr(signal, name))
        page = "--report" if when == "reporting" else "--no-report"
        code = run(["identify", str(study), "--quiet", page, "--folder", str(folder)])
    told = capsys.readouterr()
    assert code == 3 and told.out == "" and told.err.startswith("interrupted") and told.err.count("\n") == 1
    if when == "reading":
        assert not folder.exists()
        return
    saved = when in ("saving", "reporting")
    assert f"vibayes {'report' if saved else 'resume'} {folder}" in told.err
    opened = open_run(folder)
    assert opened.state == ("done" if saved else "interrupted")
    assert draws(opened.posterior() if saved else identify_run(opened)) == whole


def interrupt(patched, when, number):
    """A signal while a study is read, before the first level, at the second, while the posterior or page is written."""
    if when == "reading":
        patched.setattr("vibayes.study.read_study", lambda path, **_: signalled(number))
    elif when == "beginning":
        patched.setattr(identifies, "infer", lambda *a, **k: signalled(number))
    elif when == "working":
        levels = []
        patched.setattr(
            identifies,
            "listener",
            lambda *_: lambda level: (levels.append(level), signalled(number) if len(levels) == 2 else None),
        )
    elif when == "saving":
        whole = identifies.write_posterior
        patched.setattr(identifies, "write_posterior", lambda *given: (signalled(number), whole(*given)))
    else:
        patched.setattr("vibayes.cli.results.report_run", lambda run: signalled(number))


def test_a_run_that_hangs_while_it_saves_can_be_interrupted_all_the_same(study, monkeypatch):
    def hangs(*_):
        for _ in range(10):
            signalled(signal.SIGINT)

    made = begin_run(read_study(study), study.parent / "hanging")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(identifies, "write_posterior", hangs)
        identify_run(made)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_its_packages_the_command_ends_in_words(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [each for each in sys.modules if each.startswith("vibayes.cli")]:
        monkeypatch.delitem(sys.modules, name)
    assert importlib.import_module("vibayes.cli.app").run(["--help"]) == 2
    told = capsys.readouterr()
    remedy = "install all that the command line needs: pip install 'vibayes[app]'"
    assert (told.out, told.err) == ("", f"vibayes: expected the package typer, got none; {remedy}.\n")


def test_a_limit_is_looked_at_before_every_batch():
    clock = [0.0]
    budget = Budget(lambda: clock[0], max_seconds=3.0)
    budget.require_time()
    clock[0] = 3.5
    with pytest.raises(LimitReached, match=r"ended after 3\.5 s, as max_seconds asked"):
        budget.require_time()


def slow(a):
    time.sleep(0.01)
    return a + 0.5 * TIME


def slow_many(a):
    time.sleep(0.01 * len(a) / 1000)
    return a[:, None] + 0.5 * TIME


SPRING = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.5)], sensors=[vb.Displacement("mass")])
RECORD = vb.Record.from_arrays(rate=19.0, output={"y": 0.3 + 0.5 * TIME})
LONG = vb.Record.from_arrays(rate=10.0, input=np.ones(4000), output=(1.0 - np.cos(np.arange(4000))) / 30.0)
RANDOM = vb.Record.from_arrays(rate=10.0, output=np.random.default_rng(0).standard_normal(300))
LEVEL, STIFFNESS = {"a": vb.Uniform(0.0, 1.0)}, {"k": vb.LogUniform(10.0, 100.0)}
MANY = 100_000
LIMITED = {
    "a function": (lambda: vb.Problem(slow, RECORD, LEVEL), vb.ABCSMC(MANY)),
    "a function of arrays": (lambda: vb.Problem(slow_many, RECORD, LEVEL, vectorised=True), vb.ABCSMC(MANY)),
    "a structure": (lambda: vb.Problem(SPRING, LONG, STIFFNESS), vb.FollowAndWeigh(particles=MANY, fits=MANY)),
    "a filter": (
        lambda: vb.Problem(SPRING.driven_by(vb.WhiteNoise(1.0)), RANDOM, STIFFNESS, noise=0.1), vb.TemperedSMC(MANY),
    ),
    "an ODE filter": (lambda: vb.Problem(SPRING, LONG, STIFFNESS, noise=0.1), vb.IBIS(MANY)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
@pytest.mark.parametrize("model", LIMITED)
def test_a_hundred_thousand_particles_end_at_a_limit_of_seconds(model):
    """Batches, not levels: all particles at once would take minutes, one level of them."""
    pose, method = LIMITED[model]
    problem = pose()
    vb.infer(0, problem, method, max_seconds=0.1)  # compiles
    start = time.perf_counter()
    found = vb.infer(0, problem, method, max_seconds=0.5)
    assert time.perf_counter() - start < 10.0  # on a busy machine too
    assert any("as max_seconds asked" in note for note in found.notes)


def test_of_a_large_batch_that_was_ended_the_chunks_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("vibayes.candidates._CHUNK", 50)
    problem = vb.Problem(lambda a: a[:, None] + 0.5 * TIME, RECORD, LEVEL, vectorised=True)
    method = vb.ABCSMC(particles=200, threshold=50.0)
    whole = vb.infer(0, problem, method)
    with vb.Journal(tmp_path / "j", worth_keeping=np.inf) as journal:
        part = vb.infer(0, problem, method, max_simulations=120, journal=journal)
        assert part.simulations == 150 and len(journal) == 3 and not len(part.models[0].weights)
    assert "as max_simulations asked" in part.notes[0]
    with vb.Journal(tmp_path / "j", worth_keeping=np.inf) as journal:
        assert draws(vb.infer(0, problem, method, journal=journal)) == draws(whole)


def test_interruptions_are_let_through_in_other_threads():
    ended = []
    thread = threading.Thread(target=lambda: ended.append(identifies.Interruptions().__enter__()._before))
    thread.start()
    thread.join()
    assert ended == [{}]


def test_what_is_told_of_an_incomplete_run_says_so(study, whole, capsys, monkeypatch, tmp_path):
    """Interrupted, then resumed and killed: there is an older posterior beside a newer journal."""
    made, complete = begin_run(read_study(study), tmp_path / "killed"), study.parent / "whole"
    levels = []

    def interrupted(level):
        levels.append(level)
        if len(levels) == 2:
            raise KeyboardInterrupt

    assert draws(identify_run(made, interrupted)) != whole
    for command in (["predict", made.folder, "--no-figure"], ["compare", made.folder, complete, "--no-figures"]):
        assert run([*map(str, command), "--quiet"]) == 0
        assert "warning: " in (err := capsys.readouterr().err) and "not complete, for it was interrupted" in err
    write_details(made.folder, replace(made.details, state="begun"))
    os.utime(made.folder / "journal.bin", (time.time() + 10.0, time.time() + 10.0))
    said = "The run is not complete, for it was killed, or still runs: this is what there was when a part of it ended, "
    said += f"and more was computed since. Go on with: vibayes resume {made.folder}"
    leads = []
    monkeypatch.setattr(
        "vibayes.runs.report.write_report", lambda *given, intro, **more: leads.append(intro) or given[1]
    )
    assert run(["report", str(made.folder), "--quiet"]) == 0
    assert capsys.readouterr().err == f"warning: {said}\n" and leads == [said]
    assert open_run(complete).incomplete == ""
