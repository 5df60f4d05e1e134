"""multi-task-loss: gradients and losses against a loop, and known optima."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/multi-task-loss"
snippet = load_snippet("training/multi_task_loss.py")


def batch(values):
    torch.manual_seed(0)
    x = torch.randn(len(values), 3)
    return x, torch.arange(len(values)) % 2, torch.tensor(values)


def losses_by_hand(model, x, label, value):
    """The same in a loop over the samples."""
    logits, pred = model(x)
    label_losses = [-logits[i].log_softmax(0)[label[i]] for i in range(len(x))]
    squares = [
        (pred[i] - value[i]) ** 2 for i in range(len(x)) if not math.isnan(value[i])
    ]
    loss_value = sum(squares) / len(squares) if squares else pred.sum() * 0
    return sum(label_losses) / len(x), loss_value


@pytest.mark.parametrize("columns", [(), (1,)])
def test_the_shape_of_the_value_does_not_matter(columns):
    """A model without squeeze(1), or a target from one column: no (N, N)."""

    class Heads(snippet.TwoHeads):
        def forward(self, x):
            logits, pred = super().forward(x)
            return logits, pred.reshape(-1, *(() if columns else (1,)))

    x, label, value = batch([5.0, math.nan, 1.0, 9.0])
    model = Heads(3, 2)
    names = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), 0.0)}
    names |= {"x": x, "label": label, "value": value.reshape(-1, *columns)}
    exec(answer("multi-task-loss"), names)
    pred = model(x)[1].ravel()
    expected = ((pred[[0, 2, 3]] - value[[0, 2, 3]]) ** 2).mean()
    torch.testing.assert_close(names["loss_value"], expected)


@pytest.mark.parametrize(
    "values", [[5.0, -2.0, 1.0, 9.0], [5.0, math.nan, math.nan, 9.0], [math.nan] * 4]
)
def test_losses_and_gradients(values):
    data = batch(values)
    model = snippet.TwoHeads(3, 2).eval()
    nn.init.zeros_(model.trunk[0].bias).grad = torch.ones(32)  # of an earlier step
    parts = losses_by_hand(model, *data)
    expected = torch.autograd.grad(parts[0] + 0.01 * parts[1], model.parameters())
    before = [p.detach().clone() for p in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    loader = DataLoader(TensorDataset(*data), 4)
    got = snippet.train_epoch(model, loader, optimizer)
    assert model.training
    assert got == pytest.approx([part.item() for part in parts])
    for new, old, grad in zip(model.parameters(), before, expected, strict=True):
        torch.testing.assert_close(old - new, grad)


def test_the_mean_over_the_batches():
    data = batch([5.0, -2.0, 1.0, 9.0])
    model = snippet.TwoHeads(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    got = snippet.train_epoch(model, DataLoader(TensorDataset(*data), 2), optimizer)
    assert got == pytest.approx([part.item() for part in losses_by_hand(model, *data)])


def test_it_learns_both(capsys):
    snippet.main()
    first, last = capsys.readouterr().out.splitlines()
    assert last == "label 0.0, value 1"
    assert first == "label 0.6, value 103"


def test_missing_in_other_ways():
    known = torch.zeros(3, dtype=torch.bool)
    assert F.mse_loss(torch.ones(3)[known], torch.ones(3)[known]).isnan()
    logits, label = torch.randn(2, 3), torch.tensor([-100, -100])
    assert F.cross_entropy(logits, label).isnan()
    for label in (torch.tensor([-100, -100]), torch.tensor([1, -100])):
        got = F.cross_entropy(logits, label, reduction="sum")
        got = got / (label != -100).sum().clamp(min=1)
        kept = F.cross_entropy(logits[:1], label[:1]).nan_to_num()
        torch.testing.assert_close(got, kept)


def test_two_backward_calls():
    model = snippet.TwoHeads(3, 2)
    loss_label, loss_value = losses_by_hand(model, *batch([1.0, 2.0]))
    loss_label.backward()
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward"):
        loss_value.backward()


def test_a_second_head_on_a_language_model():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=10, n_embd=4, n_layer=1, n_head=1)
    model = transformers.GPT2LMHeadModel(config)
    new_head = nn.Linear(4, 3)
    inputs = {"input_ids": torch.tensor([[1, 2, 3]])}
    out = model(**inputs, output_hidden_states=True)
    torch.testing.assert_close(out.logits, model.lm_head(out.hidden_states[-1]))
    assert new_head(out.hidden_states[-1]).shape == (1, 3, 3)
