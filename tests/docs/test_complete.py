"""Whatever a user can name is documented: names, parameters, commands, options, routes, fields, settings, targets."""

import importlib
import inspect
import json
import re
import tomllib

import agents_pages
import numpy as np
import people_pages
import pytest
import recompute
import tables
from site_reference import command_line, commands, http

import shortlist
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web import create_app, replies, stream_replies
from tests.docs.pages import PAGES, ROOT
from tests.service.running import running

MODULES = [
    "shortlist",
    "shortlist.boundaries",
    "shortlist.metrics",
    "shortlist.policies",
    "shortlist.scores",
    "shortlist.lab.tasks",
    "shortlist.drift",
    "shortlist.errors",
    "shortlist.integrations.citations",
    "shortlist.integrations.langchain",
    "shortlist.integrations.llama_index",
    "shortlist.integrations.haystack",
    "shortlist.integrations.sklearn",
    "shortlist.integrations.mcp",
    "shortlist.integrations.tools",
]
EVERYTHING = "\n".join(page.read_text() for page in PAGES)


def public():
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            yield module.__name__, name, getattr(module, name)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module, site):
    pages = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    anchors = set(re.findall(r'id="(shortlist[\w.]*)"', pages))
    for where, name, item in public():
        if where != module:
            continue
        if inspect.ismodule(item):
            assert any(anchor.startswith(f"{item.__name__}.") for anchor in anchors), item
            continue
        paths = {f"{where}.{name}", f"{getattr(item, '__module__', where)}.{name}", f"shortlist.{name}"}
        assert paths & anchors, f"{where}.{name} is not in the reference"


def test_every_parameter_is_explained():
    """Of every public class and function; a name stands alone on its line, as numpy's docstrings have it."""
    missing = []
    for where, name, item in public():
        if not (inspect.isclass(item) or inspect.isfunction(item)) or name.endswith(("State", "Shown")):
            continue
        if inspect.isclass(item) and (issubclass(item, Exception) or inspect.isabstract(item)):
            continue
        if item is shortlist.Summary:
            continue  # its fields are described below each: tests/rounds/test_summary.py
        kinds = [kind for kind in inspect.getmro(item) if kind is not object] if inspect.isclass(item) else [item]
        words = "\n".join(inspect.getdoc(kind) or "" for kind in kinds)  # a field is explained where it is written
        if name == "AsyncClient":  # "the same as Client"
            words = inspect.getdoc(shortlist.Client) or ""
        fields = getattr(item, "model_fields", None)
        for parameter in inspect.signature(item).parameters.values():
            inherited = fields is not None and parameter.name not in inspect.get_annotations(item)
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or inherited:
                continue
            if not re.search(rf"^(\w+, )*{parameter.name}(, \w+)*$", words, flags=re.MULTILINE):
                missing.append(f"{where}.{name}: {parameter.name}")
    assert not missing


HELD = [shortlist.Shortlister, shortlist.GroupedShortlister, shortlist.Client]
HELD += [shortlist.AsyncClient]


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_every_parameter_of_every_verb_is_explained(kind):
    """Of what people hold: on a line of its own, or by name in the sentence that says what the verb does."""
    missing = []
    for verb, function in inspect.getmembers(kind, callable):
        if verb.startswith("_") or not (inspect.isfunction(function) or inspect.ismethod(function)):
            continue
        words = inspect.getdoc(function) or ""
        if kind is shortlist.AsyncClient and "`Client." in words:
            words += inspect.getdoc(getattr(shortlist.Client, verb)) or ""
        for name, parameter in inspect.signature(function).parameters.items():
            if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if not re.search(rf"^(\w+, )*{name}(, \w+)*$|`{name}`", words, flags=re.MULTILINE):
                missing.append(f"{verb}: {name}")
    assert not missing


def test_every_command_and_option_is_explained():
    page = command_line()
    for typed, command in commands():
        assert command.help, typed
        assert f"## {typed}\n" in page
        section = page.split(f"## {typed}\n")[1].split("\n## ")[0]
        for param in command.params:
            if param.name == "help":
                continue
            assert getattr(param, "help", None), f"{typed}: {param.name} has no help"
            for name in param.opts if param.param_type_name == "option" else [param.name.upper()]:
                assert f"`{name}`" in section, f"{typed}: {name}"


def test_every_command_is_on_a_page_for_people_too():
    for typed, _command in commands():
        assert typed in EVERYTHING, f"{typed} is in the reference only"


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return create_app(f"sqlite:///{tmp_path_factory.mktemp('none')}/none.db").openapi()


