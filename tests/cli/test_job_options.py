"""What commands share that run for a while."""

import os
from pathlib import Path

import pytest

from shortlist.cli.job_options import check_folder, named_policies, names, numbers, process_count
from shortlist.errors import InvalidParameter


def test_names_and_numbers_are_separated_by_commas():
    assert names("tasks", "a, b,,c ") == ("a", "b", "c")
    assert numbers("aci_steps", "0.1, 2,1e-3") == (0.1, 2.0, 0.001)
    with pytest.raises(InvalidParameter, match="tasks is ' ,'; name one or more, separated by commas"):
        names("tasks", " ,")
    with pytest.raises(InvalidParameter, match=r"aci_steps is '0\.1,'; give numbers, separated by commas"):
        numbers("aci_steps", "0.1,")


def test_a_file_of_ones_own_is_named_in_full_for_a_cluster():
    assert named_policies("sps,own.py:Mine", None) == ("sps", "own.py:Mine")
    assert named_policies("sps,own.py:Mine", "tcp://x") == ("sps", f"{Path.cwd()}/own.py:Mine")


def test_processes():
    assert process_count(3) == 3
    assert process_count(0, least=1) == 1
    assert process_count(0) == os.cpu_count()
    with pytest.raises(InvalidParameter, match="jobs is -1"):
        process_count(-1)


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    check_folder(tmp_path / "new" / "folder")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="which is a file; name a folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(InvalidParameter, match="which cannot be created"):
        check_folder(tmp_path / "file" / "below")
