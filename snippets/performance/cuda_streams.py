"""Copy the next batch to the GPU while this one computes, on two streams."""

import torch


def prefetch(loader, device="cuda"):
    """Yield lists of tensors on the GPU; the loader needs pin_memory=True."""
    side, main = torch.cuda.Stream(device), torch.cuda.current_stream(device)
    ready = None
    for batch in loader:
        with torch.cuda.stream(side):  # beside what `main` computes
            copied = [t.to(device, non_blocking=True) for t in batch]
        if ready:
            yield ready
        main.wait_stream(side)  # what follows comes after the copy
        for t in copied:
            t.record_stream(main)  # its memory is in use there, too
        ready = copied
    if ready:
        yield ready


if __name__ == "__main__":
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.randn(1000, 512), torch.arange(1000))
    loader = DataLoader(data, batch_size=128, pin_memory=True)
    weight = torch.randn(512, 512, device="cuda")
    found = [(x @ weight, y) for x, y in prefetch(loader)]
    usual = [(x.cuda() @ weight, y.cuda()) for x, y in loader]
    torch.testing.assert_close(found, usual)
