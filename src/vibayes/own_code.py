"""Code of one's own that a model is made of: functions, classes and the modules they come from.

A model is what its code says, and code can change between two parts of a run. What belongs to vibayes, to Python or to
an installed package is known by its version instead; *own* is everything else, a package that is installed in place
(``pip install -e``) included.
"""

from __future__ import annotations

import ast
import inspect
import site
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_ABOVE = 3
"""Folders above a module in which what it imports is looked for, as it may be part of a package."""


def is_own(thing: Any) -> bool:
    """Whether a function, class or module is code of one's own.

    Examples:
        >>> import json, vibayes
        >>> is_own(json), is_own(json.dumps), is_own(vibayes.Spring)
        (False, False, False)
    """
    module = _module_of(thing)
    if module is None or module.__name__ in sys.builtin_module_names:
        return False
    file = _file_of(module)
    # __main__ of a notebook or of an interactive session has no file.
    return module.__name__ == "__main__" if file is None else _is_own_file(file)


def own_files(things: Iterable[Any]) -> tuple[Path, ...]:
    """Files of the modules that things come from, and of all that these import, as far as they are one's own.

    Imports are found in the text of the modules, also those within functions, and among what the modules hold.

    Args:
        things: functions, classes and modules.
    """
    found: dict[Path, None] = {}
    waiting = [(_file_of(module), module) for module in map(_module_of, things) if module is not None]
    while waiting:
        path, module = waiting.pop()
        if path is not None and path not in found and _is_own_file(path):
            found[path] = None
            waiting += [*_held(module), *((each, None) for each in _named(path))]
    return tuple(sorted(found))


def source_of(function: Any) -> str:
    """What a function says, without comments and layout; what it was compiled to where its text is not known.

    Examples:
        >>> import json
        >>> source_of(json.dumps)[:9]
        'def dumps'
    """
    if function.__name__ != "<lambda>":  # the text of a lambda is that of the line around it
        try:
            return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
        except (OSError, TypeError, SyntaxError, ValueError):
            pass
    return _compiled(function.__code__)


def names_in(code: CodeType) -> set[str]:
    """Global names and attributes that a function uses, functions within it included.

    Examples:
        >>> sorted(names_in((lambda: [len(x.real) for x in ()]).__code__))
        ['len', 'real']
    """
    nested = [names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*nested)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames} {code.co_freevars}"


def _module_of(thing: Any) -> ModuleType | None:
    return thing if isinstance(thing, ModuleType) else sys.modules.get(getattr(thing, "__module__", None) or "")


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file and str(file).endswith(".py") else None


def _is_own_file(file: Path) -> bool:
    return not any(file.is_relative_to(each) for each in _libraries())


@cache
def _libraries() -> tuple[Path, ...]:
    """Folders of vibayes, of Python and of installed packages."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parent)]
    return tuple(Path(each).resolve() for each in paths)


def _held(module: ModuleType | None) -> Iterator[tuple[Path | None, ModuleType]]:
    """Modules that a module holds, or of which it holds a function or a class."""
    for value in list(vars(module).values()) if module is not None else ():
        if isinstance(value, ModuleType) or inspect.isfunction(value) or inspect.isclass(value):
            other = _module_of(value)
            if other is not None:
                yield _file_of(other), other


def _named(path: Path) -> Iterator[Path]:
    """Files of the modules that a module names in its imports, looked for as Python would and beside it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from _files(path, each.name.split("."), 0)
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            for name in ("", *(each.name for each in node.names)):  # what is imported from a package may be a module
                yield from _files(path, [*parts, name] if name else parts, node.level)


def _files(path: Path, parts: list[str], level: int) -> list[Path]:
    """The file of a module, and those of the packages that it is in."""
    above = [path.parent, *path.parent.parents]
    folders = above[level - 1 : level] if level else [*above[: _ABOVE + 1], *map(Path, filter(None, sys.path))]
    for folder in folders:
        base = folder.joinpath(*parts)
        files = [base.with_suffix(".py")] if parts else []
        files += [each / "__init__.py" for each in (base, *base.parents)[: max(len(parts), 1)]]
        there = [each.resolve() for each in files if each.is_file()]
        if there:
            return there
    return []
