"""Split the layers of a model: each GPU computes a part of every layer."""

import os

import torch
import torch.distributed as dist
import torch.distributed.tensor.parallel as tp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh


class MLP(nn.Module):
    """As in a transformer block: (B, 8) -> (B, 32) -> (B, 8)."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 32)
        self.down = nn.Linear(32, 8)

    def forward(self, x):
        return self.down(self.up(x).relu())


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    world_size = int(os.environ["WORLD_SIZE"])
    mesh = init_device_mesh(device, (world_size,))  # joins the group

    torch.manual_seed(0)  # the same batch in all processes
    model, x = MLP().to(device), torch.randn(4, 8).to(device)
    expected = model(x)
    plan = {"up": tp.ColwiseParallel(), "down": tp.RowwiseParallel()}
    model = tp.parallelize_module(model, mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)  # after it

    out = model(x)
    torch.testing.assert_close(out, expected)  # as in one process
    out.square().mean().backward()
    optimizer.step()
    held = sum(p.to_local().numel() for p in model.parameters())
    print(f"rank {dist.get_rank()} holds {held} of 552 weights")
    dist.destroy_process_group()
