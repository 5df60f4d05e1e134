"""Copy the next batch to the GPU on a stream of its own, while this one computes."""

import torch
from torch import nn


class Prefetch:
    """Batches of a loader on the GPU, each copied while the last one is used."""

    def __init__(self, loader, device="cuda"):
        self.loader, self.device = loader, device
        self.side = torch.cuda.Stream(device)

    def copied(self, batch):
        with torch.cuda.stream(self.side):  # runs beside the other stream
            return [t.to(self.device, non_blocking=True) for t in batch]

    def __iter__(self):
        main = torch.cuda.current_stream(self.device)
        batches = iter(self.loader)
        following = next(batches, None)
        following = following and self.copied(following)
        while following is not None:
            main.wait_stream(self.side)  # the copy is done before its use
            ready = following
            for t in ready:
                t.record_stream(main)  # its memory is in use there, too
            following = next(batches, None)
            following = following and self.copied(following)
            yield ready
