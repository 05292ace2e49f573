"""Small files that would hang a reader or fill the memory end at a limit, in a message, and soon."""

import io
import resource
import struct
import time
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.io import look, read_record
from vibayes.study import read_study
from vibayes.units import require_unit

SECONDS = 4.0  # each takes milliseconds; before, minutes or for ever


@pytest.fixture(autouse=True)
def soon():
    start, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - start < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 300_000  # kB


def refused(path, match, content=None):
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in (lambda: look(path), lambda: read_record(path, output="y", rate=1.0)):
        with pytest.raises(InvalidInput, match=match) as problem:
            read()
        assert len(str(problem.value)) < 2000


@pytest.mark.parametrize(
    "unit",
    ["9**9**9**9", "9^9^9^9", "m**99999999", "(((9**20)**20)**20)**20", "9**(9**9)", "1e999999999 m",
     "m*" * 5000 + "m", "(" * 500 + "m" + ")" * 500, "10**400*m", "m" * 100_000, "-" * 100 + "m", "2**-1e9",
     "9 ** 9 ** 9 ** 9", "m²²²²²²²"],
)  # fmt: skip
def test_a_unit_is_no_sum_to_be_worked_out(tmp_path, unit):
    with pytest.raises(InvalidInput, match="unit"):
        require_unit("force", unit)
    if len(unit) < 500:
        path = tmp_path / "a.csv"
        path.write_text(f"time,y [{unit}]\n0,1\n1,2\n2,3\n")
        with pytest.raises(InvalidInput, match="unit"):
            read_record(path, output="y")
        look(path)


@pytest.mark.parametrize(
    "unit",
    ["m/s^2", "m/s2", "kN/mm", "m s-2", "m*s**-2", "(m/s)^2", "N*m/rad", "10^-6 m", "1/s", "µm", "m s^-2", "g_0",
     "kg/m^3", "m^0.5", "mV/(m/s^2)", "%", "degC", "°", "Ω", "V**2/Hz", "1e-3 m", "m²", "1000 N", "rad/s", "m.s^-1"],
)  # fmt: skip
def test_units_that_people_write_are_what_pint_takes_them_for(unit):
    import pint

    try:
        pint.get_application_registry().parse_units(unit)
    except Exception:
        pytest.skip("pint does not know it either")
    assert require_unit("x", unit) == unit


def test_two_hundred_thousand_columns_are_refused_and_ten_thousand_read_soon(tmp_path):
    path = tmp_path / "wide.csv"
    wide = ",".join(f"c{i}" for i in range(200_000))
    refused(path, "at most 10,000 columns", f"{wide}\n{wide.replace('c', '')}\n")
    names = [f"c{i}" for i in range(9_000)]
    path.write_text("\n".join([",".join(names), *[",".join(map(str, range(k, k + 9_000))) for k in range(3)]]))
    assert len(look(path).columns) == 9_000
    assert read_record(path, output=names, rate=1.0).output.shape == (3, 9_000)


def test_many_arrays_are_refused_in_other_formats_too(tmp_path):
    path = tmp_path / "many.npz"
    with zipfile.ZipFile(path, "w") as archive:
        memory = io.BytesIO()
        np.save(memory, np.arange(3.0))
        for number in range(10_001):
            archive.writestr(f"c{number}.npy", memory.getvalue())
    refused(path, "at most 10,000 columns")
    np.savez(tmp_path / "matrix.npz", y=np.zeros((20_000, 10_001), np.uint8))
    with pytest.raises(InvalidInput, match="at most 10,000 columns"):
        read_record(tmp_path / "matrix.npz", output="y", rate=1.0)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a." * 20_000 + "a = 1", "tables within one another"),
        ("[" + "a." * 20_000 + "a]", "tables within one another"),
        ('"a" . ' * 20_000 + "a = 1", "tables within one another"),
        ("x = { " + "a." * 20_000 + "a = 1 }", "tables within one another"),
        ("seed = 0x" + "f" * 100_000, "seed: expected .* 64 bits"),
        ("seed = 0b" + "1" * 100_000, "seed: expected .* 64 bits"),
        ("seed = " + "9" * 100_000, "digits"),
        ("simulation.rate = 0x" + "f" * 100_000, "simulation.rate: expected .* 64 bits"),
        ("model = [{ noise = 0x" + "f" * 100_000 + " }]", r"model\[0\].noise: expected .* 64 bits"),
        ("x = " + "[" * 5_000 + "]" * 5_000, "brackets|tables within one another"),
    ],
)  # fmt: skip
def test_study_files_without_end_are_refused(tmp_path, text, match):
    path = tmp_path / "deep.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=match) as problem:
        read_study(path)
    assert len(str(problem.value)) < 2000


def test_text_with_many_dots_is_still_text(tmp_path):
    path = tmp_path / "dots.toml"
    path.write_text('title = "a.b.c ... and so on ' + "x. " * 100 + '"\n# ' + "a . " * 100 + "\nseed = 'one'\n")
    with pytest.raises(InvalidInput, match="seed: expected a whole number"):
        read_study(path)


def test_archives_that_unpack_to_a_thousand_times_their_size_are_refused(tmp_path):
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**8,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("y.npy", "w") as member:
        member.write(header.getvalue())
        for _ in range(100):
            member.write(bytes(10**6))
    refused(path, "at most 100 times the file")


def test_arrays_larger_than_their_archive_are_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**10,)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("y.npy", header.getvalue() + bytes(80))
    refused(tmp_path / "a.npz", "NumPy archive|array")


def packed(*elements):
    """A MAT file of version 5 with compressed elements."""
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + b"".join(struct.pack("<II", 15, len(each)) + each for each in map(zlib.compress, elements))


