"""overfit-one-batch: the losses of the page's table, and floors worked by hand."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Subset, TensorDataset

from tests.helpers import load_snippet, recipes

snippet = load_snippet("errors/overfit_one_batch.py")


def overfit(*, lr=1e-3, dropout=0.0, smooth=0.0, softmax=False, new=False, twice=False):
    """The loss after 100 steps of the snippet, with one thing wrong."""
    torch.manual_seed(0)
    x, y = torch.randn(16, 3, 8, 8), torch.randint(5, (16,))
    if twice:
        x[1], y[0], y[1] = x[0], 0, 1
    layers = [nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten()]
    layers += [nn.Dropout(dropout), nn.Linear(16 * 6 * 6, 5)]
    model = nn.Sequential(*layers, *[nn.Softmax(1)] * softmax)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=smooth)
    for _ in range(100):
        if new:
            x, y = torch.randn(16, 3, 8, 8), torch.randint(5, (16,))
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def test_the_snippet_learns_its_batch_by_heart(capsys):
    load_snippet("errors/overfit_one_batch.py")
    assert capsys.readouterr().out == "loss 0.01\naccuracy 100%\n"
    assert snippet.model[4].p == 0
    assert snippet.loss.item() == pytest.approx(overfit(), rel=0.05)
    log_p = snippet.logits.detach().double().numpy()
    log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
    picked = log_p[np.arange(16), snippet.y.numpy()]
    assert snippet.loss.item() == pytest.approx(-picked.mean(), rel=1e-4)
    assert (log_p.argmax(1) == snippet.y.numpy()).mean() == snippet.accuracy == 1


@pytest.mark.parametrize(
    "layer",
    [nn.LSTM(4, 4, 2, dropout=0.5), nn.MultiheadAttention(4, 1, dropout=0.5)],
    ids=["LSTM", "attention"],
)
def test_dropout_that_is_no_module(layer):
    assert not any(isinstance(module, nn.Dropout) for module in layer.modules())
    x = torch.ones(1, 3, 4)
    inputs = (x,) if isinstance(layer, nn.LSTM) else (x, x, x)
    first, second = (layer(*inputs)[0] for _ in range(2))
    assert not torch.equal(first, second)
    layer.dropout = 0.0
    first, second = (layer(*inputs)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_dropout_of_whole_channels_is_off_too():
    layers = nn.Conv2d(3, 4, 3), nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(144, 5)
    loader = [(torch.randn(4, 3, 8, 8), torch.arange(4))]
    names = {"model": nn.Sequential(*layers), "device": torch.device("cpu")}
    parameters = names["model"].parameters()
    names |= {"optimizer": torch.optim.AdamW(parameters), "loader": loader}
    names |= {"loss_fn": F.cross_entropy}
    exec(recipes()["overfit-one-batch"].answer.text, names)
    assert layers[1].p == 0


def test_what_stays_near_the_start():
    assert f"{math.log(5):.2f}" == "1.61"
    assert overfit(new=True) == pytest.approx(1.63, abs=0.02)
    assert overfit(lr=1e-5) == pytest.approx(1.53, abs=0.02)


def test_what_holds_the_loss_up():
    assert overfit(dropout=0.9) == pytest.approx(0.31, abs=0.05)
    soft = np.full(5, 0.1 / 5)
    soft[0] += 0.9
    floor = -(soft * np.log(soft)).sum()
    assert floor < overfit(smooth=0.1) < floor + 0.01
    floor = math.log(math.e + 4) - 1
    assert floor < overfit(softmax=True) < floor + 0.01
    floor = 2 * math.log(2) / 16
    assert floor < overfit(twice=True) < floor + 0.01


def test_a_loader_in_the_loop_draws_another_batch():
    loader = DataLoader(TensorDataset(torch.arange(64)), batch_size=4, shuffle=True)
    torch.manual_seed(0)
    assert not torch.equal(next(iter(loader))[0], next(iter(loader))[0])
    few = DataLoader(Subset(loader.dataset, range(32)), batch_size=8)
    assert torch.cat([x for (x,) in few]).tolist() == list(range(32))
