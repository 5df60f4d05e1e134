"""hf-trainer: its losses against torch's, with weights and accumulated gradients."""

import copy
import runpy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
)

from tests.helpers import ROOT

FILE = ROOT / "snippets/training/hf_trainer_class_weights.py"
torch.manual_seed(0)
IDS = torch.randint(10, (8, 4))
LABELS = (IDS == 9).any(1).long()
DATA = [
    {"input_ids": row, "label": label}
    for row, label in zip(IDS.tolist(), LABELS.tolist(), strict=True)
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=10,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForSequenceClassification(config)


def vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def mean(outputs, labels, num_items_in_batch):
    return F.cross_entropy(outputs.logits, labels)


def total(outputs, labels, num_items_in_batch):
    loss = F.cross_entropy(outputs.logits, labels, reduction="sum")
    return loss / num_items_in_batch


class Overridden(Trainer):
    def compute_loss(
        self, model, inputs, return_outputs=False, num_items_in_batch=None
    ):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


@pytest.mark.parametrize(
    ("kind", "loss", "accepts", "times"),
    [
        (Trainer, None, None, 4),
        (Trainer, None, False, 1),
        (Trainer, mean, None, 4),
        (Trainer, total, None, 1),
        (Overridden, None, None, 4),
        (Overridden, None, False, 1),
    ],
)
def test_accumulated_gradients_of_a_mean_are_summed(model, kind, loss, accepts, times):
    hand = copy.deepcopy(model)
    expected = F.cross_entropy(hand(IDS).logits, LABELS)
    expected.backward()
    gradient = nn.utils.parameters_to_vector(p.grad for p in hand.parameters())
    args = TrainingArguments(
        "runs",
        max_steps=1,
        gradient_accumulation_steps=4,
        per_device_train_batch_size=2,
        optim="sgd",
        learning_rate=1.0,
        max_grad_norm=0.0,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    before = vector(model)
    trainer = kind(model, args, train_dataset=DATA, compute_loss_func=loss)
    if accepts is not None:
        trainer.model_accepts_loss_kwargs = accepts
    trainer.train()
    moved = before - vector(model)
    torch.testing.assert_close(moved.cpu(), times * gradient, rtol=1e-3, atol=1e-5)
    shown = trainer.state.log_history[0]["loss"]
    assert shown == pytest.approx(times * expected.item(), rel=1e-3)


def test_the_weighted_loss_is_that_of_torch():
    names = runpy.run_path(str(FILE), run_name="__main__")
    trainer, data, weights = (names[n] for n in ("trainer", "train_set", "weights"))
    logits, labels, metrics = trainer.predict(data)
    share = np.bincount(labels) / len(labels)
    np.testing.assert_allclose(weights.numpy() * share, [0.5, 0.5], rtol=1e-6)
    logits, labels = torch.tensor(logits), torch.tensor(labels)
    loss = nn.CrossEntropyLoss(weights)(logits, labels)
    assert metrics["test_loss"] == pytest.approx(loss.item(), rel=1e-4)
    other = torch.tensor([1.0, 1.0])
    assert loss.item() != pytest.approx(
        F.cross_entropy(logits, labels, other).item(), rel=1e-2
    )
