"""Load weights onto any device, whichever device they were saved from."""

from pathlib import Path

import torch
from torch import nn


def load_weights(
    model: nn.Module, path: str | Path, device: torch.device | str
) -> nn.Module:
    """Load a file of weights into the model and move the model.

    Args:
        model: of the architecture that was saved; changed in place.
        path: written by ``torch.save(model.state_dict(), path)``.
        device: where the model is wanted, such as "cpu" or "cuda:1".

    Returns:
        The model.

    Raises:
        RuntimeError: keys or shapes are not those of the model.
        pickle.UnpicklingError: the file holds more than tensors and plain
            values; a whole pickled model, for instance.

    Source: torch.load in the PyTorch reference, the note on GPU tensors
    """
    # On the CPU first: the GPU never holds the weights twice.
    weights = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(weights)  # copies values; the model does not move
    return model.to(device)


if __name__ == "__main__":
    gpu = torch.accelerator.current_accelerator(check_available=True)
    device = gpu or torch.device("cpu")
    trained = nn.Linear(4, 2, device=device)
    torch.save(trained.state_dict(), "weights.pt")  # on a GPU: tagged cuda:0

    model = load_weights(nn.Linear(4, 2), "weights.pt", "cpu")
    assert model.weight.device.type == "cpu"
    assert torch.equal(model.weight, trained.weight.cpu())

    load_weights(model, "weights.pt", device)
    assert model.weight.device == trained.weight.device
    print("loaded on the CPU, and where the weights came from")
