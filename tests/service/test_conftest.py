"""The tests' own PostgreSQL server."""

import psutil

from shortlist.service.store import Store
from tests.service.conftest import PostgreSQL


def test_a_server_that_was_killed_is_replaced(tmp_path):
    """Of the tests' own server: it has been seen to go, on a machine that others use too."""
    folders = iter([tmp_path / "first", tmp_path / "second"])

    def new_folder():
        folder = next(folders)
        folder.mkdir()
        return folder

    made = PostgreSQL(new_folder)
    postmaster = psutil.Process(made.server.get_pid())
    for process in (postmaster, *postmaster.children(recursive=True)):
        process.kill()
    try:
        Store(made.new_database()).close()
    finally:
        made.server.cleanup()
    assert made.server.pgdata.parent.name == "second"
