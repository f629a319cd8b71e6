"""The file of keys, which gives no key away, and the commands for it."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from shortlist.errors import DamagedFile, InvalidParameter
from shortlist.listers import savefile
from shortlist.service.keys import SCOPES, KeyFile
from tests.cli.command import shortlist


def test_the_file_gives_no_key_away(keys):
    text = keys["file"].path.read_text()
    for scope in SCOPES:
        assert keys[scope] not in text
        assert keys[scope].split("_", 2)[2] not in text
    assert keys["file"].path.stat().st_mode & 0o077 == 0
    assert len({keys[scope] for scope in SCOPES}) == len(SCOPES)


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "write"]])
def test_scopes_that_cannot_be(tmp_path, scopes):
    with pytest.raises(InvalidParameter, match="propose, feedback, read, review, admin"):
        KeyFile(tmp_path / "keys.json").create("me", scopes)
    assert not (tmp_path / "keys.json").exists()


@pytest.fixture
def slow_reading(monkeypatch):
    """Let everybody read before anybody writes, unless a lock keeps them from it."""
    read = savefile.read

    def slow(*arguments):
        content = read(*arguments)
        time.sleep(0.05)
        return content

    monkeypatch.setattr(savefile, "read", slow)


def test_commands_at_once_lose_nothing(tmp_path, slow_reading):  # noqa: ARG001
    """Each reads what the one before it wrote: a key made while another is revoked does not bring that one back."""
    path = tmp_path / "keys.json"
    first = KeyFile(path).create("leaked", ["read"]).split("_")[1]
    with ThreadPoolExecutor(9) as pool:
        made = [pool.submit(KeyFile(path).create, f"key {i}", ["read"]) for i in range(4)]
        pool.submit(KeyFile(path).revoke, first)
        made += [pool.submit(KeyFile(path).create, f"key {i}", ["read"]) for i in range(4, 8)]
    ids = {each.result().split("_")[1] for each in made}
    kept = {key.id: key.revoked for key in KeyFile(path).listed()}
    assert kept.keys() == {first} | ids
    assert kept[first] is not None


def looked_again(file):
    """Look at the file as if a second had passed."""
    file._looked = -1.0
    return file


def errors_in(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("harm", ["edited", "deleted", "no file", "of another form"])
def test_a_file_that_cannot_be_read_is_logged_once_and_counted(tmp_path, caplog, harm):
    path = tmp_path / "keys.json"
    number = KeyFile(path).create("me", ["read"]).split("_")[1]
    whole, file = path.read_text(), KeyFile(path)
    file.listed()
    if harm == "edited":  # somebody takes a key out by hand, and the checksum no longer fits
        document = json.loads(whole)
        document["content"]["keys"] = []
        path.write_text(json.dumps(document))
    elif harm == "of another form":
        savefile.write(path, "api keys", {"keys": [{"id": "a"}]})
    else:
        path.unlink()
        if harm == "no file":
            path.mkdir()
    age = file.age
    for _ in range(3):
        assert looked_again(file).is_valid(number)  # what was known goes on
    assert file.failures == 4
    assert len(errors_in(caplog)) == 1, caplog.text
    assert "stay in use, revoked or not" in errors_in(caplog)[0]
    assert str(path) in errors_in(caplog)[0]
    assert looked_again(file).age > age
    if harm == "no file":
        path.rmdir()
    path.write_text(whole)
    assert looked_again(file).age < 0.1
    assert "were read again from" in caplog.records[-1].getMessage()


def test_keys_that_are_no_keys_are_damage(tmp_path):
    savefile.write(tmp_path / "keys.json", "api keys", {"keys": [{"id": "a"}]})
    with pytest.raises(DamagedFile, match="is damaged"):
        KeyFile(tmp_path / "keys.json").listed()


def test_a_replaced_file_keeps_its_group_and_mode(tmp_path):
    """A service of another user that may read it by its group still may after a key was revoked."""
    file = KeyFile(tmp_path / "keys.json")
    number = file.create("me", ["read"]).split("_")[1]
    file.path.chmod(0o640)
    groups = os.getgroups() if os.geteuid() else [10001]
    os.chown(file.path, -1, groups[-1])
    file.revoke(number)
    found = file.path.stat()
    assert (found.st_gid, found.st_mode & 0o777) == (groups[-1], 0o640)


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
        (("keys", "create", "me", "--scopes", "all"), "name some of propose, feedback, read, review, admin"),
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
