"""What the log of a stream tells after the fact."""

from shortlist.rounds.events import Hit, Listed, Miss
from shortlist.service.engine.insight import logged_rounds, look_at_silence
from shortlist.service.store import Entry


def entries(rounds):
    """Return the entries of rounds of which every other one is answered, one third of these by a miss."""
    made = []
    for i in range(rounds):
        made.append(Entry(1, len(made) + 1, float(i), Listed(f"r{i}", ["a", "b"], [0.5, 0.1], [0], 0.3, 0, 1)))
        if i % 2:
            event = Miss(f"r{i}") if i % 3 == 0 else Hit(f"r{i}", "a", 0.5)
            made.append(Entry(1, len(made) + 1, i + 0.5, event))
    return made


def test_the_last_rounds_are_left_out_answered_or_not():
    check = look_at_silence(logged_rounds(entries(300)), patience=100)
    assert (check.rounds, check.answered, check.misses) == (200, 100, 33)
    assert look_at_silence(logged_rounds(entries(50)), patience=100).rounds == 0


def test_an_answer_without_its_list_is_no_round():
    assert look_at_silence(logged_rounds(entries(300)[1:]), patience=0).rounds == 299
