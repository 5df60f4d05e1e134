"""Read a stream with several workers, each sample in only one of them."""

import tempfile
from itertools import islice
from pathlib import Path

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class EveryLine(IterableDataset):
    """The numbers in a text file; each worker would read all of them."""

    def __init__(self, path):
        self.path = Path(path)

    def __iter__(self):
        with self.path.open() as file:
            yield from map(int, file)


class Lines(EveryLine):
    """The same, shared out between the workers."""

    def __iter__(self):
        info = get_worker_info()  # None without workers
        i = info.id if info else 0
        n = info.num_workers if info else 1
        with self.path.open() as file:
            for line in islice(file, i, None, n):
                yield int(line)


if __name__ == "__main__":
    path = Path(tempfile.mkdtemp(), "numbers.txt")
    path.write_text("\n".join(map(str, range(8))))
    for dataset in EveryLine(path), Lines(path):
        loader = DataLoader(dataset, batch_size=2, num_workers=2)
        print(type(dataset).__name__, [x.tolist() for x in loader])
