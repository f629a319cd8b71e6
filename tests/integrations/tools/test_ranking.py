"""Scores of tools for a task: by words, and by embeddings."""

import threading

import numpy as np
import pytest

from shortlist.integrations.tools.ranking import Ranking
from shortlist.integrations.tools.tool import Tool

PATH = {"properties": {"path": {"description": "the folder"}}}
TOOLS = [
    Tool("files__read", "Reads.", PATH),
    Tool("mail__sendMessage", "Write to somebody."),
    Tool("web__weather", "Forecast for a place."),
]


@pytest.mark.parametrize(
    ("task", "best"), [("send a message", 1), ("which folder?", 0), ("forecasts", 2), ("MAIL somebody", 1)]
)
def test_words_of_names_descriptions_and_parameters_count(task, best):
    scores = Ranking().scores(task, TOOLS)
    assert scores.keys() == {"bm25"}
    values = scores["bm25"]
    assert int(values.argmax()) == best
    assert values[best] > sorted(values)[-2]


def test_other_tools_are_another_index():
    ranking = Ranking()
    assert len(ranking.scores("send", TOOLS)["bm25"]) == 3
    assert int(ranking.scores("send", [*TOOLS, Tool("fax__send")])["bm25"].argmax()) == 3
    assert Ranking().scores("nothing of the kind", TOOLS)["bm25"] == pytest.approx([0, 0, 0])


def test_cosines():
    def embed(texts):
        return [[text.count("e"), text.count("a"), 1] for text in texts]

    ranking = Ranking(embed)
    assert ranking.scorers == ("bm25", "embedding")
    rows = np.array(embed([f"{each.name}: {each.description}" for each in TOOLS]))
    task = np.array([3, 3, 1])
    expected = rows @ task / np.linalg.norm(rows, axis=1) / np.linalg.norm(task)
    np.testing.assert_allclose(ranking.scores("a weather forecast", TOOLS)["embedding"], expected)


def test_tools_are_embedded_once():
    seen = []

    def embed(texts):
        seen.append(len(texts))
        return np.ones((len(texts), 2))

    ranking = Ranking(embed)
    many = [Tool(f"t{i}") for i in range(70)]
    ranking.scores("x", many)
    ranking.scores("y", many)
    ranking.scores("z", [*many, Tool("new")])
    assert seen == [64, 6, 1, 1, 1, 1]


def raises(_texts):
    raise KeyError("model")


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (raises, "KeyError: 'model'"),
        (lambda _: [[1.0]], "there must be 3 vectors"),
        (lambda texts: [[float("nan")] for _ in texts], "of finite numbers"),
        (lambda texts: np.ones((len(texts), 2 if len(texts) > 1 else 3)), "differ in length; use one model"),
    ],
)
def test_embeddings_that_fail_leave_words(embed, message, caplog):
    scores = Ranking(embed).scores("forecasts", TOOLS)
    assert np.isnan(scores["embedding"]).all()
    assert int(scores["bm25"].argmax()) == 2
    assert f"this search is by words alone: embeddings failed: {message}" in caplog.text or message in caplog.text


def test_vectors_of_another_model_are_asked_for_again():
    lengths = [2, 2, 3, 3, 3, 3]
    ranking = Ranking(lambda texts: np.ones((len(texts), lengths.pop(0))))
    ranking.scores("x", TOOLS[:1])
    assert np.isnan(ranking.scores("x", TOOLS[:2])["embedding"]).all()
    assert ranking.scores("x", TOOLS[:2])["embedding"] == pytest.approx([1, 1])


def test_searches_at_the_same_time_may_have_other_tools():
    """A server dies while another search waits for its embeddings."""
    waits, started, shapes = threading.Event(), threading.Event(), []

    def embed(texts):
        if texts == ["slow"]:
            started.set()
            assert waits.wait(20)
        return np.ones((len(texts), 2))

    ranking = Ranking(embed)
    slow = threading.Thread(target=lambda: shapes.append(ranking.scores("slow", TOOLS)["embedding"].shape))
    slow.start()
    assert started.wait(20)
    ranking.scores("fast", TOOLS[:1])
    waits.set()
    slow.join()
    assert shapes == [(len(TOOLS),)]
