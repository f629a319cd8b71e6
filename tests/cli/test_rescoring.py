"""A new scorer on the command line: a log and a table in, a lister or a stream out."""

import json
import math

import numpy as np
import pytest

from shortlist import Client, Shortlister
from shortlist.rounds.codec import encode
from shortlist.rounds.events import Hit, Listed
from tests.cli.command import refused, shortlist
from tests.service.running import running


@pytest.fixture
def files(tmp_path):
    """Return a log of 200 rounds in which everything was shown, and a table of new scores."""
    rng = np.random.default_rng(0)
    log, table, new = [], ["round_id,candidate,dense"], []
    for i in range(200):
        scores = rng.random(4)
        new.append(scores[0])
        listed = Listed(
            f"r{i}", ["a", "b", "c", "d"], rng.random(4).tolist(), [0, 1, 2, 3], -math.inf, 0, 4, complete=True
        )
        for kind, event in (("listed", listed), ("hit", Hit(f"r{i}", "a", 0.5))):
            log.append(
                json.dumps({"stream": "old", "number": len(log) + 1, "at": float(i), "kind": kind, **encode(event)})
            )
        table += [f"r{i},{name},{score!r}" for name, score in zip("abcd", scores.tolist(), strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(log) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(table) + "\n")
    return tmp_path, new


def test_a_lister(files):
    folder, new = files
    done = shortlist("rescore", "log.jsonl", "new.csv", "--out", "lister.json", "--score", "raw", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "200 rounds, 200 of them with a known right answer" in done.stderr
    assert "the very first list is cut" in done.stderr
    lister, expected = Shortlister.load(folder / "lister.json"), Shortlister(0.9, 0.01, score="raw")
    expected.warm_start(new)
    assert lister.threshold == expected.threshold > -math.inf


def test_a_stream(files):
    folder, new = files
    with running(f"sqlite:///{folder}/log.db") as service:
        where = ("--url", service.url, "--stream", "newer")
        done = shortlist("rescore", "log.jsonl", "new.csv", *where, "--score", "raw", cwd=folder)
        assert done.returncode == 0, done.stderr
        expected = Shortlister(0.9, 0.01, score="raw")
        expected.warm_start(new)
        with Client(service.url, "newer") as client:
            assert client.threshold == expected.threshold
            assert len(client.propose([0.9, 0.0]).members) == 1
        with Client(service.url, "made") as client:  # one that is there keeps its settings
            client.create(0.8, score="raw", at_most=7, scorer_version="v2")
            done = shortlist("rescore", "log.jsonl", "new.csv", "--url", service.url, "--stream", "made", cwd=folder)
            assert done.returncode == 0, done.stderr
            assert "the very first list is cut" in done.stderr
            assert (client.summary()["settings"]["at_most"], client.threshold > expected.threshold) == (7, True)


def test_what_is_missing_is_said_in_one_line(files):
    folder, _ = files
    refused(shortlist("rescore", "log.jsonl", "new.csv", cwd=folder), "say where the result goes: --out FILE")
    refused(shortlist("rescore", "nowhere", "new.csv", "--out", "x", cwd=folder), "there is no file nowhere")
    refused(
        shortlist("rescore", "new.csv", "new.csv", "--out", "x", cwd=folder), "line 1: this is not an event of a log"
    )
    (folder / "few.csv").write_text("round_id,candidate,a\nr0,a,0.5\n")
    refused(
        shortlist("rescore", "log.jsonl", "few.csv", "--out", "x", cwd=folder), "no row for candidate 'b' of round r0"
    )
