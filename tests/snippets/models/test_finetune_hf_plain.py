"""finetune-hf-plain: the loss and the steps by hand; what the messages say."""

import pytest
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    DataCollatorWithPadding,
)

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/finetune-hf-plain"
snippet = load_snippet("models/finetune_hf_plain.py")


ANSWER = recipes()["finetune-hf-plain"].answer
TEXTS = ["so good", "a", "a bad film so good", "bad", "so bad"]


@pytest.fixture
def loaded(tmp_path):
    torch.manual_seed(0)
    snippet.save_tiny_bert(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    return tokenizer, AutoModelForSequenceClassification.from_pretrained(tmp_path)


def pasted(folder, texts, labels, classes=2, lr=1e-3, epochs=1):
    """What the answer leaves behind, with the reader's names."""
    names = {"name": folder, "texts": texts, "labels": labels, "classes": classes}
    names |= {"lr": lr, "epochs": epochs}
    exec(ANSWER.text, names)
    return names


def encode(tokenizer, texts, **options):
    return tokenizer(texts, padding=True, return_tensors="pt", **options)


def test_every_dtype_of_the_file_is_trained_in_float32(loaded, tmp_path):
    _, model = loaded
    model.bfloat16().save_pretrained(tmp_path)
    load = AutoModelForSequenceClassification.from_pretrained
    assert load(tmp_path).dtype == torch.bfloat16
    before = load(tmp_path, dtype=torch.float32).state_dict()
    names = pasted(tmp_path, TEXTS, [1, 0, 1, 0, 0], lr=2e-5)
    assert names["model"].dtype == torch.float32
    moved = [
        (value != before[key].to(value.device)).float().mean()
        for key, value in names["model"].state_dict().items()
        if key.endswith("dense.weight")
    ]
    assert min(moved) > 0.9


def test_three_classes_and_a_last_batch_of_one(loaded, tmp_path):
    names = pasted(
        tmp_path, TEXTS * 3 + ["so", "film"], [0, 1, 2, 1, 0] * 3 + [0, 0], 3
    )
    assert names["batch"]["labels"].shape == (1,)  # 17 texts, batches of 16
    assert names["model"].num_labels == 3
    assert names["model"].training
    saved = tmp_path / "saved"
    names["model"].save_pretrained(saved)
    assert (saved / "model.safetensors").exists()
    assert not AutoModelForSequenceClassification.from_pretrained(saved).training


def test_the_file_is_of_another_number_of_classes(loaded, tmp_path):
    _, model = loaded
    model.save_pretrained(tmp_path)
    load = AutoModelForSequenceClassification.from_pretrained
    with raises_as_documented(PAGE, "RuntimeError: You set `ignore_mismatched"):
        load(tmp_path, num_labels=3)
    model = load(tmp_path, num_labels=3, ignore_mismatched_sizes=True)
    assert model.classifier.out_features == 3


def test_a_column_of_texts_is_left(loaded):
    tokenizer, _ = loaded
    data = [{**tokenizer(x), "text": x, "label": 1} for x in ("so", "so bad")]
    with raises_as_documented(PAGE, "ValueError: Unable to create tensor"):
        DataCollatorWithPadding(tokenizer)(data)


def test_the_collator_pads_masks_and_renames(loaded):
    tokenizer, _ = loaded
    data = [{**tokenizer("so"), "label": 1}, {**tokenizer("a bad film"), "label": 0}]
    batch = DataCollatorWithPadding(tokenizer)(data)
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch["input_ids"].tolist() == [[2, 9, 3, 0, 0], [2, 5, 6, 7, 3]]
    assert batch["labels"].tolist() == [1, 0]
    with raises_as_documented(PAGE, "RuntimeError: each element in list"):
        next(iter(DataLoader(data, 2)))


def test_the_answer_takes_the_step_by_hand(loaded, tmp_path):
    tokenizer, model = loaded
    model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = 0.0
    model.save_pretrained(tmp_path)
    labels = [1, 0, 1, 0, 0]
    trained = pasted(tmp_path, TEXTS, labels, lr=1e-3)["model"]
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    logits = model(**encode(tokenizer, TEXTS)).logits  # one batch: no order
    F.cross_entropy(logits, torch.tensor(labels)).backward()
    optimizer.step()
    # A step of Adam has the sign of the gradient, so tiny ones may differ.
    weight = "classifier.weight"
    torch.testing.assert_close(
        trained.cpu().state_dict()[weight],
        model.state_dict()[weight],
        rtol=1e-3,
        atol=1e-5,
    )


def test_padding_counts_without_the_mask(loaded):
    tokenizer, model = loaded
    model.eval()
    alone = model(**encode(tokenizer, ["so"])).logits[0]
    batch = encode(tokenizer, ["so", "a bad film so good"])
    torch.testing.assert_close(model(**batch).logits[0], alone)
    unmasked = model(batch["input_ids"]).logits[0]
    assert not torch.allclose(unmasked, alone, atol=1e-6)


def test_no_labels_and_the_object(loaded):
    tokenizer, model = loaded
    out = model(**encode(tokenizer, ["so bad", "a good film"]))
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has no"):
        out.loss.backward()
    with raises_as_documented(PAGE, "TypeError: cross_entropy_loss(): argument"):
        F.cross_entropy(out, torch.tensor([0, 1]))
    with raises_as_documented(PAGE, "AttributeError: 'SequenceClassifierOutput'"):
        out.argmax(1)
    assert out.logits.shape == (2, 2)


def test_labels_that_do_not_fit_and_long_texts(loaded):
    tokenizer, model = loaded
    batch = encode(tokenizer, ["so bad"])
    with raises_as_documented(PAGE, "IndexError: Target 2 is out of bounds."):
        model(**batch, labels=torch.tensor([2]))
    long = " ".join(["so"] * 511)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (513)"):
        model(**encode(tokenizer, [long]))
    assert encode(tokenizer, [long], truncation=True)["input_ids"].shape == (1, 512)


def test_a_tokenizer_without_padding(loaded):
    tokenizer, _ = loaded
    data = [tokenizer("so"), tokenizer("a bad film")]
    tokenizer.pad_token = None
    with raises_as_documented(PAGE, "ValueError: Asking to pad but"):
        DataCollatorWithPadding(tokenizer)(data)


def test_regression_is_the_squared_error(loaded):
    tokenizer, _ = loaded
    config = BertConfig(
        vocab_size=10, hidden_size=24, num_hidden_layers=1, num_labels=1
    )
    model = AutoModelForSequenceClassification.from_config(config).eval()
    batch = encode(tokenizer, ["so bad", "so good"])
    target = torch.tensor([0.5, 2.0])
    out = model(**batch, labels=target)
    torch.testing.assert_close(out.loss, F.mse_loss(out.logits[:, 0], target))


def test_popped_labels(loaded):
    tokenizer, model = loaded
    batch = encode(tokenizer, ["so bad", "so good"])
    batch["labels"] = torch.tensor([0, 1])
    labels = batch.pop("labels")
    out = model.eval()(**batch)
    assert out.loss is None
    expected = model(**batch, labels=labels).loss
    torch.testing.assert_close(F.cross_entropy(out.logits, labels), expected)


def test_adamw_is_gone():
    with raises_as_documented(PAGE, "ImportError: cannot import name 'AdamW'"):
        from transformers import AdamW  # noqa: F401
