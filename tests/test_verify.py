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


def test_an_attack_that_breaks_down_is_a_failure(monkeypatch):
    def broken(tries, seed, folder):
        raise ZeroDivisionError

    monkeypatch.setitem(sys.modules, "verify.broken", type("Broken", (), {"TRIES": 1, "attack": staticmethod(broken)}))
    assert "ZeroDivisionError" in run.attacked("broken", 1.0, 0).failures[0]
