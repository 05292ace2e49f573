"""A look into a file tells its columns and guesses well enough to begin with."""

import h5py
import numpy as np
import pytest
import scipy.io

from vibayes.io import look, read_record, write_record
from vibayes.record import Record


def written(tmp_path, text: str):
    (tmp_path / "a.csv").write_text(text)
    return tmp_path / "a.csv"


def test_columns_are_described(tmp_path):
    contents = look(written(tmp_path, "Time (ms);who;force [kN];gap\n0;A;1.5;0\n5;B;2.5;NA\n10;C;3.5;2\n"))
    assert (contents.rate, contents.time, contents.others) == (200.0, "Time", (("who", "text"),))
    force, gap = contents.columns[1:]
    assert (force.name, force.unit, force.samples, force.low, force.high) == ("force", "kN", 3, 1.5, 3.5)
    assert (gap.unit, gap.finite, gap.samples) == ("", 2, 3)


@pytest.mark.parametrize(
    ("headings", "inputs", "outputs"),
    [
        ("time,force,acc", ["force"], ["acc"]),
        ("t,acc_1,acc_2,hammer", ["hammer"], ["acc_1", "acc_2"]),
        ("time,a [m/s^2],b [N]", ["b"], ["a"]),
        ("time,base [g_0],roof [g_0]", ["base"], ["roof"]),
        ("time,u,y", ["u"], ["y"]),
        ("time,V1,V2", ["V1"], ["V2"]),
        ("time,one,two,three", ["one"], ["two", "three"]),
        ("time,one", [], ["one"]),
        ("time,Force (V),Force (N),Displacement (mm)", ["Force (N)"], ["Displacement"]),
        ("time,groundAcceleration,roofAcceleration", ["groundAcceleration"], ["roofAcceleration"]),
    ],
)
def test_inputs_and_outputs_are_guessed_from_names_and_units(tmp_path, headings, inputs, outputs):
    width = headings.count(",") + 1
    rows = "".join(",".join(str(row * (column + 1) / 10) for column in range(width)) + "\n" for row in range(4))
    path = written(tmp_path, f"{headings}\n{rows}")
    guess = look(path).suggested()
    assert (list(guess.input), list(guess.output), guess.time) == (
        inputs,
        outputs,
        "time" if "time" in headings else "t",
    )
    assert read_record(path, guess.input or None, guess.output, guess.time, guess.rate).samples == 4


def test_what_never_changes_and_what_is_shorter_is_not_suggested(tmp_path):
    scipy.io.savemat(
        tmp_path / "a.mat", {"f": np.arange(9.0), "y": np.arange(9.0), "zero": np.zeros(9), "y_val": np.arange(5)}
    )
    assert look(tmp_path / "a.mat").suggested().output == ("y",)


def test_a_rounded_clock_is_replaced_by_its_rate(tmp_path):
    times = "".join(f"{row / 3:.2f},{row % 2}\n" for row in range(31))
    guess = look(written(tmp_path, f"time,y\n{times}")).suggested()
    assert (guess.time, guess.rate) == (None, 3.0)


def test_a_clock_is_known_by_its_unit(tmp_path):
    assert look(written(tmp_path, "x [ms],y\n0,1\n2,2\n4,0\n")).rate == 500.0


def test_rows_of_a_matrix_that_lies_on_its_side_are_offered(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["acc"], file["cube"] = np.arange(24.0).reshape(2, 12), np.zeros((2, 12, 2))
        file.attrs["fs"] = 50.0
    contents = look(tmp_path / "a.h5")
    assert [column.name for column in contents.columns] == ["acc[0,:]", "acc[1,:]"]
    assert contents.others == (("cube", "an array of shape (2, 12, 2)"),)
    assert read_record(tmp_path / "a.h5", output=contents.suggested().output).samples == 12


@pytest.mark.parametrize("suffix", ["csv", "npz", "mat", "h5"])
def test_roles_in_a_stored_record_are_no_guess(tmp_path, suffix):
    record = Record.from_arrays(rate=2.0, input={"roof": [1.0, 2.0]}, output={"force": [0.0, 1.0]})
    write_record(record, tmp_path / f"a.{suffix}")
    guess = look(tmp_path / f"a.{suffix}").suggested()
    assert (guess.input, guess.output, guess.time, guess.rate) == (("roof",), ("force",), None, 2.0)


def test_measured_files_are_looked_into(data):
    beam = look(data / "brake_reuss_beam" / "HammerImpact.mat")
    assert (beam.rate, beam.time, len(beam.suggested().output)) == (12800.0, "HIdata.time", 3)
    assert look(data / "emps" / "DATA_EMPS.mat").suggested().rate == 1000.0
    motion = look(data / "ground_motions" / "RSN77_SFERN_PUL164-hor1.AT2")
    assert (motion.rate, motion.columns[0].unit, motion.suggested().input) == (100.0, "g_0", ("acceleration",))
