"""Make the pictures of the documentation: run studies and examples, and keep small copies of what they draw.

    python docs/scripts/figures.py --work DIR [--only NAME ...] [--data DIR]

Studies write into folders of DIR. One that has its pictures there already is not run again, so the work can be done in
parts. Pictures are cut down to at most 80 kB each. Look at them before you commit them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures"
LARGEST, WIDEST = 80_000, 1200


class Run(NamedTuple):
    """A study with its arguments, or an example; and which of its pictures are kept, under which names."""

    script: str
    arguments: tuple[str, ...]
    pictures: dict[str, str]


RUNS = {
    "events": Run("studies/state_events.py", (), {"trilinear_accuracy.png": "events_accuracy.png"}),
    "stiffness": Run(
        "studies/pwl_stiffness.py", ("--seed", "511"),
        {"force_map.png": "stiffness_map.png", "trace.png": "stiffness_trace.png"},
    ),
    "bilinear": Run("studies/bilinear_output_only.py", ("--seed", "1"), {"parameters.png": "bilinear_parameters.png"}),
    "bouc_wen": Run("studies/bouc_wen_pn.py", ("--seed", "1"), {"uncertainties.png": "bouc_wen_uncertainties.png"}),
    "calibration": Run(
        "studies/calibration.py", ("--route", "filter", "--seed", "1"), {"filter.png": "calibration_filter.png"}
    ),
    "backbone_3nl": Run(
        "studies/backbone_3nl.py", ("--seed", "1"),
        {"backbones.png": "backbones.png", "forced_second_mode.png": "isola_predicted.png"},
    ),
}  # fmt: skip
EXAMPLES = (
    "backbone_fit", "custom_constraint", "custom_distance", "custom_simulator", "isola", "self_centring",
    "two_masses", "unmeasured_ground",
)  # fmt: skip
"""Those that draw a picture, which has the name of the example."""


def run(script: str, arguments: list[str], folder: Path) -> None:
    """As a user would, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"}
    subprocess.run([sys.executable, str(ROOT / script), *arguments], cwd=folder, env=environment, check=True)


def small(picture: Path) -> bytes:
    """A PNG of few colours, narrower until it is small enough."""
    image = Image.open(picture).convert("RGB")
    width = min(image.width, WIDEST)
    while True:
        size = (width, round(image.height * width / image.width))
        cut = image.resize(size, Image.Resampling.LANCZOS).quantize(64)
        stored = BytesIO()
        cut.save(stored, "PNG", optimize=True)
        if stored.tell() <= LARGEST:
            return stored.getvalue()
        width = round(0.9 * width)


def main() -> None:
    """Run what is asked for, and keep its pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for what studies and examples write")
    parser.add_argument("--only", nargs="+", choices=[*RUNS, *EXAMPLES], help="these alone")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of measured data")
    options = parser.parse_args()
    work, data = options.work.resolve(), str(options.data.resolve())
    FIGURES.mkdir(exist_ok=True)
    for name in options.only or [*RUNS, *EXAMPLES]:
        folder = work / name
        if name in RUNS:
            script, arguments, pictures = RUNS[name]
            arguments = [*arguments, "--json", "--data", data, "--out", str(folder)]
        else:
            script, arguments, pictures = f"examples/{name}.py", [], {f"{name}.png": f"example_{name}.png"}
        if not all((folder / picture).exists() for picture in pictures):
            run(script, arguments, folder)
        for picture, kept in pictures.items():
            (FIGURES / kept).write_bytes(small(folder / picture))
            print(f"{kept}: {(FIGURES / kept).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
