"""denormalize-show: the images come back, and the files hold the grid."""

import contextlib
import logging
import tempfile

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt
from PIL import Image
from torchvision.transforms import v2
from torchvision.utils import make_grid, save_image

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

mpl.use("Agg")
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    snippet = load_snippet("data/denormalize_show.py")  # it saves a picture
PAGE = "data/denormalize-show"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_the_images_come_back_channel_by_channel():
    mean, std = np.array(snippet.mean), np.array(snippet.std)
    batch = snippet.batch.permute(0, 2, 3, 1).numpy().astype(np.float64)
    expected = (batch * std + mean).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(snippet.images, expected, atol=1e-5)
    np.testing.assert_allclose(snippet.images, snippet.original, atol=1e-5)
    assert snippet.batch.min() < -1


def test_the_grid_has_two_rows_of_four():
    grid = snippet.grid
    assert grid.shape == (3, 2 * 34 + 2, 4 * 34 + 2)
    for i, image in enumerate(snippet.images.clamp(0, 1)):
        top, left = 2 + i // 4 * 34, 2 + i % 4 * 34
        assert torch.equal(grid[:, top : top + 32, left : left + 32], image)
    assert grid.min() >= 0
    assert grid.max() <= 1


def test_the_answer_alone(monkeypatch, tmp_path):
    """Five images of another size, in bfloat16; the file shows their colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", plt.close)  # a window is closed by hand
    red = torch.tensor([0.8, 0.2, 0.4]).view(3, 1, 1).expand(5, 3, 10, 20)
    names = {"mean": (0.5, 0.4, 0.3), "std": (0.1, 0.2, 0.3)}
    names["batch"] = v2.Normalize(names["mean"], names["std"])(red).bfloat16()
    exec(answer("denormalize-show"), names)
    torch.testing.assert_close(names["images"], red, atol=0.02, rtol=0)
    with Image.open("images.png") as figure:
        pixels = np.asarray(figure)[..., :3].reshape(-1, 3) / 255
    near = np.abs(pixels - [0.8, 0.2, 0.4]).max(1) < 0.03
    assert near.mean() > 0.05


def test_the_answer_for_grey_images(monkeypatch, tmp_path):
    """As MNIST: one channel, one mean, one std."""
    monkeypatch.chdir(tmp_path)
    original = torch.rand(3, 1, 28, 28)
    names = {"mean": (0.1307,), "std": (0.3081,)}
    names["batch"] = v2.Normalize(**names)(original)
    exec(answer("denormalize-show"), names)
    torch.testing.assert_close(names["images"], original)
    for channel in names["grid"]:
        torch.testing.assert_close(channel[2:30, 2:30], original[0, 0])


def test_after_the_window_is_closed_the_file_is_empty(tmp_path):
    plt.imshow(np.random.default_rng(0).random((8, 8, 3)))
    plt.close()  # as by hand, while plt.show() waits
    plt.savefig(tmp_path / "late.png")
    with Image.open(tmp_path / "late.png") as figure:
        assert np.asarray(figure)[..., :3].std() == 0


def test_the_inverse_as_a_transform():
    pairs = list(zip(snippet.mean, snippet.std, strict=True))
    inverse = v2.Normalize([-m / s for m, s in pairs], [1 / s for _, s in pairs])
    torch.testing.assert_close(inverse(snippet.batch), snippet.images)


def test_channels_first_are_refused():
    with raises_as_documented(PAGE, "TypeError: Invalid shape"):
        plt.imshow(torch.zeros(3, 40, 138).numpy())


def test_matplotlib_says_that_it_clips(caplog):
    with caplog.at_level(logging.WARNING, "matplotlib"):
        plt.imshow(snippet.batch[0].permute(1, 2, 0).numpy())
    assert "Clipping input data to the valid range for imshow" in caplog.text


def test_a_tensor_with_a_graph_is_refused():
    grid = torch.zeros(4, 4, 3, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        plt.imshow(grid.numpy())
    plt.imshow(grid.detach().numpy())


def test_the_range_is_not_the_original():
    stretched = make_grid(snippet.batch, normalize=True, padding=0)
    again = make_grid(snippet.images, padding=0)
    assert (stretched - again).abs().max() > 0.05


def test_save_image_makes_a_grid(tmp_path):
    save_image(snippet.images, tmp_path / "grid.png", nrow=4)
    with Image.open(tmp_path / "grid.png") as file:
        assert file.size == (138, 70)


def test_a_tensor_itself_makes_imshow_warn():
    with raises_as_documented(PAGE, "DeprecationWarning: __array__"):
        plt.imshow(torch.zeros(4, 4, 3))  # warnings are errors in tests
