"""Count the memory of a training step on the meta device, which has none."""

import torch
from torch.autograd.graph import saved_tensors_hooks
from torchvision.models import resnet50


def activation_bytes(model, *inputs, **named):
    """Return the bytes that forward keeps for backward."""
    kept = set()  # storages: what shares one is counted once

    def note(tensor):
        kept.add(tensor.untyped_storage())
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        model(*inputs, **named)
    own = *model.parameters(), *model.buffers()
    kept -= {tensor.untyped_storage() for tensor in own}
    return sum(storage.nbytes() for storage in kept)


with torch.device("meta"):  # shapes without memory
    model, x = resnet50(), torch.randn(32, 3, 224, 224)  # yours
    activations = activation_bytes(model, x)
weights = sum(w.nbytes for w in model.parameters())
trained = sum(w.nbytes for w in model.parameters() if w.requires_grad)
total = weights + 3 * trained + activations  # a gradient, AdamW's two averages
MiB = 2**20
print(f"{total / MiB:.0f} MiB, of which activations {activations / MiB:.0f}")
