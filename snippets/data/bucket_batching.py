"""Batch sequences of similar length, so that little is padded."""

from functools import partial

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Sampler


class BucketSampler(Sampler):
    """Batches of similar length, new ones in every epoch."""

    def __init__(self, lengths, batch_size):
        self.lengths = torch.as_tensor(lengths)
        self.batch_size = batch_size

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)  # rounded up

    def __iter__(self):
        # At least 4 random chunks, if there are enough batches; sort each.
        per_chunk = min(100, max(1, len(self) // 4))  # batches
        order, batches = torch.randperm(len(self.lengths)), []
        for chunk in order.split(per_chunk * self.batch_size):
            chunk = chunk[self.lengths[chunk].argsort()]
            batches += chunk.split(self.batch_size)
        for i in torch.randperm(len(batches)):
            yield batches[i].tolist()


if __name__ == "__main__":
    torch.manual_seed(0)
    lengths = torch.randint(5, 200, (6400,)).tolist()  # yours: a list of int
    data = [torch.ones(n) for n in lengths]  # yours: tensors (T,)

    pad = partial(pad_sequence, batch_first=True)  # (B, T)
    sampler = BucketSampler(lengths, batch_size=32)
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=pad)

    plain = DataLoader(data, 32, shuffle=True, collate_fn=pad)
    for name, each in (("shuffle=True", plain), ("buckets", loader)):
        padded = sum(batch.numel() for batch in each)
        print(f"{name}: {1 - sum(lengths) / padded:.0%} padding")
