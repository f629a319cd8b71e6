"""Images and their classes, in the usual formats.

| format | the class of an image is |
|---|---|
| a folder for each class | its folder's name |
| one folder of images | in the file ``--truth``: one line ``NAME CLASS`` per image |
| Parquet shards | the column ``label``; the image is ``image`` or ``image.bytes`` |

A class is given as a number, one of the model's labels, or a WordNet id (``n01440764``): the
thousand ids of ImageNet, sorted, are the classes of every ImageNet model, in order.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from shortlist.errors import InvalidParameter, InvalidScores, needs_extra

__all__ = ["ImageFile", "decode", "find_pictures", "to_classes"]

_IMAGES: Final = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
_WORDNET: Final = re.compile(r"n\d{8}")


@dataclass(frozen=True)
class ImageFile:
    """An image, read when it is needed, and the name of its class."""

    name: str
    read: Callable[[], bytes]
    called: str
    size: int = 0


def find_pictures(source: Path, truth: Path | None = None) -> list[ImageFile]:
    """Return the images of a folder, a class-per-folder tree or Parquet shards, in the order of their names."""
    if not source.is_dir() and source.suffix != ".parquet":
        what = "this is a file; give the folder it is in" if source.exists() else "there is no such folder"
        raise InvalidScores(f"{source}: {what}")
    shards = [source] if source.suffix == ".parquet" else sorted(source.glob("**/*.parquet"))
    if shards:
        images = list(_shards(shards))
    elif truth is not None:
        images = list(_listed(source, truth))
    else:
        images = [
            ImageFile(f"{path.parent.name}/{path.name}", path.read_bytes, path.parent.name, path.stat().st_size)
            for path in sorted(source.glob("*/*"))
            if path.suffix.lower() in _IMAGES
        ]
    if not images:
        flat = any(path.suffix.lower() in _IMAGES for path in source.iterdir())
        remedy = (
            "its images are not in class folders: name a file of their classes with --truth"
            if flat
            else ("it must hold a folder of images for each class, or .parquet files")
        )
        raise InvalidScores(f"{source}: no images with classes were found; {remedy}")
    return images


def _listed(source: Path, truth: Path) -> Iterator[ImageFile]:
    try:
        lines = truth.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidScores(f"{truth}: the classes cannot be read ({error})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, *rest = re.split(r"[,\s]", line.strip(), maxsplit=1)
        path, called = source / name, "".join(rest)
        if not called.strip():
            raise InvalidScores(f"{truth}: line {number} is {line!r}; it must be a file's name and its class")
        if not path.is_file():
            raise InvalidScores(f"{truth}: line {number} names {name}, which is not in {source}")
        yield ImageFile(name, path.read_bytes, called.strip(), path.stat().st_size)


def _shards(paths: Sequence[Path]) -> Iterator[ImageFile]:
    needs_extra("Parquet", "experiments", "pyarrow")
    import pyarrow.parquet as pq  # noqa: PLC0415 - in an extra

    for path in paths:
        try:
            shard = pq.ParquetFile(path)
            names = set(shard.schema_arrow.names)
        except (OSError, ValueError) as error:
            raise InvalidScores(f"{path}: this cannot be read as Parquet ({error})") from None
        if not {"image", "label"} <= names:
            raise InvalidScores(f"{path}: the columns are {', '.join(sorted(names))}; image and label are required")
        for group in range(shard.num_row_groups):
            labels = shard.read_row_group(group, columns=["label"]).column("label").to_pylist()
            cells = _RowGroup(shard, group)
            for row, label in enumerate(labels):
                yield ImageFile(
                    f"{path.name}[{group}][{row}]", partial(cells.read, row), str(label), path.stat().st_size
                )


class _RowGroup:
    """The images of one row group, which are in memory only while it is being read."""

    _held: "_RowGroup | None" = None

    def __init__(self, shard: Any, number: int) -> None:
        self.shard, self.number = shard, number
        self.cells: Any = None

    def read(self, row: int) -> bytes:
        if self.cells is None:
            if _RowGroup._held is not None:
                _RowGroup._held.cells = None
            self.cells = self.shard.read_row_group(self.number, columns=["image"]).column("image")
            _RowGroup._held = self
        cell = self.cells[row].as_py()
        content = cell["bytes"] if isinstance(cell, dict) else cell
        return bytes(content or b"")


def decode(picture: ImageFile, content: bytes) -> Any:
    """Return an image, or raise an error that names it."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - in an extra

    try:
        return Image.open(io.BytesIO(content)).convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise InvalidScores(
            f"{picture.name}: this image is broken ({error}); remove it, or pass --skip-broken"
        ) from None


def to_classes(called: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the model's class of each image, or raise an error that says why they do not match.

    >>> to_classes(["cat", "dog", "cat"], ["tabby, cat", "dog"])
    [0, 1, 0]
    """
    names = sorted(set(called))
    exact, synonyms = _by_label(labels)
    if all(_plain(name) in exact or _plain(name) in synonyms for name in names):
        classes = {name: _the_one(name, exact.get(_plain(name)) or synonyms[_plain(name)]) for name in names}
    elif all(name.isdecimal() for name in names):
        classes = {name: int(name) for name in names}
        beyond = [name for name in names if int(name) >= len(labels)]
        if beyond:
            raise InvalidParameter(f"class {beyond[0]} is beyond the model's {len(labels)} classes, numbered from 0")
    elif all(_WORDNET.fullmatch(name) for name in names):
        if len(names) != len(labels):
            raise InvalidParameter(
                f"there are {len(names)} WordNet classes and the model has {len(labels)}: they cannot be matched "
                "in order; name each image's class by number or label with --truth"
            )
        classes = {name: number for number, name in enumerate(names)}
    else:
        unknown = next(name for name in names if _plain(name) not in exact and _plain(name) not in synonyms)
        raise InvalidParameter(
            f"class {unknown!r} is none of the model's {len(labels)} labels ({', '.join(labels[:3])}, ...); "
            "classes must all be labels, or all numbers, or all WordNet ids"
        )
    return [classes[name] for name in called]


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").split())


def _by_label(labels: Sequence[str]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the classes that go by each whole label, and by each of the names in one."""
    exact: dict[str, list[int]] = {}
    synonyms: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        exact.setdefault(_plain(label), []).append(number)
        for synonym in {_plain(name) for name in label.split(",")}:
            synonyms.setdefault(synonym, []).append(number)
    return exact, synonyms


def _the_one(name: str, classes: list[int]) -> int:
    if len(classes) > 1:
        raise InvalidParameter(
            f"class {name!r} may be any of the model's classes {', '.join(map(str, classes))}; give classes as numbers"
        )
    return classes[0]
