"""Replace a TorchScript file by one of torch.export, with the same weights."""

import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore", message="`torch.jit")  # for the old file


def make_model():
    """The class that was scripted or traced."""
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


if __name__ == "__main__":
    x = torch.randn(2, 8)  # (N, 8), N of 2 or more: an example input
    traced = torch.jit.trace(make_model(), x)  # noqa: TID251
    traced.save("old.pt")  # stands for your file

    old = torch.jit.load("old.pt", map_location="cpu").eval()
    model = make_model()
    model.load_state_dict(old.state_dict())
    batch = {0: torch.export.Dim("batch")}  # any size
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=(batch,))
    torch.export.save(program, "model.pt2")
    new = torch.export.load("model.pt2").module()
    torch.testing.assert_close(new(x), old(x))
