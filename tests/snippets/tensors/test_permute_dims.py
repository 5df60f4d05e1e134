"""permute-dims: against NumPy's moveaxis, torchvision and a loop."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.transforms.v2 import functional as tvf

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/permute-dims"
snippet = load_snippet("tensors/permute_dims.py")
channels_first, channels_last = snippet.channels_first, snippet.channels_last


@pytest.mark.parametrize(
    "shape", [(4, 5, 3), (2, 4, 5, 3), (6, 2, 4, 5, 3), (0, 4, 5, 3), (1, 1, 1)]
)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16])
def test_numpy_moves_the_same_axes(shape, dtype):
    images = torch.arange(np.prod(shape)).to(torch.uint8).reshape(shape).to(dtype)
    array = images.float().numpy()
    x = channels_first(images)
    expected = np.moveaxis(array, -1, -3)
    assert x.shape == expected.shape
    assert x.dtype == dtype
    assert x.tolist() == expected.tolist()
    back = channels_last(x)
    assert back.shape == shape
    assert back.tolist() == array.tolist()
    # And on its own, from an array that is channels first.
    assert channels_last(images).tolist() == np.moveaxis(array, -3, -1).tolist()


def test_torchvision_sees_the_same_image():
    array = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    expected = tvf.pil_to_tensor(tvf.to_pil_image(array))
    assert torch.equal(channels_first(torch.from_numpy(array)), expected)


def test_the_result_is_a_view_in_channels_last_format():
    images = torch.zeros(2, 4, 5, 3)
    x = channels_first(images)
    x[1, 2, 3, 4] = 7
    assert images[1, 3, 4, 2] == 7
    assert not x.is_contiguous()
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert channels_last(x).is_contiguous()


def test_too_few_dimensions():
    for move in (channels_first, channels_last):
        with pytest.raises(IndexError, match="Dimension out of range"):
            move(torch.zeros(4, 5))


def test_gradients_pass():
    images = torch.ones(1, 2, 3, requires_grad=True)
    weight = torch.arange(6.0).reshape(3, 1, 2)
    (channels_first(images) * weight).sum().backward()
    assert images.grad.tolist() == weight.numpy().transpose(1, 2, 0).tolist()


def test_the_documented_errors_are_raised():
    batch = torch.zeros(2, 4, 5, 3)
    with raises_as_documented(PAGE):
        channels_first(batch).view(-1)
    with raises_as_documented(PAGE):
        batch.permute(2, 0, 1)
    with raises_as_documented(PAGE):
        batch[0].transpose(2, 0, 1)
    conv, image = nn.Conv2d(3, 8, 3), torch.zeros(32, 32, 3)
    with raises_as_documented(PAGE):
        conv(image[None])
    assert conv(channels_first(image)).shape == (8, 30, 30)


def test_the_documented_warning():
    x = torch.zeros(2, 3, 4)
    torch.set_warn_always(True)  # else once per process
    try:
        with warnings.catch_warnings(), raises_as_documented(PAGE):
            warnings.simplefilter("error")
            _ = x.T
    finally:
        torch.set_warn_always(False)
    assert x.mT.shape == (2, 4, 3)
    assert x[0].T.shape == (4, 3)


def test_permute_its_inverse_and_transpose():
    x = torch.arange(24).reshape(2, 3, 4)
    dims = (2, 0, 1)
    y = x.permute(dims)
    assert y.shape == tuple(x.shape[d] for d in dims)
    assert y.tolist() == x.numpy().transpose(dims).tolist()
    assert not torch.equal(y.permute(dims).reshape(-1), x.reshape(-1))
    inverse = torch.argsort(torch.tensor(dims)).tolist()
    assert inverse == [1, 2, 0]
    assert torch.equal(y.permute(inverse), x)
    assert torch.equal(x.transpose(0, 2), x.permute(2, 1, 0))


def test_the_variants():
    x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert (x.shape, x.stride()) == ((2, 3, 4, 5), (60, 1, 15, 3))
    z = torch.tensor([[1 + 2j, 3j]])
    assert z.mH.tolist() == [[1 - 2j], [-3j]]
