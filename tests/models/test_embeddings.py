"""A local model of sentence-transformers, tiny and built from a config, behind the search for tools."""

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="sentence-transformers needs torch: make test-models")

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

from shortlist.errors import InvalidParameter
from shortlist.integrations.tools import ToolShortlist, local_model

TOOLS = [{"name": "refund", "description": "give money back"}, {"name": "ship", "description": "send a parcel"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as `SentenceTransformer.save` writes it, with weights of no meaning."""
    parts, whole = tmp_path_factory.mktemp("parts"), tmp_path_factory.mktemp("model")
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] refund ship give money back send a parcel : the"
    (parts / "vocab.txt").write_text(words.replace(" ", "\n"))
    BertTokenizerFast(str(parts / "vocab.txt")).save_pretrained(parts)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(words.split()), **small)
    BertModel(config).save_pretrained(parts)
    transformer = Transformer(str(parts))
    SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu").save(str(whole))
    return whole


def test_it_is_loaded_from_a_folder(folder):
    embed = local_model(str(folder))
    vectors = embed(["send a parcel", "the money", "send a parcel"])
    assert vectors.shape == (3, 16)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)
    tools = ToolShortlist(TOOLS, embed=embed)
    for _ in range(3):
        assert sorted(tools.search("send a parcel")) == ["refund", "ship"]
        tools.called("ship")
    tools.end()
    assert tools.summary().hits == 3


def test_what_cannot_be_loaded_is_named(tmp_path):
    with pytest.raises(InvalidParameter, match="cannot be loaded"):
        local_model(str(tmp_path / "none"))
