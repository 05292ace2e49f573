"""Public data sets that methods are tried on: what they are, where they come from, and how to load them.

None is part of vibayes. They are read from a folder of yours, laid out as `Dataset.files` says, or fetched by the
package ``nonlinear_benchmarks`` when you ask for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.content import foreign
from vibayes.io.files import PathLike
from vibayes.io.packages import package
from vibayes.io.public_readers import READERS
from vibayes.naming import nearest
from vibayes.record import Record


@dataclass(frozen=True)
class Dataset:
    """A public data set.

    Attributes:
        name: by which `load_dataset` knows it.
        title: what was measured.
        citation: whom to cite.
        source: where its files are to be had.
        files: it is read from, in a folder.
        benchmark: its name in ``nonlinear_benchmarks``, which can fetch it; empty if that does not have it.
        terms: of use, as far as they are stated.
    """

    name: str
    title: str
    citation: str
    source: str
    files: tuple[str, ...] = ()
    benchmark: str = ""
    terms: str = "not stated; cite the source"


_ALL = (
    Dataset(
        "silverbox",
        "electronic circuit that behaves like a Duffing oscillator; volts, 610.35 Hz",
        "Wigren and Schoukens, European Control Conference, 2013",
        "https://www.nonlinearbenchmark.org",
        ("silverbox/SNLS80mV.csv", "silverbox/Schroeder80mV.csv"),
        "Silverbox",
    ),
    Dataset(
        "bouc_wen",
        "simulated oscillator with Bouc-Wen hysteresis, without noise; 750 Hz",
        "Noël and Schoukens, Workshop on Nonlinear System Identification Benchmarks, 2016",
        "https://www.nonlinearbenchmark.org",
        tuple(f"bouc_wen/{letter}val_{signal}.mat" for signal in ("multisine", "sinesweep") for letter in "uy"),
        "BoucWen",
    ),
    Dataset(
        "emps",
        "positioning drive with friction, in closed loop; 1 kHz",
        "Janot, Gautier and Brunot, Workshop on Nonlinear System Identification Benchmarks, 2019",
        "https://www.nonlinearbenchmark.org",
        ("emps/DATA_EMPS.mat", "emps/DATA_EMPS_PULSES.mat"),
        "EMPS",
    ),
    Dataset(
        "f16",
        "ground vibration test of an aircraft with loose joints; force and first of three accelerations",
        "Noël and Schoukens, Workshop on Nonlinear System Identification Benchmarks, 2017",
        "https://www.nonlinearbenchmark.org",
        benchmark="F16",
    ),
    Dataset(
        "mr_damper",
        "magneto-rheological damper under random motion; velocity and force, 200 Hz",
        "Lin and others; sample data of MATLAB",
        "https://github.com/gsmfnc/LPV_SysId",
        ("mr_damper/mrdamper.mat",),
    ),
    Dataset(
        "shock_absorber",
        "damper on a dynamometer; displacement, force and temperature, about 300 Hz",
        "Dudley, damper_characterization",
        "https://github.com/LucasDudley/damper_characterization",
        tuple(f"shock_absorber/{run}_100psi.csv" for run in ("t1_1_1_18_18_s1_n10", "t1_2_2_24_24_s5_n10")),
    ),
    Dataset(
        "cyclic_tests",
        "two concrete members under slow cycles; displacement and load without a clock, so one point per second",
        "Kunnath and others; Gill and others; via Alvarez, BWBN_TMCMC",
        "https://github.com/diegoandresalvarez/BWBN_TMCMC",
        tuple(f"cyclic_tests/{kind}_{test}.txt" for test in ("kunnath", "gill") for kind in ("displ", "load_kN")),
    ),
    Dataset(
        "ground_motions",
        "El Centro 1940, Pacoima Dam 1971, and a basement in Los Angeles in 1971",
        "PEER NGA strong motion database; CSMIP",
        "https://ngawest2.berkeley.edu",
        (
            "ground_motions/RSN6_IMPVALL.I_I-ELC180-hor1.AT2",
            "ground_motions/RSN77_SFERN_PUL164-hor1.AT2",
            "ground_motions/san_fernando_1971_ventura_blvd_15250_basement_n11e.dat",
        ),
    ),
    Dataset(
        "building",
        "six-storey hotel in eight earthquakes; motions of two floors, 50 Hz; the input is not known",
        "Center for Engineering Strong Motion Data; Zhang, Liu and Sun, Engineering Structures, 2020",
        "https://github.com/zhry10/PhyCNN",
        ("building/san_bernardino_hotel.mat",),
    ),
    Dataset(
        "brake_reuss_beam",
        "ring-down of a bolted beam after a blow; three accelerations, 12.8 kHz",
        "Chen and others, 2022; Cenedese, BRBtesting",
        "https://github.com/mattiacenedese/BRBtesting",
        ("brake_reuss_beam/HammerImpact.mat",),
        terms="GPL-3",
    ),
)


def datasets() -> tuple[Dataset, ...]:
    """The public data sets that `load_dataset` knows.

    Returns:
        What each is, and where it comes from.

    Examples:
        >>> [each.name for each in datasets()][:3]
        ['silverbox', 'bouc_wen', 'emps']
    """
    return _ALL


def load_dataset(name: str, folder: PathLike | None = None, download: bool = False) -> dict[str, Record]:
    """Load a public data set.

    Args:
        name: as `datasets` lists it.
        folder: where its files are. With `download`, where to keep what is fetched.
        download: whether to fetch it through ``nonlinear_benchmarks``, which keeps it for the next time. That package
            does not verify whom it fetches from.

    Returns:
        Its records by name.

    Raises:
        InvalidInput: there is no such data set, or its files are not there; the message says where to get them.

    Examples:
        >>> load_dataset("silver_box")
        Traceback (most recent call last):
        ...
        vibayes.errors.InvalidInput: load_dataset: expected the name of a data set, got 'silver_box';
        did you mean 'silverbox'.
    """
    known = {each.name: each for each in _ALL}
    if name not in known:
        raise InvalidInput("load_dataset", "the name of a data set", repr(name), nearest(str(name), known))
    dataset, where = known[name], f"load_dataset({name!r})"
    fetch = "say download=True" if dataset.benchmark else f"get its files from {dataset.source}"
    if download:
        if not dataset.benchmark:
            raise InvalidInput(where, "no download, for no package fetches it", "download=True", fetch)
        return _fetched(where, dataset, folder)
    if folder is None or not dataset.files:
        expected = "download=True" if not dataset.files else "folder=, where its files are"
        raise InvalidInput(where, expected, "neither folder nor download" if folder is None else "folder", fetch)
    for file in dataset.files:
        if not Path(folder, file).is_file():
            raise InvalidInput(
                where, f"the file '{file}' in '{folder}'", "no such file", f"check the folder, or {fetch}"
            )
    return READERS[name](Path(folder))


def _fetched(where: str, dataset: Dataset, folder: PathLike | None) -> dict[str, Record]:
    benchmarks = package("nonlinear_benchmarks", where, "datasets")
    home = benchmarks if hasattr(benchmarks, dataset.benchmark) else benchmarks.not_splitted_benchmarks
    fetch = getattr(home, dataset.benchmark)
    remedy = f"check the network, or get the files from {dataset.source} and give folder="
    with foreign(where, "data fetched by nonlinear_benchmarks", remedy):
        given = fetch(train_test_split=False, dir_placement=None if folder is None else str(folder))
        several = given if isinstance(given, list | tuple) else [given]
        return {each.name or f"record {number}": _record(dataset, each) for number, each in enumerate(several, 1)}


def _record(dataset: Dataset, given: Any) -> Record:
    step = given.sampling_time if given.sampling_time is not None else 1.0 / 750.0  # of bouc_wen, which states none
    rate = float(f"{1.0 / float(step):.9g}")  # steps are differences of times, and have lost digits
    metadata = {"dataset": dataset.name, "citation": dataset.citation}
    return Record.from_arrays(
        rate=rate, input={"u": np.ravel(given.u)}, output={"y": np.ravel(given.y)}, metadata=metadata
    )
