"""The figures of a log."""

import numpy as np

from shortlist import AnytimeSPS, replay
from shortlist.lab.log_figures import draw_lists, draw_replay


def test_a_replay_is_drawn_stream_by_stream(tmp_path):
    scores = np.random.default_rng(0).random(300)
    log = {"a$b": scores, "c": scores[:100]}
    paths = {(name, "anytime"): replay(AnytimeSPS(0.9), values) for name, values in log.items()}
    draw_replay(tmp_path, log, paths, 0.9)
    assert {path.suffix for path in tmp_path.glob("replay.*")} >= {".png"}
    assert all(path.stat().st_size > 5_000 for path in tmp_path.glob("replay.*"))


def test_lists_of_a_log_are_drawn_stream_by_stream(tmp_path):
    """Also one whose lists are empty, and a fourth stream is left out."""
    sizes = np.random.default_rng(0).integers(0, 9, size=300)
    ways = {"raw": sizes, "auto": np.zeros(300, dtype=int), "top-k": np.full(300, 3), "autocut": sizes}
    draw_lists(tmp_path, dict.fromkeys(("a$b", "c", "d", "e"), ways), ("dense$", "bm25"))
    page = (tmp_path / "lists.svg").read_text()
    assert (tmp_path / "lists.png").stat().st_size > 5_000
    draw_lists(tmp_path / "one", {"a": ways}, ("",))
    assert len((tmp_path / "one" / "lists.svg").read_text()) < len(page) / 2
