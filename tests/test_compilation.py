"""Compiled programs are kept between processes, where the user wants them."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vibayes import compilation
from vibayes.compilation import compiled_soon

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


@pytest.mark.slow
def test_what_takes_long_to_import_waits_until_it_is_needed():
    program = (
        "import sys, vibayes; print(sorted({'scipy.stats', 'scipy.signal', 'matplotlib', 'plotly'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_compiled_soon_is_what_is_compiled_well():
    def wave(x, count):
        return jnp.cumsum(jnp.sin(x * jnp.arange(count)) ** 2)

    soon = compiled_soon(wave)
    x = jnp.asarray(0.3)
    np.testing.assert_allclose(soon(x, 50), jax.jit(wave, static_argnums=1)(x, 50), rtol=1e-14)
    # Where no wish can be made of the compiler: within others, and under derivatives.
    np.testing.assert_allclose(jax.jit(lambda x: soon(x, 50))(x), soon(x, 50), rtol=1e-14)
    np.testing.assert_allclose(jax.jit(lambda y: y + soon(x, 50))(0.0), soon(x, 50), rtol=1e-14)
    slope = jax.grad(lambda x: soon(x, 50)[-1])(x)
    assert slope == pytest.approx(float(np.sum(np.arange(50) * np.sin(0.6 * np.arange(50)))), rel=1e-12)


def test_a_wish_that_the_compiler_does_not_know_is_not_made(monkeypatch):
    monkeypatch.setattr(compilation, "_SOON", {"xla_cpu_no_such_option": False})
    compilation._known.cache_clear()
    try:
        assert float(compiled_soon(lambda x: 2.0 * x)(jnp.ones(()))) == 2.0
    finally:
        compilation._known.cache_clear()
