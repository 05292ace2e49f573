"""Files of measuring systems and other programs are read as these mean them, and refused with a remedy."""

import glob
import os
import re
import struct
import sys
import warnings

import h5py
import numpy as np
import pytest
import pyuff
import scipy.io
import xarray
from scipy.io import netcdf_file
from scipy.sparse import eye_array

from vibayes.errors import InvalidInput
from vibayes.io import (
    look,
    read_at2,
    read_csv,
    read_hdf5,
    read_mat,
    read_netcdf,
    read_record,
    read_uff,
    write_hdf5,
    write_mat,
    write_record,
)
from vibayes.io.mat import load_mat
from vibayes.io.mat5 import Damaged, require_skeleton
from vibayes.record import Record

TIME = np.arange(12) / 100.0
FORCE = np.sin(7.0 * TIME)
MOTION = np.stack([np.cos(TIME), TIME**2], axis=1)
MATLAB_DATA = os.path.join(os.path.dirname(scipy.io.matlab.__file__), "tests", "data", "*.mat")


def refused(message: str, path, **choices) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_record(path, **choices)


def hdf5(path, arrays: dict, attributes: dict | None = None):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
        for place, value in (attributes or {}).items():
            name, _, key = place.rpartition("@")
            (file[name] if name else file).attrs[key] = value
    return path


def matlab_73(path, arrays: dict, classes: dict):
    """A file as MATLAB 7.3 lays it out: 512 bytes of its own, matrices on their side, classes as attributes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            file[name] = np.asarray(values).T
        for name, kind in classes.items():
            file[name].attrs["MATLAB_class"] = np.bytes_(kind)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
        file.seek(124)
        file.write(b"\x00\x02IM")
    return path


def universal(path, *sets, binary=0):
    """A universal file; sets of type 58 one after another."""
    path.write_bytes(b"".join(_block(path, each | {"binary": binary}) for each in sets))
    return path


def _block(path, each):
    usual = {"func_type": 1, "rsp_node": 1, "rsp_dir": 3, "ref_node": 1, "ref_dir": 3, "abscissa_spacing": 1}
    usual |= {"abscissa_spec_data_type": 17, "ordinate_spec_data_type": 12, "orddenom_spec_data_type": 0, "id1": "a"}
    usual |= {"abscissa_min": 0.0, "abscissa_inc": 0.01, "num_pts": 12, "x": TIME, "data": FORCE}
    path.unlink(missing_ok=True)
    pyuff.UFF(str(path)).write_sets(pyuff.prepare_58(**(usual | each)), "add")
    return path.read_bytes()


PEER = """PEER NGA STRONG MOTION DATABASE RECORD
Imperial Valley-02, 5/19/1940, El Centro Array #9, 180
ACCELERATION TIME SERIES IN UNITS OF G
NPTS=      7, DT=   .0100 SEC
   .9984852E-03   .9991426E-03  -.9997266E-03   .1000268E-02   .1000757E-02
   .1001207E-02   .1001612E-02
