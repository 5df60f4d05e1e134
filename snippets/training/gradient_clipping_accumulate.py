"""Clip once per update, with gradient accumulation and a GradScaler."""

import torch
from torch import nn
from torch.nn import functional as F


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    batches: list[tuple[torch.Tensor, torch.Tensor]],
    max_norm: float,
) -> torch.Tensor:
    """Update the model once from the mean gradient of several batches.

    Args:
        model: maps x (N, ...) to the shape of y.
        optimizer: of the model's parameters.
        scaler: one for the whole training, made before the loop.
        batches: of equal size, pairs of x and y on the model's device.
        max_norm: the mean gradient is clipped to it.

    Returns:
        The norm before clipping, 0-dim; inf or NaN if float16 overflowed,
        and then the update is skipped.

    Source: https://docs.pytorch.org/docs/stable/notes/amp_examples.html
    """
    optimizer.zero_grad()
    for x, y in batches:
        with torch.autocast(x.device.type, torch.float16):
            loss = F.mse_loss(model(x), y) / len(batches)
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # or max_norm would apply to scaled gradients
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)  # knows that they are unscaled
    scaler.update()
    return norm


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator(check_available=True)
    device = device or torch.device("cpu")
    model = nn.Linear(8, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler(device.type, init_scale=256.0)
    x = torch.randn(4, 16, 8, device=device)  # 4 batches of 16
    y = x.sum(2, keepdim=True)
    F.mse_loss(model(x), y).backward()  # all 64 at once, in float32
    expected = nn.utils.get_total_norm([p.grad for p in model.parameters()])

    batches = list(zip(x, y, strict=True))
    norm = train_step(model, optimizer, scaler, batches, max_norm=1.0)
    torch.testing.assert_close(norm, expected, rtol=0.01, atol=0)
    assert norm > 1
    clipped = nn.utils.get_total_norm([p.grad for p in model.parameters()])
    torch.testing.assert_close(clipped, torch.ones_like(clipped))
    print("the norm is that of the whole batch, and was clipped to 1")
