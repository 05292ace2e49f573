"""The commands of the program `vibayes`, each of which has a file of its own beside this one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from vibayes.cli.outcome import Interrupted

COMMANDS = (
    "new", "check", "calibrate", "identify", "resume", "report", "compare", "predict", "simulate", "datasets", "demo",
)  # fmt: skip
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


def _interruptible(command: Callable[..., Any]) -> Callable[..., Any]:
    """typer would make a silent 130 of an interruption."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    return run


for _name in COMMANDS:
    app.command(_name)(_interruptible(getattr(importlib.import_module(f"vibayes.cli.{_name}"), _name)))
