"""err-cat-sizes: each cause raised, each mend tried."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-cat-sizes"
ANSWER = recipes()["err-cat-sizes"].answer


@pytest.mark.parametrize(("h", "w"), [(57, 57), (9, 14), (8, 8)])
def test_the_answer_joins_the_channels(h, w, capsys):
    skip = torch.randn(3, 4, h, w)
    up = F.interpolate(F.max_pool2d(skip, 2), scale_factor=2)
    names = {"skip": skip, "up": up}
    said = f"{[*skip.shape]} {[*up.shape]}\n"
    exec(ANSWER.text, names)
    assert capsys.readouterr().out == said
    resized = names["up"].numpy()
    assert resized.shape == skip.shape
    np.testing.assert_array_equal(
        names["both"], np.concatenate([skip.numpy(), resized], 1)
    )


@pytest.mark.parametrize("size", [(9,), (5, 9, 7)])
def test_the_answer_for_signals_and_volumes(size):
    skip = torch.randn(2, 4, *size)
    pool = F.max_pool1d if len(size) == 1 else F.max_pool3d
    names = {"skip": skip, "up": F.interpolate(pool(skip, 2), scale_factor=2)}
    exec(ANSWER.text, names)
    assert names["both"].shape == (2, 8, *size)


def test_the_message_names_the_dimension_that_is_joined():
    found = load_snippet("errors/err_cat_sizes.py")
    small = F.interpolate(found.up, size=(56, 56))
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors must match"):
        torch.cat([found.skip, small], dim=1)


def refused(fails, mended) -> torch.Tensor:
    with pytest.raises(RuntimeError, match=r"must match except|same number of dim"):
        fails()
    return mended()


def test_what_is_cropped_fits_and_is_smaller():
    found = load_snippet("errors/err_cat_sizes.py")
    up = F.interpolate(F.max_pool2d(found.skip, 2), scale_factor=2)
    y = refused(
        lambda: torch.cat([found.skip, up], 1),
        lambda: torch.cat([found.skip[..., :56, :56], up], 1),
    )
    assert y.shape[-2:] == (56, 56)


def test_branches_with_other_kernels():
    x = torch.randn(1, 3, 8, 8)
    three, five = (nn.Conv2d(3, 2, k) for k in (3, 5))
    same = [nn.Conv2d(3, 2, k, padding="same") for k in (3, 5)]
    y = refused(
        lambda: torch.cat([three(x), five(x)], 1),
        lambda: torch.cat([conv(x) for conv in same], 1),
    )
    assert y.shape == (1, 4, 8, 8)


def test_another_dimension():
    a, b = torch.ones(10, 5), torch.ones(10, 3)
    y = refused(lambda: torch.cat([a, b]), lambda: torch.cat([a, b], 1))
    assert y.shape == (10, 8)


def test_sequences_of_different_lengths():
    batches = [torch.ones(32, 17), torch.ones(32, 21)]
    rows = [row for batch in batches for row in batch]
    y = refused(
        lambda: torch.cat(batches), lambda: pad_sequence(rows, batch_first=True)
    )
    assert y.shape == (64, 21)


def test_a_last_batch_that_is_smaller():
    x, z = torch.ones(20, 4), torch.ones(1, 6)
    y = refused(
        lambda: torch.cat([x, z.expand(32, -1)], 1),
        lambda: torch.cat([x, z.expand(len(x), -1)], 1),
    )
    assert y.shape == (20, 10)


def test_a_vector_and_a_sample_without_its_batch():
    x, v = torch.ones(2, 3, 4, 5), torch.arange(4.0).reshape(2, 2)
    y = refused(
        lambda: torch.cat([x, v], 1),
        lambda: torch.cat([x, v[:, :, None, None].expand(-1, -1, 4, 5)], 1),
    )
    assert y[1, 3:, 2, 2].tolist() == v[1].tolist()
    refused(lambda: torch.cat([x, x[0]]), lambda: torch.cat([x, x[0][None]]))
    with raises_as_documented(PAGE, "RuntimeError: Tensors must have same number"):
        torch.cat([x, v], 1)


def test_the_other_messages():
    with raises_as_documented(PAGE, "ValueError: torch.cat(): expected a non-empty"):
        torch.cat([])
    with raises_as_documented(PAGE, "RuntimeError: zero-dimensional tensor"):
        torch.cat([torch.tensor(1.0), torch.tensor(2.0)])
    with raises_as_documented(PAGE, "TypeError: expected Tensor as element 1"):
        torch.cat([torch.ones(1), 2.0])
    with raises_as_documented(PAGE, "TypeError: expected Tensor as element 0"):
        torch.cat([torch.nn.LSTM(2, 3)(torch.ones(4, 1, 2))])
