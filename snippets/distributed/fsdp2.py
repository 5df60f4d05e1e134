"""Train a model that is too large for one GPU: each holds a part of it."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
)
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def build_model():
    """Two blocks and a head; yours would be larger."""
    blocks = [nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(2)]
    return nn.Sequential(*blocks, nn.Linear(8, 2))


def train(device, policy, steps=5):
    """Return the sharded model and the loss of the last step."""
    torch.manual_seed(0)  # the same weights and data in all processes
    model = build_model().to(device)
    for block in model[:2]:
        fully_shard(block, mp_policy=policy)  # first the blocks
    fully_shard(model, mp_policy=policy)  # then what is left
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)  # after it
    x = torch.randn(64, 8)[dist.get_rank() :: dist.get_world_size()]
    x, y = x.to(device), (x[:, 0] > 0).long().to(device)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x).float(), y)
        loss.backward()  # each process gets its part of the mean gradient
        optimizer.step()
    return model, loss.item()


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

    policy = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
    model, loss = train(gpu or torch.device("cpu"), policy)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    state = get_model_state_dict(model, options=options)  # in all processes
    if dist.get_rank() == 0:  # the others got an empty one
        torch.save(state, "model.pt")
        held = sum(p.to_local().numel() for p in model.parameters())
        print(f"{held} of {sum(p.numel() for p in model.parameters())} here")
    dist.destroy_process_group()
