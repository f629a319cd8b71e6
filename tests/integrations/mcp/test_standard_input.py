"""Lines of a pipe, and an end that needs none."""

import os
import sys

import anyio
import pytest

from shortlist.integrations.mcp.standard_input import lines_of, readable_input

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be waited for there")


def test_lines_come_whole_however_they_are_sent():
    async def main():
        reading, writing = os.pipe()
        got = []

        async def read():
            got.extend([line async for line in lines_of(reading)])

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for part in (b'{"a": 1}\n{"b"', b': "\xc3', b'\xbc"}\n', b"x" * 200_000, b"\nlast"):
                await anyio.to_thread.run_sync(os.write, writing, part)
                await anyio.wait_all_tasks_blocked()
            os.close(writing)
        os.close(reading)
        assert got == ['{"a": 1}', '{"b": "ü"}', "x" * 200_000, "last"]

    anyio.run(main)


def test_a_reader_that_waits_can_be_canceled():
    async def main():
        reading, writing = os.pipe()
        with anyio.move_on_after(0.01) as scope:
            async for _ in lines_of(reading):
                raise AssertionError("nothing was sent")
        assert scope.cancelled_caught
        os.close(reading)
        os.close(writing)

    anyio.run(main)


def test_a_file_is_read_as_the_sdk_does(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    with (tmp_path / "file").open() as file:
        status = os.fstat(file.fileno())
    monkeypatch.setattr(os, "fstat", lambda _: status)
    assert readable_input() is None
