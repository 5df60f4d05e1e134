"""Give each process a share of the samples, shuffled anew in every epoch."""

import os

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

if "RANK" not in os.environ:  # not started by torchrun: one process
    os.environ.update(RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
dataset, epochs, seen = range(5), 2, []
train_step = seen.append

dist.init_process_group("gloo")  # once; for GPUs "nccl"
sampler = DistributedSampler(dataset)  # its share, shuffled
loader = DataLoader(dataset, batch_size=2, sampler=sampler)  # per process
for epoch in range(epochs):
    sampler.set_epoch(epoch)  # else every epoch has the same order
    for batch in loader:
        train_step(batch)  # yours

shares = [None] * dist.get_world_size()
dist.all_gather_object(shares, seen)
if dist.get_rank() == 0:
    for rank, share in enumerate(shares):
        print(f"rank {rank}: {[batch.tolist() for batch in share]}")
dist.destroy_process_group()