def matrix(kind, dimensions, *parts, name=b"y"):
    shape = struct.pack(f"<{len(dimensions)}i", *dimensions)
    body = struct.pack("<IIII", 6, 8, kind, 0) + element(5, shape) + element(1, name) + b"".join(parts)
    return element(14, body)


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def test_mat_files_that_unpack_to_a_thousand_times_their_size_are_refused(tmp_path):
    zeros = element(9, bytes(10**8))
    refused(tmp_path / "a.mat", "at most 100 times the file", packed(matrix(6, (10**8 // 8, 1), zeros)))
    one = matrix(6, (10**7 // 8, 1), element(9, bytes(10**7)))
    refused(tmp_path / "b.mat", "at most 100 times the file", packed(*[one] * 8))


def test_structures_and_cells_of_a_mat_file_cannot_be_larger_than_the_file(tmp_path):
    fields = element(5, struct.pack("<i", 32)) + element(1, b"")
    refused(tmp_path / "a.mat", "MAT file", packed(matrix(2, (10_000, 100_000), fields)))
    refused(tmp_path / "b.mat", "MAT file", packed(matrix(1, (10_000, 0, 2_000_000_000), b"")))
    nested = matrix(6, (1, 1), element(9, bytes(8)))
    for _ in range(3_000):
        nested = matrix(1, (1, 1), nested)
    refused(tmp_path / "c.mat", "MAT file", packed(nested))


def test_old_mat_files_cannot_be_larger_than_the_file(tmp_path):
    refused(tmp_path / "a.mat", "MAT file", struct.pack("<iiiii", 0, 2**30, 2**10, 0, 2) + b"y\0" + bytes(80))


@pytest.mark.parametrize("where", ["dimension", "records", "attributes", "variables"])
def test_netcdf_cannot_be_larger_than_the_file(tmp_path, where):
    memory = io.BytesIO()
    with scipy.io.netcdf_file(memory, "w") as file:
        file.createDimension("time", None if where == "records" else 12)
        variable = file.createVariable("y", "d", ("time",))
        variable[:] = np.arange(12.0)
        file.flush()
        content = bytearray(memory.getvalue())
    big = struct.pack(">i", 2**31 - 2)
    place = {
        "records": 4,
        "dimension": content.index(b"time") + 4,
        "attributes": content.index(b"time") + 12,
        "variables": content.index(b"y\0\0\0") - 8,
    }[where]
    content[place : place + 4] = big
    path = tmp_path / "a.nc"
    path.write_bytes(content)
    try:
        record = read_record(path, output="y", rate=1.0)
        assert record.samples <= 12
    except InvalidInput:
        pass


@pytest.mark.parametrize("binary", [0, 1])
def test_universal_files_cannot_state_more_points_than_they_have(tmp_path, binary):
    pyuff = pytest.importorskip("pyuff")
    usual = {"func_type": 1, "rsp_node": 1, "rsp_dir": 3, "ref_node": 1, "ref_dir": 3, "abscissa_spacing": 1}
    usual |= {"abscissa_spec_data_type": 17, "ordinate_spec_data_type": 12, "orddenom_spec_data_type": 0, "id1": "a"}
    usual |= {"abscissa_min": 0.0, "abscissa_inc": 0.01, "num_pts": 12, "x": np.arange(12.0), "data": np.arange(12.0)}
    path = tmp_path / "a.uff"
    pyuff.UFF(str(path)).write_sets(pyuff.prepare_58(**usual, binary=binary), "add")
    content = path.read_bytes()
    assert content.count(b"        12") >= 1
    refused(path, "universal file|values", content.replace(b"        12", b"9999999999"))


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 300_000 + "b\ntime,y\n0,1\n1,2\n",
        "# a: b" + " " * 300_000 + "c\ntime,y\n0,1\n1,2\n",
        '# "a' + "\\x" * 150_000 + "\ntime,y\n0,1\n1,2\n",
        "time,y\n0,1\n1," + "2" * 100_000 + "\n",
        "time,y" + "(" * 120_000 + "\n0,1\n1,2\n",
        "time,y" + " " * 120_000 + "x\n0,1\n1,2\n",
        "# a: " + "[" * 100_000 + "\ntime,y\n0,1\n1,2\n",
        "# vibayes.record: " + "[" * 100_000 + "\ntime,y\n0,1\n1,2\n",
    ],
)
def test_text_that_a_pattern_would_go_over_again_and_again_is_read_once(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    for read in (lambda: look(path).suggested(), lambda: read_record(path, output="y", rate=1.0)):
        try:
            read()
        except InvalidInput as problem:
            assert len(str(problem)) < 2000


@pytest.mark.parametrize(
    "line",
    ["NPTS=" + " " * 300_000 + "x", "NPTS= 3" + " " * 300_000 + "x", "NPTS= " + "9" * 100_000 + ", DT= .01 SEC",
     " " * 300_000 + "3 x"],
)  # fmt: skip
def test_headings_of_ground_motions_are_short(tmp_path, line):
    refused(tmp_path / "a.at2", "NPTS", f"PEER\nX\nACCELERATION IN UNITS OF G\n{line}\n.1 .2 .3\n")


def test_an_excitation_of_a_study_has_not_more_samples_than_a_record(tmp_path):
    from vibayes.study.simulation import simulated

    path = tmp_path / "long.toml"
    path.write_text(
        '[simulation]\nexcitation = { type = "band_limited_noise", key = 1, rate = 100.0, samples = 100_000_000_000 }\n'
        '[structure]\nmass = 1.0\nelements = [{ type = "Spring", stiffness = 10.0 }]\n'
    )
    with pytest.raises(InvalidInput, match=r"samples: expected at most"):
        simulated(path, {})
    assert vb.band_limited_noise is not None
