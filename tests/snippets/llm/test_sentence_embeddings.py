"""sentence-embeddings: each text alone in float64; what the page says goes wrong."""

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModel, BertConfig, BertTokenizer, Qwen3Config

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "llm/sentence-embeddings"
embed = load_snippet("llm/sentence_embeddings.py").embed
WORDS = [f"w{i}" for i in range(30)]
TEXTS = ["w1 w2 w3", "", "w4", " ".join(WORDS), "w5 w5 w6 w7", "w2 w1"]


@pytest.fixture
def tokenizer():
    made = BertTokenizer(model_max_length=40)
    made.add_tokens(WORDS)
    return made


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=40, **sizes)
    return AutoModel.from_config(config).eval()


def alone(model, tokenizer, text):
    """The mean of a text's own tokens, of length 1, in float64."""
    ids = torch.tensor([tokenizer(text, truncation=True)["input_ids"]])
    tokens = model(ids).last_hidden_state[0].detach().double()
    mean = sum(tokens) / len(tokens)
    return mean / (mean @ mean).sqrt()


def test_what_is_the_readers():
    answer = recipes()["sentence-embeddings"].answer
    assert set(answer.yours) == {"model", "tokenizer", "texts", "query", "k"}


@pytest.mark.parametrize("batch_size", [1, 2, 4, 32])
def test_each_text_is_as_alone(model, tokenizer, batch_size):
    expected = torch.stack([alone(model, tokenizer, text) for text in TEXTS])
    found = embed(model.train(), tokenizer, TEXTS, batch_size)
    assert not model.training
    assert not found.requires_grad
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-6)


def test_the_last_token_of_a_decoder(tokenizer):
    """With the padding on the left, the vector of a text is as alone."""
    tokenizer.padding_side = "left"
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    config = Qwen3Config(vocab_size=len(tokenizer), **sizes, **heads)
    model = AutoModel.from_config(config).eval()
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    batch.pop("token_type_ids")
    last = model(**batch).last_hidden_state[:, -1]
    for text, vector in zip(TEXTS, last, strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        own = model(ids).last_hidden_state[0, -1]
        torch.testing.assert_close(vector, own, rtol=0, atol=1e-5)


def test_cosines_and_the_best(model, tokenizer):
    vectors = embed(model, tokenizer, TEXTS)
    scores = embed(model, tokenizer, ["w1 w2"]) @ vectors.T
    query = alone(model, tokenizer, "w1 w2")
    by_hand = [
        F.cosine_similarity(query, alone(model, tokenizer, text), dim=0)
        for text in TEXTS
    ]
    torch.testing.assert_close(
        scores[0].double(), torch.stack(by_hand), rtol=0, atol=1e-6
    )
    best = scores[0].topk(2).indices.tolist()
    assert best == sorted(range(len(TEXTS)), key=lambda i: -by_hand[i])[:2]


def test_what_changes_a_vector(model, tokenizer):
    text = TEXTS[0]
    batch = tokenizer([text, TEXTS[3]], padding=True, return_tensors="pt")
    single = tokenizer([text], return_tensors="pt")
    with torch.no_grad():
        whole = model(**batch).last_hidden_state[0]
        own = model(**single).last_hidden_state[0]
        blind = model(batch["input_ids"]).last_hidden_state[0]
        n = len(own)
        torch.testing.assert_close(whole[:n], own, rtol=0, atol=1e-5)
        assert (whole.mean(0) - own.mean(0)).abs().max() > 0.01  # padding counted
        assert (blind[:n] - own).abs().max() > 1e-3  # no mask
        model.train()
        assert not torch.equal(
            model(**single).last_hidden_state, model(**single).last_hidden_state
        )


def test_less_the_mean_cosines_spread(model, tokenizer):
    vectors = embed(model, tokenizer, WORDS)
    centred = F.normalize(vectors - vectors.mean(0), dim=1)
    apart = ~torch.eye(len(WORDS), dtype=torch.bool)
    assert (vectors @ vectors.T)[apart].mean() > 0.8
    assert (centred @ centred.T)[apart].mean().abs() < 0.1


def test_the_other_poolings(model, tokenizer):
    with torch.no_grad():
        texts = tokenizer(TEXTS, padding=True, return_tensors="pt")
        hidden = model(**texts).last_hidden_state
        single = model(**tokenizer([TEXTS[2]], return_tensors="pt"))
        first = single.last_hidden_state[0, 0]
        torch.testing.assert_close(hidden[2, 0], first, rtol=0, atol=1e-5)
        assert (single.pooler_output[0] - first).abs().max() > 0.01
    tokenizer.padding_side = "left"
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    assert (batch["input_ids"][:, -1] == tokenizer.sep_token_id).all()
    layers = model(**batch, output_hidden_states=True)
    assert len(layers.hidden_states) == 1 + 2
    assert torch.equal(layers.hidden_states[-1], layers.last_hidden_state)
    ids = texts["input_ids"]
    assert torch.equal(
        model(ids, output_hidden_states=True).hidden_states[0], model.embeddings(ids)
    )


def test_long_texts(model, tokenizer):
    words = [WORDS[i % 30] for i in range(100)]
    cut = embed(model, tokenizer, [" ".join(words), " ".join(words[:38])])
    torch.testing.assert_close(cut[0], cut[1])
    ids = tokenizer(
        " ".join(words), truncation=True, stride=8, return_overflowing_tokens=True
    )["input_ids"]
    passages = tokenizer.batch_decode(ids, skip_special_tokens=True)
    assert all(len(part) <= 40 for part in ids)
    pieces = [part.split() for part in passages]
    assert pieces[0] + [w for part in pieces[1:] for w in part[8:]] == words
    assert pieces[0][-8:] == pieces[1][:8]


def test_what_it_refuses(model, tokenizer):
    with raises_as_documented(PAGE, "ValueError: text input must be"):
        embed(model, tokenizer, [None])
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["w1", float("nan")])
    with pytest.raises(ValueError, match="text input must be"):
        embed(model, tokenizer, column)
    with raises_as_documented(PAGE, "TypeError: TextEncodeInput"):
        embed(model, tokenizer, column.astype(object).tolist())
    for bad in (column, pandas.Series([1.5, 2.0])):
        mended = bad.fillna("").astype(str).tolist()
        assert embed(model, tokenizer, mended).shape == (2, 24)
    with raises_as_documented(PAGE, "AttributeError: 'list' object"):
        model(**tokenizer(TEXTS))
    out = model(**tokenizer(["w1"], return_tensors="pt"))
    with raises_as_documented(PAGE, "AttributeError: 'BaseModelOutput"):
        F.normalize(out)
