"""nn-or-functional: the same numbers both ways; what only a module does."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet

snippet = load_snippet("models/nn_or_functional.py")


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_net_runs_and_has_its_parameters(device):
    net = snippet.Net().to(device)
    assert net(torch.rand(3, 1, 9, 9, device=device)).shape == (3, 10)
    assert {name.partition(".")[0] for name, _ in net.named_parameters()} == {
        "conv",
        "fc",
    }


def test_its_dropout_follows_the_mode():
    net, x = snippet.Net(), torch.rand(64, 1, 8, 8)
    net.dropout.p = 0.5
    assert not torch.equal(net(x), net(x))
    net.eval()
    assert torch.equal(net(x), net(x))


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.ReLU(), F.relu),
        (nn.MaxPool2d(2), lambda x: F.max_pool2d(x, 2)),
        (nn.Softmax(1), lambda x: F.softmax(x, 1)),
        (nn.Upsample(scale_factor=2), lambda x: F.interpolate(x, scale_factor=2)),
    ],
)
def test_both_compute_the_same(module, function):
    x = torch.randn(2, 3, 4, 4)
    assert torch.equal(module(x), function(x))
    assert not [*module.parameters()]


def test_losses_and_weights_of_ones_own():
    logits, y = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
    assert torch.equal(nn.CrossEntropyLoss()(logits, y), F.cross_entropy(logits, y))
    x, w = torch.randn(4, 5), torch.randn(3, 5)
    torch.testing.assert_close(F.linear(x, w), x @ w.T)


def test_functional_dropout_is_on_unless_told():
    x = torch.ones(1000)
    assert F.dropout(x).eq(0).any()
    assert torch.equal(F.dropout(x, training=False), x)


def test_a_layer_made_in_forward_is_new_each_time():
    class Forgets(nn.Module):
        def forward(self, x):
            return nn.Linear(2, 2)(x)

    net, x = Forgets(), torch.ones(1, 2)
    assert not [*net.parameters()]
    assert not torch.equal(net(x), net(x))
