"""Files give records back exactly, are understood as engineers write them, and are refused with a remedy."""

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vibayes.errors import InvalidInput
from vibayes.io import read_csv, read_npz, read_record, write_csv, write_npz, write_record
from vibayes.record import Record

quick = settings(deadline=None, max_examples=60, derandomize=True)

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@st.composite
def records(draw) -> Record:
    samples = draw(st.integers(1, 6))
    channels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    inputs = draw(st.integers(0, len(channels)))

    def column(values):
        return np.array(draw(st.lists(values, min_size=samples, max_size=samples)))

    unit = st.sampled_from(["", "N", "m/s^2", "degC", "dimensionless"])
    return Record.from_arrays(
        rate=draw(st.floats(1e-3, 1e6)),
        start=draw(st.floats(-1e6, 1e6)),
        input={name: column(finite) for name in channels[:inputs]} or None,
        output={name: column(finite | st.just(np.nan)) for name in channels[inputs:]} or None,
        units={name: draw(unit) for name in channels},
        metadata=draw(st.dictionaries(st.text(max_size=6), json_values, max_size=3)),
    )


def assert_same(one: Record, other: Record) -> None:
    for field in ("input", "output"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
        np.testing.assert_array_equal(np.signbit(getattr(one, field)), np.signbit(getattr(other, field)))
    for field in ("start", "rate", "names", "input_names", "units", "metadata"):
        assert getattr(one, field) == getattr(other, field)


@pytest.fixture
def file(tmp_path):
    """Write text to a file and give its path."""

    def write(text: str, name: str = "test07.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def a_record(**changes) -> Record:
    given = {"rate": 100.0, "input": {"force": [0.0, 1.0, 0.5]}, "output": {"gap": [0.1, np.nan, 0.3]}}
    return Record.from_arrays(**(given | changes), units={"force": "N"}, metadata={"specimen": "A7"})


# Round trips


@pytest.mark.slow
@quick
@given(record=records())
def test_a_record_comes_back_from_csv_exactly(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "record.csv"
    write_csv(record, path)
    assert_same(read_csv(path), record)


@quick
@given(record=records())
def test_a_record_comes_back_from_npz_exactly(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("npz") / "record.npz"
    write_npz(record, path)
    assert_same(read_npz(path), record)


@pytest.mark.parametrize("name", ["record.csv", "record.TXT", "record.npz"])
def test_the_suffix_chooses_the_format(tmp_path, name):
    write_record(a_record(), tmp_path / name)
    assert_same(read_record(tmp_path / name), a_record())


def test_a_stored_file_may_still_be_read_by_columns(tmp_path):
    write_csv(a_record(), tmp_path / "a.csv")
    assert read_csv(tmp_path / "a.csv", output="gap").names == ("gap",)


def test_a_stored_file_read_by_columns_keeps_its_rate(tmp_path):
    write_csv(a_record(rate=610.35), tmp_path / "a.csv")
    assert read_csv(tmp_path / "a.csv", output="gap").rate == 610.35


def test_a_stored_unit_can_be_corrected_on_reading(tmp_path):
    write_record(a_record(), tmp_path / "a.npz")
    assert read_record(tmp_path / "a.npz", units={"force": "kN"}).units["force"] == "kN"


def test_a_stored_file_cut_short_by_hand_is_still_a_record(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(a_record(), path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    assert read_csv(path).samples == 2


# Writing


def test_writing_leaves_no_temporary_file(tmp_path):
    write_record(a_record(), tmp_path / "a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_writing_replaces_what_was_there(tmp_path):
    for rate in (100.0, 200.0):
        write_record(a_record(rate=rate), tmp_path / "a.csv")
    assert read_record(tmp_path / "a.csv").rate == 200.0


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise OSError("disk full")

    write_record(a_record(), tmp_path / "a.npz")
    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="disk full"):
        write_record(a_record(rate=200.0), tmp_path / "a.npz")
    monkeypatch.undo()
    assert (read_record(tmp_path / "a.npz").rate, os.listdir(tmp_path)) == (100.0, ["a.npz"])


def test_writing_into_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"write_csv: expected an existing folder, .* create it first"):
        write_csv(a_record(), tmp_path / "nowhere" / "a.csv")


def test_writing_onto_a_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="add a file name"):
        write_npz(a_record(), tmp_path)


@pytest.mark.parametrize("verb", [read_record, lambda path: write_record(a_record(), path)])
def test_an_unknown_suffix_is_refused(verb, tmp_path):
    with pytest.raises(InvalidInput, match=r"a file ending in .csv, .* got 'a.xlsx'"):
        verb(tmp_path / "a.xlsx")


# Text as engineers write it

TEXT = "time,force,gap\n0.0,1.0,5\n0.1,2.0,6\n0.2,3.0,7\n"


def test_columns_are_chosen_by_name(file):
    assert read_csv(file(TEXT), input="force", output="gap").channel("gap").tolist() == [5.0, 6.0, 7.0]


def test_a_name_with_a_unit_in_it_is_only_a_name(file):
    record = read_csv(file("force_N\n1\n2\n"), output="force_N", rate=10.0)
    assert record.units == {"force_N": ""}


@pytest.mark.parametrize("heading", ["force [N]", "force (N)", "force[N]", " force [ N ] "])
def test_a_unit_in_brackets_is_the_unit_of_the_channel(file, heading):
    assert read_csv(file(f"{heading}\n1\n2\n"), output="force", rate=10.0).units == {"force": "N"}


def test_a_column_may_be_called_by_its_whole_heading(file):
    text = "Force (V),Force (N)\n1,10\n2,20\n"
    assert read_csv(file(text), output="Force (N)", rate=10.0).channel("Force").tolist() == [10.0, 20.0]


def test_columns_that_differ_only_in_unit_keep_their_whole_headings(file):
    record = read_csv(file("Force (V),Force (N)\n1,10\n2,20\n"), output=["Force (V)", "Force (N)"], rate=10.0)
    assert record.units == {"Force (V)": "V", "Force (N)": "N"}


def test_a_given_unit_replaces_that_of_the_heading(file):
    record = read_csv(file("acc [g]\n1\n2\n"), output="acc", rate=10.0, units={"acc": "g_0"})
    assert record.units == {"acc": "g_0"}


def test_brackets_that_hold_no_unit_need_one(file):
    path = file("acc (filtered)\n1\n2\n")
    assert read_csv(path, output="acc", rate=10.0, units={"acc": "m/s^2"}).units == {"acc": "m/s^2"}


@pytest.mark.parametrize("heading", ["time [ms]", "T (ms)"])
def test_the_time_column_is_found_and_converted_to_seconds(file, heading):
    assert read_csv(file(f"{heading},gap\n0,1\n5,2\n10,3\n"), output="gap").rate == 200.0


def test_the_unit_of_the_time_column_can_be_given(file):
    path = file("clock,gap\n0,1\n5,2\n10,3\n")
    assert read_csv(path, output="gap", time="clock", units={"clock": "ms", "gap": "mm"}).rate == 200.0


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "NA", "n/a"])
def test_a_missing_cell_in_an_output_is_known_as_missing(file, cell):
    record = read_csv(file(f"a,b\n1,1\n2,{cell}\n3,3\n"), output="b", rate=1.0)
    assert record.missing[:, 0].tolist() == [False, True, False]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(file, delimiter):
    assert read_csv(file(TEXT.replace(",", delimiter)), output="gap").samples == 3


def test_columns_may_be_separated_by_blanks(file):
    assert read_csv(file(TEXT.replace(",", "   ")), output="gap", delimiter=" ").samples == 3


def test_a_delimiter_at_the_end_of_each_line_is_no_column(file):
    assert read_csv(file('"V1","V2",\n1,2,\n3,4,\n'), output="V2", rate=1.0).channel("V2").tolist() == [
        2.0,
        4.0,
    ]


def test_the_mark_that_spreadsheets_put_first_is_no_part_of_a_name(file):
    assert read_csv(file("\ufeff" + TEXT), output="gap").samples == 3


def test_line_ends_of_windows_and_blank_lines_are_understood(file):
    assert read_csv(file(TEXT.replace("\n", "\r\n") + "\r\n\r\n"), output="gap").samples == 3


def test_comments_above_the_headings_become_metadata(file):
    record = read_csv(file("# specimen: A7\n# gain: 2.5\n# by hand\n" + TEXT), output="gap")
    assert record.metadata == {"specimen": "A7", "gain": 2.5, "comments": ["by hand"]}


def test_text_in_a_column_that_is_not_chosen_does_not_matter(file):
    assert read_csv(file("who,gap\nAda,1\nBob,2\n"), output="gap", rate=1.0).samples == 2


def test_a_foreign_archive_is_read_by_the_names_of_its_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", t=np.arange(4) / 8, u=np.ones((4, 1)), y=np.arange(8.0).reshape(4, 2))
    record = read_npz(tmp_path / "a.npz", input="u", output="y")
    assert (record.names, record.rate) == (("u", "y[0]", "y[1]"), 8.0)


# What is refused, and what to do about it


def refused(message: str, path, **choices) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_record(path, **choices)


def test_a_file_that_is_not_there_is_refused_with_the_nearest(file):
    refused("'.*test70.csv', which does not exist; did you mean 'test07.csv'", file(TEXT).with_name("test70.csv"))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    refused("whose folder does not exist", tmp_path / "nowhere" / "a.csv")


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "a.csv").mkdir()
    refused("name a file in it", tmp_path / "a.csv")


def test_an_unknown_column_is_refused_with_the_nearest(file):
    refused(r"read_csv\('test07.csv'\): .* got 'Forces'; did you mean 'force'", file(TEXT), input="Forces")


def test_a_name_that_fits_two_columns_is_refused(file):
    path = file("Force (V),Force (N)\n1,10\n2,20\n")
    refused("one column 'Force', got 2: .* write its heading in full", path, output="Force", rate=1.0)


def test_text_in_a_column_of_numbers_is_refused_with_its_place(file):
    refused("a number on line 3, column 'gap', got 'broken'", file(TEXT.replace("6", "broken")), output="gap")


def test_a_decimal_comma_is_refused_with_its_cure(file):
    refused("got '1,5'; write decimals with a point", file("gap;b\n1,5;2\n2,5;3\n"), output="gap", rate=1.0)


def test_a_clock_of_dates_is_refused_with_its_cure(file):
    refused(
        "give rate= instead",
        file("time,gap\n2025-11-14 19:45:00.37,1\n2025-11-14 19:45:00.38,2\n"),
        output="gap",
    )


def test_a_row_that_is_too_short_is_refused_with_its_line(file):
    refused("3 cells on line 3, one for each heading, got 2", file(TEXT.replace(",6", "")), output="gap")


def test_a_row_that_is_too_long_is_refused_with_its_line(file):
    refused("3 cells on line 3, one for each heading, got 4", file(TEXT.replace("6", "6,6")), output="gap")


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(file, text):
    refused("got an empty file", file(text), output="gap")


def test_a_file_of_comments_is_refused(file):
    refused("got only comments", file("# specimen: A7\n"), output="gap")


def test_headings_without_rows_are_refused(file):
    refused("rows of numbers under the headings, got none", file("time,gap\n"), output="gap")


def test_a_file_without_headings_is_refused(file):
    refused("a first line of headings", file("0.0,1.0\n0.1,2.0\n"), output="gap")


def test_a_gap_in_an_input_is_refused(file):
    refused(r"Record.input\['force'\]: .* NaN at samples 1", file(TEXT.replace("2.0", "")), input="force")


def test_no_columns_chosen_is_refused_with_the_choice(file):
    refused("choose among 'time', 'force', 'gap'", file(TEXT))


def test_no_time_and_no_rate_is_refused(file):
    refused("a column of times or a rate", file("a,b\n1,2\n3,4\n"), output="b")


def test_a_time_column_in_millimetres_is_refused(file):
    refused("same dimension as 'mm', got 's'", file("time [mm],b\n1,2\n3,4\n"), output="b")


def test_an_unknown_unit_in_a_heading_is_refused(file):
    refused("column 'b .Newton.': expected a unit known to pint", file("b [Newton]\n1\n2\n"), output="b", rate=1.0)


def test_a_delimiter_of_two_characters_is_refused(file):
    refused("a delimiter of one character", file(TEXT), output="gap", delimiter="::")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"gap\n\xff\xfe\n")
    refused("text in UTF-8", tmp_path / "a.csv", output="gap")


