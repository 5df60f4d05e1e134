"""permute-dims: against NumPy's transpose and moveaxis, torchvision and a loop."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.transforms.v2 import functional as tvf

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/permute-dims"
snippet = load_snippet("tensors/permute_dims.py")


def test_numpy_moves_the_same_axes():
    images = np.arange(120).reshape(2, 4, 5, 3)
    np.testing.assert_array_equal(snippet.images, images)
    expected = images.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(snippet.x, expected)
    np.testing.assert_array_equal(snippet.same, np.moveaxis(images, -1, -3))
    np.testing.assert_array_equal(snippet.back, images)
    np.testing.assert_array_equal(snippet.swapped, expected.swapaxes(2, 3))
    np.testing.assert_array_equal(snippet.x.mT, snippet.swapped)
    for n, y, x, c in np.ndindex(images.shape):
        assert snippet.x[n, c, y, x] == images[n, y, x, c]


def test_the_answer_for_one_small_grey_image():
    names = {"images": torch.rand(1, 2, 3, 1).bfloat16()}
    exec(answer("permute-dims"), names)
    array = names["images"].float().numpy()
    np.testing.assert_array_equal(names["x"].float(), array.transpose(0, 3, 1, 2))
    assert torch.equal(names["same"], names["x"])
    assert torch.equal(names["back"], names["images"])
    assert names["swapped"].shape == (1, 1, 3, 2)


def test_movedim_needs_no_batch():
    image = snippet.images[0]
    assert torch.equal(image.movedim(-1, -3), image.permute(2, 0, 1))
    assert torch.equal(image.movedim(-1, -3), snippet.same[0])


def test_torchvision_sees_the_same_image():
    array = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    expected = tvf.pil_to_tensor(tvf.to_pil_image(array))
    assert torch.equal(torch.from_numpy(array).permute(2, 0, 1), expected)


def test_the_results_are_views_in_channels_last_format():
    for view in (snippet.x, snippet.same, snippet.back, snippet.swapped):
        assert view.data_ptr() == snippet.images.data_ptr()
    assert not snippet.x.is_contiguous()
    assert snippet.x.is_contiguous(memory_format=torch.channels_last)
    assert snippet.back.is_contiguous()


def test_the_printed_strides(capsys):
    load_snippet("tensors/permute_dims.py")
    printed = capsys.readouterr().out.strip()
    assert printed == "(60, 15, 3, 1) -> (60, 1, 15, 3) -> (60, 20, 5, 1)"


def test_reshape_garbles_the_picture():
    images = snippet.images
    garbled = images.reshape(2, 3, 4, 5)
    assert garbled.shape == snippet.x.shape
    assert not torch.equal(garbled, snippet.x)


def test_the_documented_errors_are_raised():
    batch = torch.zeros(2, 4, 5, 3)
    with raises_as_documented(PAGE, "RuntimeError: view size is"):
        batch.permute(0, 3, 1, 2).view(-1)
    with raises_as_documented(PAGE, "RuntimeError: permute(sparse_coo): number of"):
        batch.permute(2, 0, 1)
    with raises_as_documented(PAGE, "TypeError: transpose() takes 2"):
        batch[0].transpose(2, 0, 1)
    with raises_as_documented(PAGE, "RuntimeError: t() expects a"):
        batch[0].t()
    conv, image = nn.Conv2d(3, 8, 3), torch.zeros(32, 32, 3)
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1, weight"):
        conv(image[None])
    assert conv(image.movedim(-1, -3)).shape == (8, 30, 30)


def test_the_documented_warning():
    x = torch.zeros(2, 3, 4)
    torch.set_warn_always(True)  # else once per process
    try:
        with (
            warnings.catch_warnings(),
            raises_as_documented(PAGE, "UserWarning: The use of"),
        ):
            warnings.simplefilter("error")
            _ = x.T
    finally:
        torch.set_warn_always(False)
    assert x.mT.shape == (2, 4, 3)


@pytest.mark.parametrize(("dims", "undone"), [((2, 0, 1), (1, 2, 0))])
def test_the_way_back(dims, undone):
    x = torch.arange(24).reshape(2, 3, 4)
    y = x.permute(dims)
    assert y.shape == tuple(x.shape[d] for d in dims)
    assert torch.equal(y.permute(undone), x)
    assert y.permute(dims).shape != x.shape
    assert torch.equal(x.movedim(-1, -3).movedim(-3, -1), x)


def test_the_variants():
    x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert (x.shape, x.stride()) == ((2, 3, 4, 5), (60, 1, 15, 3))
    z = torch.tensor([[1 + 2j, 3j]])
    assert z.mH.tolist() == [[1 - 2j], [-3j]]
