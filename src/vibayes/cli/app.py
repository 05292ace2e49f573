"""The program `vibayes`: its commands are in `commands`, which need packages that the library does without."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vibayes.cli.outcome import outcome_of


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give the number for the shell.

    Args:
        arguments: as on the command line; by default those of this process.

    Examples:
        >>> run(["--version"])
        vibayes 0.1.0
        0
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    return outcome_of(lambda: _command(given))


def _command(arguments: list[str]) -> int:
    from vibayes.cli.commands import app

    return app(args=arguments, prog_name="vibayes", standalone_mode=False)


def main() -> None:
    """The entry point."""
    sys.exit(run())


if __name__ == "__main__":
    main()
