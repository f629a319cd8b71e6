"""From raw data to score files, as far as it goes without a model: readers, batches, commands."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter, InvalidScores, MissingExtra
from shortlist.lab.scoring.bm25 import BM25
from shortlist.lab.scoring.encoders import Command
from shortlist.lab.scoring.images import find_pictures, to_classes
from shortlist.lab.scoring.job import Batch, Job, digest_of_bytes
from shortlist.lab.scoring.models import resolve
from shortlist.lab.scoring.questions import Passage, blocks, read_questions
from shortlist.lab.scoring.score import score_retrieval
from shortlist.lab.tasks import read_bids, read_scores, task_from_file

SQUAD = Path(__file__).parents[4] / "shared" / "data" / "squad" / "squad_v1.1_dev_reconstructed.json.gz"
needs_squad = pytest.mark.skipif(not SQUAD.is_file(), reason="SQuAD's texts are not beside the checkout")


def silent(_part):
    return lambda _done, _total: None


# ---------------------------------------------------------------- questions


def entry(question, right, wrong, hard=()):
    def passages(texts):
        return [{"title": "A title", "text": text} for text in texts]

    return {
        "question": question,
        "positive_ctxs": passages(right),
        "negative_ctxs": passages(wrong),
        "hard_negative_ctxs": passages(hard),
    }


def test_dpr_takes_one_right_passage_and_the_irrelevant_ones(tmp_path):
    path = tmp_path / "dpr.json"
    data = [
        entry("first", ["yes", "also yes"], ["a", "b"], ["c", "also yes"]),
        entry("without", [], ["a", "b", "c"]),
        entry("too few", ["yes"], ["a"], ["a"]),
        entry("second", ["b"], ["a", "c", "d", "e"]),
    ]
    path.write_text(json.dumps(data))
    found = read_questions(path, negatives=3)
    texts = [[found.passages[number].text for number in question.passages] for question in found.questions]
    assert texts == [["yes", "a", "b", "c"], ["b", "a", "c", "d"]]
    assert found.left_out == {"without a right passage": 1, "with fewer than 3 irrelevant passages": 1}
    assert len(found.passages) == len(set(found.passages))
    assert len(read_questions(path, negatives=3, limit=1).questions) == 1


def squad_file(path, paragraphs):
    """Write SQuAD's JSON: (context, [(question, answer's place or None)])."""
    data = [
        {
            "title": f"Article {i}",
            "paragraphs": [
                {
                    "context": context,
                    "qas": [
                        {"question": q, "answers": [] if at is None else [{"text": "x", "answer_start": at}]}
                        for q, at in asked
                    ],
                }
            ],
        }
        for i, (context, asked) in enumerate(paragraphs)
    ]
    path.write_text(json.dumps({"version": "1.1", "data": data}))


def test_squad_is_cut_into_blocks_and_the_answer_is_in_the_right_one(tmp_path):
    words = [f"w{i}" for i in range(250)]
    context = "  ".join(words)
    squad_file(
        tmp_path / "squad.json",
        [
            (
                context,
                [
                    ("w0", 0),
                    ("w99", context.index("w99 ")),
                    ("w100", context.index("w100 ")),
                    ("end", len(context) - 4),
                ],
            ),
            ("other words altogether", [("nothing", None)]),
        ],
    )
    found = read_questions(tmp_path / "squad.json", negatives=2)
    right = [found.passages[question.passages[0]].text.split() for question in found.questions]
    assert [(block[0], len(block)) for block in right] == [("w0", 100), ("w0", 100), ("w100", 100), ("w200", 50)]
    assert found.left_out == {"without an answer": 1}
    assert all(len(set(question.passages)) == 3 for question in found.questions)


def test_blocks_are_disjoint_and_lose_no_word():
    text = " a b\tc\n d  " * 130
    cut = blocks(text)
    assert " ".join(block for _, block in cut).split() == text.split()
    assert all(text[begin:].startswith(block.split()[0]) for begin, block in cut)
    assert [len(block.split()) for _, block in cut[:-1]] == [100] * (len(cut) - 1)


@needs_squad
def test_the_readers_on_squad_itself(tmp_path):
    with gzip.open(SQUAD, "rt") as file:
        data = json.load(file)
    chosen = list(range(0, len(data["questions"]), 211))
    paragraphs: dict[int, list] = {}
    for number in chosen:
        gold = data["gold_paragraph"][number]
        block = data["blocks"][data["gold_block"][number]]
        start = data["paragraphs"][gold].find(" ".join(block.split(" ")[:8]))
        assert start >= 0
        paragraphs.setdefault(gold, []).append((data["questions"][number], start, block))
    squad_file(
        tmp_path / "squad.json",
        [(data["paragraphs"][gold], [one[:2] for one in asked]) for gold, asked in paragraphs.items()],
    )
    squad = read_questions(tmp_path / "squad.json", negatives=20)
    assert len(squad.questions) == len(chosen)
    begun = [block for asked in paragraphs.values() for _, _, block in asked]
    for question, block in zip(squad.questions, begun, strict=True):  # the right block begins where the known one does
        assert squad.passages[question.passages[0]].text.split()[:8] == block.split()[:8]
    dpr = [
        entry(
            data["questions"][n],
            [data["blocks"][data["gold_block"][n]]],
            [data["blocks"][i] for i in range(60) if i != data["gold_block"][n]],
        )
        for n in chosen
    ]
    (tmp_path / "dpr.json").write_text(json.dumps(dpr))
    found = read_questions(tmp_path / "dpr.json")
    assert [question.text for question in found.questions] == [data["questions"][n] for n in chosen]
    assert {len(question.passages) for question in found.questions} == {51}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("{}", "neither DPR's JSON"),
        ("[]", "no question is left (the file is empty)"),
        ('[{"question": "q"}]', "entry 0 is not a question with positive_ctxs"),
        ('[{"question": "q", "positive_ctxs": []}]', "1 without a right passage"),
        ('{"data": [{"paragraphs": [{"context": "a b", "qas": [{"question": "q"}]}]}]}', "there are 1 passages"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "article 0 is not a list of paragraphs"),
    ],
)
def test_wrong_files_are_named(tmp_path, text, message):
    path = tmp_path / "questions.json"
    path.write_text(text)
    with pytest.raises(InvalidScores) as caught:
        read_questions(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_bm25_against_its_formula():
    passages = ["the cat sat on the mat", "a dog", "the dog and the cat and the bird", "fish"]
    split = [passage.split() for passage in passages]
    mean = sum(map(len, split)) / len(split)

    def brute_force(question, words):
        total = 0.0
        for word in question.split():
            having = sum(word in other for other in split)
            rarity = np.log(1 + (len(split) - having + 0.5) / (having + 0.5))
            count = words.count(word)
            total += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(words) / mean)) if count else 0.0
        return total

    for question in ("the cat", "dog dog bird", "unknown words", "fish"):
        expected = [brute_force(question, words) for words in split]
        np.testing.assert_allclose(BM25(passages).scores(question), expected, rtol=1e-12)
    assert BM25(passages).best("dog", 2).tolist() == [1, 2]


# ---------------------------------------------------------------- batches


def numbers(start, stop):
    made = np.arange(start, stop, dtype=np.float32)
    return Batch(made, np.stack([made, -made - 1], axis=1), digest_of_bytes([made.tobytes()]))


def test_a_stop_and_a_resume_give_the_same_file(tmp_path):
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    with Job(whole, {"model": "m"}, total=23, batch=5) as job:
        job.run(numbers, lambda *_: None)
        job.finish(name="n", source="s")
    computed = []

    def stopping(start, stop):
        if len(computed) in (2, 3):
            computed.append(None)
            raise KeyboardInterrupt
        computed.append(start)
        return numbers(start, stop)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), Job(parts, {"model": "m"}, total=23, batch=5) as job:
            job.run(stopping, lambda *_: None)
    told = []
    with Job(parts, {"model": "m"}, total=23, batch=5) as job:
        job.run(stopping, lambda done, total: told.append((done, total)))
        job.finish(name="n", source="s")
    assert [start for start in computed if start is not None] == [0, 5, 10, 15, 20]
    assert told[0] == (10, 23)
    assert told[-1] == (23, 23)
    assert parts.read_bytes() == whole.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []
    assert read_scores(parts).details["model"] == "m"


def test_another_job_is_not_taken_up(tmp_path):
    out = tmp_path / "scores.npz"
    with Job(out, {"model": "one"}, total=3, batch=1) as job:
        job.run(numbers, lambda *_: None)
        with pytest.raises(InvalidParameter, match="is being worked on by another process"):
            Job(out, {"model": "one"}, total=3, batch=1)
    with pytest.raises(InvalidParameter, match="model was 'one' and is 'two' now"):
        Job(out, {"model": "two"}, total=3, batch=1)
    (tmp_path / "scores.npz.partial" / "000000001.npz").write_bytes(b"PK")
    with Job(out, {"model": "one"}, total=3, batch=1) as job, pytest.raises(InvalidScores, match="is damaged"):
        job.finish(name="n", source="s")
    (tmp_path / "scores.npz.partial" / "settings.json").unlink()
    with pytest.raises(InvalidParameter, match="not whose they are"):
        Job(out, {"model": "two"}, total=3, batch=1)


def test_scores_that_are_not_finite_are_noticed_at_once(tmp_path):
    def broken(start, stop):
        return Batch(np.full(stop - start, np.nan, np.float32), np.zeros((stop - start, 2), np.float32), "")

    with (
        Job(tmp_path / "s.npz", {}, total=3, batch=2) as job,
        pytest.raises(InvalidScores, match="of questions 0 to 1"),
    ):
        job.run(broken, lambda *_: None)


# ---------------------------------------------------------------- a command of one's own

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
    with Command(f"{sys.executable} {program}") as encoder:
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
    with Command(f"{sys.executable} {path}") as encoder, pytest.raises(InvalidScores, match=message):
        encoder.questions(["a"])
    with pytest.raises(InvalidParameter, match="cannot be started"):
        Command("/no/such/program")


# ---------------------------------------------------------------- images and models, as far as names go


def test_classes_by_number_label_and_wordnet_id():
    assert to_classes(["1", "0"], ["a", "b"]) == [1, 0]
    assert to_classes(["great_white_shark", "Tench"], ["tench, Tinca tinca", "great white shark"]) == [1, 0]
    assert to_classes(["n02", "n01"], ["n01", "n02"]) == [1, 0]
    assert to_classes(["apple_pie"], ["bread_pudding", "apple_pie"]) == [1]
    assert to_classes(["cardigan"], ["Cardigan, Cardigan Welsh corgi", "cardigan"]) == [1]
    assert to_classes(["n00000002", "n00000001"], ["fish", "bird"]) == [1, 0]
    for called, message in (
        (["n00000001"], "there are 1 WordNet classes and the model has 2"),
        (["2"], "class 2 is beyond the model's 2 classes"),
        (["zebra"], "class 'zebra' is none of the model's 2 labels"),
    ):
        with pytest.raises(InvalidParameter) as caught:
            to_classes(called, ["fish", "bird"])
        assert message in str(caught.value)


def test_a_name_that_two_classes_have_is_refused():
    with pytest.raises(InvalidParameter, match="class 'crane' may be any of the model's classes 0, 1"):
        to_classes(["crane"], ["crane", "crane"])


def test_folders_that_hold_nothing_are_named(tmp_path):
    with pytest.raises(InvalidScores, match="there is no such folder"):
        find_pictures(tmp_path / "none")
    with pytest.raises(InvalidScores, match="it must hold a folder of images for each class"):
        find_pictures(tmp_path)
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(InvalidScores, match="name a file with their classes by --truth"):
        find_pictures(tmp_path)
    truth = tmp_path / "truth.txt"
    truth.write_text("a.jpg cat\nb.jpg dog\n")
    with pytest.raises(InvalidScores, match=r"line 2 names b.jpg, which is not in"):
        find_pictures(tmp_path, truth)
    truth.write_text("a.jpg\n")
    with pytest.raises(InvalidScores, match=r"line 1 is 'a.jpg'; it must be"):
        find_pictures(tmp_path, truth)


def test_models_that_are_not_there_are_named(tmp_path):
    with pytest.raises(InvalidParameter, match="there is no such folder"):
        resolve("./no-such-model")
    with pytest.raises(InvalidParameter, match=r"has no config.json"):
        resolve(str(tmp_path))


def test_without_the_extra_it_is_named(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else real(name, *rest))
    for words in (["score", "images", "."], ["score", "retrieval", __file__]):
        result = CliRunner().invoke(app, words)
        assert isinstance(result.exception, MissingExtra), words
        assert "scoring with a model needs torch" in str(result.exception)


# ---------------------------------------------------------------- bids


def test_bids_by_any_name(tmp_path):
    source, out = tmp_path / "bids.csv", tmp_path / "table.csv"
    source.write_text("what;price\nxbox;10.5\npalm;3\nxbox;10.5\nxbox;7\n")
    result = CliRunner().invoke(
        app,
        ["score", "auctions", str(source), "--bid", "price", "--item", "what", "--separator", ";", "--out", str(out)],
    )
    assert result.exit_code == 0, result.output
    assert "4 bids are counted" in result.output
    assert read_bids(out).values.tolist() == [3.0, 7.0, 10.5]
    assert read_bids(out, item="xbox").counts.tolist() == [1, 2]
    assert task_from_file(out).population[0].tolist() == [3.0, 7.0, 10.5]
    done = CliRunner().invoke(
        app, ["reproduce", "--scores", str(out), "--rounds", "200", "--runs", "2", "--out", str(tmp_path / "r")]
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "there is no column 'bid'; there are: a, b"),
        ("bid\nx\n", "line 2 has the bid 'x'"),
        ("bid\n", "no bids"),
    ],
)
def test_wrong_bids_are_named(tmp_path, text, message):
    source = tmp_path / "bids.csv"
    source.write_text(text)
    result = CliRunner().invoke(app, ["score", "auctions", str(source), "--out", str(tmp_path / "o.csv")])
    assert message in str(result.exception)


def test_bids_are_not_written_over_themselves(tmp_path):
    source = tmp_path / "bids.csv"
    source.write_text("bid\n1\n")
    result = CliRunner().invoke(app, ["score", "auctions", str(source), "--out", str(source)])
    assert "is where the bids are read from" in str(result.exception)
    assert source.read_text() == "bid\n1\n"