"""


# MATLAB


def test_variables_of_a_mat_file_are_channels(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"t": TIME, "force": FORCE, "acc": MOTION})
    record = read_record(tmp_path / "a.mat", input="force", output="acc", units={"acc": "m/s^2", "force": "N"})
    assert (record.names, record.rate) == (("force", "acc[0]", "acc[1]"), 100.0)
    assert record.units == {"force": "N", "acc[0]": "m/s^2", "acc[1]": "m/s^2"}
    np.testing.assert_array_equal(record.output, MOTION)


def test_fields_of_structures_are_named_as_in_matlab(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"data": {"acc": MOTION, "time": TIME, "by": "Ada"}, "gain": 2.5})
    record = read_mat(tmp_path / "a.mat", output="data.acc[1]")
    assert (record.names, record.rate) == (("data.acc[1]",), 100.0)
    assert record.metadata == {"data.by": "Ada", "gain": 2.5}


def test_structures_in_an_array_are_counted(tmp_path):
    tests = np.zeros(2, dtype=[("acc", object)])
    tests["acc"] = [FORCE, 2 * FORCE]
    scipy.io.savemat(tmp_path / "a.mat", {"test": tests})
    np.testing.assert_array_equal(read_mat(tmp_path / "a.mat", output="test[1].acc", rate=1.0).output[:, 0], 2 * FORCE)


@pytest.mark.parametrize(("name", "value"), [("fs", 250.0), ("Fs", 250), ("dt", 0.004), ("Ts", 0.004)])
def test_a_number_called_like_a_rate_or_a_step_is_one(tmp_path, name, value):
    scipy.io.savemat(tmp_path / "a.mat", {"acc": FORCE, name: value})
    assert read_mat(tmp_path / "a.mat", output="acc").rate == 250.0


def test_version_4_of_mat_files_is_read(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"acc": FORCE, "t": TIME}, format="4")
    np.testing.assert_array_equal(read_mat(tmp_path / "a.mat", output="acc").output[:, 0], FORCE)


def test_version_73_of_mat_files_reads_as_version_5_does(tmp_path):
    arrays = {"data/acc": MOTION, "data/time": TIME[:, None], "data/by": np.array([[ord(c) for c in "Ada"]], "u2")}
    kinds = {"data": "struct", "data/acc": "double", "data/time": "double", "data/by": "char"}
    matlab_73(tmp_path / "new.mat", arrays, kinds)
    scipy.io.savemat(tmp_path / "old.mat", {"data": {"acc": MOTION, "time": TIME, "by": "Ada"}})
    new, old = (read_mat(tmp_path / name, output="data.acc") for name in ("new.mat", "old.mat"))
    np.testing.assert_array_equal(new.output, old.output)
    assert (new.names, new.rate, new.metadata) == (old.names, old.rate, old.metadata)


def test_structures_in_an_array_are_found_behind_references_of_version_73(tmp_path):
    path = matlab_73(tmp_path / "a.mat", {"#refs#/a": FORCE[:, None], "#refs#/b": MOTION}, {"#refs#/a": "double"})
    with h5py.File(path, "r+") as file:
        file["test/acc"] = np.array([[file["#refs#/a"].ref], [file["#refs#/b"].ref]], dtype=h5py.ref_dtype)
        file["test"].attrs["MATLAB_class"] = np.bytes_("struct")
    assert list(load_mat(path).values) == ["test[0].acc", "test[1].acc"]


@pytest.mark.slow
def test_files_that_matlab_wrote_are_read_wherever_scipy_can():
    files = glob.glob(MATLAB_DATA)
    if not files:
        pytest.skip("SciPy was installed without its tests")
    for path in files:
        if os.path.basename(path).startswith("testhdf5"):
            assert load_mat(path).values["testdouble"].shape == (1, 9)  # as the same variable of older files
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scipy.io.loadmat(path)
        except Exception:
            with pytest.raises(InvalidInput):
                load_mat(path)
        else:
            load_mat(path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([FORCE, FORCE[:3]], dtype=object), "got a cell array"),
        (1j * FORCE, "got complex numbers; store real numbers"),
        (eye_array(4).tocsc(), "got a sparse matrix"),
        ("Ada", "an array of samples in 'it', got a single value"),
        (["Ada", "Bob"], "got text; name an array of numbers"),
        (np.zeros((0, 0)), "got an empty array"),
    ],
)
def test_what_holds_no_samples_is_refused_for_what_it_is(tmp_path, value, message):
    scipy.io.savemat(tmp_path / "a.mat", {"it": value, "acc": FORCE})
    refused(message, tmp_path / "a.mat", output="it", rate=1.0)


def test_a_wrong_type_in_a_mat_file_is_noticed_before_scipy_trips_over_it(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"acc": FORCE})
    content = bytearray((tmp_path / "a.mat").read_bytes())
    place = content.index(struct.pack("<II", 9, 96))  # numbers in double precision, 96 bytes
    content[place] = 200
    with pytest.raises(Damaged, match=r"types \[200\] in a matrix"):
        require_skeleton(bytes(content))
    (tmp_path / "a.mat").write_bytes(content)
    refused("a MAT file, got one that cannot be read", tmp_path / "a.mat", output="acc", rate=1.0)


# HDF5 and netCDF


def test_arrays_of_hdf5_are_named_by_path_and_their_attributes_believed(tmp_path):
    attributes = {"run/force@units": "kN", "run/acc@units": ["m/s^2", "g_0"], "run@fs": 100.0, "@operator": "Ada"}
    record = read_record(
        hdf5(tmp_path / "a.h5", {"run/force": FORCE, "run/acc": MOTION}, attributes), "run/force", "run/acc"
    )
    assert record.units == {"run/force": "kN", "run/acc[0]": "m/s^2", "run/acc[1]": "g_0"}
    assert (record.rate, record.metadata) == (100.0, {"operator": "Ada"})


def test_a_clock_in_the_same_group_goes_before_one_outside(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"t": np.arange(9.0), "run/time": TIME, "run/acc": FORCE})
    assert read_hdf5(path, output="run/acc").rate == 100.0


def test_the_rate_of_the_nearest_group_counts(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"one/a": FORCE, "two/a": FORCE}, {"@fs": 1.0, "one@fs": 50.0, "two@dt": 0.01})
    assert [read_hdf5(path, output=name).rate for name in ("one/a", "two/a")] == [50.0, 100.0]
    refused("rates of 50, 100 in the file; give time=", path, output=["one/a", "two/a"])


def test_a_step_in_milliseconds_is_understood(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"acc": FORCE, "dt": 5.0}, {"dt@units": "ms"})
    assert read_hdf5(path, output="acc").rate == 200.0


@pytest.mark.parametrize("suffix", ["h5", "mat"])
def test_a_group_that_holds_itself_is_looked_into_once(tmp_path, suffix):
    path = hdf5(tmp_path / f"a.{suffix}", {"run/acc": FORCE})
    with h5py.File(path, "r+") as file:
        for name in "abc":  # followed twenty deep, three ways each would never end
            file[f"run/{name}"] = file["run"]
    contents = look(path)
    assert [column.samples for column in contents.columns] == [12]
    assert [nature for _, nature in contents.others] == ["a link"] * 3


@pytest.mark.parametrize("engine", ["scipy", "h5netcdf"])
def test_netcdf_is_read_as_xarray_reads_it(tmp_path, engine):
    values = np.where(np.arange(12) == 4, np.nan, FORCE)
    data = xarray.Dataset(
        {"acc": ("time", values, {"units": "m s-2"}), "gap": (("time", "place"), MOTION)},
        {"time": ("time", TIME, {"units": "s"})},
        {"specimen": "A7"},
    )
    packed = {"acc": {"dtype": "i2", "scale_factor": 1e-4, "add_offset": 0.1, "_FillValue": -9999}}
    data.to_netcdf(tmp_path / "a.nc", engine=engine, encoding=packed)
    with xarray.open_dataset(tmp_path / "a.nc", engine=engine) as opened:
        expected = opened["acc"].to_numpy()
    record = read_record(tmp_path / "a.nc", output=["acc", "gap"])
    np.testing.assert_allclose(record.channel("acc"), expected, rtol=1e-14)
    assert (record.names, record.rate, record.units["acc"]) == (("acc", "gap[0]", "gap[1]"), 100.0, "m s^-2")
    assert (int(record.missing.sum()), record.metadata["specimen"]) == (1, "A7")


def test_times_of_netcdf_may_begin_at_a_date(tmp_path):
    with netcdf_file(str(tmp_path / "a.nc"), "w") as file:
        file.createDimension("time", 12)
        for name, values, unit in (("time", 1000 * TIME, b"milliseconds since 1971-02-09"), ("acc", FORCE, b"")):
            variable = file.createVariable(name, "d", ("time",))
            variable[:], variable.units = values, unit
    assert read_netcdf(tmp_path / "a.nc", output="acc").rate == 100.0


# Universal files and ground motions


@pytest.mark.parametrize("binary", [0, 1])
def test_functions_of_time_in_universal_files_are_channels(tmp_path, binary):
    force = {"ordinate_spec_data_type": 9, "ordinate_axis_units_lab": "N", "rsp_dir": -3, "data": 2 * FORCE}
    path = universal(tmp_path / "a.uff", {"rsp_node": 4, "ordinate_axis_units_lab": "g"}, force, binary=binary)
    record = read_record(path, input="force 1-Z", output="acceleration 4+Z")
    np.testing.assert_allclose(record.output[:, 0], FORCE, rtol=1e-11)
    np.testing.assert_allclose(record.input[:, 0], 2 * FORCE, rtol=1e-11)
    assert (record.rate, record.units) == (100.0, {"force 1-Z": "N", "acceleration 4+Z": "g_0"})


def test_a_rate_that_six_digits_cannot_state_is_made_whole(tmp_path):
    path = universal(tmp_path / "a.uff", {"abscissa_inc": 1 / 51200, "x": np.arange(12) / 51200})
    stated = float(re.search(rb"1\.953\d\de-05", path.read_bytes())[0])  # type: ignore[index]
    assert 1 / stated != pytest.approx(51200.0, rel=1e-6)
    assert read_uff(path, output="acceleration 1+Z").rate == 51200.0


def test_channels_of_one_place_are_told_apart(tmp_path):
    path = universal(tmp_path / "a.unv", {}, {"data": 2 * FORCE})
    record = read_uff(path, output=["acceleration 1+Z", "acceleration 1+Z #2"])
    np.testing.assert_allclose(record.output[:, 1], 2 * record.output[:, 0], rtol=1e-11)


def test_a_response_over_frequency_is_no_record(tmp_path):
    path = universal(tmp_path / "a.uff", {"abscissa_spec_data_type": 18, "func_type": 4})
    refused("a function of something else than time", path, output="acceleration 1+Z")


def test_a_universal_file_cut_short_is_refused(tmp_path):
    path = universal(tmp_path / "a.uff", {}, {"rsp_node": 2})
    path.write_bytes(path.read_bytes()[:-300])
    refused("cut short", path, output="acceleration 1+Z")


def test_a_ground_motion_is_an_input_in_gravities(tmp_path):
    (tmp_path / "a.AT2").write_text(PEER)
    record = read_record(tmp_path / "a.AT2")
    assert (record.samples, record.rate, record.units) == (7, 100.0, {"acceleration": "g_0"})
    assert record.convert("acceleration", "m/s^2").input[2, 0] == pytest.approx(-0.9997266e-3 * 9.80665, rel=1e-12)
    assert record.metadata["heading"][1].startswith("Imperial Valley")


def test_an_older_heading_of_ground_motions_is_understood(tmp_path):
    text = PEER.replace("NPTS=      7, DT=   .0100 SEC", "    7    0.0050    NPTS, DT").replace(
        "UNITS OF G", "UNITS OF CM/S"
    )
    (tmp_path / "a.vt2").write_text(text.replace("ACCELERATION", "VELOCITY"))
    record = read_record(tmp_path / "a.vt2", output="velocity")
    assert (record.rate, record.units) == (200.0, {"velocity": "cm/s"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("   .1001612E-02", ""), r"7 values \(NPTS\), got 6"),
        (("NPTS", "POINTS"), "NPTS and DT in the first 4 lines"),
        ((".1000757E-02", "*****"), "numbers on line 5"),
    ],
)
def test_a_ground_motion_that_is_damaged_is_refused(tmp_path, change, message):
    (tmp_path / "a.at2").write_text(PEER.replace(*change))
    with pytest.raises(InvalidInput, match=message):
        read_at2(tmp_path / "a.at2")


# What is common to all


def test_rows_and_lines_of_arrays_can_be_named(tmp_path):
    cube = np.arange(48.0).reshape(2, 12, 2)
    scipy.io.savemat(tmp_path / "a.mat", {"acc": MOTION.T, "floor": cube})
    record = read_mat(tmp_path / "a.mat", output=["acc[1,:]", "floor[1,:,0]"], rate=1.0)
    np.testing.assert_array_equal(record.output, np.stack([MOTION[:, 1], cube[1, :, 0]], axis=1))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("acc", r"'acc' of shape \(samples, channels\), got \(2, 12\); transpose it, or name its rows: 'acc\[0,:\]'"),
        ("floor", r"as 'floor\[0,:,0\]'"),
        ("acc[2,:]", r"a place in 'acc' of shape \(2, 12\), got \[2,:\]; count from 0"),
        ("acc[:,:]", "count from 0"),
        ("floor[1]", "count from 0"),
        ("ac", "did you mean 'acc'"),
    ],
)
def test_a_name_that_fits_no_line_of_samples_is_refused(tmp_path, name, message):
    scipy.io.savemat(tmp_path / "a.mat", {"acc": MOTION.T, "floor": np.zeros((2, 12, 2))})
    refused(message, tmp_path / "a.mat", output=name, rate=1.0)


def test_a_unit_that_nobody_knows_needs_one(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"acc": FORCE}, {"acc@units": "counts of the ADC"})
    refused(
        r"'acc': expected a unit known to pint, .* state it with units=\{'acc': \.\.\.\}", path, output="acc", rate=1.0
    )
    assert read_hdf5(path, output="acc", rate=1.0, units={"acc": "V"}).units == {"acc": "V"}


def test_a_gap_in_an_input_of_any_format_is_refused(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"force": np.where(FORCE > 0.5, np.nan, FORCE)})
    refused(r"Record.input\['force'\]: .* NaN", path, input="force", rate=1.0)


def test_a_table_of_hdf5_is_refused_with_its_cure(tmp_path):
    path = hdf5(tmp_path / "a.h5", {"table": np.zeros(4, dtype=[("time", "f8"), ("acc", "f8")])})
    refused("got a table; store its columns as arrays", path, output="table", rate=1.0)


@pytest.mark.parametrize("suffix", ["csv", "npz", "mat", "h5", "nc", "uff", "at2"])
class TestEveryFormat:
    def test_refuses_an_empty_file(self, tmp_path, suffix):
        (tmp_path / f"a.{suffix}").write_bytes(b"")
        refused("got an empty file", tmp_path / f"a.{suffix}", output="acc")

    def test_refuses_a_folder(self, tmp_path, suffix):
        (tmp_path / f"a.{suffix}").mkdir()
        refused("name a file in it", tmp_path / f"a.{suffix}", output="acc")

    def test_refuses_a_file_that_is_not_there(self, tmp_path, suffix):
        refused("which does not exist", tmp_path / f"a.{suffix}", output="acc")

    def test_refuses_bytes_without_sense(self, tmp_path, suffix):
        (tmp_path / f"a.{suffix}").write_bytes(bytes(range(255, 0, -1)) * 4)
        refused("expected", tmp_path / f"a.{suffix}", output="acc")

    def test_refuses_the_content_of_another_and_says_what_it_is(self, tmp_path, suffix):
        other = hdf5(tmp_path / "b.h5", {"acc": FORCE}) if suffix not in ("h5", "nc", "mat") else tmp_path / "b.npz"
        if suffix in ("h5", "nc", "mat"):
            np.savez(other, acc=FORCE)
        (tmp_path / f"a.{suffix}").write_bytes(other.read_bytes())
        refused("rename it to end in .(h5|npz)", tmp_path / f"a.{suffix}", output="acc")

    def test_refuses_a_file_that_may_not_be_read(self, tmp_path, suffix, monkeypatch):
        def closed(*_, **__):
            raise PermissionError(13, "Permission denied")

        (tmp_path / f"a.{suffix}").write_bytes(b"something")
        monkeypatch.setattr("builtins.open", closed)
        refused(r"a file that may be read, .*Permission denied", tmp_path / f"a.{suffix}", output="acc")


@pytest.mark.parametrize(("suffix", "package"), [("h5", "h5py"), ("uff", "pyuff"), ("nc", "h5py")])
def test_a_package_that_is_not_installed_is_asked_for(tmp_path, monkeypatch, suffix, package):
    path = hdf5(tmp_path / f"a.{suffix}", {"acc": FORCE}) if suffix != "uff" else universal(tmp_path / "a.uff", {})
    monkeypatch.setitem(sys.modules, package, None)
    refused(rf"{package} installed, .* pip install 'vibayes\[formats\]'", path, output="acc")


def a_record() -> Record:
    return Record.from_arrays(
        rate=610.35,
        start=-0.25,
        input={"shaker": [0.1, -0.0, 1e-308]},
        output={"floor 1/φ": [0.1, np.nan, 0.3], "gap": [1.0, 2.0, 3.0]},
        units={"shaker": "kN", "gap": "mm"},
        metadata={"specimen": 7, "remark": "bolts « tightened »", "nested": {"a": [1, None]}},
    )


@pytest.mark.parametrize("suffix", ["mat", "h5", "hdf5"])
@pytest.mark.parametrize("part", [slice(None), slice(0, 1)])
def test_what_is_written_is_read_back_exactly(tmp_path, suffix, part):
    record = a_record() if part == slice(None) else Record.from_arrays(rate=2.0, output={"gap": [1.0]})
    write_record(record, tmp_path / f"a.{suffix}")
    again = read_record(tmp_path / f"a.{suffix}")
    for field in ("input", "output"):
        np.testing.assert_array_equal(getattr(again, field), getattr(record, field))
        np.testing.assert_array_equal(np.signbit(getattr(again, field)), np.signbit(getattr(record, field)))
    for field in ("start", "rate", "input_names", "output_names", "units", "metadata"):
        assert getattr(again, field) == getattr(record, field)


@pytest.mark.parametrize("suffix", ["mat", "h5", "npz", "csv"])
def test_one_channel_of_a_stored_record_can_be_chosen(tmp_path, suffix):
    write_record(a_record(), tmp_path / f"a.{suffix}")
    record = read_record(tmp_path / f"a.{suffix}", output="gap")
    assert (record.names, record.rate, record.start, record.units) == (("gap",), 610.35, -0.25, {"gap": "mm"})


def test_other_programs_find_names_and_units_in_what_was_written(tmp_path):
    write_hdf5(a_record(), tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.asarray(file["output"].attrs["names"]).tolist() == ["floor 1/φ", "gap"]
        assert np.asarray(file["input"].attrs["units"]).tolist() == ["kN"]
    write_mat(a_record(), tmp_path / "a.mat")
    assert scipy.io.loadmat(tmp_path / "a.mat")["time"].ravel().tolist() == a_record().times.tolist()


def test_records_are_not_written_in_formats_that_are_only_read(tmp_path):
    with pytest.raises(InvalidInput, match=r"a file ending in .csv, .*.h5, .hdf5, got 'a.uff'"):
        write_record(a_record(), tmp_path / "a.uff")


def test_a_clock_for_a_file_that_states_its_step_is_refused(tmp_path):
    refused("no array of times", universal(tmp_path / "a.uff", {}), output="acceleration 1+Z", time="t")


def test_a_damaged_key_in_a_comment_is_only_text(tmp_path):
    (tmp_path / "a.csv").write_text('# "a\\q": 1\ngap\n1\n2\n')
    assert read_csv(tmp_path / "a.csv", output="gap", rate=1.0).metadata == {'"a\\q"': 1}


def test_a_header_with_fields_of_other_kinds_is_refused(tmp_path):
    write_record(a_record(), tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text().replace('"input": {"shaker": "kN"}', '"input": [1]')
    (tmp_path / "a.csv").write_text(text)
    refused("the header of a stored record", tmp_path / "a.csv")
