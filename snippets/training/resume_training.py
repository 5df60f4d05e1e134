"""Resume training, and end with the weights of an uninterrupted run."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def save(path: Path, epoch: int, **parts: Any) -> None:
    """Save what the next epoch depends on: each part and the RNGs."""
    checkpoint = {name: part.state_dict() for name, part in parts.items()}
    rng = torch.get_rng_state(), torch.cuda.get_rng_state_all()
    torch.save({**checkpoint, "epoch": epoch, "rng": rng}, path)


def resume(path: Path, **parts: Any) -> int:
    """Load into model=, optimizer=, scheduler=; return the epoch to run.

    Build them as for a new run: model, to its device, then the optimizer.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """
    # RNG states stay on the CPU; load_state_dict moves what goes to the GPU.
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(checkpoint[name])
    cpu, gpus = checkpoint["rng"]
    torch.set_rng_state(cpu)
    torch.cuda.set_rng_state_all(gpus[: torch.cuda.device_count()])
    return checkpoint["epoch"] + 1  # the saved epoch was finished


def train(path: Path, epochs: int) -> torch.Tensor:
    """Train, from the checkpoint if there is one; return P weights, (P,)."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.linspace(-1, 1, 64, device=device).unsqueeze(1)  # (64, 1)
    loader = DataLoader(TensorDataset(x, x**2), batch_size=16, shuffle=True)
    net = nn.Sequential(nn.Linear(1, 8), nn.Dropout(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.to(device).parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=9)
    parts = {"model": net, "optimizer": optimizer, "scheduler": scheduler}
    for epoch in range(resume(path, **parts) if path.exists() else 0, epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        scheduler.step()
        save(path, epoch, **parts)
    return nn.utils.parameters_to_vector(net.parameters()).detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    expected = train(Path("whole.pt"), epochs=6)
    torch.manual_seed(0)
    train(Path("parts.pt"), epochs=4)  # interrupted here
    torch.manual_seed(1)  # the next process starts with other numbers
    assert torch.equal(train(Path("parts.pt"), epochs=6), expected)
    print("4 + 2 epochs end with the same bits as 6")
