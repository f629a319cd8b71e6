"""Questions and passages to a score file, with a command of one's own."""

import json
import sys

from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.lab.scoring.encoders import EncoderCommand
from shortlist.lab.scoring.jobs import score_retrieval
from shortlist.lab.scoring.question_datasets import Passage
from shortlist.lab.tasks import read_scores
from tests.lab.scoring.entries import entry


def silent(_part):
    return lambda _done, _total: None


EMBED = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    text = (asked["title"] + " " + asked["text"]).lower()
    print(json.dumps([text.count(letter) + 0.1 for letter in "abcdefgh"]), flush=True)
"""


def test_a_command_of_ones_own_scores_questions(tmp_path):
    program = tmp_path / "embed.py"
    program.write_text(EMBED)
    source = tmp_path / "dpr.json"
    source.write_text(json.dumps([entry(f"aab{i * 'c'}", ["ab" * (i + 1)], ["cc", "dd", "efg"]) for i in range(7)]))
    out = tmp_path / "scores.npz"
    with EncoderCommand(f"{sys.executable} {program}") as encoder:
        score_retrieval(source, out, encoder, tells=silent, negatives=3, batch=2)
        expected = encoder.questions(["aab"])[0] @ encoder.passages([Passage("A title", "ab")])[0]
    scores = read_scores(out)
    assert scores.candidate_scores.shape == (7, 4)
    assert abs(scores.true_scores[0] - expected) < 1e-6
    assert scores.details["encoder"]["command"].endswith("embed.py")
    result = CliRunner().invoke(
        app, ["reproduce", "--scores", str(out), "--rounds", "200", "--runs", "2", "--out", str(tmp_path / "r")]
    )
    assert result.exit_code == 0, result.output + repr(result.exception)
