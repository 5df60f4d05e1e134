"""Let torchrun's report show the error of the rank that failed first."""

import os

from torch.distributed.elastic.multiprocessing.errors import record


@record  # puts an exception's traceback into torchrun's report
def main():
    """Train; here rank 1 fails."""
    if os.environ.get("RANK") == "1":
        raise ValueError("labels must be below 10, got 12")
    print("rank", os.environ.get("RANK", 0), "is done")


if __name__ == "__main__":
    main()
