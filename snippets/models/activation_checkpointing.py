"""Train with less memory: recompute activations instead of keeping them."""

import copy

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


class Checkpointed(nn.Sequential):
    """An nn.Sequential that keeps only the inputs of its blocks for backward.

    The rest is computed again there, with the same dropout. Outputs, gradients
    and the state dict are those of nn.Sequential.

    Source: torch.utils.checkpoint in the PyTorch reference
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def kept_bytes(model: nn.Module, x: torch.Tensor) -> int:
    """Return how much model(x) keeps for backward, weights not counted."""
    kept = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()  # counts once, however many views
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor  # alive, or another would get its address

    with saved_tensors_hooks(note, lambda tensor: tensor):
        model(x)
    for weight in model.parameters():
        kept.pop(weight.untyped_storage().data_ptr(), None)
    return sum(kept.values())


if __name__ == "__main__":
    torch.manual_seed(0)
    wide, narrow = nn.Linear(64, 256), nn.Linear(256, 64)
    block = nn.Sequential(wide, nn.GELU(), nn.Dropout(0.1), narrow)
    blocks = [copy.deepcopy(block) for _ in range(8)]
    x, gradients = torch.randn(32, 64), []
    for model in nn.Sequential(*blocks), Checkpointed(*blocks):
        torch.manual_seed(1)  # both draw the same dropout
        loss = model(x).square().mean()
        gradients.append(torch.autograd.grad(loss, [*model.parameters()]))
        print(f"{type(model).__name__}: {kept_bytes(model, x)} bytes")
    assert all(map(torch.equal, *gradients))
