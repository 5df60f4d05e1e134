"""train-val-split: parts are disjoint and complete, classes shared out as computed."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from torch.utils.data import ConcatDataset, Subset, TensorDataset, random_split

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/train_val_split.py")
PAGE = "data/train-val-split"
TEN = TensorDataset(torch.arange(10))


def test_the_parts_have_transforms_of_their_own():
    train, val = snippet.train_set, snippet.plain_val_set
    assert train.dataset is snippet.dataset
    assert val.dataset is snippet.plain
    assert sorted(train.indices + val.indices) == list(range(100))
    # The same image: fixed in validation, a random crop of it in training.
    assert all(
        len({snippet.plain[i][0].tobytes() for _ in range(9)}) == 1
        for i in val.indices[:3]
    )
    assert len({snippet.dataset[0][0].tobytes() for _ in range(30)}) > 1
    assert snippet.dataset[7][1] == snippet.plain[7][1]


@pytest.mark.parametrize("n", [10, 11, 5])
def test_the_answer_alone(n):
    """It repeats, whatever was drawn before; no sample is lost."""
    parts = []
    for seed in range(2):
        torch.manual_seed(seed)
        names = {"dataset": TensorDataset(torch.arange(n))}
        exec(answer("train-val-split"), names)
        parts.append([names["train_set"].indices, names["val_set"].indices])
    assert parts[0] == parts[1]
    assert sorted(parts[0][0] + parts[0][1]) == list(range(n))
    assert len(parts[0][1]) == n // 5


def test_the_random_split_repeats():
    def split(seed):
        generator = torch.Generator().manual_seed(seed)
        return [part.indices for part in random_split(TEN, [0.8, 0.2], generator)]

    first, second = split(0)
    assert split(0) == [first, second] != split(1)
    assert (len(first), len(second)) == (8, 2)
    assert sorted(first + second) == list(range(10))


def test_one_more_file_changes_the_whole_split():
    """What was trained on is then validated on."""

    def split(n):
        generator = torch.Generator().manual_seed(0)
        return random_split(range(n), [0.8, 0.2], generator)

    assert set(split(101)[1].indices) & set(split(100)[0].indices)


def test_both_parts_of_random_split_share_the_dataset():
    train, val = random_split(snippet.dataset, [0.5, 0.5])
    assert train.dataset is val.dataset


def test_three_parts():
    assert [len(p) for p in random_split(TEN, [0.8, 0.1, 0.1])] == [8, 1, 1]


@pytest.mark.parametrize("lengths", [[8, 1], [0.8, 0.1], [0.8, 0.3]], ids=str)
def test_lengths_that_do_not_add_up(lengths):
    with raises_as_documented(PAGE, "ValueError: Sum of input"):
        random_split(TEN, lengths)


def test_truncated_lengths_may_lose_a_sample():
    assert int(0.8 * 11) + int(0.2 * 11) == 10


def test_the_other_messages():
    part = random_split(TEN, [0.5, 0.5])[0]
    with raises_as_documented(PAGE, "AttributeError: 'Subset'"):
        _ = part.targets
    with raises_as_documented(PAGE, "TypeError: randperm()"):
        random_split(TEN, [len(TEN) * 0.8, len(TEN) * 0.2])
    with raises_as_documented(PAGE, "ValueError: The least populated"):
        train_test_split(range(4), test_size=2, stratify=[0, 0, 0, 1])


def test_a_regression_target_is_stratified_by_its_quantiles():
    y = np.random.default_rng(0).normal(size=100) ** 3
    with raises_as_documented(PAGE, "ValueError: The least populated"):
        train_test_split(range(100), test_size=0.2, stratify=y)
    bins = pd.qcut(y, 5, labels=False)
    _, val = train_test_split(range(100), test_size=0.2, stratify=bins, random_state=0)
    edges = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    assert np.bincount(np.searchsorted(edges, y[val])).tolist() == [4] * 5


def test_labels_of_a_part():
    class Labelled(TensorDataset):
        targets = tuple("abcdefghij")

    part = Subset(Labelled(torch.arange(10)), [3, 1])
    targets = np.array(part.dataset.targets)[part.indices]
    assert targets.tolist() == ["d", "b"]


def test_groups_stay_together():
    person = np.arange(20) // 4
    train, val = next(GroupShuffleSplit(1, test_size=0.2).split(person, groups=person))
    assert not set(person[train]) & set(person[val])
    assert len(val) == 4


def test_cross_validation_uses_every_sample_once():
    labels = np.array([0, 1] * 10)
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels)
    parts = [val for _, val in folds]
    assert sorted(np.concatenate(parts)) == list(range(20))
    assert all(labels[val].mean() == 0.5 for val in parts)


def test_put_together():
    assert len(ConcatDataset([TEN, Subset(TEN, range(3))])) == 13
