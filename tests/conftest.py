"""Shared by all tests."""

import ctypes
import gc
import os
import sys
from pathlib import Path

# Every structure and method compiles once: workers, programs that tests start, and the next run share it. Said before
# JAX is imported, which reads it then.
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(__file__).parent.parent / ".pytest_cache" / "compiled")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.02"
# Tests wait for the compiler more than for anything else: all programs are compiled as `compiled_soon` compiles some.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_use_fusion_emitters=false"

import jax
import pytest

# Programs are made of many small objects, few of which are rubbish: looking for it too often took a tenth of the time.
gc.set_threshold(100_000, 20, 50)

_LONG = "test_studies", "test_docs", "test_getting_started", "test_gradients"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take minutes come first, so that in the end no worker waits for another."""
    items.sort(key=lambda item: not item.path.name.startswith(_LONG))


@pytest.fixture(scope="module", autouse=True)
def compiled_for_a_moment(request):
    """Files of tests that only look whether something is right wait for the compiler, and have it do little. Those that
    compute for long say ``COMPUTES = True``. Programs of one file are of no use to the next, and would pile up to
    gigabytes.
    """
    jax.config.update("jax_disable_most_optimizations", not getattr(request.module, "COMPUTES", False))
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
