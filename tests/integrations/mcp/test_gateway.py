"""What a call in a round counts as, and that lists keep their guarantee by it."""

import logging
import math

import anyio
import numpy as np
import pytest

import shortlist
from shortlist.errors import InvalidParameter, ServiceUnavailable, UnknownRound
from shortlist.integrations.mcp import Found, Gateway
from shortlist.integrations.mcp.config import DEFAULTS
from shortlist.integrations.mcp.search_log import RoundLog
from shortlist.integrations.mcp.tools import Tool
from tests.integrations.mcp.servers import Scores, Source, make_tools

NAMES = [f"files__tool_{i}" for i in range(4)]


def cutting(at_most=2, **settings):
    """A lister that shows the best two from the first round on, and that counts every round."""
    options = {"coverage": 0.9, "score": "raw", "at_most": at_most} | settings
    return shortlist.Shortlister(**options)


def make(lister=None, scores=(4.0, 3.0, 2.0, 1.0), count=4, **options):
    source = Source(make_tools(count))
    return Gateway(source, cutting() if lister is None else lister, Scores(list(scores)), **options), source


def counted(log):
    return [line["counted"] for line in log.lines if line["do"] == "call"]


class Heard(RoundLog):
    """A log that keeps its lines."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def add(self, do, round_text, round_id=None, **facts):
        super().add(do, round_text, round_id, **facts)
        self.lines.append({"do": do, "round": round_text, **facts})


def test_a_list_has_schemas_a_round_and_what_to_do_next():
    async def main():
        gateway, source = make()
        found = await gateway.find_tools("the thing")
        assert found.to_dict() == {
            "round": "0000000000-0",
            "tools": [tool.entry for tool in source.present[:2]],
            "hidden": 2,
            "next": "Call one with call_tool(round, name, arguments). If none of them fits, call more_tools(round): "
            "2 more are hidden.",
        }
        result = await gateway.call_tool("0000000000-0", NAMES[1], {"path": "x"})
        assert source.calls == [(NAMES[1], {"path": "x"})]
        assert result.content[0].text == "files__tool_1 is done"

    anyio.run(main)


@pytest.mark.parametrize(
    ("count", "hidden", "following"),
    [
        (1, 0, "Call one with"),
        (1, 3, "If none of them fits"),
        (0, 3, "No tool fits well"),
        (0, 0, "There are no others"),
    ],
)
def test_what_an_agent_is_told_to_do_next(count, hidden, following):
    assert following in Found("0000000000-0", make_tools(count), hidden).to_dict()["next"]


def test_what_counts_as_what():
    """A hit, a measured miss after more and without, a miss, and later calls: in the log and in the lister."""

    async def main():
        log = Heard()
        lister = cutting()
        gateway, source = make(lister, log=log, more_count=1)
        await gateway.find_tools("x")
        await gateway.call_tool("0000000000-0", NAMES[0])
        await gateway.call_tool("0000000000-0", NAMES[0])  # a retry
        await gateway.call_tool("0000000000-0", NAMES[3])  # the next step
        await gateway.find_tools("x")
        more = await gateway.more_tools("0000000000-1")
        assert ([tool.name for tool in more.tools], more.hidden) == ([NAMES[2]], 1)
        await gateway.call_tool("0000000000-1", NAMES[2])
        await gateway.find_tools("x")
        await gateway.call_tool("0000000000-2", NAMES[3])  # it was not shown
        await gateway.find_tools("x")
        source.present.append(Tool("new", "one", "", {}))
        await gateway.call_tool("0000000000-3", "new__one")  # it was no candidate
        await gateway.call_tool("0000000000-3", NAMES[0])
        assert counted(log) == ["hit", "again", "again", "measured miss", "measured miss", "miss", "again"]
        assert len(source.calls) == 7  # each was forwarded
        summary = lister.summary()
        assert (summary.hits, summary.misses, summary.found_after_more) == (1, 3, 2)

    anyio.run(main)


def test_a_measured_miss_teaches_the_same_as_a_list_that_was_expanded():
    """Thresholds are those of a lister that is asked for more and then told the right tool."""

    async def main():
        rng = np.random.default_rng(5)
        lists = rng.random((400, 4))
        right = (lists + 0.5 * rng.random((400, 4))).argmax(axis=1)
        direct = cutting()
        gateway = Gateway(Source(make_tools()), lister := cutting(), Scores(*lists))
        for scores, one in zip(lists, right, strict=True):
            found = await gateway.find_tools("x")
            await gateway.call_tool(found.round, NAMES[one])
            shown = direct.propose(scores, NAMES)
            if NAMES[one] not in shown.members:
                direct.more(shown.round_id)
            direct.hit(shown.round_id, NAMES[one])
        assert lister.threshold == direct.threshold > -math.inf
        assert lister.summary() == direct.summary()

    anyio.run(main)


def test_calls_at_the_same_time_count_once():
    async def main():
        log = Heard()
        lister = cutting()
        gateway, source = make(lister, log=log, save=lambda: None)
        await gateway.find_tools("x")
        async with anyio.create_task_group() as group:
            for name in NAMES:
                group.start_soon(gateway.call_tool, "0000000000-0", name)
        assert sorted(counted(log)).count("again") == 3
        assert len(source.calls) == 4
        assert lister.summary().hits + lister.summary().misses == 1

    anyio.run(main)


def test_shadow_shows_everything_and_measures_what_lists_would_have_missed():
    async def main():
        log = Heard()
        gateway, _ = make(lister := cutting(), shadow=True, log=log)
        found = await gateway.find_tools("x")
        assert ([tool.name for tool in found.tools], found.hidden) == (NAMES, 0)
        await gateway.call_tool(found.round, NAMES[3])
        await gateway.call_tool((await gateway.find_tools("x")).round, NAMES[1])
        assert counted(log) == ["measured miss", "hit"]
        assert [line["first"] for line in log.lines if line["do"] == "find"] == [NAMES[:2]] * 2
        assert (lister.summary().hits, lister.summary().found_after_more) == (1, 1)

    anyio.run(main)


def test_an_explored_list_keeps_its_random_order():
    async def main():
        lister = shortlist.Shortlister(coverage=0.9, score="raw", explore_share=1.0)
        for _ in range(300):
            lister.hit(lister.propose([4.0, 3.0, 2.0, 1.0]).round_id, 0)
        assert lister.threshold > 1
        gateway, _ = make(lister)
        orders = {tuple(tool.name for tool in (await gateway.find_tools("x")).tools) for _ in range(20)}
        assert len(orders) > 10
        assert all(sorted(order) == NAMES for order in orders)

    anyio.run(main)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("0000000000-0", "files__none"), "there is no tool 'files__none' at the moment: its server is unavailable"),
        (("0000000000-0", NAMES[0], 3), "arguments is 3; it must be an object"),
        (("0000000000-0", NAMES[0], "{"), "arguments is '{'; it must be an object"),
        (("7", NAMES[0]), "round '7' is unknown; call find_tools first"),
        (("seven", NAMES[0]), "round 'seven' is unknown"),
        (("", NAMES[0]), "round '' is unknown"),
        (("0000000000-0", "same"), "there is no tool 'same' at the moment"),
        (("0000000000-0", "tool_1"), "there is no tool 'tool_1' at the moment"),
    ],
)
def test_calls_that_cannot_be_made_are_named_and_not_counted(call, message):
    async def main():
        gateway, source = make(lister := cutting())
        await gateway.find_tools("x")
        source.present += [Tool("a", "same", "", {}), Tool("b", "same", "", {})]
        with pytest.raises(InvalidParameter, match=message):
            await gateway.call_tool(*call)
        assert not source.calls
        assert lister.summary().hits + lister.summary().misses == 0

    anyio.run(main)


def test_what_models_write_instead():
    """Arguments as a text."""

    async def main():
        gateway, source = make()
        await gateway.find_tools("x")
        await gateway.call_tool("0000000000-0", NAMES[1], '{"path": "x"}')
        assert source.calls == [(NAMES[1], {"path": "x"})]

    anyio.run(main)


def test_a_server_never_receives_what_was_meant_for_another():
    """One that is not trusted names its tool like another server's; that one dies, and its calls go nowhere."""

    async def main():
        gateway, source = make()
        found = await gateway.find_tools("x")
        source.present = [Tool("evil", found.tools[0].name, "", {})]
        with pytest.raises(InvalidParameter, match="pass on a name exactly as it returns it"):
            await gateway.call_tool("0000000000-0", found.tools[0].name, {"secret": "x"})
        assert not source.calls

    anyio.run(main)


