"""Public data sets are read from a folder as published, or fetched when asked for; where neither works, they say so."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.io import loadmat

import vibayes as vb
from vibayes.errors import InvalidInput

LARGE = ("silverbox",)
LOCAL = [
    pytest.param(each.name, marks=pytest.mark.slow if each.name in LARGE else ())
    for each in vb.datasets()
    if each.files
]


def test_every_data_set_says_what_it_is_and_where_to_get_it():
    for each in vb.datasets():
        assert each.title and each.citation and each.source.startswith("https://")
        assert each.files or each.benchmark


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCAL)
def test_a_data_set_is_read_from_a_folder(data, name):
    records = vb.load_dataset(name, data)
    assert records and all(record.samples > 100 for record in records.values())
    assert all(all(record.units.values()) for record in records.values())


def test_the_force_of_the_positioning_system_is_its_gain_times_its_voltage(data):
    file = loadmat(data / "emps" / "DATA_EMPS.mat")
    record = vb.load_dataset("emps", data)["estimation"]
    np.testing.assert_allclose(record.channel("force"), file["gtau"].item() * file["vir"].ravel())
    assert (record.rate, record.samples) == (1000.0, 24841)


def test_floors_of_the_building_are_told_apart(data):
    file = loadmat(data / "building" / "san_bernardino_hotel.mat")
    records = vb.load_dataset("building", data)
    np.testing.assert_array_equal(records["event 3"].channel("velocity of roof"), file["floor_velocity"][3, :, 1])
    assert len(records) == 8


def test_the_slow_run_of_the_shock_absorber_lasts_as_long_as_its_clock(data):
    record = vb.load_dataset("shock_absorber", data)["slow"]
    assert 299.0 < record.rate < 301.0
    assert record.units == {"Displacement": "mm", "Force": "N", "Temperature": "degC"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "silver_box"}, "did you mean 'silverbox'"),
        ({"name": "silverbox"}, "folder=, where its files are, got neither folder nor download; say download=True"),
        ({"name": "building"}, "get its files from https://github.com/zhry10/PhyCNN"),
        ({"name": "building", "download": True}, "no download, for no package fetches it"),
        ({"name": "emps", "folder": "nowhere"}, "the file 'emps/DATA_EMPS.mat' in 'nowhere', got no such file"),
        ({"name": "f16", "folder": "nowhere"}, "expected download=True"),
    ],
)
def test_a_data_set_that_is_not_there_is_refused_with_what_to_do(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        vb.load_dataset(**arguments)


def test_files_that_are_not_what_they_should_be_are_refused(tmp_path):
    (tmp_path / "mr_damper").mkdir()
    (tmp_path / "mr_damper" / "mrdamper.mat").write_text("not found")
    with pytest.raises(InvalidInput, match="a MAT file"):
        vb.load_dataset("mr_damper", tmp_path)


def fake(monkeypatch, fetch):
    module = SimpleNamespace(EMPS=fetch, not_splitted_benchmarks=SimpleNamespace(BoucWen=fetch))
    monkeypatch.setitem(sys.modules, "nonlinear_benchmarks", module)


def test_a_data_set_is_fetched_only_when_asked_for(monkeypatch):
    asked = []

    def fetch(train_test_split, dir_placement):
        asked.append((train_test_split, dir_placement))
        return [SimpleNamespace(u=np.arange(4.0), y=np.ones(4), sampling_time=0.001000000000139778, name="train")]

    fake(monkeypatch, fetch)
    record = vb.load_dataset("emps", "here", download=True)["train"]
    assert (record.rate, record.names, asked) == (1000.0, ("u", "y"), [(False, "here")])


def test_a_benchmark_without_a_clock_has_the_published_rate(monkeypatch):
    one = SimpleNamespace(u=np.arange(4.0), y=np.ones(4), sampling_time=None, name="")
    fake(monkeypatch, lambda **_: [one, one])
    records = vb.load_dataset("bouc_wen", download=True)
    assert {name: record.rate for name, record in records.items()} == {"record 1": 750.0, "record 2": 750.0}


def test_a_network_that_is_not_there_is_no_traceback(monkeypatch):
    def fails(**_):
        raise ConnectionError("Name or service not known")

    fake(monkeypatch, fails)
    with pytest.raises(
        InvalidInput, match=r"Name or service not known.*check the network, or get the files from https"
    ):
        vb.load_dataset("emps", download=True)


def test_the_package_that_fetches_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "nonlinear_benchmarks", None)
    with pytest.raises(InvalidInput, match=r"pip install 'vibayes\[datasets\]'"):
        vb.load_dataset("emps", download=True)


def test_the_functions_that_fetch_exist_in_the_package():
    benchmarks = pytest.importorskip("nonlinear_benchmarks")
    for each in vb.datasets():
        if each.benchmark:
            assert hasattr(benchmarks, each.benchmark) or hasattr(benchmarks.not_splitted_benchmarks, each.benchmark)
