"""Questions with their passages: DPR's own JSON, or SQuAD's.

DPR's files list, for each question, ``positive_ctxs``, ``negative_ctxs`` and ``hard_negative_ctxs``,
each a list of ``{"title", "text"}``. The paper takes one right passage and all 50 irrelevant ones,
and leaves out questions without a right one.

SQuAD's files list articles, paragraphs and questions with ``answer_start``. As in DPR, paragraphs are
cut into disjoint blocks of 100 words; the right passage is the block in which the answer begins; the
irrelevant ones are the 50 best others by BM25.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shortlist._bm25 import BM25
from shortlist.errors import InvalidScores

__all__ = ["WORDS", "Passage", "Question", "QuestionSet", "blocks", "read_questions"]

WORDS: Final = 100  # in a block


@dataclass(frozen=True)
class Passage:
    """A passage of text, with the title of its page."""

    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question, and the numbers of its passages: the right one first."""

    text: str
    passages: tuple[int, ...]


@dataclass(frozen=True)
class QuestionSet:
    """Questions over one collection of passages, and how many were left out, by reason."""

    questions: list[Question]
    passages: list[Passage]
    left_out: dict[str, int]
    form: str


def read_questions(path: Path, *, negatives: int = 50, limit: int | None = None) -> QuestionSet:
    """Return the questions of a file, in its order; the format is detected from the content."""
    data = _json(path)
    if isinstance(data, list):
        collection = _dpr(path, data, negatives, limit)
    elif isinstance(data, dict) and isinstance(data.get("data"), list):
        collection = _squad(path, data["data"], negatives, limit)
    else:
        raise InvalidScores(
            f"{path}: this is neither DPR's JSON (a list of questions with positive_ctxs) nor SQuAD's (an object "
            "with data)"
        )
    if not collection.questions:
        why = ", ".join(f"{count:,} {reason}" for reason, count in collection.left_out.items()) or "the file is empty"
        fewer = "; give fewer with --negatives" * any("fewer" in reason for reason in collection.left_out)
        raise InvalidScores(f"{path}: no question is left ({why}){fewer}")
    return collection


def blocks(text: str, words: int = WORDS) -> list[tuple[int, str]]:
    """Return disjoint blocks of that many words, each with the position where it begins.

    >>> blocks("one two  three", words=2)
    [(0, 'one two'), (9, 'three')]
    """
    parts, position = [], 0
    split = text.split()
    for start in range(0, len(split), words):
        block = split[start : start + words]
        begin = text.index(block[0], position)
        position = begin
        for word in block:
            position = text.index(word, position) + len(word)
        parts.append((begin, " ".join(block)))
    return parts


def _json(path: Path) -> Any:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise InvalidScores(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InvalidScores(f"{path}: this is a folder; give a JSON file") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise InvalidScores(f"{path}: this cannot be read as JSON ({error})") from None


class _Collection:
    """Passages, each once."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self._numbers: dict[Passage, int] = {}

    def number(self, passage: Passage) -> int:
        if passage not in self._numbers:
            self._numbers[passage] = len(self.passages)
            self.passages.append(passage)
        return self._numbers[passage]


def _dpr(path: Path, data: list[Any], negatives: int, limit: int | None) -> QuestionSet:
    collection = _Collection()
    questions: list[Question] = []
    left_out = {"without a right passage": 0, f"with fewer than {negatives} irrelevant passages": 0}
    for number, entry in enumerate(data):
        if limit is not None and len(questions) == limit:
            break
        try:
            right = [_passage(one) for one in entry["positive_ctxs"]]
            wrong = [_passage(one) for key in ("negative_ctxs", "hard_negative_ctxs") for one in entry.get(key) or []]
            text = str(entry["question"])
        except (KeyError, TypeError, AttributeError):
            raise InvalidScores(
                f"{path}: entry {number} is not a question with positive_ctxs, each with a title and a text"
            ) from None
        if not right:
            left_out["without a right passage"] += 1
            continue
        wrong = [one for one in dict.fromkeys(wrong) if one not in right][:negatives]
        if len(wrong) < negatives:
            left_out[f"with fewer than {negatives} irrelevant passages"] += 1
            continue
        questions.append(Question(text, tuple(collection.number(one) for one in (right[0], *wrong))))
    return QuestionSet(questions, collection.passages, {why: n for why, n in left_out.items() if n}, "DPR")


def _passage(entry: dict[str, Any]) -> Passage:
    return Passage(str(entry.get("title") or ""), str(entry["text"]))


def _squad(path: Path, articles: list[Any], negatives: int, limit: int | None) -> QuestionSet:
    collection = _Collection()
    asked: list[tuple[str, int]] = []
    unanswered = 0
    for text, gold in _squad_questions(path, articles, collection):
        if gold is None:
            unanswered += 1
        else:
            asked.append((text, gold))
    if len(collection.passages) <= negatives:
        raise InvalidScores(
            f"{path}: there are {len(collection.passages)} passages, and {negatives} irrelevant ones are needed for "
            "each question; give fewer with --negatives"
        )
    index = BM25([passage.text for passage in collection.passages])
    questions = []
    for text, gold in asked[:limit]:
        others = [int(number) for number in index.best(text, negatives + 1) if number != gold][:negatives]
        questions.append(Question(text, (gold, *others)))
    left_out = {"without an answer": unanswered} if unanswered else {}
    return QuestionSet(questions, collection.passages, left_out, "SQuAD")


def _squad_questions(path: Path, articles: list[Any], collection: _Collection) -> Iterator[tuple[str, int | None]]:
    """Yield each question with the number of the block in which its first answer begins."""
    for number, article in enumerate(articles):
        try:
            title = str(article.get("title") or "")
            for paragraph in article["paragraphs"]:
                cut = blocks(paragraph["context"])
                numbers = [collection.number(Passage(title, text)) for _, text in cut]
                for question in paragraph["qas"]:
                    answers = question.get("answers") or []
                    if not answers or not cut:
                        yield str(question["question"]), None
                        continue
                    start = int(answers[0]["answer_start"])
                    before = [number for (begin, _), number in zip(cut, numbers, strict=True) if begin <= start]
                    yield str(question["question"]), (before or numbers)[-1]
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InvalidScores(
                f"{path}: article {number} is not a list of paragraphs with a context and questions with answer_start"
            ) from None
