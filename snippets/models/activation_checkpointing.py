"""Save memory: keep only the inputs of blocks, compute the rest again."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    """Blocks, one after another; backward runs each a second time."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def kept_bytes(model, x):
    """Run a step; count what its forward keeps, beside the weights."""
    kept = {}  # by address: two tensors may share their memory

    def pack(tensor):
        memory = tensor.untyped_storage()
        kept[memory.data_ptr()] = memory.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        y = model(x)
    y.sum().backward()
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    return sum(size for at, size in kept.items() if at not in weights)


if __name__ == "__main__":
    blocks = [  # yours: the blocks of your model
        nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
        for _ in range(8)
    ]
    for model in (nn.Sequential(*blocks), Net(blocks)):
        size = kept_bytes(model, torch.randn(512, 64))
        print(type(model).__name__, f"keeps {size / 2**20:.1f} MiB")
