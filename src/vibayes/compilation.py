"""Keep compiled programs on disk, so that a program that was compiled once starts at once ever after."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from pathlib import Path

import jax

VARIABLE = "VIBAYES_CACHE"
"""Of the environment: a folder to keep compiled programs in, or "off"."""
_WORTH_KEEPING = 0.3
"""Seconds of compilation."""
_MOST_BYTES = 300_000_000


def keep_compiled_programs() -> Path | None:
    """Tell JAX where to keep what it compiles, unless it has been told; nothing if that is not possible or not wanted.

    Returns:
        The folder, if it is ours.
    """
    wish = os.environ.get(VARIABLE, "")
    if wish.lower() == "off" or jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return None
    # Machine code is for one kind of processor: a home directory may be shared by several.
    folder = (Path(wish) if wish else _cache_home() / "vibayes") / processor()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(folder, os.W_OK):
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_compilation_cache_max_size", _MOST_BYTES)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _WORTH_KEEPING)
    return folder


def _cache_home() -> Path:
    """Where programs of this system keep what can be computed again."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def processor() -> str:
    """A name for what this processor can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    except OSError:
        features = platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(features.encode()).hexdigest()[:12]}"
