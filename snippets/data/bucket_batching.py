"""Batch sequences of similar length, so that little is padded."""

import math

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class BucketBatchSampler:
    """Indices of similar length per batch; new batches, new order each pass.

    Sorts within chunks of 100 batches, so that neighbours still vary.
    """

    def __init__(self, lengths, size):
        self.lengths, self.size = torch.as_tensor(lengths), size

    def __iter__(self):
        chunks = torch.randperm(len(self.lengths)).split(100 * self.size)
        order = torch.cat([c[self.lengths[c].argsort()] for c in chunks])
        batches = order.split(self.size)
        yield from (batches[i].tolist() for i in torch.randperm(len(batches)))

    def __len__(self):
        return math.ceil(len(self.lengths) / self.size)


if __name__ == "__main__":
    torch.manual_seed(0)
    lengths = torch.randint(5, 200, (6400,)).tolist()
    data = [torch.ones(n) for n in lengths]
    sampler = BucketBatchSampler(lengths, 32)
    plain = DataLoader(data, 32, shuffle=True, collate_fn=pad_sequence)
    buckets = DataLoader(data, batch_sampler=sampler, collate_fn=pad_sequence)
    for name, loader in (("shuffle=True", plain), ("buckets", buckets)):
        padded = sum(batch.numel() for batch in loader)
        print(f"{name}: {1 - sum(lengths) / padded:.0%} padding")
