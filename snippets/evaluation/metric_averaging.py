"""Average a metric over batches of different sizes, and over processes."""

import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


class AverageMeter:
    """The mean over all samples that it was told of."""

    def __init__(self):
        self.total, self.n = 0.0, 0

    def update(self, value, n):  # value: the mean of n samples
        self.total += torch.as_tensor(value).item() * n
        self.n += n

    def compute(self, device=None):  # with NCCL the GPU of the process
        sums = torch.tensor([self.total, self.n], dtype=float, device=device)
        if torch.distributed.is_initialized():
            torch.distributed.all_reduce(sums)  # over all processes
        return (sums[0] / sums[1]).item()


def work(rank, folder):
    """Be one of two processes, with 6 samples or with 3."""
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    meter, means = AverageMeter(), []
    for losses in torch.arange(9.0).tensor_split([6])[rank].split(4):
        means.append(losses.mean())  # as a loss function gives it
        meter.update(means[-1], len(losses))
    mean, naive = meter.compute(), torch.stack(means).mean()
    dist.all_reduce(naive)
    if rank == 0:
        print(f"mean {mean:.2f}, mean of means {naive / 2:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=2)
