"""Resume an interrupted run after the last epoch that it finished."""

from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(epochs, last=Path("checkpoints/last.pt")):
    """Train this many epochs, counting those of the checkpoint."""
    x = torch.linspace(-1, 1, 64).unsqueeze(1)  # (64, 1)
    data = TensorDataset(x, 3 * x)
    generator = torch.Generator().manual_seed(0)  # shuffles the batches
    loader = DataLoader(data, 16, shuffle=True, generator=generator)
    model = nn.Linear(1, 1)  # .to(device) before the optimizer is built
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    start_epoch, best_score = 0, float("-inf")

    if last.exists():
        checkpoint = torch.load(last, map_location="cpu", weights_only=True)
        model.load_state_dict(checkpoint["model_state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
        scheduler.load_state_dict(checkpoint["scheduler_state_dict"])
        best_score = checkpoint["best_score"]  # best.pt has to be beaten
        start_epoch = checkpoint["epoch"] + 1  # that epoch is finished
        gpu_states = checkpoint["cuda_rng_state"][: torch.cuda.device_count()]
        torch.cuda.set_rng_state_all(gpu_states)
        torch.set_rng_state(checkpoint["torch_rng_state"])
        generator.set_state(checkpoint["loader_rng_state"])

    for epoch in range(start_epoch, epochs):
        for x, y in loader:
            x = x + 0.1 * torch.randn_like(x)  # augmentation
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        # Validate here, and keep best.pt as in save_best_model.py.
        checkpoint = {
            "epoch": epoch,
            "best_score": best_score,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "scheduler_state_dict": scheduler.state_dict(),
            "loader_rng_state": generator.get_state(),
            "torch_rng_state": torch.get_rng_state(),
            "cuda_rng_state": torch.cuda.get_rng_state_all(),
        }
        last.parent.mkdir(parents=True, exist_ok=True)
        torch.save(checkpoint, last.with_suffix(".tmp"))
        last.with_suffix(".tmp").replace(last)  # atomic
        print(f"epoch {epoch} of {epochs}")


if __name__ == "__main__":
    train(epochs=2)  # interrupted here
    train(epochs=4)  # the next process goes on
