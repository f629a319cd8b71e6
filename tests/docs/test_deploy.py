"""What is in deploy/: a revoked key is out in both, for they read the folder in which `keys` replaces the file."""

import re
import shlex

from typer.main import get_command
from typer.testing import CliRunner

from shortlist.cli import app
from tests.docs.pages import ROOT

UNIT = (ROOT / "deploy" / "shortlist.service").read_text()
CONTAINER = (ROOT / "deploy" / "Containerfile").read_text()


def options_of(line):
    """Return what `shortlist serve` makes of a command."""
    words = shlex.split(line)
    command = get_command(app).commands["serve"]
    return command.make_context("serve", words[words.index("serve") + 1 :]).params


def test_the_unit_reads_the_file_that_keys_are_revoked_in():
    line = re.search(r"^ExecStart=(.*)", UNIT.replace("\\\n", " "), flags=re.MULTILINE)[1]
    read = str(options_of(line)["api_key_file"])
    written = set(re.findall(r"keys \w+ .*?--file (\S+)", UNIT))
    assert written == {read}
    assert not re.search(r"^(Load|Set|Import)Credential", UNIT, flags=re.MULTILINE)  # copied once, at the start
    assert "%d" not in line
    folder = read.rsplit("/", 1)[0]
    assert f"ReadOnlyPaths={folder}\n" in UNIT
    group = re.search(r"^SupplementaryGroups=(\S+)", UNIT, flags=re.MULTILINE)[1]
    assert f"install -d -m 2750 -g {group} {folder}\n" in UNIT  # files in it are of that group
    assert f"chmod 640 {read}\n" in UNIT


def test_the_container_mounts_a_folder_of_keys():
    words = " ".join(re.findall(r'"([^"]*)"', re.search(r"^CMD (.*)", CONTAINER, flags=re.MULTILINE)[1]))
    read = str(options_of(f"serve {words}")["api_key_file"])
    mounts = dict(re.findall(r"-v (\S+?):(\S+?)[: ]", CONTAINER))
    (host, inside) = next(pair for pair in mounts.items() if read.startswith(pair[1]))
    assert read == f"{inside}/keys.json"  # a file in it, and not the mount itself
    assert set(re.findall(r"--file (\S+)", CONTAINER)) == {f"{host.removeprefix('./')}/keys.json"}
    uid = re.search(r"--uid (\d+)", CONTAINER)[1]
    assert f"chown -R {uid} keys" in CONTAINER


def test_revoking_says_who_has_to_be_restarted(tmp_path):
    file = str(tmp_path / "keys.json")
    made = CliRunner().invoke(app, ["keys", "create", "me", "--file", file])
    done = CliRunner().invoke(app, ["keys", "revoke", made.stdout.split("_")[1], "--file", file])
    assert "Restart one that has a copy of it" in done.stderr
