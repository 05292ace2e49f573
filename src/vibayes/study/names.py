"""What a word in a study file stands for: a public name of vibayes, or anything by its import path.

``Spring`` and ``Structure.chain`` are names of vibayes; ``package.module:Name`` is anything that can be imported, from
installed packages or from a file beside the study. Importing runs code: read study files of people you trust.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.naming import nearest


@functools.cache
def public_names() -> Mapping[str, Any]:
    """Everything of vibayes that a study file may name, classes and functions.

    Examples:
        >>> "Spring" in public_names(), "Structure" in public_names()
        (True, True)
    """
    import vibayes

    found = {name: getattr(vibayes, name) for name in vibayes.__all__}
    return {name: value for name, value in found.items() if _nameable(value)}


def resolved(where: str, name: Any, folder: Path, known: Mapping[str, Any]) -> Callable[..., Any]:
    """The class or function that a word stands for.

    Args:
        where: path of the key, for the message.
        name: the word.
        folder: of the study file, in which modules are looked for first.
        known: names of vibayes that make sense here.

    Examples:
        >>> resolved("type", "Structure.chain", Path(), public_names()).__name__
        'chain'
        >>> resolved("type", "math:hypot", Path(), {}).__name__
        'hypot'
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(where, "a name as text", repr(name), 'write it in quotes, as "Spring"')
    if ":" in name:
        return _imported(where, name, folder)
    head, *rest = name.split(".")
    found = known.get(head)
    for each in rest:
        found = inspect.getattr_static(found, each, None)
        found = found.__get__(None, known[head]) if isinstance(found, classmethod | staticmethod) else None
    if found is None:
        everything = [*known, *_ways(known)]
        raise InvalidInput(where, "a name of vibayes or an import path", repr(name), nearest(name, everything))
    return found


def _nameable(value: Any) -> bool:
    is_error = inspect.isclass(value) and issubclass(value, BaseException)
    return (inspect.isclass(value) or inspect.isfunction(value)) and not is_error


def _ways(known: Mapping[str, Any]) -> list[str]:
    """Other constructors, such as ``Structure.chain``."""
    found = []
    for name, value in known.items():
        if inspect.isclass(value):
            for base in value.__mro__:
                if base.__module__.startswith("vibayes"):
                    own = [each for each, way in vars(base).items() if isinstance(way, classmethod)]
                    found += [f"{name}.{each}" for each in own if not each.startswith("_")]
    return found


def _imported(where: str, name: str, folder: Path) -> Callable[..., Any]:
    module_name, _, attribute = name.partition(":")
    parts = module_name.split(".")
    expected = "an import path such as 'package.module:Name'"
    if not all(part.isidentifier() for part in (*parts, *attribute.split("."))):
        raise InvalidInput(where, expected, repr(name), "write a module, a colon and a name in it")
    try:
        module: Any = _module(folder, parts)
    except Exception as problem:  # the module's own code may raise anything
        got = f"{name!r}, which fails with {type(problem).__name__}: {problem}"
        remedy = f"put {parts[-1]}.py beside the study file, or install it"
        raise InvalidInput(where, "a module that can be imported", got, remedy) from None
    found: Any = module
    for each in attribute.split("."):
        names = [known for known in dir(found) if not known.startswith("_")]
        if not hasattr(found, each):
            raise InvalidInput(where, f"a name in {module_name}", repr(each), nearest(each, names))
        found = getattr(found, each)
    if not callable(found):
        raise InvalidInput(where, "a class or a function", f"{name!r}, a {type(found).__name__}", "name another")
    return found


def _module(folder: Path, parts: list[str]) -> ModuleType:
    """A module beside the study file if there is one, otherwise one that is installed."""
    path = folder.joinpath(*parts).with_suffix(".py")
    if not path.is_file():
        return importlib.import_module(".".join(parts))
    # A name of its own keeps modules of two studies apart, and a changed file from what it was before.
    mark = hashlib.sha256(f"{path.resolve()} {path.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    name = f"{parts[-1]}_{mark}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(folder))  # for what it imports itself
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(folder))
    return module
