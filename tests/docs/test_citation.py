"""What to cite is the same in CITATION.cff, in the README, in the package and in its metadata."""

import re
import tomllib

import yaml

import shortlist
from tests.docs.pages import ROOT, blocks

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def entries():
    """Return the README's BibTeX: each entry's fields by its kind."""
    text = next(block.text for block in blocks(ROOT / "README.md") if block.language == "bibtex")
    found = re.findall(r"^@(\w+)\{\w+,\n(.*?)^\}$", text, flags=re.MULTILINE | re.DOTALL)
    return {kind: dict(re.findall(r"(\w+) *= \{(.*)\},?$", body, flags=re.MULTILINE)) for kind, body in found}


def test_the_software_is_described_once():
    assert CITATION["version"] == PROJECT["version"] == shortlist.__version__ == entries()["software"]["version"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert CITATION["license"] == PROJECT["license"] == entries()["software"]["license"]
    released = CITATION.get("date-released")  # set when it is released
    assert released is None or str(released.year) == entries()["software"]["year"]
    assert entries()["software"]["author"] == "{" + CITATION["authors"][0]["name"] + "}"


def test_the_paper_is_described_once():
    paper, bibtex = CITATION["preferred-citation"], entries()["inproceedings"]
    assert bibtex["title"] == paper["title"]
    assert bibtex["author"] == " and ".join(
        f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]
    )
    assert bibtex["booktitle"] == paper["collection-title"]
    assert (bibtex["volume"], bibtex["year"]) == (str(paper["volume"]), str(paper["year"])) == ("267", "2025")
    assert bibtex["publisher"] == paper["publisher"]["name"]
