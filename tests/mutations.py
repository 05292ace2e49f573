"""Sound files of every format, and what may happen to them: shared by tests and by the attack `verify/inputs.py`.

Everything random is drawn from a `random.Random` that is given, so that a try can be made again.
"""

import io
import random
import re
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pyuff
import scipy.io
from scipy.io import netcdf_file

from vibayes.io import write_record
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


WORDS = [
    "Spring", "Uniform", "Structure.chain", "infer", "write_csv", "Element", "Posterior", "math:pi", "os:nothing",
    "nan", "inf", "-inf", "0", "-1", "1e400", "99999999999999999999", "0xffffffffffffffffffff", "true", "[]", "{}",
    '""', '"k"', "[[[[1]]]]", "1979-05-27T07:32:00Z", "'''\n'''", '"\u0000"', '"mass"', '"ground"', "[1, 'a', true]",
    '{ type = "Spring" }', '{ type = "vibayes:Problem" }', "0.0", "1e-320", '"package.module:Name"', '"a:b:c"',
    '"Structure."', "9" * 5000, "0x" + "f" * 5000, "a." * 60 + "a", "[" * 60 + "]" * 60, "-9223372036854775808",
    '{ type = "os:system", command = "exit" }', '"flag_joint:os"', '"x" * 2', "1e308", "-0.0",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 7, 255, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1]
"""That a header may state in place of its own."""


def mutated_study(rng: random.Random, text: str) -> bytes:
    """The text with one thing done to it that a person, an editor or a disk might do."""
    lines = text.splitlines()
    kind = rng.randrange(8)
    line = rng.randrange(len(lines))
    if kind == 0:  # a line gone
        del lines[line]
    elif kind == 1:  # a line twice, or elsewhere
        lines.insert(rng.randrange(len(lines)), lines[line])
    elif kind == 2:  # another value
        lines[line] = re.sub(r"= *(.*)$", lambda _: f"= {rng.choice(WORDS)}", lines[line])
    elif kind == 3:  # another value within a table
        values = list(re.finditer(r'= ("[^"]*"|[-\d.e]+)', text))
        chosen = rng.choice(values)
        return (text[: chosen.start()] + f"= {rng.choice(WORDS)}" + text[chosen.end() :]).encode()
    elif kind == 4:  # a word misspelt, or another one of the file
        words = list(re.finditer(r"[A-Za-z_]\w+", text))
        chosen, other = rng.choice(words), rng.choice(words)
        spelt = other.group() if rng.random() < 0.5 else chosen.group()[:-1] + rng.choice("aeiouxyz")
        return (text[: chosen.start()] + spelt + text[chosen.end() :]).encode()
    elif kind == 5:  # bytes
        content = bytearray(text.encode())
        for _ in range(rng.randrange(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        return bytes(content)
    elif kind == 6:  # cut off
        return text.encode()[: rng.randrange(len(text))]
    else:  # a key more
        lines.insert(line, f"{rng.choice(['type', 'name', 'extra', 'low', 'a.b'])} = {rng.choice(WORDS)}")
    return "\n".join(lines).encode()


def damaged(rng: random.Random, content: bytes, name: str) -> bytes:
    """The bytes of a file after a mishap, or after somebody meant it ill."""
    suffix = name.rpartition(".")[2]
    inside = suffix == "npz" or name == "packed.mat"
    if inside and rng.random() < 0.4:  # past the checksums of the archive
        return within_archive(rng, content) if suffix == "npz" else within_elements(rng, content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(_WAYS)(rng, content) if content else content
    return content


def within_archive(rng: random.Random, content: bytes) -> bytes:
    """A zip archive, one member of which was damaged before it was packed."""
    memory = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, rng.choice(_WAYS)(rng, data) if name == chosen else data)
    return memory.getvalue()


def within_elements(rng: random.Random, content: bytes) -> bytes:
    """A MAT file, one compressed element of which was damaged before it was packed."""
    place, parts = 128, []
    while place + 8 <= len(content):
        size = struct.unpack_from("<I", content, place + 4)[0]
        parts.append(zlib.decompress(content[place + 8 : place + 8 + size]))
        place += 8 + size
    chosen = rng.randrange(len(parts))
    parts[chosen] = rng.choice(_WAYS)(rng, parts[chosen])
    packed = [zlib.compress(each) for each in parts]
    return content[:128] + b"".join(struct.pack("<II", 15, len(each)) + each for each in packed)


def _bytes(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randrange(1, 5)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _bit(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def _whole_number(rng: random.Random, content: bytes) -> bytes:
    """A number of two, four or eight bytes is another one; most of them are lengths."""
    size = rng.choice((2, 4, 4, 8))
    if len(content) < size:
        return content
    place = rng.randrange(0, len(content) - size + 1)
    place -= place % rng.choice((1, 2, size))
    value = rng.choice(NUMBERS) % (1 << 8 * size)
    return content[:place] + value.to_bytes(size, rng.choice(("little", "big"))) + content[place + size :]


def _written_number(rng: random.Random, content: bytes) -> bytes:
    """A number in digits is another one."""
    found = list(re.finditer(rb"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", content))
    if not found:
        return _bytes(rng, content)
    chosen = rng.choice(found)
    other = rng.choice([*map(str, NUMBERS), "nan", "inf", "1e400", "", "9" * 30, "-", "1e-320", "9" * 5000])
    text = other.rjust(chosen.end() - chosen.start()) if rng.random() < 0.5 else other
    return content[: chosen.start()] + text.encode() + content[chosen.end() :]


def _block(rng: random.Random, content: bytes) -> tuple[int, int]:
    if b"\n" in content[:200] and rng.random() < 0.7:  # a line
        ends = [0, *(found.end() for found in re.finditer(rb"\n", content)), len(content)]
        number = rng.randrange(len(ends) - 1)
        return ends[number], ends[number + 1]
    start = rng.randrange(len(content))
    return start, min(len(content), start + rng.choice((1, 4, 8, 16, 64, 256)))


def _twice(rng: random.Random, content: bytes) -> bytes:
    start, stop = _block(rng, content)
    return content[:stop] + content[start:stop] * rng.choice((1, 1, 3, 100)) + content[stop:]


def _gone(rng: random.Random, content: bytes) -> bytes:
    start, stop = _block(rng, content)
    return content[:start] + content[stop:]


def _moved(rng: random.Random, content: bytes) -> bytes:
    start, stop = _block(rng, content)
    place = rng.randrange(len(content))
    return content[:place] + content[start:stop] + content[place + stop - start :]


def _blank(rng: random.Random, content: bytes) -> bytes:
    start, stop = _block(rng, content)
    return content[:start] + rng.choice((b"\0", b"\xff", b" ")) * (stop - start) + content[stop:]


_WAYS = (_bytes, _bytes, _bit, _cut, _whole_number, _whole_number, _whole_number, _written_number, _written_number,
         _twice, _gone, _moved, _blank)  # fmt: skip
