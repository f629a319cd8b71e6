"""Images and their classes: names, numbers and folders."""

import pytest

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.scoring.image_datasets import find_pictures, to_classes


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
    with pytest.raises(InvalidScores, match="name a file of their classes with --truth"):
        find_pictures(tmp_path)
    truth = tmp_path / "truth.txt"
    truth.write_text("a.jpg cat\nb.jpg dog\n")
    with pytest.raises(InvalidScores, match=r"line 2 names b.jpg, which is not in"):
        find_pictures(tmp_path, truth)
    truth.write_text("a.jpg\n")
    with pytest.raises(InvalidScores, match=r"line 1 is 'a.jpg'; it must be"):
        find_pictures(tmp_path, truth)
