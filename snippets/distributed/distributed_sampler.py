"""Give each process a share of the samples, shuffled anew in every epoch."""

import os

import torch
from torch.utils.data import DataLoader, DistributedSampler

if "RANK" not in os.environ:  # not started by torchrun: one process
    os.environ.update(RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
dataset = range(5)

torch.distributed.init_process_group("gloo")  # once; for GPUs "nccl"
sampler = DistributedSampler(dataset)  # its share; shuffle=True is the default
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)  # else every epoch has the same order
    for batch in loader:
        print(f"rank {sampler.rank}, epoch {epoch}: {batch}")
torch.distributed.barrier()  # nobody leaves while another still connects
torch.distributed.destroy_process_group()

for rank in 0, 1:  # of 2: sample 0 comes twice, so that the shares are equal
    share = DistributedSampler(dataset, 2, rank, shuffle=False)
    print(f"share of rank {rank}: {list(share)}")
