"""`verify` finds what was altered."""

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from shortlist.errors import StoreUnavailable
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.store import Reader
from shortlist.service.store.tables import events
from tests.service.engine.test_background_fits import landed
from tests.service.tampering import alter, alter_body, connected

ALTERED = {
    "an answer that is missing": ("DELETE FROM events WHERE number = 2", "event 3: follows event 1"),
    "a log that ends early": ("DELETE FROM events WHERE number > 300", "the log ends at event 300"),
    "a snapshot of something else": (
        "UPDATE snapshots SET state = replace(state, '\"hits\":', '\"hits\":1')",
        "is not what the log gives",
    ),
    "a hit with another score": (
        "UPDATE events SET body = replace(body, '\"score\":', '\"score\":1') WHERE kind = 'hit'",
        "has another score than in its list",
    ),
    "an answer to a round that was never shown": (
        "UPDATE events SET round_id = 'other' WHERE number = 2",
        "event 2: round other is not open",
    ),
    "an event of another kind": ("UPDATE events SET kind = 'nonsense' WHERE number = 2", "event 2 cannot be read"),
}

#: The fields of an event, the number of the event, and the problem.
FIELDS = {
    "a threshold that was too high": (1, {"threshold": 0.001}, "cut at 0.001, above the -inf that the log gives"),
    "another order": (1, {"positions": list(range(12))}, "says that positions is [0, 1, 2"),
    "a score that was not learned yet": (3, {"fit": 1}, "is of fit 1, and the log gives 0"),
    "a score that is not learned": (3, {"fit": None}, "is of fit None, and the log gives 0"),
    "another scorer": (3, {"scorers": ["dense"]}, "is of the scorers ('dense',), and the stream's are ('',)"),
    "a pick elsewhere": (2, {"position": 99}, "and its list gives"),
    "an epoch that had not come": (5, {"epoch": 3}, "has epoch 3, and the log gives 0"),
    "a list that says it is truncated": (1, {"truncated": True}, "says that truncated is True"),
    "fewer that reach the threshold": (1, {"reached": 3}, "says that reached is 3"),
    "an answer that says more than its list": (2, {"missed": True}, "and its list gives"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(played_anywhere, name, read):
    sql, problem = ALTERED[name]
    assert [found.problems for found in verify(read(played_anywhere))] == [[]]
    alter(played_anywhere, sql)
    (found,) = verify(read(played_anywhere))
    assert problem in "\n".join(found.problems)


@pytest.mark.parametrize("name", FIELDS)
def test_fields_that_were_altered_are_found(played, name, read):
    number, fields, problem = FIELDS[name]
    alter_body(played, number, lambda body: body.update(fields))
    (found,) = verify(read(played))
    assert problem in "\n".join(found.problems)


@pytest.mark.parametrize("number", [40, 401])
def test_the_score_of_a_pick_is_what_the_fit_of_its_list_gives(played, number, read):
    """Before the fit, and behind it."""

    def change(body):
        body["score"] += 0.001

    alter_body(played, number, change)
    (found,) = verify(read(played))
    assert re.match(f"event {number}: candidate .* has another score than in its list", found.problems[0])


def _fits_of(address):
    """Return the numbers of the fits in a log."""
    with connected(address) as connection:
        found = connection.execute(sa.select(events.c.number).where(events.c.kind == "fitted").order_by("number"))
        return list(found.scalars())


#: What is changed in a list or a fit of a stream as it is by default, and the problem. "first" is the first list that
#: was cut at a threshold, "fit" the second fit.
SHORT = {
    "a threshold too low": ("first", lambda body: body.update(threshold=body["threshold"] / 2), "the log gives ["),
    "a threshold too high": ("first", lambda body: body.update(threshold=body["threshold"] * 2), "the log gives ["),
    "what is not shown": ("first", lambda body: body.update(edge=body["edge"] * 1.01), "says that edge is"),
    "that all is shown": ("first", lambda body: body.pop("edge"), "says that edge is None"),
    "a number of the window": ("fit", lambda body: body["windows"]["a"].__setitem__(6, 0.123), "is Fitted(number=2"),
    "a miss that was none": ("fit", lambda body: body["windows"]["a"].__setitem__(7, 1.0), "is Fitted(number=2"),
    "a round too few": ("fit", lambda body: body["windows"]["a"].__delitem__(slice(0, 2)), "is Fitted(number=2"),
    "no window": ("fit", lambda body: body.pop("windows"), "is Fitted(number=2"),
    "the last bits of it": (
        "fit",
        lambda body: body["windows"]["a"].__setitem__(6, body["windows"]["a"][6] * (1 + 1e-13)),
        None,
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_what_was_altered_in_a_stream_that_is_short_at_once_is_found(played_short, name, read):
    where, change, problem = SHORT[name]
    assert [found.problems for found in verify(read(played_short))] == [[]]
    fits = _fits_of(played_short)
    assert len(fits) == 4  # at 15, 30, 60 and 120 picks
    number = fits[1]
    if where == "first":
        with connected(played_short) as connection:
            cut = sa.select(events.c.number).where(events.c.kind == "listed", events.c.body.contains('"threshold":0'))
            number = connection.execute(cut.order_by("number")).scalars().first()
    alter_body(played_short, number, change)
    (found,) = verify(read(played_short))
    if problem is None:  # as on another machine; but then all that follows from it differs in the last bits, too
        assert not any("is Fitted(number=2" in each for each in found.problems)
    else:
        assert found.problems[0].startswith(f"event {number}: ")
        assert problem in found.problems[0]


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """A database whose picks come after two fits, for rounds that these found in the window without an answer."""
    address = f"sqlite:///{tmp_path_factory.mktemp('late')}/log.db"

    async def main():
        rng, waiting = np.random.default_rng(0), []
        async with Engine.open(address, snapshot_every=40) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, patience=0))
            for i in range(60):
                scores = rng.normal(size=12)
                shown, _ = await engine.propose("a", list(range(12)), scores.tolist(), round_id=f"r{i}")
                best = int(scores.argmax())
                if i % 3 == 0:
                    waiting.append((f"r{i}", best))
                elif best in shown.shown.event.positions:
                    await engine.answer("a", f"r{i}", "hit", best)
                else:
                    await engine.answer("a", f"r{i}", "miss")
                await landed(engine)
            for name, best in waiting:
                await engine.more("a", name)
                await engine.answer("a", name, "hit", best)

    asyncio.run(main())
    return address


#: What is changed in an event about a round that a fit found without an answer, and the problem.
LATE = {
    "its score by the fit": ("hit", lambda body: body.update(now=body["now"] + 0.01), "counts as"),
    "no score by the fit": ("hit", lambda body: body.pop("now"), "counts as None"),
    "whose round it is": ("fitted", lambda body: body["held"]["a"].__setitem__(0, [0, "r3"]), "is Fitted(number="),
}


@pytest.mark.parametrize("name", LATE)
def test_picks_of_rounds_that_a_fit_found_without_an_answer_are_checked(late, name, tmp_path, read):
    kind, change, problem = LATE[name]
    copy = tmp_path / "log.db"
    copy.write_bytes(Path(late.removeprefix("sqlite:///")).read_bytes())
    address = f"sqlite:///{copy}"
    assert [found.problems for found in verify(read(address))] == [[]]
    word = {"hit": '"now":', "fitted": '"held":'}[kind]
    with connected(address) as connection:
        found = sa.select(events.c.number).where(events.c.kind == kind, events.c.body.contains(word))
        numbers = connection.execute(found.order_by("number")).scalars().all()
    assert len(numbers) > (10 if kind == "hit" else 0)
    alter_body(address, numbers[0], change)
    (result,) = verify(read(address))
    assert result.problems[0].startswith(f"event {numbers[0]}: ")
    assert problem in result.problems[0]


#: The number of the fit in the log of `played`: after 30 lists and picks.
FIT = 61

#: What was changed in it, and whether that is found: a fit is not the same to the last bit on every machine.
FITS = {
    "a weight": (lambda score: score["relative"].__setitem__(0, score["relative"][0] + 1e-4), True),
    "a weight, slightly": (lambda score: score["relative"].__setitem__(0, score["relative"][0] + 1e-9), False),
    "the other weight": (lambda score: score["absolute"].__setitem__(0, score["absolute"][0] * 1.001), True),
    "the weight of what is missing": (lambda score: score["missing"].__setitem__(0, 0.5), True),
    "the spread": (lambda score: score["spread"].__setitem__(0, score["spread"][0] * 1.001), True),
    "the spread, slightly": (lambda score: score["spread"].__setitem__(0, score["spread"][0] * (1 + 1e-9)), False),
    "the center": (lambda score: score["center"].__setitem__(0, score["center"][0] + 0.001), True),
    "the form": (lambda score: score.update(form="sum"), True),
    "the scorers": (lambda score: score.update(scorers=["dense"]), True),
    "how many picks": (lambda score: score.update(rounds=31), True),
    "the steps": (lambda score: score.update(steps=99), False),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_was_altered_is_found(played, name, read):
    change, wrong = FITS[name]
    alter_body(played, FIT, lambda body: change(body["score"]))
    (found,) = verify(read(played))
    problems = [problem for problem in found.problems if problem.startswith(f"event {FIT}: is Fitted(number=1")]
    assert len(problems) == int(wrong)


def test_a_fit_of_another_number_is_found(played, read):
    alter_body(played, FIT, lambda body: body.update(number=2))
    (found,) = verify(read(played))
    assert found.problems[0].startswith(f"event {FIT}: is Fitted(number=2")


def test_a_fit_that_was_not_due_is_found(played, read):
    """Twice, or too early: nothing was due."""

    def take(number):
        with connected(played) as connection:
            here = sa.select(events.c.body).where(events.c.number == number)
            return connection.execute(here).scalar_one()

    fitted = take(FIT)
    for number in (FIT + 2, 3):
        with connected(played) as connection:
            values = {"kind": "fitted", "body": fitted, "round_id": None, "phase": None}
            connection.execute(events.update().where(events.c.number == number).values(values))
        (found,) = verify(read(played))
        assert found.problems[0].startswith(f"event {number}: is Fitted(number=1")
        assert found.problems[0].endswith("and the log gives None")


def test_a_database_that_does_not_answer_is_not_a_finding(sqlite, read, monkeypatch):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))

    asyncio.run(main())

    def away(*_, **__):
        raise StoreUnavailable("the database did not accept this")

    monkeypatch.setattr(Reader, "events", away)
    with pytest.raises(StoreUnavailable):
        list(verify(read(sqlite)))


def test_silent_rounds_behind_an_open_one_come_back_after_a_restart(sqlite, read):
    """A set has an order that depends on its history: what is stored must not."""

    async def part(start, stop):
        async with Engine.open(sqlite, snapshot_every=50) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, patience=1000))
            for i in range(start, stop):
                await engine.propose("a", ["x", "y"], [0.1, 0.9], round_id=f"r{i}")
                if i % 7:
                    await engine.answer("a", f"r{i}", "skip" if i % 3 else "miss")

    for start in range(0, 600, 150):
        asyncio.run(part(start, start + 150))
    (finding,) = verify(read(sqlite))
    assert finding.snapshots > 0
    assert finding.problems == []


