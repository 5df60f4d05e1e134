"""Measure, without a GPU, what a forward keeps for the backward."""

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


def kept_bytes(model, x, save=False):
    """Return the bytes that the forward keeps, beside the weights."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}  # two tensors may share one storage

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        for block in model:
            x = checkpoint(block, x, use_reentrant=False) if save else block(x)
    return sum(kept.values())


if __name__ == "__main__":
    x = torch.ones(512, 64)
    wide, narrow = nn.Linear(64, 256), nn.Linear(256, 64)
    model = nn.Sequential(*[nn.Sequential(wide, nn.GELU(), narrow)] * 8)
    counts = range(1, 9)
    fig, ax = plt.subplots()
    for flag, label in ((False, "plain"), (True, "checkpointed")):
        kept = [kept_bytes(model[:n], x, flag) / 2**20 for n in counts]
        ax.plot(counts, kept, "o-", label=label)
        print(f"{label}: {kept[-1]:.1f} MiB for 8 blocks")
    ax.set(xlabel="blocks", ylabel="kept for the backward (MiB)")
    ax.legend()
    fig.savefig("plot_kept_activations.svg")
