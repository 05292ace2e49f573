"""Wait less for compiled programs: those that run for a moment are compiled in half the time, and all are kept on disk,
so that what was compiled once starts at once ever after.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import equinox as eqx
import jax
from jax.core import Tracer

VARIABLE = "VIBAYES_CACHE"
"""Of the environment: a folder to keep compiled programs in, or "off"."""
_WORTH_KEEPING = 0.1
"""Seconds of compilation."""
_MOST_BYTES = 300_000_000
_SOON = {"xla_cpu_use_fusion_emitters": False}
"""An older part of the compiler, which takes half the time. Its programs are as fast where arrays are short, and up to
twice as slow where they are long."""
FEW = 16
"""Sets side by side that are computed as fast either way."""

P = ParamSpec("P")
R = TypeVar("R")


def compiled_soon(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that has little to compute, so that compiling it is what one waits for.

    Within another compiled function, or where derivatives are taken, it is compiled as that is.

    Examples:
        >>> import jax.numpy as jnp
        >>> @compiled_soon
        ... def double(x):
        ...     return 2.0 * x
        >>> double(jnp.ones(2)), jax.grad(double)(1.0)
        (Array([2., 2.], dtype=float64), Array(2., dtype=float64, weak_type=True))
    """
    nested = eqx.filter_jit(function)

    @cache
    def soon() -> Any:
        return eqx.filter_jit(function, compiler_options=_known())  # type: ignore[call-overload]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs)))
        # Where a function is being compiled everything is traced, numbers that were known before included.
        within = traced or isinstance(jax.lax.full((), 0.0), Tracer)
        return (nested if within else soon())(*args, **kwargs)

    return call


@cache
def _known() -> dict[str, Any]:
    """The wish, if this compiler knows it."""
    try:
        jax.jit(lambda: 0.0, compiler_options=_SOON)()
    except jax.errors.JaxRuntimeError:
        return {}
    return _SOON


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
