"""Compute the score sets that ship with the package from the raw data: how each was made.

    python tools/build_score_sets.py RAW_FOLDER

RAW_FOLDER holds ``imagenet/imagenet_val5k_efficientnet_lite0.npz`` (logits of EfficientNet-Lite0 on
5,000 ImageNet validation images), ``squad/squad_minilm_scores_block100.npz`` (cosine scores of
all-MiniLM-L6-v2 on SQuAD 1.1 dev) and ``ebay/auction.csv`` (bids in 628 eBay auctions).
"""

import collections
import csv
import sys
from pathlib import Path

import numpy as np

from shortlist.lab.tasks import data_file, write_scores


def images(raw: Path) -> None:
    """Half of the 5,000 images, all 1,000 logits as float16.

    Every second one in the order of the true class's logit: so the distribution of true scores is
    that of all 5,000.
    """
    with np.load(raw / "imagenet/imagenet_val5k_efficientnet_lite0.npz") as archive:
        logits, labels = archive["logits"], archive["labels"]
    true_scores = logits[np.arange(len(labels)), labels]
    half = np.sort(np.argsort(true_scores, kind="stable")[1::2])
    write_scores(
        data_file("images.npz"),
        true_scores[half],
        logits[half],
        name="images",
        source="logits (float16) of EfficientNet-Lite0, 75.2 % top-1, for 1,000 classes on 2,500 images of the "
        "ImageNet validation set: of 5,000, 5 a class, every second in the order of the true class's logit",
    )


def retrieval(raw: Path) -> None:
    """All 10,570 questions, one gold block and 50 BM25 negatives, as float16."""
    with np.load(raw / "squad/squad_minilm_scores_block100.npz") as archive:
        scores = archive["scores_bm25"].astype(np.float16)
    write_scores(
        data_file("retrieval.npz"),
        scores[:, 0],
        scores,
        name="retrieval",
        source="cosine (float16) of all-MiniLM-L6-v2 embeddings for 10,570 questions of SQuAD 1.1 dev, each with "
        "its gold passage and the 50 best other passages by BM25; passages are disjoint blocks of 100 words",
    )


def auctions(raw: Path) -> None:
    """All bids as distinct values and counts, item by item."""
    counts: collections.Counter[tuple[str, float]] = collections.Counter()
    with (raw / "ebay/auction.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts[row["item"], float(row["bid"])] += 1
    with data_file("auctions.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(
            "# 10,681 bids in 628 eBay auctions (Cartier wristwatches, Palm Pilots, Xboxes; Jank and Shmueli 2010) "
            "as distinct values and their counts; five bidders an auction draw from all of them\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", "value", "count"])
        writer.writerows([item, repr(value), count] for (item, value), count in sorted(counts.items()))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    images(folder)
    retrieval(folder)
    auctions(folder)
