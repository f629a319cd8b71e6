"""An LLM's citations answer the rounds: nobody has to click.

Run: python examples/citations.py                                           # offline: 200 answers of a scripted model
     python examples/citations.py --url http://localhost:11434/v1 --model M # any OpenAI-compatible service

The scripted model cites the right passage, or says NOT FOUND; 40 of its 200 answers are awkward in form. A real one is
asked the same questions (`--rounds`), with the key in OPENAI_API_KEY if it needs one.

Needs the extra service, and client with `--url`.
"""

import argparse
import json
import os
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from corpora import Corpus, standard_library

from shortlist import Shortlister
from shortlist.integrations.citations import NOT_FOUND, answer_round, numbered, read_citations

#: How many passages go into a prompt before anything is learned.
FETCH = 30
PROMPT = (
    "Answer the question from the passages below, in one sentence. Cite every passage that you use by its number in "
    f"brackets, such as [2]. If something is missing that the answer needs, write {NOT_FOUND}."
)


class Awkward(NamedTuple):
    """An answer that is awkward in form: n is the right passage, m another one, over is a number that is not there."""

    what: str
    answer: Any
    becomes: str


def called(arguments: str) -> dict[str, Any]:
    """Return a message that calls the tool."""
    return {"content": None, "tool_calls": [{"function": {"name": "cite", "arguments": arguments}}]}


AWKWARD = [
    Awkward("no space before it", "Within five days[{n}].", "hit"),
    Awkward("spaces inside", "Within five days [ {n} ].", "hit"),
    Awkward("cited twice", "Five days [{n}]. As I said, five days [{n}].", "hit"),
    Awkward("a word before the number", "[Source {n}] says so.", "hit"),
    Awkward("another word", "See [Document {n}].", "hit"),
    Awkward("an abbreviation", "Five days [doc. {n}].", "hit"),
    Awkward("a number sign", "Five days [#{n}].", "hit"),
    Awkward("a footnote", "Five days.[^{n}]", "hit"),
    Awkward("other brackets", "Five days.【{n}】", "hit"),
    Awkward("with a source mark", "Five days.【{n}:0†source】", "hit"),
    Awkward("as a link", "Five days [{n}](https://example.org/doc).", "hit"),
    Awkward("in bold", "**[{n}]** Five days.", "hit"),
    Awkward("beside [sic]", "The 'recieved' [sic] order [{n}].", "hit"),
    Awkward("beside an ellipsis", "'Paid [...] in five days' [{n}].", "hit"),
    Awkward("beside another link", "See [the docs](https://example.org) and [{n}].", "hit"),
    Awkward("beside code in a line", "`rows[999]` is out of range [{n}].", "hit"),
    Awkward("beside a block of code", "```\nx = rows[999]\n```\nas in [{n}]", "hit"),
    Awkward("with a page", "Five days [{n}, p. 4].", "hit"),
    Awkward("a list at the end", "Five days.\n\nSources: [{n}]", "hit"),
    Awkward("a tool call", called('{{"ids": [{n}]}}'), "hit"),
    Awkward("a tool call with brackets", called('{{"citations": ["[{n}]"]}}'), "hit"),
    Awkward(
        "content blocks",
        {"content": [{"type": "text", "text": "Five days."}, {"type": "tool_use", "name": "cite", "input": "{n}"}]},
        "hit",
    ),
    Awkward("two, by a comma", "Five days [{n}, {m}].", "hit, both needed"),
    Awkward("two pairs of brackets", "Five days [{n}][{m}].", "hit, both needed"),
    Awkward("two, by a semicolon", "Five days [{n}; {m}].", "hit, both needed"),
    Awkward("two, in words", "Five days [{n} and {m}].", "hit, both needed"),
    Awkward("a plural", "Five days [Sources {n} & {m}].", "hit, both needed"),
    Awkward("a range", "Five days [{a}-{b}].", "hit, all needed"),
    Awkward("a range with a dash", "Five days [{a}–{b}].", "hit, all needed"),  # noqa: RUF001 - as models write it
    Awkward("a tool call with two", called('{{"ids": [{n}, {m}]}}'), "hit, both needed"),
    Awkward("a number that is not there", "Five days [{over}].", "skip"),
    Awkward("the number 0", "Five days [0].", "skip"),
    Awkward("one that is there, one that is not", "Five days [{n}][{over}].", "skip"),
    Awkward("a range past the end", "Five days [{n}-{over}].", "skip"),
    Awkward("an id nobody gave it", "Five days [doc-99].", "skip"),
    Awkward("no citation", "It takes five days.", "skip"),
    Awkward("nothing at all", "", "skip"),
    Awkward("a tool call that cannot be read", called('{{"ids": [{n}'), "skip"),
    Awkward("a citation, and not found", "NOT FOUND, though [{n}] comes close.", "miss"),
    Awkward("not found, with an apology", "I am sorry: NOT FOUND in these passages.", "miss"),
]


