"""Score files: a model's scores of the right answer, and of all candidates, question by question.

A score file is an ``.npz`` with

- ``true_scores``: float[n], the score of the right answer;
- ``candidate_scores`` (optional): float[n, m] of the same type, the scores of all candidates in any
  order, the right one's included, for list lengths;
- ``scorers`` (optional): the names of d scorers; ``candidate_scores`` is then float[n, m, d], NaN where a scorer has no
  score for a candidate (a candidate without any score is not in the list: lists may differ in length), and
  ``true_column``, int[n], is the column of the right answer, -1 where it is not among the candidates. ``true_scores``
  are the first scorer's, and may be left out;
- ``name``, ``source`` (optional): a word, and a sentence on where the scores come from;
- ``details`` (optional): a JSON object: the model, its revision, checksums, how the scores were computed.

The same scores give the same file, byte for byte.
"""

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._files import replace_file
from shortlist._validation import UNNAMED, check_scorers
from shortlist.errors import InvalidParameter, InvalidScores

__all__ = ["ScoreSet", "read_scores", "write_scores"]

#: How large a file may be unpacked in any case, in bytes, and how many times as large as it is on disk.
_SMALL: Final = 2**28
_RATIO: Final = 100
_RULES: Final = {
    1: "one score for each question",
    2: "a row of scores for each question",
    3: "a row of scores for each question, with a number by each scorer",
}


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """The content of a score file.

    Attributes
    ----------
    true_scores
        float[n], the (first scorer's) score of the right answer in each round; minus infinity where it has none.
    candidate_scores
        float[n, m], the (first scorer's) scores of all candidates, the right one's included, in any order:
        `true_columns` says where it is; NaN where it has none. None if they are not known.
    name
        A word.
    source
        A sentence on where the scores come from.
    details
        The model, its revision, checksums: how the scores were computed.
    scorers
        The names of the scorers; one empty name for a single scorer without a name.
    by_scorer
        float[n, m, d], the scores of all candidates by all scorers; None where there is one scorer. `tables` has them
        in any case.
    columns
        int[n], the column of the right answer if the file has it; None otherwise.
    """

    true_scores: NDArray[np.floating]
    candidate_scores: NDArray[np.floating] | None
    name: str
    source: str
    details: Mapping[str, Any] = field(default_factory=dict)
    scorers: tuple[str, ...] = UNNAMED
    by_scorer: NDArray[np.floating] | None = field(default=None, repr=False)
    columns: NDArray[np.intp] | None = field(default=None, repr=False)

    @cached_property
    def lists(self) -> NDArray[np.float64]:
        """float64[n, m], the (first scorer's) scores of all candidates: a list per question."""
        return self._candidates().astype(np.float64, copy=False)

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """float64[n, m, d], the scores of all candidates by all scorers, of which there may be one."""
        values = self._candidates()[:, :, None] if self.by_scorer is None else self.by_scorer
        return values.astype(np.float64, copy=False)

    @property
    def true_columns(self) -> NDArray[np.intp]:
        """int[n], the column of the right answer in each row of `candidate_scores`: -1 where it is not among them.

        The first one with its score, if the file does not have the column.
        """
        if self.columns is not None:
            return self.columns
        columns: NDArray[np.intp] = (self._candidates() == self.true_scores[:, None]).argmax(axis=1)
        return columns

    def _candidates(self) -> NDArray[np.floating]:
        if self.candidate_scores is None:
            raise InvalidScores(f"{self.name} has no candidate_scores: only the right answer's scores are known")
        return self.candidate_scores


