"""The demonstration leaves what it says it leaves."""

import csv

import pytest

pytest.importorskip("matplotlib")
from vibayes.demo import main


@pytest.mark.slow
def test_demo_writes_pictures_and_events_and_says_so(tmp_path, capsys):
    main(["--out", str(tmp_path / "new" / "folder")])
    told = capsys.readouterr().out
    for name in ("history.png", "loop.png", "events.csv"):
        path = tmp_path / "new" / "folder" / name
        assert path.stat().st_size > 0
        assert str(path) in told
    with open(tmp_path / "new" / "folder" / "events.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert f"{len(rows)} events" in told
    times = [float(row["time"]) for row in rows]
    assert times == sorted(times)
    # A yielding spring begins to yield and ceases to, in turns.
    assert [row["mode_before"] == "elastic" for row in rows] == [i % 2 == 0 for i in range(len(rows))]
