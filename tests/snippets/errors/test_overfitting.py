"""overfitting: the two losses by NumPy; what each row of the table claims."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["overfitting"].answer


@pytest.fixture(scope="module")
def found():
    return load_snippet("errors/overfitting.py")


def losses(model, found) -> list[float]:
    """Of both sets, without torch's loss and without a loader."""
    parts = slice(20), slice(20, None)
    with torch.no_grad():
        errors = [(model(found.x[part]) - found.y[part]).numpy() for part in parts]
    return [float(np.square(error).mean()) for error in errors]


@pytest.mark.usefixtures("switches")
def test_weight_decay_narrows_the_gap(found):
    torch.set_default_dtype(torch.float64)
    free, held = (losses(found.train(decay), found) for decay in (0, 2))
    assert free[0] < 0.01
    assert free[1] > held[1] > held[0] > free[0]
    loaders = found.train_loader, found.val_loader
    measured = [
        found.mean_loss(found.model, loader, found.loss_fn, "cpu") for loader in loaders
    ]
    assert losses(found.model, found) == pytest.approx(measured)


def test_both_are_measured_without_dropout_and_gradients(capsys):
    """The last batch is smaller; a loader that drops it counts what it gives."""
    x, y = torch.randn(7, 3), torch.randn(7, 1)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(3, 1))
    seen = []
    model.register_forward_hook(lambda m, args, out: seen.append(out.requires_grad))
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader
    names = {"model": model, "loss_fn": nn.MSELoss(), "device": "cpu"}
    names["train_loader"] = loader(data, batch_size=4, drop_last=True)
    names["val_loader"] = loader(data, batch_size=4)
    exec(ANSWER.text, names)
    error = (model[1](x) - y).detach().square()
    expected = error[:4].mean(), error.mean()
    assert capsys.readouterr().out == (
        f"train {expected[0]:.2f}\nvalidation {expected[1]:.2f}\n"
    )
    assert seen == [False] * 3
    assert not model.training


def test_adam_loses_most_of_a_decay_that_adamw_applies():
    """On weights of unlike gradients: AdamW shrinks all alike."""
    ends = {}
    for kind in (torch.optim.Adam, torch.optim.AdamW):
        w = torch.ones(2, requires_grad=True)
        optimizer = kind([w], lr=0.01, weight_decay=0.3)
        for sign in [1, -1] * 50:  # gradients that cancel, one of them large
            w.grad = sign * torch.tensor([0.1, 100.0])
            optimizer.step()
        ends[kind] = w.detach()
    assert ends[torch.optim.AdamW][1] < 0.8
    assert ends[torch.optim.Adam][1] > 0.95
    assert torch.optim.AdamW([torch.ones(1)]).defaults["weight_decay"] == 0.01
