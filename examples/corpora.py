"""What the examples of hybrid search share: passages, questions with their right passage, embeddings, and a table.

By default the passages are the documentation of Python's standard library, and a question is a later sentence of the
same documentation, which the index has not seen. With `--squad FILE` they are the paragraphs of SQuAD: a JSON file
(.json.gz) with "paragraphs", "questions" and "gold_paragraph". Embeddings are those of a latent semantic index, so that
everything runs offline; your own model does better.
"""

import argparse
import gzip
import inspect
import json
import pydoc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

__all__ = ["FETCH_K", "FIRST", "Corpus", "Outcome", "from_command_line", "play"]

#: How many passages each search returns, in every round.
FETCH_K = 50
#: The first rounds, of which lengths are given too.
FIRST = 200


@dataclass(frozen=True)
class Corpus:
    """Passages by name, and questions with the name of their right passage."""

    texts: dict[str, str]
    questions: list[tuple[str, str]]
    coverage: float
    size: int = 100

    @cached_property
    def _model(self) -> Any:
        words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
        model = make_pipeline(words, TruncatedSVD(self.size, random_state=0), Normalizer())
        return model.fit(list(self.texts.values()))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length one for each text; any one for a text without a known word."""
        vectors = self._model.transform(texts)
        vectors[~vectors.any(axis=1)] = self.size**-0.5
        numbers: list[list[float]] = vectors.tolist()
        return numbers

    def ask(self, rounds: int, seed: int = 0) -> list[tuple[str, str]]:
        """Return questions, drawn at random."""
        drawn = np.random.default_rng(seed).integers(len(self.questions), size=rounds)
        return [self.questions[i] for i in drawn]


def standard_library(passages: int | None = None) -> Corpus:
    """Return the documentation of Python's standard library, as the demo has it: this needs the extra service."""
    from shortlist.service.demo import Corpus as StandardLibrary  # noqa: PLC0415

    documentation = StandardLibrary()
    named = list(zip(documentation.names, documentation.texts, strict=True))[:passages]
    questions = []
    for name, _ in named:
        parts = (inspect.getdoc(pydoc.locate(name)) or "").split("\n\n")[1:]
        later = [" ".join(part.split()) for part in parts]
        sentence = next((part for part in later if len(part.split()) > 6 and not part.startswith((">>>", "-"))), None)
        if sentence is not None:
            questions.append((sentence[:200], name))
    return Corpus({name: f"{name} {text}" for name, text in named}, questions, coverage=0.7)


def squad(path: str) -> Corpus:
    """Return the paragraphs of SQuAD."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    texts = {f"p{i}": text for i, text in enumerate(content["paragraphs"])}
    right = (f"p{i}" for i in content["gold_paragraph"])
    return Corpus(texts, list(zip(content["questions"], right, strict=True)), coverage=0.9)


def from_command_line(description: str) -> tuple[Corpus, int]:
    """Return the corpus and the number of rounds that were asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--squad", metavar="FILE", help="paragraphs of SQuAD instead")
    parser.add_argument("--passages", type=int, help="the first so many of the standard library")
    parser.add_argument("--rounds", type=int, default=2000)
    options = parser.parse_args()
    return squad(options.squad) if options.squad else standard_library(options.passages), options.rounds


#: From a question to the names of what is shown, and a function that takes the right one, or None for a miss.
Show = Callable[[str], tuple[list[str], Callable[[str | None], None]]]


@dataclass
class Outcome:
    """What two ways of showing lists did in each round, and where rank fusion had the right passage."""

    coverage: float
    auto: list[tuple[int, bool]] = field(default_factory=list)
    rrf: list[tuple[int, bool]] = field(default_factory=list)
    #: Counted from 0; as large as can be where no search returned it.
    ranks: list[int] = field(default_factory=list)
    #: Whether the right passage was among the first three of auto's list.
    among_three: list[bool] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return mean lengths and coverages over all rounds, and the top-k that covers as much as auto does."""
        auto, rrf = np.array(self.auto, dtype=float), np.array(self.rrf, dtype=float)
        ranks = np.array(self.ranks)
        covered = auto[:, 1].mean()
        top_k = next(k for k in range(1, 2 * FETCH_K + 1) if (ranks < k).mean() >= covered or k == 2 * FETCH_K)
        return {
            "auto": float(auto[:, 0].mean()),
            "auto_coverage": float(covered),
            "auto_first": float(auto[:FIRST, 0].mean()),
            "rrf": float(rrf[:, 0].mean()),
            "rrf_coverage": float(rrf[:, 1].mean()),
            "top_k": float(top_k),
            "top_k_coverage": float((ranks < top_k).mean()),
            "rrf_three": float((ranks < 3).mean()),
            "auto_three": float(np.mean(self.among_three)),
        }

    def report(self, name: str) -> None:
        """Print list lengths at equal coverage."""
        figures = self.figures()
        print(f"{name}: passages per question over {len(self.auto):,} rounds, coverage {self.coverage:.0%} asked for")
        print(f"  auto, both searches (coverage {figures['auto_coverage']:.1%})            {figures['auto']:6.2f}")
        print(f"  RRF, its threshold learned (coverage {figures['rrf_coverage']:.1%})     {figures['rrf']:6.2f}")
        print(f"  RRF, the best top-k (coverage {figures['top_k_coverage']:.1%}, in hindsight) {figures['top_k']:3.0f}")


def play(corpus: Corpus, rounds: int, auto: Show, rrf: Show, fused: Callable[[str], list[str]]) -> Outcome:
    """Ask every question twice, and answer as a person would: with the right passage, or "not in this list"."""
    outcome = Outcome(corpus.coverage)
    for question, right in corpus.ask(rounds):
        for show, rows in ((auto, outcome.auto), (rrf, outcome.rrf)):
            names, answer = show(question)
            answer(right if right in names else None)
            rows.append((len(names), right in names))
            if rows is outcome.auto:
                outcome.among_three.append(right in names[:3])
        order = fused(question)
        outcome.ranks.append(order.index(right) if right in order else len(corpus.texts))
    return outcome
