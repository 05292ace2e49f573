"""Whatever happened to a file, reading it gives a record or one of our errors: nothing else, and no crash."""

import h5py
import numpy as np
import pytest
import pyuff
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import netcdf_file

from vibayes.errors import InvalidInput
from vibayes.io import look, read_record, write_record
from vibayes.record import Record

TIME = np.arange(12) / 100.0
RECORD = Record.from_arrays(
    rate=100.0, input={"f": np.sin(TIME)}, output={"y": TIME}, units={"f": "N"}, metadata={"specimen": 7}
)
PEER = "PEER NGA\nX, 1/1/70\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 4, DT= .01 SEC\n.1 .2 -.3\n.4\n"


def mat(path, **options):
    scipy.io.savemat(
        path, {"time": TIME, "data": {"y": np.ones((12, 2)), "fs": 100.0, "by": "Ada"}, "z": 1j * TIME}, **options
    )


def hdf5(path):
    with h5py.File(path, "w") as file:
        file["time"], file["run/y"] = TIME, np.ones((12, 2))
        # Of fixed length: HDF5 believes a damaged length of other texts, and takes seconds to make gigabytes of one.
        file["run/y"].attrs["units"] = np.bytes_("m/s^2")
        file.create_dataset("y", data=TIME, compression="gzip", chunks=(6,))


def mat73(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        file["y"] = np.ones((1, 12))
        file["y"].attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def netcdf(path):
    with netcdf_file(str(path), "w") as file:
        file.createDimension("time", 12)
        for name in ("time", "y"):
            variable = file.createVariable(name, "d", ("time",))
            variable[:], variable.units = TIME, b"s"


def uff(path, binary):
    usual: dict = {"func_type": 1, "rsp_node": 1, "rsp_dir": 3, "ref_node": 1, "ref_dir": 3, "abscissa_spacing": 1}
    usual |= {"abscissa_spec_data_type": 17, "ordinate_spec_data_type": 12, "orddenom_spec_data_type": 0, "id1": "a"}
    usual |= {"abscissa_min": 0.0, "abscissa_inc": 0.01, "num_pts": 12, "x": TIME, "data": np.sin(TIME)}
    pyuff.UFF(str(path)).write_sets(pyuff.prepare_58(**usual, binary=binary), "add")


MAKERS = {
    "columns.csv": lambda path: path.write_text("# by: Ada\ntime [s],f [N],y\n0,1,2\n0.1,,3\n0.2,4,5\n"),
    "stored.csv": lambda path: write_record(RECORD, path),
    "stored.npz": lambda path: write_record(RECORD, path),
    "stored.h5": lambda path: write_record(RECORD, path),
    "stored.mat": lambda path: write_record(RECORD, path),
    "arrays.npz": lambda path: np.savez(path, time=TIME, y=np.ones((12, 2))),
    "plain.mat": mat,
    "packed.mat": lambda path: mat(path, do_compression=True),
    "old.mat": lambda path: scipy.io.savemat(path, {"time": TIME, "y": TIME}, format="4"),
    "new.mat": mat73,
    "arrays.h5": hdf5,
    "version4.nc": hdf5,
    "version3.nc": netcdf,
    "text.uff": lambda path: uff(path, 0),
    "binary.uff": lambda path: uff(path, 1),
    "motion.at2": lambda path: path.write_text(PEER),
}


@pytest.fixture(scope="module", params=MAKERS)
def whole(request, tmp_path_factory):
    """The bytes of a sound file, and a place for damaged ones."""
    path = tmp_path_factory.mktemp("sound") / request.param
    MAKERS[request.param](path)
    assert look(path).columns
    return path.read_bytes(), path.with_name(f"damaged-{request.param}")


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_damaged_file_gives_a_record_or_our_error(whole, data):
    content, path = bytearray(whole[0]), whole[1]
    if data.draw(st.integers(0, 3)) == 0:
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        read_record(path)
    except InvalidInput:
        pass
    try:
        wanted = look(path).suggested()
        record = read_record(path, wanted.input or None, wanted.output or None, wanted.time, wanted.rate)
        assert isinstance(record, Record)
    except InvalidInput as error:
        assert error.remedy and error.where