def test_a_round_that_the_lister_forgot_can_be_called_in_again():
    """After an unknown round nothing is counted, and the next call is not taken for a later one."""

    async def main():
        gateway, source = make(lister := cutting())
        found = await gateway.find_tools("x")
        answer = lister.hit

        def forget(*_arguments):
            raise UnknownRound("gone")

        lister.hit = forget
        with pytest.raises(InvalidParameter, match="is unknown"):
            await gateway.call_tool("0000000000-0", found.tools[0].name)
        lister.hit = answer
        await gateway.call_tool("0000000000-0", found.tools[0].name)
        assert lister.summary().hits == 1
        assert len(source.calls) == 1

    anyio.run(main)


def test_without_tools_or_a_task_it_says_so():
    async def main():
        gateway, source = make()
        for task in ("", "  ", None):
            with pytest.raises(InvalidParameter, match="say in a sentence"):
                await gateway.find_tools(task)
        with pytest.raises(InvalidParameter, match="round '5' is unknown"):
            await gateway.more_tools("5")
        source.present.clear()
        with pytest.raises(InvalidParameter, match="no server is connected"):
            await gateway.find_tools("x")

    anyio.run(main)


def test_a_round_that_is_too_old_is_forwarded_and_not_counted():
    async def main():
        log = Heard()
        gateway, source = make(lister := cutting(keep=2), log=log)
        for _ in range(4):
            await gateway.find_tools("x")
        await gateway.call_tool("0000000000-0", NAMES[0])
        assert counted(log) == ["closed"]
        assert len(source.calls) == 1
        assert lister.summary().hits == 0

    anyio.run(main)


