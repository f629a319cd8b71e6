"""The command, before the command line's tools are imported."""

import pytest

from shortlist.__main__ import main


def test_ctrl_c_on_the_command_line_is_one_line_and_status_130(monkeypatch, capsys):
    def press(**_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.cli.app", press)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "shortlist: interrupted\n"