def test_every_route_is_explained(schema):
    """In the reference, which is written from the same document, and in the table that people read."""
    page, table = http(), (ROOT / "docs" / "how-to" / "service.md").read_text()
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], path
            assert f"### {method.upper()} {path}\n" in page
            assert path in table, f"{path} is not in docs/how-to/service.md"
            for parameter in operation.get("parameters", ()):
                assert parameter["description"], (path, parameter["name"])


def test_every_field_is_explained(schema):
    page = http()
    for name, body in schema["components"]["schemas"].items():
        for field, value in body.get("properties", {}).items():
            assert value.get("description"), f"{name}.{field}"
            assert f"`{field}`" in page.split(f"### {name}\n")[1].split("\n### ")[0]


def test_every_setting_of_a_stream_is_in_the_table_for_people(schema):
    table = (ROOT / "docs" / "how-to" / "service.md").read_text()
    for name in ("NewStream", "NewRound"):
        for field in schema["components"]["schemas"][name]["properties"]:
            assert re.search(rf"\b{field}\b", table), f"{name}.{field}"


def test_every_variable_is_named():
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    variables = set(re.findall(r'"(SHORTLIST_[A-Z_]+)"', source))
    assert len(variables) >= 4
    for variable in variables:
        assert variable in EVERYTHING


def test_every_extra_is_named():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in set(extras) - {"dev"}:
        assert re.search(rf"\[[\w,-]*\b{extra}\b[\w,-]*\]", EVERYTHING), extra


def test_every_make_target_is_explained():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    assert phony
    targets = phony.group(1).split()
    assert set(targets) == set(re.findall(r"^([a-z-]+):(?!=)", makefile, flags=re.MULTILINE))
    for target in targets:
        assert re.search(rf"^{target}:.*## ", makefile, flags=re.MULTILINE), target


def test_the_readme_quotes_only_what_was_measured():
    """Every figure of its section on other libraries stands in benchmarks/results.md, word for word."""
    section = (ROOT / "README.md").read_text().split("## Beside other libraries")[1].split("\n## ")[0]
    measured = (ROOT / "benchmarks" / "results.md").read_text()
    quoted = re.findall(r"\d[\d,.]* ?(?:%|µs|ms|kB)|(?<=\| )\d[\d,.]*(?= \()", section)
    assert len(quoted) > 10
    for figure in quoted:
        assert figure in measured, figure


def test_the_paper_map_points_at_what_is_there():
    page = (ROOT / "docs" / "explanation" / "paper-map.md").read_text()
    pointers = re.findall(r"`([\w/]+\.py): ([\w, ]+)`", page)
    assert len(pointers) > 40
    for file, names in pointers:
        path = ROOT / file if file.startswith("tests/") else ROOT / "src" / "shortlist" / file
        source = path.read_text()
        for name in names.split(", "):
            assert re.search(rf"^(?:def|class) {name}\b|^{name}\b.*=", source, flags=re.MULTILINE), f"{file}: {name}"
    for name in re.findall(r"`results/figures/(\w+)`", page):
        assert name.removesuffix("_appendix") in (ROOT / "src/shortlist/lab/figures.py").read_text(), name


def test_the_tables_of_regret_are_those_that_were_computed():
    """`make measure NAME=tables` writes them; here they are written again from its figures."""
    figures = json.loads(tables.FILE.read_text())
    assert min(figures["runs"], figures["grid_runs"]) >= 2000
    for page, mark, table in (
        (ROOT / "README.md", "policies", tables.readme_table(figures)),
        (ROOT / "docs" / "explanation" / "theory.md", "regret", tables.theory_table(figures)),
    ):
        assert f"<!-- {mark} -->\n{table}\n<!-- end {mark} -->" in page.read_text(), mark
    mean, median = (round(figures["policies"]["anytime@0.01"][name]) for name in ("regret", "regret_median"))
    for page in ("theory", "field"):
        words = " ".join((ROOT / "docs" / "explanation" / f"{page}.md").read_text().split())
        assert f"{mean} on average" in words or f"mean of {mean} and a median of {median}" in words, page
    for row in figures["policies"].values():  # measured and exact agree; with ties the exact one is a bound
        if row["exact"] is not None:
            assert row["passed"] <= row["exact"] + 6 * (row["exact"] / figures["runs"]) ** 0.5 + 1e-12