def filled(answer: Any, values: dict[str, int]) -> Any:
    """Return an awkward answer with its numbers."""
    if isinstance(answer, str):
        return answer.format(**values)
    text = json.dumps(answer)
    if "tool_use" in text:
        blocks = [dict(block) for block in answer["content"]]
        blocks[1]["input"] = {"ids": [values["n"]]}
        return {"content": blocks}
    call = answer["tool_calls"][0]["function"]
    return called(call["arguments"].format(**values))


def numbers(right: int, count: int) -> dict[str, int]:
    """Return what stands for n, m, a range from a to b, and a number that is not there."""
    other = right % count + 1
    return {"n": right, "m": other, "a": max(1, right - 1), "b": min(count, right + 1), "over": count + 3}


def table() -> str:
    """Return what each awkward answer counts as, with five passages of which the second is right: for the page."""
    lines = ["| | the answer | counts as |", "|---|---|---|"]
    for each in AWKWARD:
        answer = filled(each.answer, numbers(2, 5))
        words = answer if isinstance(answer, str) else json.dumps(answer.get("tool_calls") or answer["content"])
        cited = read_citations(answer, list("abcde"))
        result = f"`hit` of {', '.join(map(str, cited.cited))}" if cited.answer == "hit" else f"`{cited.answer}`"
        lines.append(f"| {each.what} | `` {words.replace('|', ' ')} `` | {result} |".replace("\n", " "))
    return "\n".join(lines)


class Scripted:
    """Stands for a model: it knows the right passage, and is awkward in 40 of 200 answers."""

    def __init__(self) -> None:
        self.awkward = 0

    def answer(self, number: int, right: int | None, count: int) -> tuple[str, Any]:
        """Return of which kind an answer is, and the answer."""
        if right is None:
            return "plain", NOT_FOUND
        if number % 4 < 2 and self.awkward < len(AWKWARD):
            each = AWKWARD[self.awkward]
            self.awkward += 1
            return "awkward", filled(each.answer, numbers(right, count))
        return "plain", f"It is as the documentation says [{right}]."


def ask_service(url: str, model: str, question: str, passages: list[str]) -> Any:
    """Return the message of an OpenAI-compatible service."""
    import httpx2  # noqa: PLC0415 - in the extra `client`

    key = os.environ.get("OPENAI_API_KEY")
    messages = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": f"{numbered(passages)}\n\nQuestion: {question}"},
    ]
    reply = httpx2.post(
        f"{url.rstrip('/')}/chat/completions",
        json={"model": model, "messages": messages, "temperature": 0},
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=120,
    )
    reply.raise_for_status()
    return reply.json()["choices"][0]["message"]


def purposes(corpus: Corpus) -> Corpus:
    """Return the same passages with a question about each."""
    asked = [(f"What is {name.replace('.', ' ').replace('_', ' ')} for?", name) for name in corpus.texts]
    return replace(corpus, questions=asked, coverage=0.8, size=300)


def run(corpus: Corpus, rounds: int, url: str | None, model: str) -> None:
    """Ask, cite, learn."""
    names, texts = list(corpus.texts), list(corpus.texts.values())
    vectors = np.array(corpus.embed(texts))
    # What a model cites does not depend on chance, and answers that err in form do so whatever the rank.
    lister = Shortlister(corpus.coverage, unanswered="ignore")
    script, outcomes, shown_lengths = Scripted(), Counter[tuple[str, str]](), []
    for number, (question, right) in enumerate(corpus.ask(rounds)):
        scores = vectors @ np.array(corpus.embed([question])[0])
        best = np.argsort(-scores, kind="stable")[:FETCH]
        ids = [names[i] for i in best]
        shown = lister.propose(scores[best], ids, truncated_below=float(scores[best[-1]]))
        shown_lengths.append(len(shown.members))
        if url is None:
            position = shown.members.index(right) + 1 if right in shown.members else None
            kind, answer = script.answer(number, position, len(shown.members))
        else:
            kind, answer = model, ask_service(url, model, question, [corpus.texts[str(m)] for m in shown.members])
        outcomes[kind, answer_round(lister, shown.round_id, read_citations(answer, shown.members))] += 1
    print("answers      hit  miss  skip")
    for kind in dict.fromkeys(kind for kind, _ in outcomes):
        counts = [outcomes[kind, verb] for verb in ("hit", "miss", "skip")]
        print(f"{kind:10}{counts[0]:6}{counts[1]:6}{counts[2]:6}")
    print(
        f"passages in the prompt: {shown_lengths[0]} at first, {np.mean(shown_lengths[-50:]):.1f} in the last 50 rounds"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="an OpenAI-compatible service, such as http://localhost:11434/v1")
    parser.add_argument("--model", default="model")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--passages", type=int, help="the first so many of the standard library")
    parser.add_argument("--table", action="store_true", help="print what each awkward answer counts as")
    options = parser.parse_args()
    if options.table:
        print(table())
        return
    run(purposes(standard_library(options.passages)), options.rounds, options.url, options.model)


if __name__ == "__main__":
    main()
