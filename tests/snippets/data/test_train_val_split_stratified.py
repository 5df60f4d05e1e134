"""train-val-split, stratified: shares of every class as computed by hand."""

import torch
from sklearn.model_selection import train_test_split

from tests.helpers import load_snippet

snippet = load_snippet("data/train_val_split_stratified.py")


def test_parts_are_disjoint_and_keep_the_shares():
    train, val = snippet.train_index, snippet.val_index
    assert sorted([*train, *val]) == list(range(100))
    rare = [sum(snippet.labels[i] for i in part) for part in (train, val)]
    assert rare == [8, 2]
    assert (len(train), len(val)) == (80, 20)
    assert snippet.train_set.indices == train
    assert [int(y) for _, y in snippet.val_set].count(1) == 2


def test_it_repeats():
    torch.manual_seed(5)
    given = {"test_size": 0.2, "stratify": snippet.labels, "random_state": 0}
    again = train_test_split(range(100), **given)
    assert again == [snippet.train_index, snippet.val_index]
