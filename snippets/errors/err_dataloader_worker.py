"""Let a worker die, then see the real error in the main process."""

import os
import signal
import sys

from torch.utils.data import DataLoader, Dataset, Subset


class Images(Dataset):
    """Four images; the first one kills its process, or ends it."""

    def __init__(self, killed):
        self.killed = killed

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 0 and self.killed:  # as Linux does when memory is full
            os.kill(os.getpid(), signal.SIGKILL)
        if index == 0:
            sys.exit("cannot read 0.jpg")
        return index


if __name__ == "__main__":
    for dataset in (Images(killed=True), Images(killed=False)):
        try:
            list(DataLoader(dataset, num_workers=1))
        except RuntimeError as error:
            message = str(error.__cause__ or error)
            print("the worker", message.partition(") ")[2].strip())
    # In the main process, the real error is shown.
    try:
        for index in range(len(dataset)):
            print(f"\r{index}", end=" ", file=sys.stderr, flush=True)
            dataset[index]  # the last number is that of the bad sample
    except SystemExit as error:
        print("the real error:", error, "at index", index)
    dataset = Subset(dataset, [1, 2, 3])  # without it
    print("left:", list(dataset))
