"""Train a model that is too large for one GPU: each holds a part of it."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint import state_dict as dcp_state
from torch.distributed.fsdp import fully_shard


class Model(nn.Module):
    """Blocks and a head; yours is larger."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x).relu()
        return self.head(x)


def train(model, optimizer, device, steps=5):
    """Return the loss of the last step, on the share of this process."""
    x = torch.randn(64, 8)[dist.get_rank() :: dist.get_world_size()]
    x, y = x.to(device), (x[:, 0] > 0).long().to(device)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()  # each process gets its part of the mean gradient
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    torch.manual_seed(0)  # the same weights in all processes
    model = Model()  # yours: on the CPU, with its blocks in a list
    for block in model.blocks:
        fully_shard(block)  # moves it to the GPU, keeps a part
    fully_shard(model)  # then what is left; before the optimizer
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)  # your lr

    train(model, optimizer, gpu or torch.device("cpu"))
    full = dcp_state.StateDictOptions(full_state_dict=True, cpu_offload=True)
    state = dcp_state.get_model_state_dict(model, options=full)  # all call it
    if dist.get_rank() == 0:  # the others got an empty one
        torch.save(state, "model.pt")
        print("saved", sum(w.numel() for w in state.values()), "weights")
    dist.destroy_process_group()