def test_a_stored_file_with_another_column_is_refused(tmp_path):
    write_csv(a_record(), tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text().replace("force [N],gap", "gap,force [N]")
    (tmp_path / "a.csv").write_text(text)
    refused(r"the columns \['time \[s\]', 'force \[N\]', 'gap'\]", tmp_path / "a.csv")


def test_a_stored_file_with_a_row_taken_out_is_refused(tmp_path):
    write_csv(a_record(), tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[:4] + lines[5:]))
    refused("the time 0.01 on line 5, got 0.02", tmp_path / "a.csv")


def test_a_damaged_header_is_refused(tmp_path):
    write_csv(a_record(), tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace('"rate"', '"rat"'))
    refused("the header of a stored record", tmp_path / "a.csv")


def test_a_header_of_a_later_format_is_refused(tmp_path):
    write_csv(a_record(), tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace('"format": 1', '"format": 2'))
    refused("expected format 1, got format 2", tmp_path / "a.csv")


def test_an_archive_that_is_none_is_refused(file):
    refused("a NumPy archive", file("not zipped", "a.npz"), output="gap")


def test_an_archive_of_objects_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", gap=np.array([{}], dtype=object))
    refused("an array of real numbers in .gap., got Python objects", tmp_path / "a.npz", output="gap", rate=1.0)


