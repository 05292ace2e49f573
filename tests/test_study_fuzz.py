"""Whatever is done to a study file, reading it gives a study or one of our messages, and nothing else.

`VIBAYES_FUZZ=5000` makes more mutations of each kind than the few hundred that every run of the tests makes.
"""

import os
import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.mutations import mutated_study

from vibayes.cli.app import run
from vibayes.errors import InvalidInput
from vibayes.study import Study, Surroundings, read_study
from vibayes.study.study import SECTIONS, _study

sys.path.insert(0, str(Path(__file__).parent))
from example_studies import LIGHT, OWN, STUDIES, laid_out

COUNT = int(os.environ.get("VIBAYES_FUZZ", "0")) or 300
HEAVY = max(10, COUNT // 10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return laid_out(tmp_path_factory.mktemp("fuzzed"))


def ends_well(folder: Path, content: bytes) -> bool:
    """Whether a study came out; anything but one of our messages is an error of the test."""
    path = folder / "mutated.toml"
    path.write_bytes(content)
    before = sorted(each.name for each in folder.iterdir())
    try:
        assert isinstance(read_study(path, trust=OWN), Study)
        good = True
    except InvalidInput as problem:
        assert re.match(r"\S.*: ", str(problem).splitlines()[0]) and "Traceback" not in str(problem)
        good = False
    assert sorted(each.name for each in folder.iterdir() if each.name != "__pycache__") == [
        name for name in before if name != "__pycache__"
    ]
    return good


@pytest.mark.slow
def test_mutations_of_studies_without_a_likelihood_end_in_a_study_or_in_our_words(folder):
    rng, good = random.Random(1), 0
    texts = [(folder / name).read_text(encoding="utf-8") for name in LIGHT]
    for _ in range(COUNT):
        good += ends_well(folder, mutated_study(rng, rng.choice(texts)))
    assert 0 < good < COUNT  # some changes do no harm, most do


def test_mutations_of_studies_with_a_likelihood_end_in_a_study_or_in_our_words(folder):
    rng = random.Random(2)
    texts = [(folder / name).read_text(encoding="utf-8") for name in STUDIES if name not in LIGHT]
    for _ in range(HEAVY):
        ends_well(folder, mutated_study(rng, rng.choice(texts)))


@pytest.mark.slow
def test_commands_end_a_bad_study_with_a_message_a_number_and_nothing_written(folder, capsys):
    rng, bad = random.Random(3), 0
    texts = [(folder / name).read_text(encoding="utf-8") for name in LIGHT]
    path = folder / "mutated.toml"
    while bad < max(30, COUNT // 10):
        content = mutated_study(rng, rng.choice(texts))
        if ends_well(folder, content):
            continue
        bad += 1
        before = {each: each.stat().st_mtime_ns for each in folder.rglob("*") if "__pycache__" not in each.parts}
        for command in (["identify", str(path), "--folder", str(folder / "made")], ["check", str(path)]):
            assert run(command) == 2
            told = capsys.readouterr()
            assert told.err.strip() and not told.out and "Traceback" not in told.err and "defect" not in told.err
        after = {each: each.stat().st_mtime_ns for each in folder.rglob("*") if "__pycache__" not in each.parts}
        assert after == before


KEYS = st.sampled_from(["type", "low", "high", "mass", "elements", "priors", "model", "structure", "data", "seed", "x"])
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["Spring", "Uniform", "k"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=COUNT // 2, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(SECTIONS, VALUES)))
def test_tables_of_anything_are_refused_in_our_words(tables):
    with pytest.raises(InvalidInput):
        _study(Path("any.toml"), "", tables, Surroundings())
