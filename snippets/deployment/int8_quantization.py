"""Store the linear layers of a model in int8; measure size and error."""

from pathlib import Path

import torch
from torch import nn
from torchao.quantization import Int8WeightOnlyConfig, quantize_


def build():
    """Build the model, in float."""
    torch.manual_seed(0)
    layers = nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10)
    model = nn.Sequential(*layers)
    return model.eval()


def main():
    """Quantize, save and load; return by how much it is smaller, the error."""
    x = torch.randn(64, 512, generator=torch.Generator().manual_seed(1))
    expected = build()(x).detach()
    model, new_model = build(), build()
    torch.save(model.state_dict(), "float.pth")

    quantize_(model, Int8WeightOnlyConfig())  # in place, only nn.Linear
    torch.save(model.state_dict(), "int8.pth")
    weights = torch.load("int8.pth", weights_only=True)
    new_model.load_state_dict(weights, assign=True)  # needs no quantize_

    ratio = Path("float.pth").stat().st_size / Path("int8.pth").stat().st_size
    with torch.inference_mode():
        error = (new_model(x) - expected).norm() / expected.norm()
    return ratio, error.item()


if __name__ == "__main__":
    ratio, error = main()
    print(f"{ratio:.1f} times smaller, error {error:.1%}")
