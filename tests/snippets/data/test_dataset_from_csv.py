"""dataset-from-csv: the tensors against the file, read by the csv module."""

import csv
import statistics

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "data/dataset-from-csv"
SOURCE = (ROOT / "snippets/data/dataset_from_csv.py").read_text("utf-8")
IMPORTS = SOURCE[SOURCE.index("import pandas") : SOURCE.index("\n\nrows =")]
CODE = IMPORTS + "\n" + SOURCE[SOURCE.index("df = ") : SOURCE.index("\nprint")]
MIXED = pd.DataFrame({"length": [1.0, 2.0], "species": ["setosa", "virginica"]})


def read(path, columns=("length", "width"), label="species") -> dict:
    """What the snippet makes of another file."""
    exec(CODE, space := {"path": path, "columns": list(columns), "label": label})
    return space


@pytest.fixture
def snippet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load_snippet("data/dataset_from_csv.py")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{i},{'' if i % 7 == 3 else i * i},9,{'abc'[i % 3]}" for i in range(23)]
    path.write_text("\n".join(["a,b,same,kind", *lines, "1,2,9,"]), encoding="utf-8")
    return path


def test_the_tensors_hold_the_rows_with_a_label(file):
    space = read(file, "ab", "kind")
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    kept = [row for row in rows if row["kind"]]
    assert len(space["train_set"]) == int(0.8 * len(kept)) == 18
    assert len(space["val_set"]) == 5
    assert list(space["classes"]) == ["a", "b", "c"]
    df, n = space["df"], space["n"]
    assert sorted(df.index) == list(range(23))  # shuffled, each row once
    assert df.index.tolist() != list(range(23))
    assert space["y"].tolist() == ["abc".index(kept[i]["kind"]) for i in df.index]
    assert (space["x"].dtype, space["y"].dtype) == (torch.float32, torch.int64)
    widths = [kept[i]["b"] for i in df.index]
    known = [float(w) for w in widths[:n] if w]
    assert len(known) < n
    mean, std = statistics.mean(known), statistics.stdev(known)
    scaled = [(float(w or mean) - mean) / std for w in widths]
    np.testing.assert_allclose(space["x"][:, 1], scaled, rtol=1e-5, atol=1e-6)


def test_later_rows_are_scaled_as_the_training_rows(file):
    space = read(file, "ab", "kind")
    later = pd.DataFrame({"b": [4.0, np.nan, 900.0], "a": [50, 1, 2]})
    scaled = ((later[space["columns"]] - space["mean"]) / space["std"]).fillna(0)
    rows = pd.read_csv(file).dropna(subset="kind").loc[space["df"].index, ["a", "b"]]
    train = rows[: space["n"]]
    scaler = StandardScaler().fit(train)  # leaves out NaN, too
    counts = train.notna().sum().to_numpy()
    expected = scaler.transform(later[["a", "b"]]) * ((counts - 1) / counts) ** 0.5
    np.testing.assert_allclose(scaled, np.nan_to_num(expected), rtol=1e-6)


def test_a_constant_column_and_integers_stay_finite(file):
    space = read(file, ["a", "same"], "kind")
    assert space["x"].isfinite().all()
    assert (space["x"][:, 1] == 0).all()


def test_columns_of_tiny_units_and_flags(tmp_path):
    """scikit-learn's scaler, with the other deviation; a flag of one row stays 1."""
    df = pd.DataFrame({"m": np.arange(20) * 1e-8, "flag": 0.1, "kind": [*"ab"] * 10})
    order = df.sample(frac=1, random_state=0).index
    df.loc[order[-1], "flag"] = 1.1  # none of the training rows has it
    df.to_csv(path := tmp_path / "a.csv", index=False)
    x, n = (space := read(path, ["m", "flag"], "kind"))["x"], space["n"]
    rows = df.loc[order, ["m", "flag"]]
    expected = StandardScaler().fit(rows[:n]).transform(rows)
    expected[:, 0] *= ((n - 1) / n) ** 0.5
    np.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-6)
    assert x[:, 1].max().item() == pytest.approx(1)


def test_gbk_of_excel(tmp_path):
    path = tmp_path / "gbk.csv"
    path.write_text("a,kind\n1,\N{CJK UNIFIED IDEOGRAPH-72D7}\n", encoding="gb18030")
    with raises_as_documented(PAGE, "UnicodeDecodeError: 'utf-8' codec"):
        pd.read_csv(path)
    assert (
        pd.read_csv(path, encoding="gb18030")["kind"][0]
        == "\N{CJK UNIFIED IDEOGRAPH-72D7}"
    )


def test_classes_of_training_for_another_file(snippet):
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
    with raises_as_documented(PAGE, "TypeError: Cannot perform reduction"):
        MIXED.mean()
    mixed = pd.DataFrame({"b": [True, False], "f": [1.0, 2.0]})
    with raises_as_documented(PAGE, "TypeError: can't convert np.ndarray"):
        torch.tensor(mixed.values)
    assert torch.tensor(mixed.to_numpy("float32")).tolist() == [[1, 1], [0, 2]]
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
    codes, _ = pd.Series(["red", None, "blue"]).factorize()
    assert nn.Embedding(3, 1)(torch.tensor(codes + 1)).shape == (3, 1)
    y = torch.tensor(MIXED[["length"]].to_numpy("float32"))
    assert y.shape == (2, 1)


class Chunks(IterableDataset):
    """Rows of a file, two at a time in memory."""

    def __init__(self, path):
        self.path = path

    def __iter__(self):
        for df in pd.read_csv(self.path, chunksize=2):
            yield from df["a"]


@pytest.mark.parametrize(("num_workers", "times"), [(0, 1), (2, 2)])
def test_more_workers_each_read_the_whole_file(file, num_workers, times):
    rows = [x.item() for x in DataLoader(Chunks(file), num_workers=num_workers)]
    assert sorted(rows) == sorted([*range(23), 1] * times)
