"""Train in float16 on an older GPU: scale the loss, and clip gradients."""

import torch
from torch import nn
from torch.nn import functional as F


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    x: torch.Tensor,
    target: torch.Tensor,
    max_norm: float = 1.0,
) -> torch.Tensor:
    """Update the model once, unless a gradient overflows float16.

    Args:
        model: its weights stay float32.
        optimizer: of the model's parameters.
        scaler: one for the whole training, made before the loop.
        x: (N, ...) the model's input, on the model's device.
        target: (N,) int64, class indices.
        max_norm: gradients are clipped to this total norm.

    Returns:
        The unscaled loss before the update, 0-dim float32.

    Source: https://docs.pytorch.org/docs/stable/notes/amp_examples.html
    """
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = F.cross_entropy(model(x), target)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # or the scale would be clipped as well
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)  # does nothing if a gradient is inf or NaN
    scaler.update()  # halves the scale then; doubles it after 2000 good steps
    return loss.detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Linear(20, 3, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x = torch.randn(96, 20, device="cuda")
    target = x[:, :3].argmax(1)
    before = model.weight.detach().clone()

    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**40)  # far too high
    first = train_step(model, optimizer, scaler, x, target)
    assert torch.equal(model.weight, before)  # overflow: the step is skipped
    assert scaler.get_scale() == 2.0**39

    for _ in range(100):
        loss = train_step(model, optimizer, scaler, x, target)
    assert loss < first
    assert scaler.get_scale() < 2.0**39
    print("first step skipped, scale halved; then the loss falls")
