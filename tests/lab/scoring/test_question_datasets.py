"""Questions with their passages: DPR's JSON and SQuAD's."""

import gzip
import json
from pathlib import Path

import pytest

from shortlist.errors import InvalidScores
from shortlist.lab.scoring.question_datasets import blocks, read_questions
from tests.lab.scoring.entries import entry

SQUAD = Path(__file__).parents[4] / "shared" / "data" / "squad" / "squad_v1.1_dev_reconstructed.json.gz"


needs_squad = pytest.mark.skipif(not SQUAD.is_file(), reason="SQuAD's texts are not beside the checkout")


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
