"""The study files of `examples/studies` with data to read: columns of noise, for reading needs no simulation."""

import shutil
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "examples" / "studies"
STUDIES = sorted(path.name for path in FOLDER.glob("*.toml"))
LIGHT = ("piecewise.toml", "frame.toml", "simulator.toml")
"""Without a likelihood, which takes longer to set up."""
OWN = ("flag_joint", "pendulum")
"""Modules beside them, that readers have to trust."""
_COLUMNS = {
    "piecewise": ("time", "force", "acceleration"),
    "output_only": ("velocity",),
    "solver": ("time", "force", "displacement"),
    "frame": ("time", "ground", "lower", "upper"),
    "simulator": ("time", "angle"),
    "backbone": ("frequency", "mode 1", "mode 2"),
}


def laid_out(folder: Path) -> Path:
    """The studies, their modules and data in a folder."""
    for path in (*FOLDER.glob("*.toml"), FOLDER / "flag_joint.py", FOLDER / "pendulum.py"):
        shutil.copy(path, folder / path.name)
    rng = np.random.default_rng(0)
    for name, columns in _COLUMNS.items():
        values = rng.standard_normal((60, len(columns)))
        if columns[0] == "time":
            values[:, 0] = np.arange(60) / 20.0
        if columns[0] == "frequency":
            values = np.abs(values[:12]) + 0.1
        header = ",".join(columns)
        np.savetxt(folder / f"{name}.csv", values, delimiter=",", header=header, comments="", fmt="%.17g")
    return folder
