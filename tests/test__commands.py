"""The commands as they are known without the command line are those that it has."""

import tomllib
from pathlib import Path

import typer

from shortlist._commands import COMMANDS, overview
from shortlist.cli import app

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_they_are_those_of_the_command_line():
    command = typer.main.get_command(app)
    assert {name: each.short_help for name, each in command.commands.items()} == {
        name: each.summary for name, each in COMMANDS.items()
    }
    assert {each.extra for each in COMMANDS.values()} <= EXTRAS.keys()


def test_the_help_without_it_names_them_all():
    assert all(f"  {name} " in overview() for name in COMMANDS)
