"""Report words that a reader of the field would stumble over, with the words to write instead; `make check` runs it.

It reads source, docs, examples, tools and pages as text, and the names of values in Python through syntax trees. What
is allowed is in ``tools/house_words.txt``, one entry per line, each with its reason. An entry that allows nothing is
reported too.

    python tools/house_words.py              # what is not allowed; exit status 1 if there is any
    python tools/house_words.py --count      # how often each word occurs, in rooms that are exempt too
"""

import ast
import collections
import fnmatch
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / "tools" / "house_words.txt"
SCANNED = (
    "src",
    "docs",
    "examples",
    "tools",
    "deploy",
    "benchmarks",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Makefile",
    "mkdocs.yml",
    "pyproject.toml",
)
SUFFIXES = {".py", ".md", ".js", ".html", ".css", ".txt", ".yml", ".toml", ".service", ".svg", ""}
OWN = ("tools/house_words.py", "tools/house_words.txt")

_UNITS = (
    "(requests|rounds|answers|times|once|bytes|kB|MB|seconds|µs|ms|events|lists|calls|tokens|lines|rows|tasks|hits)"
)
_EACH = "(round|run|second|minute|hour|day|list|candidate|stream|question|call|request|answer|group)"

#: What not to write: its name here, a pattern, and what to write instead. Case counts only where a pattern says so.
WORDS = {
    "promise": (r"(?<!new )\bpromis(e|es|ed|ing)\b(?!\.\w|\()", "guarantee"),
    "world": (
        r"\b(the|this|that|a|another|any|every|one|new|old|same|other|changing|unchang\w+) worlds?\b(?!\.\w)",
        "distribution; it is stationary, or it shifts",
    ),
    "stands still": (r"\b(st[ao]nds?|stood|standing) still\b", "stays the same, stops rising; is stationary"),
    "for ever": (r"\bfor ever\b", "at every round, forever, never again"),
    "anew": (r"\banew\b", "again, from scratch"),
    "learnt": (r"\blearnt\b", "learned"),
    "thousand million": (r"\bthousand million\b", "billion"),
    "counts as low": (r"\bcount(s|ed|ing)? as\s+low\b(?! scores)", "counts as below the threshold"),
    "joins the count": (r"\bjoin(s|ed|ing)? the count\b", "enters the sample"),
    "handed in": (r"\bhand(s|ed|ing)? in\b", "pass, given"),
    "is there already": (r"\b(is|are|was) there (already|with)\b", "already exists, exists with"),
    "told": (r"\btold\b(?!\s*=)", "given, reported, shown; for a name, the noun it is"),
    "makes of": (r"\bmakes? of\b", "derives, computes"),
    "comes of": (r"\b(comes?|came|becomes?|became) of\b", "results from, happens to"),
    "nobody has whose": (r"\bnobody has whose\b", "which click feedback never provides"),
    "a ... (for each)": (rf"\b{_UNITS} an? {_EACH}\b", "per round, per second"),
    "people": (r"\b(people|person)\b", "user, annotator"),
}

#: Words that are right on a page and wrong in the reference.
REFERENCE_ONLY = {"people": "src/"}

#: British spellings, each with the American one that the code has.
SPELLINGS = {
    r"colour": "color",
    r"behaviour": "behavior",
    r"favour": "favor",
    r"flavour": "flavor",
    r"honour": "honor",
    r"neighbour": "neighbor",
    r"labell(ed|ing)(?!by)": "labeled, labeling",
    r"modell(ed|ing)": "modeled, modeling",
    r"signall(ed|ing)": "signaled, signaling",
    r"centre[ds]?\b": "center",
    r"grey\b": "gray",
    r"catalogue": "catalog",
    r"licence": "license",
    r"defence": "defense",
    r"judgement": "judgment",
    r"artefact": "artifact",
    r"whilst\b": "while",
    r"(normal|optim|initial|serial|recogn|random|summar|minim|maxim|standard|general|organ|custom|token|real|categor|visual)"
    r"is(e|es|ed|er|ers|ing|ation|ations)\b": "-ize",
    r"analys(e|ed|ing)\b": "analyze",
}
WORDS["British spelling"] = (r"(?<![a-z])(" + "|".join(SPELLINGS) + ")", "the American spelling")

