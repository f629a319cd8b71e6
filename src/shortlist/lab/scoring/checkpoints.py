"""Long jobs in batches, which can be stopped at any time and resumed.

Each finished batch is a file in a folder beside the result, ``OUT.partial``. The same command
continues with the first missing batch; different settings, data or models are detected and refused. A
batch depends on nothing but its number, so a file written in ten sessions is the same, byte for byte,
as one written in a single session.
"""

import hashlib
import importlib
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from shortlist._files import replace_file
from shortlist.errors import InvalidParameter, InvalidScores, UnwritableFile
from shortlist.lab.tasks.score_file import write_scores

__all__ = ["Job", "RowCache", "ScoreBatch", "Tell", "Tells", "Vectors", "digest_of_bytes", "digest_of_files"]

Vectors = NDArray[np.float32]
#: Called with how many of how many are done.
Tell = Callable[[int, int], None]
#: Returns a Tell for a part of the work, by its name.
Tells = Callable[[str], Tell]


@dataclass(frozen=True)
class ScoreBatch:
    """What one batch adds to a score file: scores of right answers, of all candidates, and a digest of its input."""

    true_scores: NDArray[np.float32]
    candidate_scores: NDArray[np.float32]
    digest: str


class Job:
    """A score file that is being computed.

    Parameters
    ----------
    out
        The score file.
    settings
        Everything that determines the result, as plain data: model, revision, data, batch size.
    total
        The number of questions.
    batch
        The number of questions per batch.
    """

    def __init__(self, out: Path, settings: dict[str, Any], total: int, batch: int) -> None:
        if batch < 1:
            raise InvalidParameter(f"batch is {batch}; it must be at least 1")
        self.out, self.total, self.batch = out, total, batch
        self.folder = out.with_name(f"{out.name}.partial")
        self.settings = settings | {"total": total, "batch": batch}
        self._open()

    def _open(self) -> None:
        described = json.dumps(self.settings, indent=1, sort_keys=True)
        path = self.folder / "settings.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                if any(self.folder.glob("*.np[yz]")):
                    raise InvalidParameter(f"{self.folder} holds batches without their settings; delete that folder")
                replace_file(path, described)
            stored = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UnwritableFile(f"{self.folder} cannot be written ({error.strerror}); choose another --out") from None
        if stored != described:
            raise InvalidParameter(
                f"{self.folder} holds the batches of another job: {_differences(stored, self.settings)}; "
                "delete that folder, or choose another --out"
            )
        self._lock = _locked(self.folder / "lock")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def run(self, compute: Callable[[int, int], ScoreBatch], tell: Tell) -> None:
        """Compute the missing batches, each from `start` to `stop`."""

        def save(start: int, stop: int) -> None:
            batch = compute(start, stop)
            if not (np.isfinite(batch.true_scores).all() and np.isfinite(batch.candidate_scores).all()):
                raise InvalidScores(
                    f"some scores of questions {start} to {stop - 1} are not finite: the model is broken"
                )
            self._save(
                self._path(start),
                lambda file: np.savez(
                    file,
                    true_scores=batch.true_scores,
                    candidate_scores=batch.candidate_scores,
                    digest=np.array(batch.digest),
                ),
            )

        self._each(self._path, self.total, save, tell)

    def vectors(self, count: int, compute: Callable[[int, int], Vectors], tell: Tell) -> "RowCache":
        """Compute `count` vectors, also in batches, and return a reader for them."""

        def save(start: int, stop: int) -> None:
            vectors = compute(start, stop)
            self._save(rows.path(start), lambda file: np.save(file, vectors))

        rows = RowCache(self.folder, self.batch)
        self._each(rows.path, count, save, tell)
        return rows

    def _each(self, path: Callable[[int], Path], total: int, save: Callable[[int, int], None], tell: Tell) -> None:
        missing = [start for start in range(0, total, self.batch) if not path(start).exists()]
        done = total - sum(min(self.batch, total - start) for start in missing)
        tell(done, total)
        for start in missing:
            stop = min(start + self.batch, total)
            save(start, stop)
            done += stop - start
            tell(done, total)

    def finish(self, *, name: str, source: str, dtype: str = "float32") -> None:
        """Put the batches together, write the score file and remove them."""
        batches = [self._load(start) for start in range(0, self.total, self.batch)]
        content = digest_of_bytes(batch.digest.encode() for batch in batches)
        details = self.settings | {"content_sha256": content, "dtype": dtype}
        try:
            write_scores(
                self.out,
                np.concatenate([batch.true_scores for batch in batches]).astype(dtype),
                np.concatenate([batch.candidate_scores for batch in batches]).astype(dtype),
                name=name,
                source=source,
                details=details,
            )
        except OSError as error:
            raise UnwritableFile(
                f"{self.out} cannot be written ({error.strerror}); free some space and run the same command again"
            ) from None
        done = self.folder.with_suffix(".done")  # a folder that is half removed must not look like a job
        self.folder.replace(done)
        shutil.rmtree(done, ignore_errors=True)

    def _path(self, start: int) -> Path:
        return self.folder / f"{start:09d}.npz"

    def _save(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        def write_to(temporary: Path) -> None:
            with temporary.open("wb") as file:
                write(file)

        try:
            replace_file(path, write_to)
        except OSError as error:
            raise UnwritableFile(
                f"{path} cannot be written ({error.strerror}); what is finished is kept: run the same command again"
            ) from None

    def _load(self, start: int) -> ScoreBatch:
        with _read_back(self._path(start)), np.load(self._path(start), allow_pickle=False) as archive:
            return ScoreBatch(archive["true_scores"], archive["candidate_scores"], str(archive["digest"]))


class RowCache:
    """Vectors in files, one per batch, which need not fit into memory."""

    def __init__(self, folder: Path, batch: int) -> None:
        self.folder, self.batch = folder, batch

    def path(self, start: int) -> Path:
        """Return the file of the batch that begins there."""
        return self.folder / f"vectors-{start:09d}.npy"

    def take(self, numbers: NDArray[np.intp]) -> Vectors:
        """Return the vectors of these numbers, in their order."""
        starts = numbers // self.batch * self.batch
        vectors: Vectors | None = None
        for start in np.unique(starts).tolist():
            with _read_back(self.path(start)):
                there = np.load(self.path(start), mmap_mode="r", allow_pickle=False)
            if vectors is None:
                vectors = np.empty((numbers.size, there.shape[1]), dtype=np.float32)
            mine = starts == start
            vectors[mine] = there[numbers[mine] - start]
        assert vectors is not None  # noqa: S101 - nobody asks for no vectors
        return vectors


@contextmanager
def _read_back(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidScores(f"{path} is damaged ({error}); delete it and run the same command again") from None


def digest_of_bytes(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 of concatenated parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return one SHA-256 for the names and contents of files."""

    def parts() -> Iterator[bytes]:
        for path in sorted(paths):
            yield path.name.encode()
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    yield block

    return digest_of_bytes(parts())


def _locked(path: Path) -> IO[bytes]:
    """Return a file that only one process at a time can hold."""
    file = path.open("ab")
    try:
        fcntl: Any = importlib.import_module("fcntl")
    except ModuleNotFoundError:  # not on this system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InvalidParameter(f"{path.parent} is in use by another process; wait for it, or stop it") from None
    return file


def _differences(stored: str, settings: dict[str, Any]) -> str:
    try:
        old: dict[str, Any] = json.loads(stored)
    except ValueError:
        return "its settings cannot be read"
    names = [name for name in sorted({*old, *settings}) if old.get(name) != settings.get(name)]
    return ", ".join(f"{name} was {old.get(name)!r} and is {settings.get(name)!r} now" for name in names[:3])
