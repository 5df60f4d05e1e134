"""Keep the newest checkpoints only, and save before a job is killed."""

import signal
from pathlib import Path

import torch


def save_rotating(checkpoint, folder, keep=3):
    """Write step….pt, whole or not at all; keep the newest `keep` files."""
    path = Path(folder) / f"step{checkpoint['step']:08}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(checkpoint, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)  # atomic: never half a file
    for old in sorted(path.parent.glob("step*.pt"))[:-keep]:
        old.unlink()


def train(batches, steps, every=10, folder=Path("checkpoints")):
    """Go on from the newest checkpoint; stop after `steps`, or at SIGTERM."""
    stop = []  # filled when the scheduler wants the machine back
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    start, newest = 0, max(folder.glob("step*.pt"), default=None)
    if newest:
        checkpoint = torch.load(newest, map_location="cpu", weights_only=True)
        model.load_state_dict(checkpoint["model_state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
        start = checkpoint["step"]

    for step in range(start + 1, steps + 1):
        x, y = batches(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % every == 0 or step == steps or stop:
            checkpoint = {
                "step": step,
                "model_state_dict": model.state_dict(),
                "optimizer_state_dict": optimizer.state_dict(),
            }
            save_rotating(checkpoint, folder)
        if stop:
            break
    print(*(path.name for path in sorted(folder.glob("step*.pt"))))


def batches(step):
    """Stand for your data; in step 47 the scheduler stops the job."""
    if step == 47:
        signal.raise_signal(signal.SIGTERM)
    return torch.ones(4, 1), torch.ones(4, 1)


if __name__ == "__main__":
    train(batches, steps=100)  # stopped in step 47
    train(batches, steps=100)  # the next job goes on from there
