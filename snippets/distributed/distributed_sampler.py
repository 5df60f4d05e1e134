"""Give each process a share of the samples, shuffled anew in every epoch."""

import os

import torch.distributed as dist
from torch.distributed import run
from torch.utils.data import DataLoader, DistributedSampler

if "RANK" not in os.environ:  # plain python: start torchrun
    run.main(["--standalone", "--nproc-per-node=2", __file__])
else:
    dataset, epochs, seen = range(5), 2, []
    train_step = seen.append  # yours trains

    dist.init_process_group("gloo")  # once; for GPUs "nccl"
    sampler = DistributedSampler(dataset)  # its share, shuffled
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)  # else every epoch has the same order
        for batch in loader:
            train_step(batch)  # yours

    shares = [None] * dist.get_world_size()
    dist.all_gather_object(shares, seen)
    if dist.get_rank() == 0:  # one sample comes twice in each epoch
        for rank, share in enumerate(shares):
            print(f"rank {rank}: {[batch.tolist() for batch in share]}")
    dist.destroy_process_group()
