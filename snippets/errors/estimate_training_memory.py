"""Count the memory of a training step on the meta device, which has none."""

import torch
from torch.autograd.graph import saved_tensors_hooks
from torchvision.models import resnet50


def training_bytes(model, x):
    """Return the bytes of weights, gradients, AdamW state and activations."""
    weights = list(model.parameters())
    kept = set()  # storages: what shares one is counted once

    def note(tensor):
        kept.add(tensor.untyped_storage())
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        loss = model(x).float().mean()
    loss.backward()
    kept -= {t.untyped_storage() for t in (*weights, *model.buffers())}
    grads = [w.grad for w in weights if w.grad is not None]  # not frozen
    return {
        "weights": sum(w.nbytes for w in weights),
        "gradients": sum(g.nbytes for g in grads),
        "AdamW": 2 * sum(g.nbytes for g in grads),  # two averages
        "activations": sum(storage.nbytes() for storage in kept),
    }


if __name__ == "__main__":
    with torch.device("meta"):  # shapes without memory
        model = resnet50()  # yours
        x = torch.randn(32, 3, 224, 224)
        found = training_bytes(model, x)
    for name, size in found.items():
        print(f"{name:11} {size / 2**20:5.0f} MiB")
    print(f"total       {sum(found.values()) / 2**20:5.0f} MiB")
