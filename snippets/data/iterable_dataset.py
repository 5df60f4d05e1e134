"""Read a stream with several workers, each sample in only one of them."""

import tempfile
from pathlib import Path

import torch
from torch.utils.data import DataLoader


class Lines(torch.utils.data.IterableDataset):
    """The numbers in a text file, shared out between the workers."""

    def __init__(self, path):
        self.path = Path(path)

    def __iter__(self):
        info = torch.utils.data.get_worker_info()  # None without workers
        i, n = (info.id, info.num_workers) if info else (0, 1)
        with self.path.open(encoding="utf-8") as file:
            for k, line in enumerate(file):
                if k % n == i:
                    yield int(line)  # yours: parse the line


class EveryLine(Lines):
    """The same, not shared out: each worker reads all of them."""

    def __iter__(self):
        with self.path.open(encoding="utf-8") as file:
            yield from map(int, file)


if __name__ == "__main__":
    path = Path(tempfile.mkdtemp(), "numbers.txt")
    path.write_text("\n".join(map(str, range(8))))
    for dataset in EveryLine(path), Lines(path):
        loader = DataLoader(dataset, batch_size=2, num_workers=2)
        print(type(dataset).__name__, [x.tolist() for x in loader])
