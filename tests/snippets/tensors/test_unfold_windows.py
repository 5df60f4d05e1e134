"""unfold-windows: against NumPy's windows and slices."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/unfold-windows"
snippet = load_snippet("tensors/unfold_windows.py")


@pytest.mark.parametrize(("size", "step"), [(4, 2), (4, 4), (3, 1)])
def test_windows_are_those_of_numpy(size, step):
    x = torch.arange(11)
    expected = np.lib.stride_tricks.sliding_window_view(x.numpy(), size)[::step]
    windows = x.unfold(0, size, step)
    np.testing.assert_array_equal(windows.numpy(), expected)
    assert len(windows) == (11 - size) // step + 1
    assert windows.data_ptr() == x.data_ptr()


def test_the_windows_of_the_snippet():
    expected = [list(range(i, i + 5)) for i in (0, 2, 4)]
    assert snippet.windows.tolist() == expected


def test_patches_are_slices_row_by_row():
    places = [(0, 0), (0, 4), (4, 0), (4, 4)]
    for number, (i, j) in enumerate(places):
        expected = snippet.images[:, :, i : i + 4, j : j + 4]
        assert torch.equal(snippet.patches[:, number], expected)
    assert torch.equal(snippet.again, snippet.images)


def test_the_answer_for_one_channel_and_for_a_rest():
    images = torch.rand(1, 1, 9, 6)
    names = {"x": torch.arange(6, dtype=torch.bfloat16), "images": images}
    names |= {"size": 5, "step": 2, "k": 4}
    exec(answer("unfold-windows"), names)
    assert names["windows"].tolist() == [[0, 1, 2, 3, 4]]  # the 5 is left over
    assert names["patches"].shape == (1, 2, 1, 4, 4)
    assert torch.equal(names["patches"][:, 1], images[:, :, 4:8, :4])


def test_overlaps_share_memory_and_add_up():
    windows = torch.zeros(6).unfold(0, 4, 2)
    windows.add_(1)
    assert windows.tolist() == [[1, 1, 2, 2], [2, 2, 1, 1]]
    images, size, k, s = torch.rand(1, 2, 9, 9), (9, 9), 3, 2
    cut = F.unfold(images, k, stride=s)
    ones = F.unfold(torch.ones_like(images), k, stride=s)
    added = F.fold(cut, size, k, stride=s)
    assert added.mean() > 1.5 * images.mean()
    mean = added / F.fold(ones, size, k, stride=s)
    torch.testing.assert_close(mean, images)


def test_pixels_that_no_patch_covers_become_nan():
    ones, size, k, s = torch.ones(1, 1, 10, 10), (10, 10), 4, 3
    counts = F.fold(F.unfold(ones, k, stride=s), size, k, stride=s)
    assert not (counts / counts).isnan().any()  # 4 + 2 * 3 = 10: all covered
    k, s = 4, 4
    counts = F.fold(F.unfold(ones, k, stride=s), size, k, stride=s)
    expected = np.ones((10, 10))
    expected[8:], expected[:, 8:] = np.nan, np.nan
    np.testing.assert_array_equal((counts / counts)[0, 0].numpy(), expected)
    padded = F.pad(ones, (0, 2, 0, 2))
    cut = F.unfold(padded, k, stride=s)
    counts = F.fold(cut * 0 + 1, (12, 12), k, stride=s)
    assert (F.fold(cut, (12, 12), k, stride=s) / counts)[..., :10, :10].eq(1).all()


def test_integers():
    mask = torch.arange(2 * 3 * 8 * 8).reshape(2, 3, 8, 8)
    with raises_as_documented(PAGE, 'NotImplementedError: "im2col_out_cpu"'):
        F.unfold(mask, 4, stride=4)
    with pytest.raises(NotImplementedError, match="'Byte'"):
        F.unfold(mask.byte(), 4, stride=4)
    cut = mask.unfold(2, 4, 4).unfold(3, 4, 4)
    assert cut.shape == (2, 3, 2, 2, 4, 4)
    assert torch.equal(cut[:, :, 1, 0], mask[:, :, 4:, :4])


def test_other_messages():
    x = torch.arange(10)
    with raises_as_documented(PAGE, "RuntimeError: maximum size"):
        x.unfold(0, 11, 1)
    with raises_as_documented(PAGE, "RuntimeError: Expected size of input's"):
        F.fold(snippet.cut, (8, 8), 3, stride=4)
    with raises_as_documented(PAGE, "RuntimeError: view size is not compatible"):
        x.unfold(0, 4, 2).view(-1)


def test_variants():
    x = torch.rand(30)
    pooled = F.avg_pool1d(x[None, None], 4, stride=1)[0, 0]
    torch.testing.assert_close(x.unfold(0, 4, 1).mean(-1), pooled)
    images, k = snippet.images, 4
    cut = nn.Unfold(k, stride=k)(images)
    assert torch.equal(nn.Fold((8, 8), k, stride=k)(cut), images)
    conv = nn.Conv2d(3, 5, kernel_size=4, stride=4)
    flat = snippet.patches.flatten(2) @ conv.weight.flatten(1).T + conv.bias
    torch.testing.assert_close(flat.transpose(1, 2), conv(snippet.images).flatten(2))


def test_changed_patches_become_images_again():
    """The page's line, against a change of every pixel."""
    k = snippet.k
    changed = snippet.patches * 2 + 1
    images = F.fold(changed.flatten(2).mT, (8, 8), k, stride=k)
    torch.testing.assert_close(images, snippet.images * 2 + 1)