def test_the_tables_and_figures_of_users_are_those_that_were_measured(tmp_path):
    """`make measure NAME=people` writes them; here they are written again from its runs."""
    figures = json.loads(people_pages.FILE.read_text())
    page = (ROOT / "docs" / "explanation" / "people.md").read_text()
    for mark, table in people_pages.TABLES.items():
        assert f"<!-- {mark} -->\n{table(figures)}\n<!-- end {mark} -->" in page, mark
    for section, least in (("clicks", 10), ("pages", 20), ("citations", 20), ("annotators", 10)):
        assert all(len(runs["passed"]) >= least for runs in figures[section].values()), section
    people_pages.draw(figures, tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(people_pages.DRAWN)


def test_the_tables_of_the_gateway_are_those_that_were_measured():
    """`make measure NAME=agents` writes them; here they are written again. Nothing that was acknowledged is lost."""
    figures = json.loads(agents_pages.FILE.read_text())
    page = agents_pages.PAGE.read_text()
    for mark, table in agents_pages.TABLES.items():
        assert f"<!-- {mark} -->\n{table(figures)}\n<!-- end {mark} -->" in page, mark
    run = figures["processes"]
    assert run["on_disk"]["searches"] == run["acknowledged"]["searches"]
    assert run["on_disk"]["calls"] >= run["acknowledged"]["calls"]  # the one on its way was made twice
    assert run["most"] <= 10
    assert "mail" in run["named"]
    assert all(each["hits"] == each["had"] for each in figures["subtasks"])  # no false miss


def test_the_tables_agree_with_a_recomputation_that_knows_nothing_of_this_package():
    """Twenty runs of SPS and AnytimeSPS by the formulas alone: within six standard errors of the table's means."""
    imports = re.findall(r"^(?:import|from) (\w+)", inspect.getsource(recompute), flags=re.MULTILINE)
    assert set(imports) == {"bisect", "math", "sys", "pathlib", "numpy"}
    figures = json.loads(tables.FILE.read_text())["policies"]
    population = np.sort(np.load(recompute.SCORES)["true_scores"].astype(float))
    rng = np.random.default_rng(5)
    streams = [population[rng.integers(len(population), size=recompute.ROUNDS)].tolist() for _ in range(20)]
    for name, limits in (("sps", recompute.sps_limits()), ("anytime@2/T", recompute.anytime_limits(2e-4))):
        values = np.array([recompute.regret(limits, scores, population)[0] for scores in streams])
        assert abs(values.mean() - figures[name]["regret"]) < 6 * values.std(ddof=1) / 20**0.5, name


def test_the_service_answers_with_what_its_document_describes(tmp_path):
    """Every field that goes out is in the OpenAPI document, and every one in the document goes out."""
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        service.make()
        shown = service.propose().json()
        service.answer(shown["round_id"], {"hit": "b"})
        for path, model in (
            ("/v1/streams/docs", StreamSummary),
            ("/v1/streams", stream_replies.StreamPage),
            ("/v1/streams/docs/rounds", replies.RoundPage),
            (f"/v1/streams/docs/rounds/{shown['round_id']}", replies.RoundView),
            ("/v1/streams/docs/series", stream_replies.SeriesView),
        ):
            fields = getattr(model, "model_fields", None) or model.__dataclass_fields__
            assert set(service.http.get(path).json()) == set(fields), path
        assert set(shown) == set(replies.RoundShown.model_fields)


def drawn(layers):
    """Return layers as the page draws them."""
    names = (layer.replace("shortlist.", "").replace("(", "").replace(")", "") for layer in layers)
    return "\n".join(name.replace(" | ", " │ ") for name in names)


def test_the_layers_on_the_page_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    layered = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    assert len(layered) == 2
    for layers in layered:
        assert f"```text\n{drawn(layers)}\n```" in page
    assert drawn(["shortlist.a | (shortlist.b)", "shortlist.c"]) == "a │ b\nc"


def test_every_room_is_in_the_house():
    """Each module and package at the top level stands in CONTRIBUTING.md, and what stands there exists."""
    rooms = {
        path.name + "/" * path.is_dir()
        for path in (ROOT / "src" / "shortlist").iterdir()
        if not path.name.startswith("__") and path.suffix in ("", ".py")
    }
    house = (ROOT / "CONTRIBUTING.md").read_text().split("## The house")[1].split("\n## ")[0]
    table = {
        room
        for row in house.splitlines()
        if row.startswith("| `")
        for room in re.findall(r"`([\w/.]+)`", row.split("|")[1])
    }
    assert rooms <= table | {"service/"}
    assert all((ROOT / "src" / "shortlist" / room).exists() for room in table)
