"""Texts to vectors, by a command of one's own."""

import sys

import pytest

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.scoring.encoders import EncoderCommand


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('[1, 2', flush=True)", "not a JSON array"),
        ("raise SystemExit(3)", "no vector for"),
        ("print('[]', flush=True)", "no vector"),
    ],
)
def test_a_command_that_fails_is_named(tmp_path, program, message):
    path = tmp_path / "embed.py"
    path.write_text(f"import sys\nfor line in sys.stdin:\n    {program}\n")
    with EncoderCommand(f"{sys.executable} {path}") as encoder, pytest.raises(InvalidScores, match=message):
        encoder.questions(["a"])
    with pytest.raises(InvalidParameter, match="cannot be started"):
        EncoderCommand("/no/such/program")
