"""fixed-filters: against OpenCV and SciPy, borders, gradients, bad input."""

import cv2
import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import torch
from torch.nn import functional as F
from torchvision.transforms.v2 import functional as TF

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/fixed-filters"
images = torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def snippet():
    """The snippet; how tensors print is set back."""
    try:
        return load_snippet("tensors/fixed_filters.py")
    finally:
        torch.set_printoptions(profile="default")


def apply(kernel, padding="reflect"):
    """One kernel on each channel."""
    kernel = torch.as_tensor(kernel).to(images)
    r = len(kernel) // 2
    weight = kernel.expand(3, 1, *kernel.shape)
    return F.conv2d(F.pad(images, (r,) * 4, mode=padding), weight, groups=3)


def same(result, function, **tolerance):
    """Whether each channel of each image is what the function makes of it."""
    for n in range(2):
        for c in range(3):
            expected = function(images[n, c].numpy())
            np.testing.assert_allclose(result[n, c], expected, **tolerance)


def test_sobel_is_that_of_opencv(snippet):
    kernel = snippet.kernel
    same(apply(kernel), lambda x: cv2.Sobel(x, cv2.CV_32F, 1, 0, ksize=3), atol=1e-6)
    same(apply(kernel.T), lambda x: cv2.Sobel(x, cv2.CV_32F, 0, 1, ksize=3), atol=1e-6)
    assert torch.equal(snippet.weight.mT[2, 0], kernel.T)
    assert snippet.weight.shape == (3, 1, 3, 3)


def test_the_edge_of_the_snippet(snippet):
    row = torch.tensor([0.0, 0, 0, 4, 4, 0, 0, 0])
    assert torch.equal(snippet.dx, row.expand(2, 3, 8, 8))
    assert not snippet.dy.any()
    torch.testing.assert_close(snippet.edges, snippet.dx, atol=2e-6, rtol=0)
    expected = cv2.GaussianBlur(snippet.images[0, 0].numpy(), (5, 5), 1.0)
    np.testing.assert_allclose(snippet.blurred[1, 2], expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1, 5, 7), (2, 4, 9, 3), (4, 9, 3)], ids=str)
def test_the_answer_for_other_channels_and_its_gradient(shape):
    x = torch.rand(shape).requires_grad_()
    names = {"images": x}
    exec(answer("fixed-filters"), names)
    expected = x.detach().flatten(0, -3)[-1].numpy()
    expected = cv2.Sobel(expected, cv2.CV_32F, 0, 1, ksize=3)
    last = names["dy"].detach().flatten(0, -3)[-1]
    np.testing.assert_allclose(last, expected, atol=1e-6)
    (names["edges"] + names["blurred"]).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("name", ["uint8", "float16", "bfloat16", "float64"])
def test_the_answer_for_images_of_another_dtype(name):
    bytes_of = torch.randint(256, (2, 3, 7, 9))
    names = {"images": bytes_of.to(getattr(torch, name))}
    exec(answer("fixed-filters"), names)
    for channel, dx in zip(bytes_of[1], names["dx"][1], strict=True):
        image = channel.numpy().astype(np.uint8)
        np.testing.assert_array_equal(dx, cv2.Sobel(image, cv2.CV_32F, 1, 0, ksize=3))
    assert names["blurred"].dtype == names["images"].dtype


def test_the_gradient_is_finite_where_it_is_flat():
    dx = torch.zeros(3, requires_grad=True)
    assert torch.autograd.grad(dx.pow(2).sqrt().sum(), dx)[0].isnan().all()
    good = torch.autograd.grad((dx**2 + 1e-12).sqrt().sum(), dx)[0]
    assert good.tolist() == [0, 0, 0]


def test_blur_is_that_of_opencv_with_the_same_sigma():
    blurred = TF.gaussian_blur(images, [5, 5], [1.3, 1.3])
    same(blurred, lambda x: cv2.GaussianBlur(x, (5, 5), 1.3), atol=1e-6)
    r, sigma = 2, 1.3
    g = torch.exp(-(torch.arange(-r, r + 1.0) ** 2) / (2 * sigma**2))
    kernel = g[:, None] * g / g.sum() ** 2
    torch.testing.assert_close(apply(kernel), blurred)


def test_conv2d_does_not_flip_the_kernel():
    kernel = torch.arange(9.0).reshape(3, 3)
    same(apply(kernel), lambda x: cv2.filter2D(x, -1, kernel.numpy()), rtol=1e-5)
    k = kernel.numpy()
    same(
        apply(kernel), lambda x: scipy.ndimage.correlate(x, k, mode="mirror"), rtol=1e-5
    )
    zeros = apply(kernel.flip(0, 1), "constant")
    same(zeros, lambda x: scipy.signal.convolve2d(x, k, mode="same"), rtol=1e-5)


def test_zeros_make_an_edge(snippet):
    white = torch.ones(1, 1, 5, 5)
    weight = snippet.kernel[None, None]
    assert F.conv2d(white, weight, padding=1)[..., 0].abs().min() == 3
    assert not F.conv2d(F.pad(white, (1,) * 4, mode="reflect"), weight).any()


def test_without_groups_channels_are_added(snippet):
    weight = snippet.kernel.expand(1, 3, 3, 3)
    added = F.conv2d(snippet.padded, weight)
    torch.testing.assert_close(added, snippet.dx.sum(1, keepdim=True))


def test_other_kernels():
    laplacian = apply([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    same(laplacian, lambda x: cv2.Laplacian(x, cv2.CV_32F), atol=1e-6)
    sharp = apply([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
    torch.testing.assert_close(sharp, images - laplacian)
    mean = F.avg_pool2d(F.pad(images, (1,) * 4, mode="reflect"), 3, stride=1)
    same(mean, lambda x: cv2.blur(x, (3, 3)), rtol=1e-5)


def test_what_is_refused(snippet):
    kernel, integers = snippet.kernel, snippet.kernel.long()
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        F.conv2d(images, kernel[None, None])
    with raises_as_documented(PAGE, "RuntimeError: Given groups=3"):
        F.conv2d(images, kernel[None, None], groups=3)
    with raises_as_documented(PAGE, "RuntimeError: weight should have"):
        F.conv2d(images, kernel)
    with raises_as_documented(PAGE, "RuntimeError: Input type"):
        F.conv2d(images, integers.expand(3, 1, 3, 3), groups=3)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type D"):
        F.conv2d(images.double(), snippet.weight, groups=3)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type B"):
        F.conv2d((images * 255).byte(), snippet.weight, groups=3)
    assert snippet.kernel.long().byte()[0].tolist() == [255, 0, 1]
    with raises_as_documented(PAGE, "ValueError: kernel_size should"):
        TF.gaussian_blur(images, [4, 4])
