"""Train on every GPU of one machine: one process each, run by torchrun."""

import copy
import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # DDP would, and would keep the group alive
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def join() -> tuple[int, int, torch.device]:
    """Join what torchrun started; return rank, world size W, own device.

    Under plain python there is nothing to join: rank 0 of 1.
    Source: https://docs.pytorch.org/docs/stable/elastic/run.html
    """
    env = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, **os.environ}
    W, cuda = int(env["WORLD_SIZE"]), torch.cuda.is_available()
    device = torch.device(f"cuda:{env['LOCAL_RANK']}" if cuda else "cpu")
    if cuda:
        torch.cuda.set_device(device)  # else "cuda" is cuda:0 for all
    if W > 1:
        backend, device_id = ("nccl", device) if cuda else ("gloo", None)
        dist.init_process_group(backend, device_id=device_id)
    return int(env["RANK"]), W, device


def train(
    model: nn.Module, data: TensorDataset, B: int, rank: int, W: int
) -> None:
    """Train on batches of B samples, B / W of which are this process's own."""
    device = next(model.parameters()).device
    sampler = DistributedSampler(data, num_replicas=W, rank=rank)
    loader = DataLoader(data, B // W, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)  # a new order, the same for all
        for x, y in loader:  # (B / W, 8) each
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            loss.backward()  # leaves the mean gradient of all W
            optimizer.step()


if __name__ == "__main__":
    rank, W, device = join()
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 8), torch.randn(64, 8))
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
    alone = copy.deepcopy(model.to(device))
    train(DDP(model) if W > 1 else model, data, 16, rank, W)
    train(alone, data, 16, rank=0, W=1)  # the whole batch in one process
    torch.testing.assert_close(model.state_dict(), alone.state_dict())
    if rank == 0:
        print(f"W = {W}: same weights as one process with the whole batch")
    if W > 1:
        dist.destroy_process_group()