def write_scores(
    path: str | os.PathLike[str],
    true_scores: ArrayLike | None,
    candidate_scores: ArrayLike | None = None,
    *,
    name: str,
    source: str,
    details: Mapping[str, Any] | None = None,
    scorers: Sequence[str] | None = None,
    true_column: ArrayLike | None = None,
) -> None:
    """Write a score file that `read_scores` accepts.

    Parameters
    ----------
    path
        The file, an ``.npz``.
    true_scores
        float[n], the score of the right answer in each round; None with several scorers.
    candidate_scores
        float[n, m], the scores of all candidates, the right one's included; None if they are not known. With
        several scorers float[n, m, d], NaN where one has no score for a candidate.
    name
        A word.
    source
        A sentence on where the scores come from.
    details
        The model, its revision, checksums: how the scores were computed.
    scorers
        The names of the scorers, if there are several.
    true_column
        int[n], the column of the right answer with several scorers; -1 where it is not among the candidates.

    Examples
    --------
    >>> tables = np.random.default_rng(0).normal(size=(500, 20, 2))  # 500 questions, 20 candidates, two scorers
    >>> write_scores("hybrid.npz", None, tables, scorers=["dense", "bm25"],
    ...              true_column=np.zeros(500, int), name="hybrid", source="random numbers")  # doctest: +SKIP
    """
    arrays: dict[str, ArrayLike] = {"name": name, "source": source}
    if true_scores is not None:
        arrays = {"true_scores": true_scores} | arrays
    if candidate_scores is not None:
        # Scorer by scorer they are packed more tightly.
        several = np.ndim(candidate_scores) == 3
        arrays["candidate_scores"] = np.asfortranarray(candidate_scores) if several else candidate_scores
    if scorers is not None:
        arrays["scorers"] = np.array(list(scorers), dtype=np.str_)
    if true_column is not None:
        arrays["true_column"] = true_column
    if details:
        arrays["details"] = json.dumps(details, sort_keys=True)

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for key, value in arrays.items():
                entry = zipfile.ZipInfo(f"{key}.npy")  # dated 1980: np.savez would put the time of day into the file
                entry.compress_type = zipfile.ZIP_DEFLATED
                with archive.open(entry, "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asanyarray(value), allow_pickle=False)
        try:
            read_scores(temporary)
        except InvalidScores as error:
            raise InvalidScores(str(error).replace(str(temporary), str(path))) from None

    replace_file(Path(path), write)


def read_scores(path: str | os.PathLike[str]) -> ScoreSet:
    """Return the content of a score file, or raise an error that says in one line what is wrong with it.

    Parameters
    ----------
    path
        The file, an ``.npz``.

    Returns
    -------
    ScoreSet
        The content.

    Raises
    ------
    InvalidScores
        If it is not a score file.
    """
    arrays = _load(path)
    if "scorers" in arrays:
        return _several(path, arrays)
    if "true_scores" not in arrays:
        names = ", ".join(sorted(arrays)) or "nothing"
        raise InvalidScores(f"{path}: there is no array called true_scores (found: {names})")
    true_scores = _floats(path, "true_scores", arrays["true_scores"], dimensions=1)
    candidates = None
    if "candidate_scores" in arrays:
        candidates = _floats(path, "candidate_scores", arrays["candidate_scores"], dimensions=2)
        _check_rows(path, true_scores, candidates)
    return ScoreSet(
        true_scores,
        candidates,
        name=_text(path, arrays, "name") or Path(path).stem,
        source=_text(path, arrays, "source") or f"the file {Path(path).name}",
        details=_details(path, arrays),
    )


def _several(path: str | os.PathLike[str], arrays: dict[str, NDArray[np.generic]]) -> ScoreSet:
    """Return the content of a file with several scorers."""
    for name in ("candidate_scores", "true_column"):
        if name not in arrays:
            raise InvalidScores(f"{path}: there are scorers and no array called {name}; with scorers it is needed")
    texts = arrays["scorers"]
    if texts.dtype.kind != "U" or texts.ndim != 1:
        raise InvalidScores(f"{path}: scorers is of type {texts.dtype}; it must be a list of names")
    try:
        scorers = check_scorers(texts.tolist())
    except InvalidParameter as error:
        raise InvalidScores(f"{path}: {error}") from None
    tables = _floats(path, "candidate_scores", arrays["candidate_scores"], dimensions=3, gaps=True)
    if tables.shape[2] != len(scorers):
        raise InvalidScores(
            f"{path}: candidate_scores has the shape {tables.shape} and there are {len(scorers)} scorers "
            f"({', '.join(scorers)}); its last axis must have one entry for each"
        )
    columns = _columns(path, arrays["true_column"], tables)
    right = np.take_along_axis(tables[..., 0], np.maximum(columns, 0)[:, None], axis=1)[:, 0]
    true_scores = np.where((columns < 0) | np.isnan(right), -np.inf, right).astype(tables.dtype)
    if "true_scores" in arrays:
        given = arrays["true_scores"]
        if given.shape != true_scores.shape or not np.array_equal(given, true_scores):
            raise InvalidScores(
                f"{path}: true_scores are not the first scorer's scores of the right answers; leave them out, or make "
                "them candidate_scores[i, true_column[i], 0]"
            )
    return ScoreSet(
        true_scores,
        np.ascontiguousarray(tables[..., 0]),
        name=_text(path, arrays, "name") or Path(path).stem,
        source=_text(path, arrays, "source") or f"the file {Path(path).name}",
        details=_details(path, arrays),
        scorers=scorers,
        by_scorer=None if len(scorers) == 1 else np.ascontiguousarray(tables),
        columns=columns,
    )


def _columns(
    path: str | os.PathLike[str], array: NDArray[np.generic], tables: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Return the columns of the right answers, checked."""
    rounds, candidates, _ = tables.shape
    if array.dtype.kind not in "iu" or array.shape != (rounds,):
        raise InvalidScores(
            f"{path}: true_column is of type {array.dtype} and has the shape {array.shape}; it must be {rounds} "
            "whole numbers, one for each row of candidate_scores"
        )
    columns: NDArray[np.intp] = array.astype(np.intp)
    bad = np.flatnonzero((columns < -1) | (columns >= candidates))
    if bad.size:
        raise InvalidScores(
            f"{path}: true_column[{bad[0]}] is {columns[bad[0]]}; it must be between 0 and {candidates - 1}, or -1 "
            "where the right answer is not among the candidates"
        )
    bad = np.flatnonzero((columns >= 0) & np.isnan(tables[np.arange(rounds), columns]).all(axis=1))
    if bad.size:
        raise InvalidScores(
            f"{path}: true_column[{bad[0]}] is {columns[bad[0]]}, a candidate that no scorer has a score for; write -1 "
            "where the right answer is not among the candidates"
        )
    return columns


def _load(path: str | os.PathLike[str]) -> dict[str, NDArray[np.generic]]:
    try:
        with Path(path).open("rb") as file:
            is_npz, start = zipfile.is_zipfile(file), file.seek(0) or file.read(6)
            file.seek(0)
            if is_npz:
                _check_size(path, file)
            archive = np.load(file, allow_pickle=False) if is_npz else None
            arrays = {name: archive[name] for name in archive.files} if archive is not None else {}
    except FileNotFoundError:
        raise InvalidScores(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InvalidScores(f"{path}: this is a folder; a score file is an .npz") from None
    except InvalidScores:
        raise
    except MemoryError:
        raise InvalidScores(f"{path}: its arrays are larger than this machine's memory") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise InvalidScores(f"{path}: this cannot be read as an .npz file ({error})") from None
    if not is_npz:
        kind = "a single array" if start == b"\x93NUMPY" else "not an .npz file"
        raise InvalidScores(f"{path}: this is {kind}; a score file is an .npz with true_scores")
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InvalidScores(f"{path}: {name} is not an array")
    return arrays


def _check_size(path: str | os.PathLike[str], file: IO[bytes]) -> None:
    """Refuse a small file that would take gigabytes once it is unpacked."""
    packed = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    file.seek(0)
    if unpacked > max(_SMALL, _RATIO * packed):
        raise InvalidScores(
            f"{path}: {packed:,} bytes would become {unpacked:,}, more than {_RATIO} times as many; write it without "
            "compression (np.savez) if that is right"
        )


def _floats(
    path: str | os.PathLike[str], name: str, array: NDArray[np.generic], dimensions: int, *, gaps: bool = False
) -> NDArray[np.floating]:
    if array.dtype.kind != "f":
        raise InvalidScores(f"{path}: {name} is of type {array.dtype}; it must be a float array")
    if array.ndim != dimensions:
        rule = _RULES[dimensions]
        raise InvalidScores(f"{path}: {name} has the shape {array.shape}; it must have {rule}")
    if array.size == 0:
        raise InvalidScores(f"{path}: {name} is empty")
    bad = np.argwhere(np.isinf(array) if gaps else ~np.isfinite(array))
    if bad.size:
        where = ", ".join(str(i) for i in bad[0])
        raise InvalidScores(f"{path}: {name}[{where}] is {array[tuple(bad[0])]}; scores must be finite")
    return array  # type: ignore[return-value]


def _check_rows(
    path: str | os.PathLike[str], true_scores: NDArray[np.floating], candidates: NDArray[np.floating]
) -> None:
    if len(candidates) != len(true_scores):
        raise InvalidScores(
            f"{path}: candidate_scores has {len(candidates)} rows and true_scores {len(true_scores)} "
            "entries; there must be one row for each"
        )
    if candidates.dtype != true_scores.dtype:
        raise InvalidScores(
            f"{path}: candidate_scores is of type {candidates.dtype} and true_scores of type "
            f"{true_scores.dtype}; they must be the same, or the right answer is not found among the candidates"
        )
    missing = np.flatnonzero(~(candidates == true_scores[:, None]).any(axis=1))
    if missing.size:
        row = int(missing[0])
        raise InvalidScores(
            f"{path}: true_scores[{row}] is {true_scores[row]}, which is not in row {row} of candidate_scores; "
            "the right answer's score must be among its candidates'"
        )


def _text(path: str | os.PathLike[str], arrays: dict[str, NDArray[np.generic]], name: str) -> str:
    if name not in arrays:
        return ""
    if arrays[name].dtype.kind != "U" or arrays[name].ndim != 0:
        raise InvalidScores(f"{path}: {name} must be text")
    return str(arrays[name])


def _details(path: str | os.PathLike[str], arrays: dict[str, NDArray[np.generic]]) -> dict[str, Any]:
    text = _text(path, arrays, "details")
    try:
        details = json.loads(text or "{}")
    except ValueError:
        details = None
    if not isinstance(details, dict):
        raise InvalidScores(f"{path}: details must be a JSON object")
    return details
