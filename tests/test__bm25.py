"""BM25 against its formula."""

import numpy as np

from shortlist._bm25 import BM25


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


def test_an_index_for_one_question_has_the_same_scores():
    passages = ["the cat the cat", "", "A dog; a cat!", "nothing", "the"] * 3
    for question in ("the cat", "", "Dog dog cat", "unheard"):
        assert BM25(passages, question).scores(question).tolist() == BM25(passages).scores(question).tolist()
