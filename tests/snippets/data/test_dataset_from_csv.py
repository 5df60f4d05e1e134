"""dataset-from-csv: the tensors against the file, read by the csv module."""

import csv
import io
import statistics

import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/dataset_from_csv.py")
PAGE = "data/dataset-from-csv"
MIXED = pd.DataFrame({"length": [1.0, 2.0], "species": ["setosa", "virginica"]})


def test_the_tensors_hold_the_file():
    rows = list(csv.DictReader(io.StringIO(snippet.csv.getvalue())))
    names = sorted({row["species"] for row in rows})
    assert list(snippet.classes) == names
    assert snippet.y.tolist() == [names.index(row["species"]) for row in rows]
    assert snippet.y.dtype == torch.int64
    widths = [float(row["width"]) for row in rows if row["width"]]
    for row, values in zip(rows, snippet.x.tolist(), strict=True):
        width = float(row["width"] or statistics.median(widths))
        assert values == pytest.approx([float(row["length"]), width])
    assert snippet.x.dtype == torch.float32


def test_the_loader_gives_every_row_once():
    seen = [pair for xs, ys in snippet.loader for pair in zip(xs, ys, strict=True)]
    rows = sorted((*x.tolist(), y.item()) for x, y in seen)
    expected = zip(snippet.x.tolist(), snippet.y.tolist(), strict=True)
    assert rows == sorted((*x, y) for x, y in expected)
    orders = {
        tuple(torch.cat([x[:, 0] for x, _ in snippet.loader]).tolist())
        for _ in range(30)
    }
    assert len(orders) > 1
    assert snippet.loader.batch_size == 2


def test_classes_of_training_for_another_file():
    test = pd.Series(["virginica", "setosa", "unknown", None])
    assert snippet.classes.get_indexer(test).tolist() == [1, 0, -1, -1]
    assert pd.Series(["virginica"]).factorize()[0].tolist() == [0]  # not 1


def test_a_loss_refuses_unknown_classes():
    with pytest.raises(IndexError, match="Target -1"):
        nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([-1]))


def test_one_nan_makes_the_loss_nan():
    x = torch.tensor([[1.0], [float("nan")]])
    assert nn.Linear(1, 1)(x).mean().isnan()


def test_text_columns():
    with raises_as_documented(PAGE, "TypeError: can't convert np.ndarray"):
        torch.tensor(MIXED.values)
    with raises_as_documented(PAGE, "ValueError: could not convert"):
        MIXED.to_numpy("float32")
    numbers = pd.to_numeric(pd.Series(["1", "x"]), errors="coerce")
    assert numbers.isna().tolist() == [False, True]


def test_the_other_messages():
    with raises_as_documented(PAGE, "ValueError: could not determine"):
        torch.tensor(MIXED)
    doubles = torch.tensor(MIXED[["length"]].values)
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2"):
        nn.Linear(1, 1)(doubles)
    removed = MIXED["length"][1:]  # its index begins with 1
    for table in (MIXED, removed):
        with raises_as_documented(PAGE, "KeyError: 0"):
            list(DataLoader(table))


def test_a_column_cannot_be_written_to():
    # Only the first such warning of a process is shown.
    values = MIXED["length"].to_numpy()
    assert not values.flags.writeable
    assert torch.tensor(values).tolist() == [1.0, 2.0]


def test_the_variants():
    dummies = pd.get_dummies(pd.Series(["red", "blue", "red"]), dtype="float32")
    assert torch.tensor(dummies.to_numpy()).tolist() == [[0, 1], [1, 0], [0, 1]]
    y = torch.tensor(MIXED[["length"]].to_numpy("float32"))
    assert y.shape == (2, 1)


class Chunks(IterableDataset):
    """Rows of the file, two at a time in memory."""

    def __iter__(self):
        snippet.csv.seek(0)
        for df in pd.read_csv(snippet.csv, chunksize=2):
            yield from df["length"]


@pytest.mark.parametrize(("num_workers", "times"), [(0, 1), (2, 2)])
def test_more_workers_each_read_the_whole_file(num_workers, times):
    rows = [x.item() for x in DataLoader(Chunks(), num_workers=num_workers)]
    assert sorted(rows) == sorted([6.2, 5.1, 4.9] * times)
