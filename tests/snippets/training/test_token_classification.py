"""token-classification: hand-made alignments and spans, the same loss, bad input."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F
from transformers import (
    BatchEncoding,
    BertConfig,
    BertForTokenClassification,
    BertTokenizer,
    DataCollatorForTokenClassification,
    RobertaTokenizer,
)

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "training/token-classification"
ANSWER = recipes()["token-classification"].answer
snippet = load_snippet("training/token_classification.py")
WORDS = [text.split() for text in snippet.TEXTS]
TAGS = [tags.split() for tags in snippet.TAGS]
SHORT = {"truncation": True, "max_length": 512}
IDS = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]


@pytest.fixture(scope="module")
def tokenizer():
    return BertTokenizer({piece: i for i, piece in enumerate(snippet.PIECES.split())})


def encode(tokenizer, words, **options):
    return tokenizer(words, is_split_into_words=True, padding=True, **options)


def test_the_data():
    assert WORDS[0] == ["Anna", "Lindt", "lives", "in", "Hangzhou"]
    assert [len(words) for words in WORDS] == [len(tags) for tags in TAGS]
    assert {tag for tags in TAGS for tag in tags} <= set(snippet.NAMES)


def test_labels_go_to_first_pieces(tokenizer):
    tokens = encode(tokenizer, WORDS)
    assert tokens.tokens(0)[1:-1] == [
        "anna",
        "lin",
        "##dt",
        "lives",
        "in",
        "hang",
        "##zhou",
    ]
    no = -100
    assert snippet.align_labels(tokens, IDS).tolist() == [
        [no, 0, 1, no, 2, 3, 4, no, no],
        [no, 4, 3, no, 2, 1, 0, no, no],
    ]


def test_padding_truncation_and_characters(tokenizer):
    tokens = encode(tokenizer, [["Hamburg"], ["Anna", "is", "in"]])
    labels = snippet.align_labels(tokens, [[3], [1, 0, 0]])
    assert labels.tolist() == [[-100, 3, -100, -100, -100], [-100, 1, 0, 0, -100]]
    assert labels.dtype == torch.int64
    short = encode(tokenizer, [["Anna", "is"]], truncation=True, max_length=3)
    assert snippet.align_labels(short, [[1, 0]]).tolist() == [[-100, 1, -100]]
    characters = encode(tokenizer, [list("王小明")])
    assert snippet.align_labels(characters, [[1, 2, 2]]).tolist() == [
        [-100, 1, 2, 2, -100]
    ]


class Reads(torch.nn.Module):
    """Each token gets the class that is its id, less 4."""

    device = torch.device("cpu")

    def forward(self, input_ids, **_):
        assert not self.training
        return SimpleNamespace(logits=F.one_hot((input_ids - 4).clamp(0, 4), 5))


def test_tags_are_those_of_first_pieces():
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "a",
        "b",
        "##c",
        "d",
    ]  # a: 1, ##c: 3
    tokenizer = BertTokenizer({piece: i for i, piece in enumerate(pieces)})
    words = [["a", "bc", " ", "d"], ["d"], ["x", "bcc"]]  # " " has no piece
    rows = snippet.predict_tags(Reads(), tokenizer, words)
    assert rows == [["B-PER", "I-PER", "O", "I-LOC"], ["I-LOC"], ["O", "I-PER"]]
    words[0] = ["a"] * 600
    kept = snippet.predict_tags(Reads(), partial(tokenizer, **SHORT), words[:1])
    assert kept == [["B-PER"] * 510 + ["O"] * 90]


def test_a_text_without_labels(capsys):
    source = (ROOT / "snippets/training/token_classification.py").read_text("utf-8")
    exec(compile(source, "run.py", "exec"), {"__name__": "__main__"})
    expected = [["B-PER", "I-PER", "O", "O", "B-LOC"]]
    assert capsys.readouterr().out == f"{expected}\n"


def test_the_answer_moves_all_that_the_model_gets(tokenizer):
    seen = {}

    class Model:
        device = torch.device("meta")

        def __call__(self, **batch):
            seen.update(batch)
            return SimpleNamespace(loss=0)

    names = {"tokenizer": tokenizer, "model": Model()}
    exec(ANSWER.text, names | {"words": WORDS, "word_labels": IDS})
    assert set(ANSWER.yours) == {*names, "words", "word_labels"}
    assert {"input_ids", "attention_mask", "labels"} <= set(seen)
    assert all(tensor.is_meta for tensor in seen.values())
    assert seen["labels"].shape == seen["input_ids"].shape


def test_the_loss_is_that_of_the_model(tokenizer):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        num_labels=5,
    )
    model = BertForTokenClassification(config).eval()
    tokens = encode(tokenizer, WORDS, return_tensors="pt")
    labels = snippet.align_labels(tokens, IDS)
    out = model(**tokens, labels=labels)
    logp = out.logits.double().log_softmax(-1)
    kept = [
        -logp[n, i, labels[n, i]]
        for n in range(2)
        for i in range(9)
        if labels[n, i] >= 0
    ]
    assert len(kept) == 10
    for loss in (
        out.loss,
        F.cross_entropy(out.logits.transpose(1, 2), labels),
        F.cross_entropy(out.logits.flatten(0, 1), labels.flatten()),
    ):
        torch.testing.assert_close(loss.double(), sum(kept) / 10, rtol=1e-5, atol=0)
    with raises_as_documented(PAGE, "RuntimeError: Expected target size"):
        F.cross_entropy(out.logits, labels)


def test_the_collator_pads_labels(tokenizer):
    collate = DataCollatorForTokenClassification(tokenizer)
    rows = [
        {"input_ids": [2, 5, 3], "labels": [-100, 1, -100]},
        {"input_ids": [2, 5, 3, 3], "labels": [-100, 1, 0, -100]},
    ]
    assert collate(rows)["labels"].tolist()[0] == [-100, 1, -100, -100]


def test_what_is_refused(tokenizer):
    with raises_as_documented(PAGE, "ValueError: word_ids() is not available"):
        BatchEncoding({"input_ids": [[1]]}).word_ids(0)
    model = BertForTokenClassification(BertConfig(hidden_size=24, num_hidden_layers=1))
    tokens = encode(tokenizer, [["Anna"] * 600], return_tensors="pt")
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (602)"):
        model(**tokens)
    tokens = encode(tokenizer, [["Anna"]], return_tensors="pt")
    with raises_as_documented(PAGE, "IndexError: Target 2 is out"):
        model(**tokens, labels=snippet.align_labels(tokens, [[2]]))
    with raises_as_documented(PAGE, "IndexError: list index"):
        snippet.align_labels(encode(tokenizer, WORDS), [[1], [1]])


@pytest.mark.parametrize(("prefix", "first"), [(False, "a"), (True, "Ġa")])
def test_roberta_needs_the_space_before_a_word(prefix, first):
    vocab = {
        p: i
        for i, p in enumerate(
            ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "Ġ", "Ġa"]
        )
    }
    tokenizer = RobertaTokenizer(
        vocab=vocab, merges=[("Ġ", "a")], add_prefix_space=prefix
    )
    tokens = encode(tokenizer, [["a", "a"]])
    assert tokens.tokens(0) == ["<s>", first, first, "</s>"]
    assert tokens.word_ids(0) == [None, 0, 1, None]
