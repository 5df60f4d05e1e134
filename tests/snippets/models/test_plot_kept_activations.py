"""plot-kept-activations: bytes counted by hand, with and without checkpoints."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

kept_bytes = load_snippet("models/plot_kept_activations.py").kept_bytes


def model(blocks: int) -> nn.Sequential:
    layers = (nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4)),)
    return nn.Sequential(*layers * blocks)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_plain_keeps_the_input_of_each_layer_and_checkpoints_that_of_each_block(blocks):
    x = torch.ones(8, 4)
    plain, saving = 4 * 8 * (4 + 16 + 16), 4 * 8 * 4  # float32, per block
    assert kept_bytes(model(blocks), x) == blocks * plain
    assert kept_bytes(model(blocks), x, save=True) == blocks * saving


def test_a_storage_counts_once():
    class Squares(nn.Module):
        def forward(self, x):
            return x.square() + x.square()

    x = torch.ones(8, 4, requires_grad=True)
    assert kept_bytes(nn.Sequential(Squares()), x) == 4 * 8 * 4
