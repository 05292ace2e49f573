"""What every study accepts on its command line."""

from __future__ import annotations

import argparse
from pathlib import Path


def parser_of(description: str | None, quick: str) -> argparse.ArgumentParser:
    """For a study, and what its quick variant leaves out."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--out", type=Path, help="folder for figures and tables")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of measured data")
    return parser