@pytest.fixture
def spent(sqlite):
    """A database whose stream has spent its error budget, and the number of the last list, which is longer for it."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw", miss_budget=5))
            for i in range(90):
                await engine.propose("a", list(range(12)), [1 - 0.05 * j for j in range(12)], round_id=f"r{i}")
                await engine.answer("a", f"r{i}", *(("hit", 0) if i < 86 else ("miss",)))
            shown, _ = await engine.propose("a", list(range(12)), [1 - 0.05 * j for j in range(12)])
            return shown.shown

    return sqlite, asyncio.run(main())


#: What is changed in a list that the error budget made longer, and the problem: its level and what it added are given.
SPENT = {
    "fewer that were added": ({"added": 1}, "says that added is 1, and its scores give {added}"),
    "none that was added": ({"added": 0}, "says that added is 0, and its scores give {added}"),
    "more that is spent": ({"spent": 42}, "says that 42 of the error budget is spent, and the log gives {{{spent}}}"),
    "nothing that is spent": ({"spent": None}, "says that None of the error budget is spent, and the log gives"),
    "a list at the threshold": (
        {"spent": None, "added": 0, "positions": [0]},
        "says that None of the error budget is spent, and the log gives {{{spent}}}",
    ),
    "a page that was cut": ({"asked": 11}, "says that asked is 11"),
}


@pytest.mark.parametrize("name", SPENT)
def test_what_the_error_budget_did_is_checked(spent, name, read):
    """A shorter list that fits its own scores is found too: the log says what was spent when it was cut."""
    address, entry = spent
    assert 1 < entry.event.added < 11
    assert [found.problems for found in verify(read(address))] == [[]]
    fields, problem = SPENT[name]
    alter_body(address, entry.number, lambda body: body.update(fields))
    (found,) = verify(read(address))
    assert problem.format(spent=entry.event.spent, added=entry.event.added) in "\n".join(found.problems)


def test_a_miss_of_a_list_that_was_cut_is_not_one_of_everything(spent, read):
    address, entry = spent
    alter_body(address, entry.number - 1, lambda body: body.update(everything=True))
    (found,) = verify(read(address))
    assert "and its list gives Miss(round_id='r89'" in "\n".join(found.problems)


def test_lists_of_one_batch_are_cut_before_its_misses(sqlite, read):
    """A list and a miss that share a commit: the list was cut before, and `verify` knows."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw", miss_budget=2))
            scores = [1 - 0.05 * j for j in range(12)]
            for i in range(120):
                await engine.propose("a", list(range(12)), scores, round_id=f"r{i}")
                answers = [engine.answer("a", f"r{i}", *(("hit", 0) if i < 85 or i % 5 else ("miss",)))]
                shown = [engine.propose("a", list(range(12)), scores, round_id=f"beside-{i}-{j}") for j in range(2)]
                await asyncio.gather(*answers, *shown)
                for j in range(2):
                    await engine.answer("a", f"beside-{i}-{j}", "hit", 0)

    asyncio.run(main())
    store = read(sqlite)
    assert [found.problems for found in verify(store)] == [[]]
    with store.reading() as reader:
        stream, stale = LoggedStream(reader.stream("a")), 0
        for entry in reader.events(stream.id):
            if entry.is_list:
                budget = stream.stream.budget
                stale += entry.event.spent != (budget.state.spent if budget.more(12) else None)
            stream.apply(entry)
    assert stale > 0  # or the test would show nothing


