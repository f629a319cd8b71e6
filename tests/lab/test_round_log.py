"""A user's own log: files, streams, times and empty cells."""

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.lab.executors import workplace
from shortlist.lab.replays import replay_files
from shortlist.lab.round_log import LogFiles
from tests.lab.small import quiet


def test_files_of_one_name_and_streams_without_one(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "log.csv").write_text("true_score\n" + "0.5\n" * 30)
    files = LogFiles(tuple(str(tmp_path / folder / "log.csv") for folder in ("x", "y")))
    with workplace(1) as submit:
        rows = replay_files(files, ("anytime",), 0.9, submit, quiet)[0]
    assert [(row.stream, row.rounds) for row in rows] == [(path, 30) for path in files.paths]
    names = pa.array(["a"] * 5 + [None] * 7 + [""] * 2)
    pq.write_table(pa.table({"who": names, "true_score": pa.array([0.5] * 14)}), tmp_path / "nulls.parquet")
    with workplace(1) as submit:
        rows = replay_files(LogFiles((str(tmp_path / "nulls.parquet"),), by="who"), ("anytime",), 0.9, submit, quiet)[0]
    assert [(row.stream, row.rounds) for row in rows] == [("", 9), ("a", 5)]
