"""The two jobs: images to logits, questions and passages to cosines."""

from pathlib import Path

import numpy as np

from shortlist.errors import InvalidScores
from shortlist.lab.scoring.checkpoints import Job, ScoreBatch, Tells, digest_of_bytes, digest_of_files
from shortlist.lab.scoring.classifiers import Classifier
from shortlist.lab.scoring.encoders import Encoder
from shortlist.lab.scoring.image_datasets import ImageFile, decode, find_pictures, to_classes
from shortlist.lab.scoring.question_datasets import QuestionSet, read_questions
from shortlist.lab.tasks.score_file import read_scores

__all__ = ["score_images", "score_retrieval"]


def score_images(
    source: Path,
    out: Path,
    classifier: Classifier,
    *,
    tells: Tells,
    truth: Path | None = None,
    batch: int = 32,
    limit: int | None = None,
    skip_broken: bool = False,
    dtype: str = "float32",
    name: str = "images",
) -> int:
    """Write the logits of a classifier on labeled images as a score file; return how many images were broken."""
    pictures = find_pictures(source, truth)
    classes = to_classes([picture.called for picture in pictures], classifier.labels)
    chosen = _spread(len(pictures), limit)
    pictures, classes = [pictures[i] for i in chosen], [classes[i] for i in chosen]
    settings = {
        "kind": "images",
        "model": classifier.described,
        "images": str(source.resolve()),
        "images_sha256": digest_of_bytes(f"{one.name} {one.called} {one.size}\n".encode() for one in pictures),
    }

    def compute(start: int, stop: int) -> ScoreBatch:
        read = [_read(picture, skip_broken) for picture in pictures[start:stop]]
        images = [_decode(*one, skip_broken) for one in zip(pictures[start:stop], read, strict=True)]
        whole = [i for i, image in enumerate(images) if image is not None]
        logits = np.empty((0, len(classifier.labels)), np.float32)
        if whole:
            logits = classifier.logits([images[i] for i in whole])
        if logits.shape[1] != len(classifier.labels):
            raise InvalidScores(f"the model has {len(classifier.labels)} labels and returns {logits.shape[1]} logits")
        true = logits[np.arange(len(whole)), [classes[start + i] for i in whole]]
        return ScoreBatch(true, logits, digest_of_bytes(read))

    with Job(out, settings, total=len(pictures), batch=batch) as job:
        job.run(compute, tells("images"))
        job.finish(
            name=name,
            source=f"logits of {classifier.described['name']} ({classifier.described['revision']}) for "
            f"{len(classifier.labels):,} classes on the images of {source.name}",
            dtype=dtype,
        )
    return len(pictures) - len(read_scores(out).true_scores)


def _read(picture: ImageFile, skip_broken: bool) -> bytes:
    try:
        return picture.read()
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
        if skip_broken:
            return b""
        raise InvalidScores(f"{picture.name}: this image cannot be read ({error})") from None


def _decode(picture: ImageFile, content: bytes, skip_broken: bool) -> object | None:
    try:
        image: object = decode(picture, content)
    except InvalidScores:
        if not skip_broken:
            raise
        return None
    return image


def score_retrieval(
    source: Path,
    out: Path,
    encoder: Encoder,
    *,
    tells: Tells,
    negatives: int = 50,
    batch: int = 64,
    limit: int | None = None,
    dtype: str = "float32",
    name: str = "retrieval",
) -> QuestionSet:
    """Write the cosines of questions with their passages as a score file; return what was read."""
    collection = read_questions(source, negatives=negatives, limit=limit)
    used = sorted({number for question in collection.questions for number in question.passages})
    row_of = {number: i for i, number in enumerate(used)}
    settings = {
        "kind": "retrieval",
        "encoder": encoder.described,
        "file_sha256": digest_of_files([source]),
        "form": collection.form,
        "negatives": negatives,
        "limit": limit,
    }
    with Job(out, settings, total=len(collection.questions), batch=batch) as job:
        passages = job.vectors(
            len(used),
            lambda start, stop: encoder.passages([collection.passages[number] for number in used[start:stop]]),
            tells("passages"),
        )

        def compute(start: int, stop: int) -> ScoreBatch:
            asked = collection.questions[start:stop]
            vectors = encoder.questions([question.text for question in asked])
            numbers = np.array([[row_of[number] for number in question.passages] for question in asked])
            theirs = passages.take(numbers.ravel()).reshape(*numbers.shape, -1)
            if theirs.shape[-1] != vectors.shape[-1]:
                raise InvalidScores(
                    f"vectors of questions have {vectors.shape[-1]} numbers and those of passages {theirs.shape[-1]}; "
                    "both must have the same length"
                )
            cosines = np.einsum("qd,qpd->qp", vectors, theirs, dtype=np.float64).astype(np.float32)
            return ScoreBatch(cosines[:, 0], cosines, digest_of_bytes(question.text.encode() for question in asked))

        job.run(compute, tells("questions"))
        job.finish(
            name=name,
            source=f"cosines of {_who(encoder)} for {len(collection.questions):,} questions of {source.name}, each "
            f"with one right passage and {negatives} irrelevant ones ({collection.form})",
            dtype=dtype,
        )
    return collection


def _spread(count: int, limit: int | None) -> list[int]:
    """Return which of `count` things to take if there may be no more than `limit`: spread evenly over all.

    >>> _spread(10, 4)
    [0, 2, 5, 7]
    """
    if limit is None or limit >= count:
        return list(range(count))
    return [i * count // limit for i in range(limit)]


def _who(encoder: Encoder) -> str:
    described = encoder.described
    model = described.get("question_model") or described.get("model")
    return f"{model['name']} ({model['revision']})" if model else f"the command {described['command']}"