@pytest.fixture
def ten(address):
    """The address of a database with a stream of ten rounds that were all missed, with their questions."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            for i in range(10):
                await engine.propose("a", ["x", "y"], [0.1, 0.9], round_id=f"r{i}", question="who")
                await engine.answer("a", f"r{i}", "miss")

    asyncio.run(main())
    alter(address, "DELETE FROM snapshots")
    return address


def test_texts_that_cannot_be_read_are_found(ten, read):
    assert [found.problems for found in verify(read(ten))] == [[]]
    alter(ten, "UPDATE texts SET question = '{' WHERE number = 5")
    (found,) = verify(read(ten))
    assert found.problems[0].startswith("the texts of event 5 cannot be read: ")


def test_what_sqlite_finds_is_told_before_the_streams(sqlite, tmp_path, read):
    """An index that says something else than its table: every row reads well, and a constraint no longer holds."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", ["x", "y"], [0.1, 0.9], round_id="needle")

    asyncio.run(main())
    file = tmp_path / "log.db"
    with connected(sqlite) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_events_2'"
        page = connection.exec_driver_sql(query).scalar_one()
    before = file.read_bytes()
    index = before.index(b"needle", (page - 1) * 4096)
    file.write_bytes(before[:index] + b"N" + before[index + 1 :])
    findings = list(verify(read(sqlite)))
    assert [found.stream for found in findings] == ["", "a"]
    assert "missing from index sqlite_autoindex_events_2" in "\n".join(findings[0].problems)
    assert findings[1].problems == []
