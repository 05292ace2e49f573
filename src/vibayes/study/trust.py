"""Whose code a study may import.

A study file names what vibayes has, and may name classes and functions of other modules as ``module:Name``. To import
a module is to run it, so that only modules are imported which the user trusts: those named for this one study (on the
command line with ``--trust``), and those of the user's configuration file:

    [trust]
    modules = ["mylab.elements"]      # installed packages
    folders = ["~/studies"]           # whatever lies beside studies in these folders and below

The file is ``~/.config/vibayes/config.toml``, or ``vibayes/config.toml`` in ``XDG_CONFIG_HOME``, or the one that
``VIBAYES_CONFIG`` names. It is the user's: nothing that comes with a study can change it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.naming import nearest

_KEYS = ("modules", "folders")


@dataclass(frozen=True)
class Trust:
    """Modules that a study may import; a package stands for all that is in it.

    Attributes:
        named: for this study, beside it or installed.
        installed: of the configuration; a file of that name beside a study is another module.
        folders: of the configuration; modules that lie in them.
    """

    named: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()

    def covers(self, module: str, file: Path | None) -> bool:
        """Whether a module may be imported.

        Args:
            module: its name.
            file: where it lies, if that is beside the study.

        Examples:
            >>> Trust(("joints",)).covers("joints", None), Trust(("joints",)).covers("os", None)
            (True, False)
            >>> laboratory = Trust(installed=("lab",))
            >>> laboratory.covers("lab.laws", None), laboratory.covers("lab", Path("lab.py"))
            (True, False)
        """
        if _among(module, self.named):
            return True
        if file is None:
            return _among(module, self.installed)
        place = file.resolve()
        return any(place.is_relative_to(folder.resolve()) for folder in self.folders)


def trust_in(named: Iterable[str] = ()) -> Trust:
    """Trust in modules that are named, and in those of the configuration.

    Args:
        named: modules, as ``joints`` for ``joints.py`` beside the study.

    Raises:
        InvalidInput: something else than a module is named, or the configuration cannot be read.
    """
    named = (named,) if isinstance(named, str) else tuple(named)
    for name in named:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            bare = Path(str(name).partition(":")[0]).stem
            raise InvalidInput("trust", "the name of a module", repr(name), f"write --trust {bare or 'joints'}")
        if name.endswith(".py"):
            raise InvalidInput("trust", "the name of a module", repr(name), f"write --trust {name[:-3]}")
    table = _configuration()
    return Trust(named, tuple(table["modules"]), tuple(Path(each).expanduser() for each in table["folders"]))


def configuration_file() -> Path:
    """Where the user's configuration is, if there is one."""
    if given := os.environ.get("VIBAYES_CONFIG"):
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(base) / "vibayes" / "config.toml"


def remedy_for(module: str) -> str:
    """What to do about a module that is not trusted."""
    return (
        f"if you know its code, add --trust {module} (in Python trust=[{module!r}]), or list it in your configuration"
    )


def _among(module: str, names: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def _configuration() -> dict[str, list[str]]:
    path, found = configuration_file(), {key: [] for key in _KEYS}
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        table: Any = tomllib.loads(text).get("trust", {})
    except (OSError, ValueError, RecursionError) as problem:
        raise InvalidInput(f"'{path}'", "TOML", str(problem), "mend it, or move it away") from None
    if not isinstance(table, dict):
        raise InvalidInput(f"'{path}'", "a table [trust]", repr(table)[:60], "write [trust] and its keys below")
    for key, value in table.items():
        if key not in _KEYS:
            raise InvalidInput(f"'{path}'", "a key of [trust]", repr(key), nearest(key, _KEYS))
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            raise InvalidInput(f"'{path}', trust.{key}", "a list of names", repr(value)[:60], "put them in brackets")
        found[key] = value
    return found
