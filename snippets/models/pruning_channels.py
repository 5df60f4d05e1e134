"""Get a smaller model: remove the channels with the smallest weights."""

from collections import OrderedDict

from torch import nn


def network(width):
    """Replace it by your model, with its channels as an argument."""
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(3, width, 3),
            bn1=nn.BatchNorm2d(width),
            relu=nn.ReLU(),
            conv2=nn.Conv2d(width, 10, 3),
        )
    )


model = network(64).eval()
norms = model.conv1.weight.flatten(1).norm(dim=1)  # (64,): one per channel
keep = norms.topk(16).indices

state = model.state_dict()
for name, t in state.items():
    if name.startswith(("conv1.", "bn1.")) and t.ndim > 0:
        state[name] = t[keep]  # the outputs of conv1, and their BatchNorm
state["conv2.weight"] = state["conv2.weight"][:, keep]  # the next inputs
small = network(16).eval()
small.load_state_dict(state)  # now fine-tune it, and save it

for net in (model, small):
    print(f"{sum(p.numel() for p in net.parameters()):,} parameters")
