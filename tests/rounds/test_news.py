"""The logger `shortlist`: what is told once, when it happens, and never when a file or a log is read."""

import asyncio
import logging
import re

import numpy as np
import pytest

from shortlist import Shortlister
from shortlist.service.engine import Engine, StreamSettings


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "shortlist")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "shortlist"]


def test_fits_and_a_budget_that_runs_out(lines, tmp_path):
    lister, rng = Shortlister(0.9), np.random.default_rng(0)
    for _ in range(400):
        scores = rng.normal(size=12)
        lister.reveal(lister.propose(scores).round_id, int(scores.argmax()))
    assert [line.split(",")[0] for line in lines()] == ["the score was fitted"] * 5
    assert lines()[0] == "the score was fitted, from 15 picks"
    for _ in range(30):
        lister.miss(lister.propose(rng.normal(size=12)).round_id)
    assert len(lines()) == 6  # once
    assert re.fullmatch(r"the error budget is spent, 1\d\.\d of 20 misses: lists are complete", lines()[5])
    for i in range(400):
        scores = rng.normal(size=12)
        shown = lister.propose(scores)
        lister.reveal(shown.round_id, int(scores.argmax()) if i % 12 else int(scores.argmin()))
    assert lines()[6].startswith("the error budget has recovered: ")
    assert len(lines()) == 7
    lister.save(tmp_path / "lister.json")
    before = len(lines())
    Shortlister.load(tmp_path / "lister.json")
    assert len(lines()) == before


def test_alarms(lines):
    lister, rng = Shortlister(0.9, 0.1, score="raw", on_drift="report"), np.random.default_rng(0)
    for i in range(900):
        shown = lister.propose([0.9, 0.5 if i < 400 or rng.random() < 0.3 else 0.0])
        lister.reveal(shown.round_id, 1)
    alarms = [line for line in lines() if line.startswith("alarm")]
    assert alarms[0] == "alarm 1: lists miss more often than allowed, at threshold 0.5"
    assert len(alarms) == lister.summary().drift.alarm_count


def test_a_service_names_the_stream_and_is_silent_when_it_reads_its_log(lines, tmp_path):
    async def play():
        rng = np.random.default_rng(0)
        async with Engine.open(f"sqlite:///{tmp_path}/log.db") as engine:
            await engine.create_stream("docs", StreamSettings.of(coverage=0.9, score="raw"))
            for i in range(60):
                scores = rng.normal(size=12)
                await engine.propose("docs", list(range(12)), scores.tolist(), round_id=f"r{i}")
                right = ("hit", int(scores.argmax())) if i < 10 else ("miss",)
                await engine.answer("docs", f"r{i}", *right)

    async def again():
        async with Engine.open(f"sqlite:///{tmp_path}/log.db") as engine:
            await engine.summary("docs")

    asyncio.run(play())
    told = lines()
    assert told
    assert all(line.startswith("stream docs: the error budget is") for line in told)
    asyncio.run(again())
    assert lines() == told
