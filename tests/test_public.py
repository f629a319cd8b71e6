"""The public surface: its names, their documentation, and what importing it costs."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist
from shortlist.policies import REGISTRY

ROOT = Path(__file__).parents[1]

CONTRACT = [
    "Shortlister",
    "OrderStatistic",
    "SPS",
    "AnytimeSPS",
    "Greedy",
    "ACI",
    "DLR",
    "ExploreThenCommit",
    "ConservativeETC",
    "Oracle",
    "replay",
    "crossing_probability",
    "metrics",
    "ShortlistError",
    "DKW",
    "BetaBinomial",
    "Binomial",
    "Calibrated",
    "Lister",
    "Summary",
]


def modules():
    return sorted(
        module.name
        for module in pkgutil.walk_packages(shortlist.__path__, "shortlist.")
        if not module.name.endswith("__main__")
    )


def test_the_contracts_names_are_there():
    assert set(CONTRACT) <= set(shortlist.__all__)
    assert len(set(shortlist.__all__)) == len(shortlist.__all__)
    for name in shortlist.__all__:
        assert hasattr(shortlist, name)


def test_the_policies_have_the_contracts_parameters():
    expected = {
        "OrderStatistic": ["coverage", "boundary", "window"],
        "SPS": ["coverage", "horizon", "window"],
        "AnytimeSPS": ["coverage", "delta", "window"],
        "Greedy": ["coverage"],
        "ACI": ["coverage", "step", "levels"],
        "DLR": ["coverage", "start", "exponent"],
        "ExploreThenCommit": ["coverage", "explore", "window"],
        "ConservativeETC": ["coverage", "explore", "horizon", "window"],
        "Oracle": ["threshold"],
    }
    for name, parameters in expected.items():
        assert list(inspect.signature(getattr(shortlist, name)).parameters) == parameters


@pytest.mark.parametrize("name", modules())
def test_every_public_name_has_a_docstring(name):
    module = importlib.import_module(name)
    assert inspect.getdoc(module), name
    for public in getattr(module, "__all__", []):
        item = getattr(module, public)
        if inspect.isclass(item) or inspect.isfunction(item):
            assert inspect.getdoc(item), f"{name}.{public}"


def test_every_policy_has_idea_guarantee_cost_example_and_reference():
    """All of them; the oracle, which knows the threshold, has nothing to guarantee, learn or cite."""
    policies = [entry.policy for entry in REGISTRY.values() if entry.policy is not shortlist.Oracle]
    assert len(policies) >= 14
    for policy in policies:
        name = policy.__name__
        text = (inspect.getdoc(policy) or "") + (inspect.getmodule(policy).__doc__ or "")
        for part in ("uarantee", "Cost", "Parameters", ">>> state.threshold", "References"):
            assert part in text or (part == ">>> state.threshold" and ">>> round(state.threshold" in text), (
                f"{name} does not say: {part}"
            )


def test_importing_needs_numpy_alone():
    program = (
        "import sys, shortlist\n"
        "shortlist.Shortlister(0.9)\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(r for r in roots if r not in sys.stdlib_module_names and not r.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['numpy', 'shortlist']"


def test_the_command_says_which_extra_it_needs():
    program = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('typer', 'rich') else real(name, *rest)\n"
        "from shortlist.__main__ import main; main()"
    )

    def run(*arguments):
        return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)

    for command, extra in (("reproduce", "experiments"), ("serve", "service"), ("keys", "service"), ("mcp", "mcp")):
        done = run(command)
        assert done.returncode == 2
        assert f"pip install '{ROOT}[{extra}]'" in done.stderr  # it is installed from a checkout
        assert done.stderr.count("\n") == 1
    assert run("--version").stdout == f"shortlist {shortlist.__version__}\n"
    for asked in ((), ("--help",)):
        done = run(*asked)
        assert done.returncode == 0
        assert "Run the paper's experiments" in done.stdout
        assert f"pip install '{ROOT}[experiments]'" in done.stdout


def test_versions_agree():
    assert f'version = "{shortlist.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {shortlist.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {shortlist.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", ["boundaries", "drift", "errors", "logs", "metrics", "policies", "scores"])
def test_public_modules_are_there_without_importing_them(name):
    program = f"import shortlist; print(shortlist.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"shortlist.{name}"


def test_policies_are_listed_and_found_before_they_are_imported():
    program = "import shortlist.policies as p; print(p.sps.__name__, 'SPS' in dir(p), p.SPS.__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["shortlist.policies.sps", "True", "SPS"]
