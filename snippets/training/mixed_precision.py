"""Train in mixed precision with bfloat16: one context manager, no scaler."""

import torch
from torch import nn
from torch.nn import functional as F


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    target: torch.Tensor,
) -> torch.Tensor:
    """Update the model once; matrix products run in bfloat16.

    Args:
        model: its weights stay float32.
        optimizer: of the model's parameters.
        x: (N, ...) the model's input, on the model's device.
        target: (N,) int64, class indices.

    Returns:
        The loss before the update, 0-dim float32.

    Source: https://docs.pytorch.org/docs/stable/amp.html
    """
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        logits = model(x)  # (N, C) bfloat16
        loss = F.cross_entropy(logits, target)
    loss.backward()  # outside: it reuses the dtypes that forward has chosen
    optimizer.step()
    return loss.detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator(check_available=True)
    device = device or torch.device("cpu")
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.randn(96, 20, device=device)
    target = x[:, :3].argmax(1)  # a rule that can be learnt

    losses = [train_step(model, optimizer, x, target) for _ in range(50)]
    assert losses[-1] < 0.2 * losses[0]
    weight = model[0].weight
    with torch.autocast(device.type, dtype=torch.bfloat16):
        print("logits:", model(x).dtype)
    print("weights:", weight.dtype, "gradients:", weight.grad.dtype)
