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

    torch.manual_seed(0)  # the same weights and batches in all processes
    device = "cuda" if torch.cuda.is_available() else "cpu"
    world_size = int(os.environ["WORLD_SIZE"])  # torchrun sets it
    mesh = init_device_mesh(device, (world_size,))  # takes this process's GPU
    model = MLP().to(device)  # yours
    # The names are those that print(model) shows.
    plan = {"up": tp.ColwiseParallel(), "down": tp.RowwiseParallel()}
    model = tp.parallelize_module(model, mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)  # after it

    x = torch.randn(4, 8).to(device)
    out = model(x)
    whole = MLP().to(device)  # as in one process
    weights = {k: w.full_tensor() for k, w in model.state_dict().items()}
    whole.load_state_dict(weights)
    torch.testing.assert_close(out, whole(x))
    out.square().mean().backward()
    optimizer.step()
    held = sum(p.to_local().numel() for p in model.parameters())
    print(f"rank {dist.get_rank()} holds {held} of 552 weights")
    dist.destroy_process_group()
