"""The attacks of `make verify`, each with a few tries."""

import importlib
import sys

import pytest
from verify import run


@pytest.mark.slow
@pytest.mark.parametrize("name", run.names())
def test_the_package_withstands_a_few_tries_of_every_attack(name, tmp_path):
    module = importlib.import_module(f"verify.{name}")
    assert module.attack(module.FEW, 0, tmp_path) == []


def test_an_attack_that_finds_something_is_counted_and_the_command_says_so(monkeypatch, capsys):
    found = type("Found", (), {"TRIES": 200, "attack": staticmethod(lambda tries, seed, folder: ["try 3"] * tries)})
    monkeypatch.setattr(run, "names", lambda: ["found"])
    monkeypatch.setitem(sys.modules, "verify.found", found)
    assert run.main(["--scale", "0.01"]) == 1
    told = capsys.readouterr()
    assert told.out.split()[-4:-1] == ["found", "2", "2"] and "try 3" in told.err


def test_a_try_that_hangs_or_crashes_is_a_failure_and_the_others_are_made(monkeypatch, tmp_path):
    from verify import inputs

    program = tmp_path / "tries.py"
    program.write_text(
        "import os, sys, time\n"
        "for number in range(*map(int, sys.argv[sys.argv.index('--tries') + 1 :])):\n"
        "    time.sleep(60 if number == 1 else 0)\n"
        "    os.abort() if number == 3 else print(number, 'wrong' if number == 4 else '', flush=True)\n"
    )
    monkeypatch.setattr(inputs, "__file__", str(program))
    monkeypatch.setattr(inputs, "LIMIT", 1.0)
    failures: list[str] = []
    inputs._supervise(range(6), 0, tmp_path, failures)
    assert [each.split(" ", 3)[:3] for each in failures] == [
        ["try", "1:", "no"], ["try", "3:", "the"], ["try", "4:", "wrong"]
    ]  # fmt: skip


def test_an_attack_that_breaks_down_is_a_failure(monkeypatch):
    def broken(tries, seed, folder):
        raise ZeroDivisionError

    monkeypatch.setitem(sys.modules, "verify.broken", type("Broken", (), {"TRIES": 1, "attack": staticmethod(broken)}))
    assert "ZeroDivisionError" in run.attacked("broken", 1.0, 0).failures[0]