#: Names that say how a value came about instead of what it is.
NAMES = {"found", "made", "known", "wanted", "told", "place"}


@dataclass(frozen=True)
class Finding:
    """A word that should not be there."""

    path: str
    line: int
    word: str
    text: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word}: {self.text.strip()[:140]} (write: {self.instead})"


@dataclass(frozen=True)
class Entry:
    """A line of the allow-list: in which files, which word, in which text, and why."""

    files: str
    word: str
    text: str
    reason: str

    def allows(self, finding: Finding) -> bool:
        """Return whether a finding is allowed."""
        return (
            fnmatch.fnmatch(finding.path, self.files)
            and self.word in ("*", finding.word)
            and (self.text == "*" or self.text in finding.text)
        )


def entries(text: str) -> list[Entry]:
    r"""Return the entries of an allow-list: four fields with ``|`` between them, the last one never empty.

    >>> entries("# a comment\ndocs/faq.md | promise | we promise | a quotation")
    [Entry(files='docs/faq.md', word='promise', text='we promise', reason='a quotation')]
    """
    listed = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 4 or not all(fields):
            message = f"line {number} of the allow-list is not `files | word | text | reason`: {line}"
            raise ValueError(message)
        listed.append(Entry(*fields))
    return listed


def words(path: str, text: str) -> Iterator[Finding]:
    """Yield the words of a text that should not be there."""
    for name, (pattern, instead) in WORDS.items():
        if not path.startswith(REFERENCE_ONLY.get(name, "")):
            continue
        if name == "people" and "/static/" in path:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for _ in re.finditer(pattern, line, flags=re.IGNORECASE):
                yield Finding(path, number, name, line, instead)


def names(path: str, text: str) -> Iterator[Finding]:
    r"""Yield the names in a Python module that say how a value came about, where they are bound.

    >>> [finding.word for finding in names("a.py", "found = 1\nprint(found)")]
    ['found (a name)']
    """
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            name = node.arg
        else:
            continue
        if name in NAMES:
            yield Finding(path, node.lineno, f"{name} (a name)", lines[node.lineno - 1], "the noun it is")


def scanned() -> Iterator[Path]:
    """Yield the files that are read."""
    for top in SCANNED:
        path = ROOT / top
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and file.suffix in SUFFIXES and file.relative_to(ROOT).as_posix() not in OWN:
                yield file


def findings() -> list[Finding]:
    """Return what is found, allowed or not."""
    listed: list[Finding] = []
    for file in scanned():
        path, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        listed += words(path, text)
        if file.suffix == ".py":
            listed += names(path, text)
    return listed


def judge(listed: list[Finding], allowed: list[Entry]) -> tuple[list[Finding], list[Entry]]:
    """Return what is not allowed, and the entries that allow nothing; an exempt room may be clean already."""
    refused = [finding for finding in listed if not any(entry.allows(finding) for entry in allowed)]
    idle = [entry for entry in allowed if entry.word != "*" and not any(map(entry.allows, listed))]
    return refused, idle


def count(listed: list[Finding]) -> str:
    """Return a table of how often each word occurs, by the top folder."""
    tops = sorted({finding.path.split("/")[0] for finding in listed})
    table = collections.Counter((finding.word, finding.path.split("/")[0]) for finding in listed)
    rows = [f"{'':24}" + "".join(f"{top[:12]:>13}" for top in tops)]
    rows += [
        f"{word:24}" + "".join(f"{table[word, top]:13}" for top in tops)
        for word in sorted({finding.word for finding in listed})
    ]
    return "\n".join(rows)


def main() -> None:
    """Print what is not allowed, or the counts."""
    listed, allowed = findings(), entries(ALLOWED.read_text(encoding="utf-8"))
    if "--count" in sys.argv:
        rooms = [entry for entry in allowed if entry.word == "*"]
        print(count([finding for finding in listed if not any(e.allows(finding) for e in allowed if e not in rooms)]))
        return
    refused, idle = judge(listed, allowed)
    for finding in refused:
        print(finding)
    for entry in idle:
        print(f"tools/house_words.txt: allows nothing: {entry.files} | {entry.word} | {entry.text}")
    if refused or idle:
        sys.exit(1)


if __name__ == "__main__":
    main()
