"""What torchrun starts in each process; save it as train.py."""

import argparse
import os

from torch.distributed.elastic.multiprocessing.errors import record


@record  # an error here shows its traceback in torchrun's report
def main():
    """Train, or here: say which process this is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    rank = int(os.environ.get("RANK", 0))  # no --local-rank in the parser
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    print(f"rank {rank} of {world_size}: {args.epochs} epochs")


if __name__ == "__main__":
    main()
