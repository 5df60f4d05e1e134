"""Measure what each remedy saves of the memory that forward keeps."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


def main():
    """Compare the remedies on eight blocks."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential()
    for _ in range(8):
        wide, narrow = nn.Linear(128, 512), nn.Linear(512, 128)
        model.append(nn.Sequential(wide, nn.GELU(), narrow))
    model, x = model.to(device), torch.randn(1024, 128, device=device)
    weights = {weight.untyped_storage() for weight in model.parameters()}
    kept = set()  # storages: what shares one is counted once

    def note(tensor):
        kept.add(tensor.untyped_storage())
        return tensor

    def report(name):
        size = sum(storage.nbytes() for storage in kept - weights)
        print(f"{name:16} {size / 2**20:5.1f} MiB")
        kept.clear()

    with saved_tensors_hooks(note, lambda tensor: tensor):
        loss = model(x).square().mean()
        report("as it is")

        with torch.no_grad():  # evaluation: no graph
            model(x)
        report("no_grad")

        loss = model(x[:256]).square().mean()  # a smaller batch
        report("a quarter of it")

        with torch.autocast(device.type, torch.bfloat16):
            loss = model(x).square().mean()
        report("bfloat16")

        h = x
        for block in model:  # backward runs each block again
            h = checkpoint(block, h, use_reentrant=False)
        loss = h.square().mean()
        report("checkpoint")
    loss.backward()


if __name__ == "__main__":
    main()
