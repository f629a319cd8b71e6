"""Measure hybrid search through three frameworks: ``make measure NAME=hybrid ARGS=FILE``.

2,000 rounds of ``examples/hybrid_*.py`` each, with each framework's own BM25 and vector store, on the paragraphs of
SQuAD: FILE is a JSON file (.json.gz) with "paragraphs", "questions" and "gold_paragraph", which is not in this
repository. Lengths and coverages are over all rounds. The top-k is the smallest that covers as much as auto does in the
same rounds, which nobody knows beforehand. How often the right passage is among the first three is from rounds of their
own, in which at least three are shown. What was measured goes into benchmarks/hybrid.json, and its
table into docs/how-to/hybrid-search.md; without it the table is written again from that file. Twenty minutes.
"""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "benchmarks" / "hybrid.json"
PAGE: Final = ROOT / "docs" / "how-to" / "hybrid-search.md"
ROUNDS: Final = 2000
FRAMEWORKS: Final = {
    "langchain": "LangChain",
    "langchain_words": "LangChain, BM25 on lowercased words",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
}


def measure(path: str) -> dict[str, Any]:
    """Return the figures of each framework."""
    sys.path.insert(0, str(ROOT / "examples"))
    corpus = importlib.import_module("corpora").squad(path)
    figures = {}
    for name in FRAMEWORKS:
        module = importlib.import_module(f"hybrid_{name.removesuffix('_words')}")
        more = [module.words] if name.endswith("_words") else []
        figures[name] = module.run(corpus, ROUNDS, *more).figures()
        # The order alone: with three in every list.
        figures[name]["auto_three"] = module.run(corpus, ROUNDS, *more, at_least=3).figures()["auto_three"]
        print(name, json.dumps(figures[name]), flush=True)
    return {"rounds": ROUNDS, "passages": len(corpus.texts), "coverage": corpus.coverage, **figures}


def table(figures: dict[str, Any]) -> str:
    """Return the figures as the page has them."""
    lines = [
        "| | both searches (coverage) | first 200 | RRF, its threshold learned | a fixed top-k of RRF | "
        "among the first three: learned, RRF |"
    ]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for key, name in FRAMEWORKS.items():
        row = figures[key]
        lines.append(
            f"| {name} | **{row['auto']:.1f}** ({row['auto_coverage']:.1%}) | {row['auto_first']:.1f} | "
            f"{row['rrf']:.1f} ({row['rrf_coverage']:.1%}) | {row['top_k']:.0f} ({row['top_k_coverage']:.1%}) | "
            f"**{row['auto_three']:.1%}**, {row['rrf_three']:.1%} |"
        )
    return "\n".join(lines)


def write_page(figures: dict[str, Any]) -> None:
    """Write the table into the page."""
    marked = f"<!-- frameworks -->\n{table(figures)}\n<!-- end frameworks -->"
    text = re.sub(r"<!-- frameworks -->.*?<!-- end frameworks -->", lambda _: marked, PAGE.read_text(), flags=re.DOTALL)
    PAGE.write_text(text)


def main() -> None:
    """Measure, and write down."""
    if len(sys.argv) > 1:
        FILE.write_text(json.dumps(measure(sys.argv[1]), indent=1) + "\n")
    write_page(json.loads(FILE.read_text()))


if __name__ == "__main__":
    main()
