"""Save a model's weights, and load them into a new model."""

import torch
from torch import nn


def make_model():
    """Your model's class, with the same arguments each time."""
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))


if __name__ == "__main__":
    trained = make_model()
    torch.save(trained.state_dict(), "model.pt")

    model = make_model()
    state = torch.load("model.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(state)
    model.eval()  # for predictions

    x = torch.randn(3, 4)
    assert torch.equal(model(x), trained.eval()(x))
    for name, tensor in state.items():
        print(name, tuple(tensor.shape))
