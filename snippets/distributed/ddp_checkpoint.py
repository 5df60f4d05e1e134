"""Save a DDP model on rank 0; load it in every process to go on."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn  # keep: without it a run on CPUs may crash at exit
from torch import nn
from torch.distributed import run


def save_checkpoint(path, model, optimizer, epoch):
    """Call it in every process; rank 0 writes the file."""
    if dist.get_rank() == 0:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        checkpoint = {"epoch": epoch}
        checkpoint["model_state_dict"] = model.module.state_dict()
        checkpoint["optimizer_state_dict"] = optimizer.state_dict()
        torch.save(checkpoint, f"{path}.tmp")
        Path(f"{path}.tmp").replace(path)  # never half a file
    dist.barrier()  # nobody reads before the file is complete


def load_checkpoint(path, model, optimizer):
    """Call it in every process; return the epoch to start with."""
    if not Path(path).exists():
        return 0
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.module.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    return checkpoint["epoch"] + 1


def train(epochs, device, last="checkpoints/last.pt"):
    """Train this many epochs, counting those of the checkpoint."""
    x = torch.linspace(-1, 1, 64, device=device).unsqueeze(1)
    model = nn.parallel.DistributedDataParallel(nn.Linear(1, 1).to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    start_epoch = load_checkpoint(last, model, optimizer)
    for epoch in range(start_epoch, epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), 3 * x).backward()
        optimizer.step()
        save_checkpoint(last, model, optimizer, epoch)
    if dist.get_rank() == 0:
        print(f"epochs {start_epoch} to {epochs - 1}")


if __name__ == "__main__" and "RANK" not in os.environ:
    n = torch.cuda.device_count() or 2  # plain python: start torchrun
    run.main(["--standalone", f"--nproc-per-node={n}", __file__])
elif __name__ == "__main__":
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    train(2, gpu or torch.device("cpu"))  # interrupted here
    train(4, gpu or torch.device("cpu"))  # the next start goes on
    dist.destroy_process_group()
