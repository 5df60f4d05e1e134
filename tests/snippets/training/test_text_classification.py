"""text-classification: the layer against a loop, encoding, learning, messages."""

import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import nn
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/text-classification"
snippet = load_snippet("training/text_classification.py")
vocab, model = snippet.vocab, snippet.model


def test_the_vocabulary_is_that_of_the_training_texts():
    words = {word for text, _ in snippet.train_set for word in text.split()}
    assert vocab.keys() == words
    assert sorted(vocab.values()) == list(range(1, len(words) + 1))
    assert snippet.bag.weight.shape == (len(words) + 1, 32)


def test_encoding():
    a, b = vocab["snow"], vocab["team"]
    ids = snippet.encode(["Snow team snow", "xyzzy TEAM", "xyzzy", ""])
    assert ids.tolist() == [[a, b, a], [b, 0, 0], [0, 0, 0], [0, 0, 0]]
    unknown = snippet.encode(["xyzzy"])  # alone in its batch
    assert unknown.dtype == torch.long
    assert not snippet.bag(unknown).any()


def test_punctuation_and_case_make_no_new_words():
    ids = snippet.encode(["Snow, team! (SNOW)", "snow team snow"])
    assert torch.equal(ids[0], ids[1])


def test_batches_of_texts_and_labels_need_no_collate_fn():
    (batch,) = DataLoader([("snow rain", 2), ("team", 1)], 2)
    texts, labels = batch
    assert snippet.encode(texts).shape == (2, 2)
    assert labels.tolist() == [2, 1]


def test_the_bag_is_the_mean_of_the_real_words():
    ids = snippet.encode(["snow rain team", "snow", "xyzzy"])
    table = snippet.bag.weight
    rows = [table[row[row != 0]].double() for row in ids]
    expected = torch.stack([r.mean(0) if len(r) else r.sum(0) for r in rows]).float()
    torch.testing.assert_close(snippet.bag(ids), expected)
    assert not snippet.bag(ids)[2].any()


def test_the_texts_are_balanced_and_mixed():
    test = list(zip(snippet.texts, snippet.labels, strict=True))
    for samples in (snippet.train_set, test):
        labels = torch.tensor([label for _, label in samples])
        assert labels.bincount(minlength=3).min() >= len(samples) // 3
    assert (len(snippet.train_set), len(test)) == (600, 300)
    for text, label in test[:50]:
        own = [
            word in list(snippet.TOPICS.values())[label].split()
            for word in text.split()
        ]
        assert sum(own) == 2
        assert 2 <= len(own) - 2 <= 9
    assert (
        len({text.split()[0] in snippet.FILLER.split() for text in snippet.texts}) == 2
    )


def test_it_learns():
    assert snippet.right.float().mean() > 0.97
    texts, labels = zip(*snippet.make_texts(200), strict=True)
    with torch.no_grad():
        found = model(snippet.encode(texts)).argmax(1)
    assert (found == torch.tensor(labels)).float().mean() > 0.97
    names = list(snippet.TOPICS)
    with torch.no_grad():
        found = model(snippet.encode(["Snow and a storm", "a match", "soup"]))
    assert [names[i] for i in found.argmax(1)] == ["weather", "sport", "food"]


def test_scikit_learn_agrees():
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    pipeline.fit(*zip(*snippet.train_set, strict=True))
    assert pipeline.score(snippet.texts, snippet.labels) > 0.97


def test_the_order_of_the_words_does_not_matter():
    first, second = model(snippet.encode(["good not bad rain", "rain bad not good"]))
    assert torch.allclose(first, second)


def test_labels_that_are_words():
    words = [(text, list(snippet.TOPICS)[i]) for text, i in snippet.train_set]
    numbered = {"num_classes": 3, "train_set": words}
    code = recipes()["text-classification"].answer.text
    with raises_as_documented(PAGE, "TypeError: cross_entropy_loss(): argument"):
        exec(code, dict(numbered))
    names = sorted({label for _, label in words})
    numbered["train_set"] = [(text, names.index(label)) for text, label in words]
    exec(code, numbered)
    found = numbered["model"](numbered["encode"](["Snow and a storm", "soup"]))
    assert [names[i] for i in found.argmax(1)] == ["weather", "food"]


def test_messages():
    ids = snippet.encode(["snow rain"])
    with raises_as_documented(PAGE, "ValueError: offsets has to be"):
        snippet.bag(ids[0])
    assert snippet.bag(ids[0][None]).shape == (1, 32)
    joined, offsets = torch.cat([ids[0], ids[0][:1]]), torch.tensor([0, 2])
    torch.testing.assert_close(snippet.bag(joined, offsets)[:1], snippet.bag(ids))


@pytest.mark.parametrize("kind", ["lstm", "cnn"])
def test_variants(kind):
    ids = snippet.encode(["snow rain team", "snow"])
    x = nn.Embedding(len(vocab) + 1, 32, padding_idx=0)(ids)
    if kind == "lstm":
        lengths = (ids != 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        _, (h_n, _) = nn.LSTM(32, 8, batch_first=True)(packed)
        assert nn.Linear(8, 3)(h_n[-1]).shape == (2, 3)
    else:
        conv = nn.Conv1d(32, 8, 3, padding=1)
        assert conv(x.transpose(1, 2)).relu().amax(-1).shape == (2, 8)
