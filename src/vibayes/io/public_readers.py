"""One reader for each public data set, from a folder laid out as `vibayes.datasets` says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.io.at2 import read_at2
from vibayes.io.content import foreign
from vibayes.io.csv import read_csv
from vibayes.io.files import existing_file
from vibayes.io.mat import load_mat, read_mat
from vibayes.record import Record

_FLOORS = ("third floor", "roof")


def _silverbox(folder: Path) -> dict[str, Record]:
    files = {"arrow and multisines": "SNLS80mV.csv", "schroeder": "Schroeder80mV.csv"}
    return {
        name: read_csv(folder / "silverbox" / file, input="V1", output="V2", rate=610.35, units={"V1": "V", "V2": "V"})
        for name, file in files.items()
    }


def _bouc_wen(folder: Path) -> dict[str, Record]:
    records = {}
    for signal in ("multisine", "sinesweep"):
        force, displacement = (
            load_mat(folder / "bouc_wen" / f"{letter}val_{signal}.mat").values[f"{letter}val_{signal}"].ravel()
            for letter in "uy"
        )
        records[signal] = _record(750.0, {"force": (force, "N")}, {"displacement": (displacement, "m")})
    return records


def _emps(folder: Path) -> dict[str, Record]:
    records = {}
    for name, file in {"estimation": "DATA_EMPS.mat", "validation": "DATA_EMPS_PULSES.mat"}.items():
        found = load_mat(folder / "emps" / file)
        force = found.metadata["gtau"] * found.values["vir"].ravel()
        position = found.values["qm"].ravel()
        records[name] = _record(1000.0, {"force": (force, "N")}, {"position": (position, "m")}, found.metadata)
    return records


def _mr_damper(folder: Path) -> dict[str, Record]:
    path, units = folder / "mr_damper" / "mrdamper.mat", {"U": "cm/s", "Y": "N", "U_val": "cm/s", "Y_val": "N"}
    pairs = {"estimation": ("U", "Y"), "validation": ("U_val", "Y_val")}
    return {
        name: read_mat(path, input=u, output=y, rate=200.0, units={u: units[u], y: units[y]})
        for name, (u, y) in pairs.items()
    }


def _shock_absorber(folder: Path) -> dict[str, Record]:
    records = {}
    for name, run in {"slow": "t1_1_1_18_18_s1_n10_100psi", "fast": "t1_2_2_24_24_s5_n10_100psi"}.items():
        path = folder / "shock_absorber" / f"{run}.csv"
        lines = path.read_text(encoding="utf-8").splitlines()
        first, last = (datetime.fromisoformat(line.partition(",")[0]) for line in (lines[1], lines[-1]))
        records[name] = read_csv(
            path,
            input="Displacement (mm)",
            output=["Force (N)", "Temperature (C)"],
            rate=(len(lines) - 2) / (last - first).total_seconds(),
            units={"Temperature": "degC"},
        )
    return records


def _cyclic_tests(folder: Path) -> dict[str, Record]:
    records = {}
    for test in ("kunnath", "gill"):
        travel, load = (np.loadtxt(folder / "cyclic_tests" / f"{kind}_{test}.txt") for kind in ("displ", "load_kN"))
        remark = {"remark": "there was no clock; one point per second is a convention"}
        records[test] = _record(1.0, {"displacement": (travel, "mm")}, {"load": (load, "kN")}, remark)
    return records


def _ground_motions(folder: Path) -> dict[str, Record]:
    place = folder / "ground_motions"
    text = existing_file("load_dataset", place / "san_fernando_1971_ventura_blvd_15250_basement_n11e.dat")
    time, motion = np.loadtxt(text, unpack=True)
    return {
        "el centro 1940": read_at2(place / "RSN6_IMPVALL.I_I-ELC180-hor1.AT2"),
        "pacoima dam 1971": read_at2(place / "RSN77_SFERN_PUL164-hor1.AT2"),
        "ventura blvd 1971": Record.from_arrays(
            rate=float(f"{(time.size - 1) / (time[-1] - time[0]):.9g}"),
            input={"acceleration": motion},
            units={"acceleration": "m/s^2"},
        ),
    }


def _building(folder: Path) -> dict[str, Record]:
    found = load_mat(folder / "building" / "san_bernardino_hotel.mat").values
    units = {"acceleration": "cm/s^2", "velocity": "cm/s", "displacement": "cm"}
    return {
        f"event {event}": _record(
            50.0,
            {},
            {
                f"{kind} of {floor}": (found[f"floor_{kind}"][event, :, number], unit)
                for kind, unit in units.items()
                for number, floor in enumerate(_FLOORS)
            },
        )
        for event in range(len(found["floor_acceleration"]))
    }


def _brake_reuss_beam(folder: Path) -> dict[str, Record]:
    names = [f"HIdata.acc{number}" for number in (1, 2, 3)]
    units = dict.fromkeys(names, "m/s^2")
    return {"hammer": read_mat(folder / "brake_reuss_beam" / "HammerImpact.mat", output=names, units=units)}


def _record(
    rate: float,
    inputs: dict[str, tuple[np.ndarray, str]],
    outputs: dict[str, tuple[np.ndarray, str]],
    metadata: dict[str, Any] | None = None,
) -> Record:
    return Record.from_arrays(
        rate=rate,
        input={name: values for name, (values, _) in inputs.items()} or None,
        output={name: values for name, (values, _) in outputs.items()} or None,
        units={name: unit for name, (_, unit) in (inputs | outputs).items()},
        metadata=metadata,
    )


def _guarded(name: str, read: Callable[[Path], dict[str, Record]]) -> Callable[[Path], dict[str, Record]]:
    def reader(folder: Path) -> dict[str, Record]:
        with foreign(f"load_dataset({name!r})", "the files as they were published", "get them again"):
            return read(folder)

    return reader


READERS = {
    name: _guarded(name, read)
    for name, read in {
        "silverbox": _silverbox,
        "bouc_wen": _bouc_wen,
        "emps": _emps,
        "mr_damper": _mr_damper,
        "shock_absorber": _shock_absorber,
        "cyclic_tests": _cyclic_tests,
        "ground_motions": _ground_motions,
        "building": _building,
        "brake_reuss_beam": _brake_reuss_beam,
    }.items()
}
