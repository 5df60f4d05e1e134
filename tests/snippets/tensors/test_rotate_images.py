"""grid-sample, its first block: against NumPy and SciPy, its gradient, masks."""

import numpy as np
import pytest
import torch
from scipy import ndimage
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as TF

from tests.chains.pasted import answer
from tests.helpers import load_snippet

snippet = load_snippet("tensors/rotate_images.py")


def paste(x):
    names = {"x": x}
    exec(answer("grid-sample"), names)
    return names["turned"], names["moved"]


def test_the_bar_goes_up_and_to_the_left():
    assert snippet.turned[0, 0].round().nonzero().tolist() == [[0, 3], [1, 3]]
    assert snippet.moved[0, 0].nonzero().tolist() == [[3, 2], [3, 3]]


@pytest.mark.parametrize("shape", [(2, 3, 8, 8), (3, 9, 9)], ids=str)
def test_it_is_rot90_for_a_batch_and_for_one_image(shape):
    x = torch.rand(shape)
    turned, moved = paste(x)
    torch.testing.assert_close(turned, x.rot90(dims=(-2, -1)), atol=1e-5, rtol=0)
    expected = ndimage.shift(x.numpy(), (*(0,) * (x.dim() - 2), 1, -2), order=0)
    np.testing.assert_allclose(moved, expected, atol=1e-5)


def test_the_image_has_a_gradient_and_uint8_stays_uint8():
    x = torch.rand(1, 1, 4, 4, requires_grad=True)
    paste(x)[0].sum().backward()
    torch.testing.assert_close(x.grad, torch.ones(1, 1, 4, 4), atol=1e-5, rtol=0)
    turned, _ = paste(torch.randint(256, (3, 5, 5), dtype=torch.uint8))
    assert turned.dtype == torch.uint8


def test_nearest_makes_no_new_classes():
    mask = torch.randint(2, (1, 30, 30)) * 7
    turned = TF.rotate(mask, 30, InterpolationMode.NEAREST)
    assert set(turned.unique().tolist()) == {0, 7}
    assert len(TF.rotate(mask.float(), 30, snippet.smooth).unique()) > 2
