"""The program `vibayes`: registers the commands, each of which has a file of its own beside this one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from vibayes.cli.outcome import outcome_of

COMMANDS = ("new", "check", "identify", "resume", "report", "compare", "predict", "simulate", "datasets", "demo")
"""In the order of a day's work; the function has the name of its file."""

app = typer.Typer(
    help="""Bayesian identification of nonlinear vibrating structures.

    From a record to a report:

      vibayes new test07.csv            writes test07.toml, a study file, from a look at the data

      vibayes check test07.toml         validates it and shows what its priors expect

      vibayes identify test07.toml      runs it

      vibayes report test07-run         writes a page to forward""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"vibayes {version('vibayes')}")
        except PackageNotFoundError:
            print("vibayes, not installed")
        raise typer.Exit()


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Bayesian identification of nonlinear vibrating structures."""


for _name in COMMANDS:
    app.command(_name)(getattr(importlib.import_module(f"vibayes.cli.{_name}"), _name))


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
    return outcome_of(lambda: app(args=given, prog_name="vibayes", standalone_mode=False))


def main() -> None:
    """The entry point."""
    sys.exit(run())


if __name__ == "__main__":
    main()
