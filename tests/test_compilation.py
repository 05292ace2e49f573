"""Compiled programs are kept between processes, where the user wants them."""

import os
import subprocess
import sys

import pytest

RUN = """
import vibayes as vb
vb.simulate(vb.Structure.single_dof(1.0, [vb.Spring("k")]), vb.Sine(1.0, 1.0), {"k": 9.0}, rate=10.0, samples=5)
import jax
print(jax.config.jax_compilation_cache_dir)
"""


def folder_used(**variables) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("VIBAYES_CACHE", "JAX_COMPILATION_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment | variables, capture_output=True, text=True, check=True
    )
    assert "warn" not in done.stderr.lower()
    return done.stdout.strip()


@pytest.mark.slow
def test_programs_are_kept_where_the_user_says(tmp_path):
    folder = folder_used(VIBAYES_CACHE=str(tmp_path))
    assert folder.startswith(str(tmp_path))
    kept = sorted(tmp_path.rglob("*-cache"))
    assert kept, "nothing was kept"
    assert folder_used(VIBAYES_CACHE=str(tmp_path)) == folder
    assert sorted(tmp_path.rglob("*-cache")) == kept, "the second process compiled again"


@pytest.mark.slow
def test_a_cache_of_jax_that_the_user_chose_stays(tmp_path):
    assert folder_used(JAX_COMPILATION_CACHE_DIR=str(tmp_path)) == str(tmp_path)


@pytest.mark.slow
def test_the_cache_can_be_switched_off():
    assert folder_used(VIBAYES_CACHE="off") == "None"


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert folder_used(VIBAYES_CACHE=str(tmp_path / "file" / "cache")) == "None"
