"""Collect a model's predictions for a whole data set, in its order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@torch.inference_mode()
def predict(
    model: nn.Module, loader: DataLoader, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits and targets of all batches, on the CPU.

    Args:
        model: on the device; it is left in eval mode.
        loader: batches (x, target); shuffle=False keeps the set's order.

    Returns:
        (N, ...) logits and (N, ...) targets, row by row of the same sample.

    Raises:
        ValueError: the loader is empty.

    Source: torch.inference_mode in the PyTorch reference
    """
    model.eval()
    logits, targets = [], []
    for x, target in loader:
        x = x.to(device, non_blocking=True)
        logits.append(model(x))  # (B, ...), stays on the device
        targets.append(target.clone())  # a worker's own holds a file open
    return torch.cat(logits).cpu(), torch.cat(targets)  # one wait


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator(check_available=True)
    device = device or torch.device("cpu")
    data = TensorDataset(torch.randn(10, 8), torch.arange(10) % 3)
    loader = DataLoader(data, batch_size=4)  # 4, 4 and 2
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(), nn.Linear(16, 3))
    model.to(device).train()

    logits, target = predict(model, loader, device)
    assert torch.equal(target, data.tensors[1])
    again, _ = predict(model, loader, device)
    assert torch.equal(logits, again)  # dropout is off
    pred = logits.argmax(1)  # (N,)
    print(logits.shape, pred.shape, "requires grad:", logits.requires_grad)
