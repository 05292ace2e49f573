"""Packages that only some files need: imported when such a file comes, and asked for if they are not there."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from vibayes.errors import InvalidInput


def package(name: str, where: str, extra: str = "arviz") -> Any:
    """A package that is not among those of the core.

    Args:
        name: of the package.
        where: the function that needs it, for the message.
        extra: of vibayes that installs it.

    Returns:
        The package.

    Raises:
        InvalidInput: it is not installed.

    Examples:
        >>> package("json", "read_posterior").dumps([1])
        '[1]'
        >>> package("no_such_package", "read_hdf5", "formats")
        Traceback (most recent call last):
        ...
        vibayes.errors.InvalidInput: read_hdf5: expected no_such_package installed, got no such package;
        run pip install 'vibayes[formats]'.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise _missing(name, where, extra) from None


def require_package(name: str, where: str, extra: str = "arviz") -> None:
    """Check that a package is there, without importing it; arguments as of `package`.

    Raises:
        InvalidInput: it is not installed.

    Examples:
        >>> require_package("json", "read_hdf5")
    """
    if sys.modules.get(name, False) is None or find_spec(name) is None:
        raise _missing(name, where, extra)


def _missing(name: str, where: str, extra: str) -> InvalidInput:
    return InvalidInput(where, f"{name} installed", "no such package", f"run pip install 'vibayes[{extra}]'")
