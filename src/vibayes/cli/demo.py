"""`vibayes demo`: a tour without data of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what is written.")] = Path("demo_output"),
    seed: Annotated[int, typer.Option(min=0, help="Of the record and of the inference.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="A short record and few draws.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what has the same names.")] = False,
) -> None:
    """Identify a simulated oscillator whose spring is piecewise linear.

    Example: vibayes demo --out tour --quick
    """
    from vibayes.demo import main

    main(["--out", str(out), "--seed", str(seed), *(["--quick"] if quick else []), *(["--force"] if force else [])])