def test_where_the_lister_or_the_scores_fail_everything_is_shown(caplog):
    """An agent's work goes on; the round does not count."""

    class Away:
        async def scores(self, task, tools):
            raise ServiceUnavailable("no embeddings")

    async def main():
        log = Heard()
        source = Source(make_tools())
        gateway = Gateway(source, lister := cutting(), Away(), log=log)
        found = await gateway.find_tools("number 2")
        assert (found.round, found.tools[0].name, found.hidden) == ("none", NAMES[2], 0)
        assert len(found.tools) == 4
        assert (await gateway.more_tools("none")).tools == []
        await gateway.call_tool("none", NAMES[1])
        assert counted(log) == ["not counted"]
        assert len(source.calls) == 1
        assert lister.summary().rounds == 0

    with caplog.at_level(logging.WARNING, "shortlist.mcp"):
        anyio.run(main)
    assert "everything is shown, and the round does not count: no embeddings" in caplog.text


def test_an_answer_that_cannot_be_stored_is_forwarded_and_may_come_again():
    class Refuses(shortlist.Shortlister):
        refuses = True

        def hit(self, round_id, member):
            if self.refuses:
                raise ServiceUnavailable("away")
            super().hit(round_id, member)

    async def main():
        log = Heard()
        gateway, source = make(lister := Refuses(coverage=0.9), log=log)
        await gateway.find_tools("x")
        await gateway.call_tool("0000000000-0", NAMES[0])
        lister.refuses = False
        await gateway.call_tool("0000000000-0", NAMES[0])
        assert counted(log) == ["not counted", "hit"]
        assert len(source.calls) == 2

    anyio.run(main)


# The guarantee, where agents meet it: 40 streams of agents that never report a miss. Scores are uniform, the right
# tool's is the best of two draws: P(s < x) = x^2, so the optimal threshold at coverage 0.9 is sqrt(0.1). With delta
# 0.05 the number of streams past it is at most Bin(40, 0.05) in distribution; P(14 or more) < 1e-8.
STREAMS, ROUNDS, LIMIT = 40, 600, 14
OPTIMAL = math.sqrt(0.1)


async def agents(seed, **settings):
    """Return a stream's threshold: agents call the right tool if they see it, or else mostly give up."""
    rng = np.random.default_rng(seed)
    lister = shortlist.Shortlister(coverage=0.9, delta=0.05, score="raw", **settings)
    source = Source(make_tools(3))
    scores = Scores(None)
    gateway = Gateway(source, lister, scores)
    for _ in range(ROUNDS):
        scores.lists = [np.array([max(rng.random(2)), *rng.random(2)])]
        found = await gateway.find_tools("x")
        seen = any(tool.name == NAMES[0] for tool in found.tools)
        if rng.random() < (0.8 if seen else 0.2):  # one that was not shown, from memory
            await gateway.call_tool(found.round, NAMES[0])
    return lister.threshold


def thresholds(**settings):
    return np.array([anyio.run(lambda seed=seed: agents(seed, **settings)) for seed in range(STREAMS)])


def test_agents_who_report_no_misses_do_not_push_the_threshold_past_the_optimal_one():
    learned = thresholds(explore_share=DEFAULTS["explore_share"], patience=DEFAULTS["patience"])
    assert (learned > OPTIMAL).sum() < LIMIT
    assert (learned > 0).mean() > 0.9  # and they do learn


def test_counting_only_what_was_called_would():
    """Negative control: silent rounds dropped, without exploring."""
    assert (thresholds(unanswered="ignore") > OPTIMAL).sum() > LIMIT
