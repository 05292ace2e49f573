"""Shared by all tests."""

import ctypes
import gc
import sys
from pathlib import Path

import jax
import pytest

# Every structure and method compiles once; both workers, and the next run, share what was compiled.
jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Compiled programs of one file of tests are of no use to the next, and would pile up to gigabytes."""
    yield
    jax.clear_caches()
    gc.collect()
    if sys.platform == "linux":
        # What was freed goes back to the system only if it is asked for (by glibc; others have no such function).
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture
def data() -> Path:
    """Folder with measured data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"measured data not found in {DATA}")
    return DATA
