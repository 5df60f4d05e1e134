"""Batch sequences of similar length, so that little is padded."""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def bucket_batches(lengths, size):
    """Return lists of indices for `batch_sampler`, other ones at each call.

    Within random chunks of 100 batches, samples of similar length meet.
    """
    chunk = torch.randperm(len(lengths)) // (100 * size)  # of each sample
    batches = torch.tensor(np.lexsort((lengths, chunk))).split(size)
    return [batches[i].tolist() for i in torch.randperm(len(batches))]


if __name__ == "__main__":
    torch.manual_seed(0)
    lengths = torch.randint(5, 200, (6400,)).tolist()
    data = [torch.ones(n) for n in lengths]
    plain = DataLoader(data, 32, shuffle=True, collate_fn=pad_sequence)
    batches = bucket_batches(lengths, 32)
    loader = DataLoader(data, batch_sampler=batches, collate_fn=pad_sequence)
    for name, each in (("shuffle=True", plain), ("buckets", loader)):
        padded = sum(batch.numel() for batch in each)
        print(f"{name}: {1 - sum(lengths) / padded:.0%} padding")
