"""What numbers depend on besides the input: versions of the libraries that compute them, and the processor."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from vibayes.compilation import processor
from vibayes.simulation.cores import cores

_PACKAGES = "vibayes", "jax", "jaxlib", "numpy", "scipy", "blackjax"


def environment() -> dict[str, str]:
    """By name: where all of it is the same, the same seed gives the same draws to the last bit.

    Examples:
        >>> sorted(environment())[:3]
        ['blackjax', 'cores', 'jax']
    """
    # The number of cores counts, for it decides in which parts a batch is computed.
    return {
        **{name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "processor": processor(),
        "cores": str(cores()),
    }


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is not as it was, in words.

    Examples:
        >>> changes({"jax": "0.10.0", "numpy": "2.4"}, {"jax": "0.10.1", "numpy": "2.4"})
        ['jax 0.10.1 instead of 0.10.0']
    """
    return [f"{name} {now[name]} instead of {was}" for name, was in before.items() if now.get(name, was) != was]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
