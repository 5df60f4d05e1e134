"""finetune-hf-plain: the loss and the steps by hand; what the messages say."""

import io
import runpy
from contextlib import redirect_stdout

import pytest
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertTokenizer,
    DataCollatorWithPadding,
)

from cookbook.catalogue import Catalogue
from tests.helpers import ROOT, raises_as_documented, unchanged_globals

PAGE = "models/finetune-hf-plain"
SNIPPET = "models/finetune_hf_plain.py"
ANSWER = Catalogue(ROOT).by_slug["finetune-hf-plain"].answer
TEXTS = ["so", "a bad film", "so bad", "a good film so good", "bad"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run of the demonstration: its names, its folder and what it printed."""
    folder, printed = tmp_path_factory.mktemp("run"), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        unchanged_globals(),
        redirect_stdout(printed),
    ):
        patch.chdir(folder)
        names = runpy.run_path(str(ROOT / "snippets" / SNIPPET))
    return names, folder, printed.getvalue()


@pytest.fixture(scope="module")
def folder(run):
    return run[1]


@pytest.fixture
def loaded(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder / "tiny-bert")
    torch.manual_seed(0)
    load = AutoModelForSequenceClassification.from_pretrained
    return tokenizer, load(folder / "tiny-bert")


def pasted(folder, **given):
    """The names that the answer leaves."""
    names = {"name": folder / "tiny-bert", "texts": TEXTS, "labels": [0, 1, 0, 1, 1]}
    names |= {"lr": 1e-3, "epochs": 1, **given}
    exec(names.pop("code", ANSWER.text), names)
    return names


def encode(tokenizer, texts, **options):
    return tokenizer(texts, padding=True, return_tensors="pt", **options)


def test_a_reader_brings_a_name_and_texts():
    assert set(ANSWER.yours) == {"name", "texts", "labels", "lr", "epochs"}


def test_the_program_learns_saves_and_loads(run):
    names, folder, printed = run
    assert printed == f"{names['labels']}\n"
    files = {path.name for path in (folder / "finetuned").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= files
    assert not names["model"].training
    tokenizer = AutoTokenizer.from_pretrained(folder / "finetuned")
    expected = names["tokenizer"]("so good")["input_ids"]
    assert tokenizer("so good")["input_ids"] == expected


def test_a_bfloat16_checkpoint_trains_in_float32(folder, loaded, tmp_path):
    """transformers 5 would load it as it was saved; then small steps are lost."""
    tokenizer, model = loaded
    tokenizer.save_pretrained(tmp_path)
    model.bfloat16().save_pretrained(tmp_path)
    load = AutoModelForSequenceClassification.from_pretrained
    assert load(tmp_path).dtype == torch.bfloat16
    before = load(tmp_path, dtype=torch.float32).state_dict()
    model = pasted(folder, name=tmp_path, lr=2e-5)["model"]
    assert model.dtype == torch.float32
    weight = "bert.encoder.layer.0.output.dense.weight"
    assert (model.state_dict()[weight].cpu() != before[weight]).float().mean() > 0.9


def test_the_collator_pads_masks_and_renames(loaded):
    tokenizer, _ = loaded
    data = [{**tokenizer("so"), "label": 1}, {**tokenizer("a bad film"), "label": 0}]
    batch = DataCollatorWithPadding(tokenizer)(data)
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch["input_ids"].tolist() == [[2, 9, 3, 0, 0], [2, 5, 6, 7, 3]]
    assert batch["labels"].tolist() == [1, 0]
    with raises_as_documented(PAGE, "RuntimeError: each element in list"):
        next(iter(DataLoader(data, 2)))


def test_the_steps_are_those_of_sgd_by_hand(folder, loaded, tmp_path):
    tokenizer, other = loaded
    other.config.hidden_dropout_prob = other.config.attention_probs_dropout_prob = 0.0
    other.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    code = ANSWER.text.replace("torch.optim.AdamW", "torch.optim.SGD")
    assert code != ANSWER.text
    given = {"texts": ["so good", "a"], "labels": [1, 0], "lr": 0.1, "epochs": 2}
    model = pasted(folder, name=tmp_path, code=code, **given)["model"]
    assert model.training
    inputs = encode(tokenizer, ["so good", "a"])
    other.eval()
    for _ in range(2):
        loss = F.cross_entropy(other(**inputs).logits, torch.tensor([1, 0]))
        weights = [p for p in other.parameters() if p.requires_grad]
        for p, grad in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            p.data -= 0.1 * grad
    torch.testing.assert_close(model.cpu().state_dict(), other.state_dict())


def test_the_texts_are_shuffled_and_padded_to_the_longest_of_a_batch(folder):
    code = ANSWER.text.replace("batch_size=16", "batch_size=2")
    assert code != ANSWER.text
    loader, lengths = pasted(folder, code=code)["loader"], []
    for batch in [batch for _ in range(4) for batch in loader]:
        lengths.append(batch["attention_mask"].sum(1).tolist())
        assert batch["input_ids"].shape[1] == max(lengths[-1])
    assert [len(some) for some in lengths] == [2, 2, 1] * 4
    groups = [lengths[i : i + 3] for i in range(0, 12, 3)]
    epochs = [[n for some in group for n in some] for group in groups]
    assert all(sorted(epoch) == [3, 3, 4, 5, 7] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_a_text_column_that_is_left():
    """As of a table; without the tokenizer's columns alone nothing can be padded."""
    with raises_as_documented(PAGE, "ValueError: Unable to create tensor"):
        DataCollatorWithPadding(BertTokenizer())(
            [{"input_ids": [2, 3], "text": "so"}, {"input_ids": [2], "text": "bad"}]
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
