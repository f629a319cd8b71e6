"""The file of keys, which gives no key away, and the commands for it."""

import json
import subprocess
import sys

import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.keys import SCOPES, KeyFile


def test_the_file_gives_no_key_away(keys):
    text = keys["file"].path.read_text()
    for scope in SCOPES:
        assert keys[scope] not in text
        assert keys[scope].split("_", 2)[2] not in text
    assert keys["file"].path.stat().st_mode & 0o077 == 0
    assert len({keys[scope] for scope in SCOPES}) == len(SCOPES)


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "write"]])
def test_scopes_that_cannot_be(tmp_path, scopes):
    with pytest.raises(InvalidParameter, match="propose, feedback, read, admin"):
        KeyFile(tmp_path / "keys.json").create("me", scopes)
    assert not (tmp_path / "keys.json").exists()


def shortlist(*arguments, cwd=None):
    command = [sys.executable, "-m", "shortlist", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_the_commands(tmp_path):
    made = shortlist("keys", "create", "search box", "--scopes", "propose,read", cwd=tmp_path)
    key = made.stdout.strip()
    assert key.startswith("sl_")
    listed = shortlist("keys", "list", cwd=tmp_path).stdout
    assert "search box" in listed
    assert key not in listed
    number = key.split("_")[1]
    assert "is revoked" in shortlist("keys", "revoke", number, cwd=tmp_path).stdout
    content = json.loads((tmp_path / "shortlist-keys.json").read_text())["content"]
    assert content["keys"][0]["revoked"] is not None
    for wrong, message in (
        (("keys", "revoke", "000000000000"), "there is no key '000000000000'"),
        (("keys", "create", "me", "--scopes", "all"), "name some of propose, feedback, read, admin"),
        (("keys", "list", "--file", "nowhere.json"), "there is no such file"),
        (("serve", "--host", "0.0.0.0"), "there are no keys"),
        (("serve", "--workers", "2", "--database", f"sqlite:///{tmp_path}/a.db"), "a SQLite file has one writer"),
        (("serve", "--api-key-file", "nowhere.json"), "there is no such file"),
        (("serve", "--expire-after", "soon", "--database", f"sqlite:///{tmp_path}/a.db"), "write 90s, 30m, 12h or 7d"),
        (("expire", "docs", "--older-than", "x"), "write 90s, 30m, 12h or 7d"),
    ):
        done = shortlist(*wrong, cwd=tmp_path)
        assert done.returncode == 2, (wrong, done.stderr)
        assert message in done.stderr, wrong
        assert done.stderr.count("\n") == 1, wrong
