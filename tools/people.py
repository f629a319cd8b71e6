"""Measure what users do to a lister: ``make measure NAME=people``.

Users who only click, users who ask for more of a page, a program whose citations get lost, and annotators who err; each
through a `shortlist.Shortlister`, at coverage 0.9 on SQuAD unless a table says otherwise. Half an hour on one core.
What was measured goes into benchmarks/people.json, its tables and figures into docs/explanation/people.md; with
``--pages`` these are written again from that file. The annotators need a file that is not in this repository (see
`annotators`); without it, what was measured before is kept.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from annotators import NETWORKS, Images, annotate
from clicks import CLICKING, cite, click, noisy_passages, page, passages
from people_pages import FILE, dump, write_pages

ROUNDS: Final = {"clicks": 20_000, "pages": 10_000, "citations": 10_000, "annotators": 10_000}
SHARES: Final = (0.1, 0.3, 0.8)
EXAMINATIONS: Final = (0.0, 0.5, 1.0)
#: A page, and how often the right passage is on it.
PAGE, RECALL = 10, 0.86


class Case(NamedTuple):
    """One line of a table: what it is called, a function of the seed, and how many seeds for each that is asked for."""

    key: str
    run: Callable[..., Any]
    times: int = 2


def clicks() -> list[Case]:
    """Return the cases of users who only click."""
    cases = []
    for way, clicking in CLICKING.items():
        # Where nothing can be learned or the score differs, one way of reading is enough.
        readings = {"misses": (0.0,), "learned": (0.5,)}.get(way, EXAMINATIONS)
        for examination in readings:
            for share in SHARES:
                run = partial(click, passages(), clicking, share=share, examination=examination)
                cases.append(Case(f"{way} {examination} {share}", run, 1))
    return cases


def pages() -> list[Case]:
    """Return the cases of short pages."""
    questions, _ = noisy_passages(RECALL, PAGE)
    run = partial(page, questions, at_most=PAGE)
    return [
        Case("everyone", partial(run, expand=1.0)),
        Case("half", partial(run, expand=0.5)),
        Case("nobody", partial(run, expand=0.0)),
        Case("dropped", partial(run, expand=0.5, others="dropped")),
        Case("uncut", partial(page, questions, at_most=None, expand=0.0)),
    ]


def citations() -> list[Case]:
    """Return the cases of a program that cites."""
    run = partial(cite, passages())
    return [
        Case("complete", partial(run, unanswered="miss", hits_lost=0.0, misses_lost=0.0)),
        Case("ignore", partial(run, unanswered="ignore", hits_lost=0.1, misses_lost=0.0)),
        Case("miss", partial(run, unanswered="miss", hits_lost=0.1, misses_lost=0.0)),
        Case("control", partial(run, unanswered="ignore", hits_lost=0.1, misses_lost=0.5)),
    ]


@cache
def crowd(path: Path, networks: int, kind: str) -> Images:
    """Return images with one network or all of them, and their annotators."""
    images = Images.load(path, NETWORKS[:networks])
    return images.leaning() if kind == "leaning" else images


def annotators(path: Path) -> tuple[list[Case], dict[str, dict[str, float]]]:
    """Return the cases of annotators who err, and how they do."""
    cases, errors = [], {}
    for networks in (1, len(NETWORKS)):
        for coverage in (0.98, 0.99):
            for kind, settle in (("as they are", 0.0), ("half settle", 0.5), ("leaning", 0.0)):
                images = crowd(path, networks, kind)
                measured = images.errors(images.pilot(), coverage)
                errors[f"{networks} {coverage} {kind}"] = dataclasses.asdict(measured)
                for more in (0.0, measured.eps):
                    run = partial(annotate, images, coverage=coverage, more=more, settle=settle)
                    key = f"{networks} {coverage} {kind} {'more' if more else 'plain'}"
                    cases.append(Case(key, run, 2 if networks == 1 else 1))
    return cases, errors


def measure(section: str, cases: list[Case], runs: int) -> dict[str, dict[str, list[Any]]]:
    """Return what each case came to, run by run."""
    measured: dict[str, dict[str, list[Any]]] = {}
    for number, case in enumerate(cases, start=1):
        results = []
        for seed in range(runs * case.times):
            words = f"{section}, case {number} of {len(cases)} ({case.key}), run {seed + 1} of {runs * case.times}"
            print(f"\r{words:<100}", end="", file=sys.stderr, flush=True)
            results.append(dataclasses.asdict(case.run(rounds=ROUNDS[section], seed=seed)))
        measured[case.key] = {name: [result[name] for result in results] for name in results[0]}
    print(f"\r{section}: {len(cases)} cases measured".ljust(100), file=sys.stderr)
    return measured


def main() -> None:
    """Measure, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="runs per case; short ones are run twice as often")
    parser.add_argument("--annotators", type=Path, help="people's answers beside three networks, as a .npz file")
    parser.add_argument("--only", choices=tuple(ROUNDS), help="measure one part, and keep the others")
    parser.add_argument("--pages", action="store_true", help="measure nothing: page and figures from the last figures")
    given = parser.parse_args()
    figures = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for section, make in (("clicks", clicks), ("pages", pages), ("citations", citations), ("annotators", None)):
        if given.pages or given.only not in (None, section):
            continue
        if make is not None:
            cases = make()
        elif given.annotators is None:
            print("annotators: no file given (--annotators), so what was measured before is kept", file=sys.stderr)
            continue
        else:
            cases, figures["errors"] = annotators(given.annotators)
        figures[section] = measure(section, cases, given.runs)
        if section == "pages":
            questions, noise = noisy_passages(RECALL, PAGE)
            figures["scorer"] = {"noise": noise, "recall": questions.recall(PAGE), "clean": passages().recall(PAGE)}
        dump(figures)
    write_pages(figures)


if __name__ == "__main__":
    main()
