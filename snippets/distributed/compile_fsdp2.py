"""Compile each block of a model, then shard it with FSDP2."""

import os
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

# Of torch.compile itself; it matters only where warnings are errors.
warnings.filterwarnings(
    "ignore", "The .grad attribute of a Tensor that is not"
)


class Block(nn.Module):
    """A part that the model repeats; yours is larger."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(16), nn.Linear(16, 16)

    def forward(self, x):
        return x + nn.functional.gelu(self.linear(self.norm(x)))


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    torch.manual_seed(0)  # the same weights in all processes
    model = nn.Sequential(*[Block() for _ in range(4)])
    blocks = model  # yours: model.layers, model.blocks

    for block in blocks:
        block.compile()
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # after it

    x, y = torch.randn(2, 8, 16)
    share = slice(dist.get_rank(), None, dist.get_world_size())
    x, y = x[share].to(gpu or "cpu"), y[share].to(gpu or "cpu")
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    dist.destroy_process_group()
