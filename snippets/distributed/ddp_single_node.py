"""Train on every GPU of one machine, one process each, started by torchrun."""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def train(model, loader, loss_fn, optimizer, device):
    """Train for one epoch; return the mean loss over all processes."""
    model.train()
    total = torch.zeros((), device=device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()  # leaves the mean gradient of all processes
        optimizer.step()
        total += loss.detach() * len(y)
    dist.all_reduce(total)  # the sum over all processes
    return total.item() / (len(loader.sampler) * dist.get_world_size())


def main(epochs=5):
    """Learn which points lie outside a circle."""
    torch.manual_seed(0)
    x = torch.randn(600, 2)
    train_set = TensorDataset(x, (x.norm(dim=1) > 1.2).long())
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    loss_fn = nn.CrossEntropyLoss()

    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    device = gpu or torch.device("cpu")
    model = DDP(model.to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)  # your lr
    sampler = DistributedSampler(train_set)  # shuffles; a share for each
    loader = DataLoader(train_set, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)  # else every epoch has the same order
        loss = train(model, loader, loss_fn, optimizer, device)
        if dist.get_rank() == 0:  # one process prints and saves
            print(f"epoch {epoch}: loss {loss:.2f}")
            torch.save(model.module.state_dict(), "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    main()
