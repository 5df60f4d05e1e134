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
    """Of both sets, without torch's loss."""
    sets = (found.x_train, found.y_train), (found.x_val, found.y_val)
    with torch.no_grad():
        return [float(np.square((model(x) - y).numpy()).mean()) for x, y in sets]


@pytest.mark.usefixtures("switches")
def test_weight_decay_narrows_the_gap(found):
    torch.set_default_dtype(torch.float64)
    free, held = (losses(found.train(decay), found) for decay in (0, 2))
    assert free[0] < 0.01
    assert free[1] > held[1] > held[0] > free[0]
    assert losses(found.model, found) == pytest.approx(
        [found.train_loss.item(), found.val_loss.item()]
    )


def test_both_are_measured_without_dropout_and_gradients():
    x, y = torch.randn(6, 3), torch.randn(6, 1)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(3, 1))
    names = {"model": model, "loss_fn": nn.MSELoss()}
    exec(ANSWER.text, names | {"x_train": x, "y_train": y, "x_val": x, "y_val": y})
    names |= {"x_train": x, "y_train": y, "x_val": x, "y_val": y}
    exec(ANSWER.text, names)
    assert names["train_loss"] == names["val_loss"]
    expected = (model[1](x) - y).square().mean()
    torch.testing.assert_close(names["train_loss"], expected)
    assert not names["train_loss"].requires_grad
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