def test_a_single_array_is_no_archive(file):
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    path = file("", "a.npz")
    path.write_bytes(buffer.getvalue())
    refused("a NumPy archive", path, output="gap", rate=1.0)


def test_an_unknown_array_is_refused_with_the_nearest(tmp_path):
    np.savez(tmp_path / "a.npz", gap=np.ones(3))
    refused("got 'gab'; did you mean 'gap'", tmp_path / "a.npz", output="gab", rate=1.0)


def test_a_foreign_archive_without_choice_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", gap=np.ones(3))
    refused("choose among 'gap'", tmp_path / "a.npz")


def test_a_transposed_array_in_an_archive_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", y=np.ones((2, 9)))
    refused("'y' of shape .samples, channels., got .2, 9.; transpose it", tmp_path / "a.npz", output="y", rate=1.0)


def test_a_delimiter_for_an_archive_is_refused(tmp_path):
    write_record(a_record(), tmp_path / "a.npz")
    refused("no delimiter for an archive", tmp_path / "a.npz", delimiter=",")


def test_a_stored_archive_with_a_part_missing_is_refused(tmp_path):
    write_record(a_record(), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        parts = {key: archive[key] for key in archive.files if key != "output"}
    np.savez(tmp_path / "a.npz", **parts)
    refused("all parts of a stored record", tmp_path / "a.npz")
