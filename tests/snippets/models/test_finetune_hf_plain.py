"""finetune-hf-plain: the loss and the steps by hand; what the messages say."""

import copy
import runpy

import numpy as np
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

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/finetune-hf-plain"
snippet = load_snippet("models/finetune_hf_plain.py")


@pytest.fixture
def loaded(tmp_path):
    torch.manual_seed(0)
    folder = snippet.tiny_bert(tmp_path / "tiny")
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder), model


def encode(tokenizer, texts, **options):
    return tokenizer(texts, padding=True, return_tensors="pt", **options)


def test_the_program_learns_saves_and_loads(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(snippet.__file__, run_name="__main__")
    assert capsys.readouterr().out.endswith(f"{[y for _, y in names['texts']]}\n")
    saved = tmp_path / "finetuned"
    files = {path.name for path in saved.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= files
    assert not AutoModelForSequenceClassification.from_pretrained(saved).training


def test_a_bfloat16_checkpoint_stays_so_unless_told(loaded, tmp_path):
    loaded[1].bfloat16().save_pretrained(tmp_path / "half")
    load = AutoModelForSequenceClassification.from_pretrained
    model, whole = load(tmp_path / "half"), load(tmp_path / "half", dtype=torch.float32)
    assert (model.dtype, whole.dtype) == (torch.bfloat16, torch.float32)
    tokenizer = loaded[0]
    data = [{**tokenizer("so good"), "label": 1}] * 3
    moved = []
    for m in (model, whole):
        before = torch.nn.utils.parameters_to_vector(m.bert.parameters()).clone()
        optimizer = torch.optim.AdamW(m.parameters(), lr=2e-5, weight_decay=0)
        snippet.train(m, tokenizer, data, optimizer, epochs=3, batch_size=2)
        after = torch.nn.utils.parameters_to_vector(m.bert.parameters())
        moved.append((after != before).float().mean().item())
    assert moved[0] < 0.6 * moved[1]


def test_a_text_column_that_is_left(loaded):
    tokenizer, _ = loaded
    data = [{**tokenizer(x), "text": x, "label": 0} for x in ("so", "a bad film")]
    with raises_as_documented(PAGE, "ValueError: Unable to create tensor"):
        DataCollatorWithPadding(tokenizer)(data)
    data = [{**tokenizer("so"), "label": "good"}]
    with raises_as_documented(PAGE, "ValueError: Unable to create tensor"):
        DataCollatorWithPadding(tokenizer)(data)


def test_several_classes_per_text(loaded, tmp_path):
    tokenizer, _ = loaded
    model = AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "tiny", problem_type="multi_label_classification"
    ).eval()
    data = [{**tokenizer("so good"), "label": [1.0, 1.0]}]
    batch = DataCollatorWithPadding(tokenizer)(data)
    out = model(**batch)
    p = out.logits.detach().double().sigmoid().numpy()[0]
    by_hand = -(np.log(p[0]) + np.log(p[1])) / 2
    assert out.loss.item() == pytest.approx(by_hand, rel=1e-4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    snippet.train(model, tokenizer, data, optimizer, epochs=1)


def test_the_collator_pads_masks_and_renames(loaded):
    tokenizer, _ = loaded
    data = [{**tokenizer("so"), "label": 1}, {**tokenizer("a bad film"), "label": 0}]
    batch = DataCollatorWithPadding(tokenizer)(data)
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch["input_ids"].tolist() == [[2, 9, 3, 0, 0], [2, 5, 6, 7, 3]]
    assert batch["labels"].tolist() == [1, 0]
    with raises_as_documented(PAGE, "RuntimeError: each element in list"):
        next(iter(DataLoader(data, 2)))


def test_train_takes_the_steps_of_sgd_by_hand(loaded):
    tokenizer, model = loaded
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
    other = copy.deepcopy(model.eval())
    data = [{**tokenizer("so good"), "label": 1}, {**tokenizer("a"), "label": 0}]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    snippet.train(model, tokenizer, data, optimizer, epochs=2, batch_size=2)
    assert model.training
    inputs = encode(tokenizer, ["so good", "a"])
    for _ in range(2):
        loss = F.cross_entropy(other(**inputs).logits, torch.tensor([1, 0]))
        weights = [p for p in other.parameters() if p.requires_grad]
        for p, grad in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            p.data -= 0.1 * grad
    torch.testing.assert_close(model.state_dict(), other.state_dict())


def test_the_texts_are_shuffled_and_padded_to_the_longest_of_two(loaded):
    tokenizer, model = loaded
    texts = ["so", "a bad film", "so bad", "a good film so good", "bad"]
    data = [{**tokenizer(x), "label": int("good" in x)} for x in texts]
    seen = []

    def keep(_, args, kwargs):
        seen.append(kwargs["attention_mask"].sum(1).tolist())
        assert kwargs["attention_mask"].shape[1] == max(seen[-1])

    model.register_forward_pre_hook(keep, with_kwargs=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    snippet.train(model, tokenizer, data, optimizer, epochs=4, batch_size=2)
    assert [len(lengths) for lengths in seen] == [2, 2, 1] * 4
    epochs = [[*seen[i], *seen[i + 1], *seen[i + 2]] for i in range(0, 12, 3)]
    assert all(sorted(epoch) == [3, 3, 4, 5, 7] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


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
