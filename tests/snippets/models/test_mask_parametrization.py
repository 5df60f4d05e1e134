"""The mask as a parametrization: trained like the layer of the page's answer."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from tests.helpers import load_snippet

Mask = load_snippet("models/mask_parametrization.py").Mask
MaskedLinear = load_snippet("models/masked_linear.py").MaskedLinear
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_training_and_then_a_plain_weight(name):
    mask = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
    ours, theirs = MaskedLinear(mask), nn.Linear(4, 3)
    theirs.load_state_dict({k: ours.state_dict()[k] for k in ("weight", "bias")})
    parametrize.register_parametrization(theirs, "weight", Mask(mask))
    for layer in (ours, theirs):
        torch.manual_seed(0)
        optimizer = OPTIMIZERS[name](layer.parameters())
        for _ in range(5):
            optimizer.zero_grad()
            layer(torch.randn(6, 4)).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight * ours.mask, theirs.weight)
    parametrize.remove_parametrizations(theirs, "weight")
    assert theirs.weight[mask == 0].eq(0).all()
    assert set(theirs.state_dict()) == {"weight", "bias"}


def test_pixelcnn():
    conv = nn.Conv2d(1, 1, 3, padding=1)
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0]])
    parametrize.register_parametrization(conv, "weight", Mask(mask))
    x = torch.randn(1, 1, 5, 5, requires_grad=True)
    conv(x)[0, 0, 2, 2].backward()
    seen = x.grad[0, 0] != 0
    assert seen.nonzero().tolist() == [[1, 1], [1, 2], [1, 3], [2, 1]]
