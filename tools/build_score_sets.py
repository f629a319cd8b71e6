"""Compute the score sets that ship with the package from the raw data: how each was made.

    python tools/build_score_sets.py RAW_FOLDER

RAW_FOLDER holds ``imagenet/imagenet_val5k_efficientnet_lite0.npz`` (logits of EfficientNet-Lite0 on
5,000 ImageNet validation images), ``squad/squad_minilm_scores_block100.npz`` (cosine scores of
all-MiniLM-L6-v2 on SQuAD 1.1 dev), ``squad/squad_bm25_scores_block100.npz`` (BM25 of the same passages),
``tools/metatool_scores.npz`` (both, of the requests and tools of MetaTool) and ``ebay/auction.csv`` (bids in 628 eBay
auctions).
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
    """All 10,570 questions, one gold block and 50 BM25 negatives, scored by MiniLM and by BM25, as float16."""
    scores = []
    for name in ("minilm", "bm25"):
        with np.load(raw / f"squad/squad_{name}_scores_block100.npz") as archive:
            scores.append(archive["scores_bm25"].astype(np.float16))
    write_scores(
        data_file("retrieval.npz"),
        scores[0][:, 0],
        np.stack(scores, axis=-1),
        scorers=["dense", "bm25"],
        true_column=np.zeros(len(scores[0]), dtype=np.int16),
        name="retrieval",
        source="cosine (float16) of all-MiniLM-L6-v2 embeddings for 10,570 questions of SQuAD 1.1 dev, each with "
        "its gold passage and the 50 best other passages by BM25; passages are disjoint blocks of 100 words. Second "
        "scorer: BM25 (float16; k1 1.2, b 0.75, words lower-cased, idf over all 3,078 passages) of the same passages",
    )


def tools(raw: Path) -> None:
    """2,000 requests of 8,000, drawn with a fixed seed, each with all 199 tools, scored by MiniLM and by BM25."""
    with np.load(raw / "tools/metatool_scores.npz") as archive:
        drawn = np.sort(np.random.default_rng(0).choice(len(archive["right"]), size=2000, replace=False))
        scores = np.stack([archive[name][drawn] for name in ("dense", "bm25")], axis=-1)
        right = archive["right"][drawn]
    write_scores(
        data_file("tools.npz"),
        scores[np.arange(len(right)), right, 0],
        scores,
        scorers=["dense", "bm25"],
        true_column=right,
        name="tools",
        source="cosine (float16) of all-MiniLM-L6-v2 embeddings for 2,000 requests of MetaTool, each with one right "
        "tool of 199, against the name and description of every tool; 2,000 of 8,000, drawn with a fixed seed. Second "
        "scorer: BM25 (float16) of the same texts",
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
            "as distinct values and their counts\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", "value", "count"])
        writer.writerows([item, repr(value), count] for (item, value), count in sorted(counts.items()))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    images(folder)
    retrieval(folder)
    tools(folder)
    auctions(folder)
