"""A script for torchrun: options by argparse, its number by environment."""

import argparse
import os

import torch
from torch.distributed.elastic.multiprocessing.errors import record


def place() -> tuple[int, int, torch.device]:
    """Return rank, world size W and own device, as torchrun has set them.

    Under plain python, which sets nothing: rank 0 of 1, the first GPU.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html
    """
    env = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, **os.environ}
    gpu = f"cuda:{env['LOCAL_RANK']}"
    device = torch.device(gpu if torch.cuda.is_available() else "cpu")
    return int(env["RANK"]), int(env["WORLD_SIZE"]), device


@record  # writes the traceback of an error into torchrun's report
def main(argv: list[str] | None = None) -> None:
    """Train, or here only say so.

    Args:
        argv: the options; by default those behind the script's name.

    Raises:
        ValueError: fewer than one epoch.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    epochs = parser.parse_args(argv).epochs
    if epochs < 1:
        raise ValueError(f"--epochs is {epochs}, but must be 1 or more")
    rank, W, device = place()
    assert rank < W
    for epoch in range(epochs):
        print(f"epoch {epoch}, rank {rank} of {W} on {device.type}")


if __name__ == "__main__":
    main()
