"""Let torchrun's report show the error of the rank that failed first."""

import os

from torch.distributed.elastic.multiprocessing.errors import record


def train():
    """Fail on rank 1."""
    if os.environ.get("RANK") == "1":
        raise ValueError("labels must be below 10, got 12")
    print("rank", os.environ.get("RANK", 0), "is done")


@record  # puts an exception's traceback into torchrun's report
def main():
    """Be one of torchrun's processes."""
    train()  # yours: all that your script does


if __name__ == "__main__":
    main()
