"""Load a large file of weights without a second copy in memory."""

import torch
from torch import nn


def make_model():
    """Your model, built as when the file was saved."""
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))


if __name__ == "__main__":
    trained = make_model()
    torch.save(trained.state_dict(), "weights.pt")

    with torch.device("meta"):  # shapes only: no memory, no initialization
        model = make_model()
    state = torch.load(
        "weights.pt", map_location="cpu", mmap=True, weights_only=True
    )
    model.load_state_dict(state, assign=True)  # no copy: the file's tensors
    rest = [name for name, b in model.named_buffers() if b.is_meta]
    assert not rest, rest  # what no file holds is still to be computed

    assert model[0].weight.data_ptr() == state["0.weight"].data_ptr()
    x = torch.randn(4, 64)
    assert torch.equal(model.eval()(x), trained.eval()(x))
