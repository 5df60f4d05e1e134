"""Get a smaller model: remove the channels with the smallest weights."""

from torch import nn


def network(width):
    """Replace it by your model, with its channels as an argument."""
    return nn.Sequential(
        nn.Conv2d(3, width, 3),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 10, 3),
    )


model = network(64).eval()
norms = model[0].weight.flatten(1).norm(dim=1)  # (64,): one per channel
keep = norms.topk(16).indices

state = model.state_dict()
for name, t in state.items():
    if name.startswith(("0.", "1.")) and t.ndim > 0:
        state[name] = t[keep]  # outputs of the first layer, and its BatchNorm
state["3.weight"] = state["3.weight"][:, keep]  # inputs of the next layer
small = network(16).eval()
small.load_state_dict(state)  # now fine-tune it, and save it

for net in (model, small):
    print(f"{sum(p.numel() for p in net.parameters()):,} parameters")
