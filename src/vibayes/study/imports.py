"""Classes and functions of other modules that a study names, as ``module:Name``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.study.mistakes import Deferred, UntrustedModule
from vibayes.study.trust import Trust, remedy_for


def imported(where: str, name: str, folder: Path, trust: Trust, now: bool = True) -> Callable[..., Any]:
    """The class or function that an import path leads to.

    Args:
        where: path of the key, for the message.
        name: the import path.
        folder: of the study file, in which modules are looked for first.
        trust: modules that may be imported.
        now: whether to import; if not, only the name and the trust in it are checked.

    Raises:
        UntrustedModule: the module is not trusted.
        InvalidInput: it cannot be imported, or has no such name.
        Deferred: all is well as far as can be told without importing.

    Examples:
        >>> imported("simulator", "math:hypot", Path(), Trust(("math",))).__name__
        'hypot'
        >>> imported("simulator", "os:system", Path(), Trust())
        Traceback (most recent call last):
        ...
        vibayes.study.mistakes.UntrustedModule: simulator: expected a name of vibayes, or code that you
        trust, got 'os:system', of the installed module os; if you know its code, add --trust os (in Python
        trust=['os']), or list it in your configuration.
    """
    module_name, _, attribute = name.partition(":")
    parts = module_name.split(".")
    if not all(part.isidentifier() for part in (*parts, *attribute.split("."))):
        expected = "an import path such as 'package.module:Name'"
        raise InvalidInput(where, expected, repr(name), "write a module, a colon and a name in it")
    beside = folder.joinpath(*parts).with_suffix(".py")
    file = beside if beside.is_file() else None
    if not trust.covers(module_name, file):
        whose = f"the installed module {module_name}" if file is None else f"{beside.name} beside the study"
        expected = "a name of vibayes, or code that you trust"
        raise UntrustedModule(where, expected, f"{name!r}, of {whose}", remedy_for(module_name), module_name)
    if not now:
        raise Deferred(where, "an imported module", repr(name), "import it")
    try:
        module = importlib.import_module(module_name) if file is None else _loaded(file, folder)
    except Exception as problem:  # the module's own code may raise anything
        got = f"{name!r}, which fails with {type(problem).__name__}: {problem}"
        remedy = f"put {parts[-1]}.py beside the study file, or install it"
        raise InvalidInput(where, "a module that can be imported", got, remedy) from None
    return _member(where, name, module, module_name, attribute)


def _member(where: str, name: str, module: ModuleType, module_name: str, attribute: str) -> Callable[..., Any]:
    found: Any = module
    for each in attribute.split("."):
        names = [known for known in dir(found) if not known.startswith("_")]
        # Through a module that it has imported itself, a trusted module would lead to any other.
        if not hasattr(found, each) or inspect.ismodule(getattr(found, each)):
            raise InvalidInput(where, f"a name in {module_name}", repr(each), nearest(each, names))
        found = getattr(found, each)
    if not callable(found):
        raise InvalidInput(where, "a class or a function", f"{name!r}, a {type(found).__name__}", "name another")
    return found


def _loaded(path: Path, folder: Path) -> ModuleType:
    """A module beside the study file."""
    # A name of its own keeps modules of two studies apart, and a changed file from what it was before.
    mark = hashlib.sha256(f"{path.resolve()} {path.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    name = f"{path.stem}_{mark}"
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
