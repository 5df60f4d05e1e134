"""dataset-mean-std: the sums against NumPy over all pixels at once."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "data/dataset_mean_std.py"
PAGE = "data/dataset-mean-std"
snippet = load_snippet(SNIPPET)


def on(loader) -> tuple[torch.Tensor, torch.Tensor]:
    """The loop of the snippet, over another loader."""
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    start, end = source.index("count, total"), source.index("print(")
    names = {"loader": loader}
    exec(source[start:end], names)
    return names["mean"], names["std"]


def test_its_own_data_against_numpy():
    pixels = snippet.images.numpy().astype(np.float64)
    np.testing.assert_allclose(snippet.mean, pixels.mean((0, 2, 3)), rtol=1e-12)
    np.testing.assert_allclose(snippet.std, pixels.std((0, 2, 3)), rtol=1e-10)
    assert snippet.images.min() >= 0
    assert snippet.images.max() <= 1


def test_the_mean_of_the_images_std_is_smaller():
    expected = snippet.images.numpy().std((2, 3), ddof=1).mean(0)
    np.testing.assert_allclose(snippet.wrong, expected, rtol=1e-5)
    assert (snippet.wrong < 0.9 * snippet.std).all()


@pytest.mark.parametrize("batch_size", [1, 7, 100])
@pytest.mark.parametrize("channels", [1, 4])
def test_any_batch_size_and_channels(batch_size, channels):
    x = np.random.default_rng(0).normal(3, 2, (20, channels, 5, 9))
    dataset = TensorDataset(torch.from_numpy(x), torch.zeros(20))
    mean, std = on(DataLoader(dataset, batch_size))
    np.testing.assert_allclose(mean, x.mean((0, 2, 3)), rtol=1e-10)
    np.testing.assert_allclose(std, x.std((0, 2, 3)), rtol=1e-8)


def test_images_of_different_sizes_one_by_one():
    sizes = [(3, 4, 5), (3, 2, 2)]
    images = [torch.rand(size, dtype=torch.float64) for size in sizes]
    pairs = [(image, 0) for image in images]
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        on(DataLoader(pairs, 2))
    mean, std = on(DataLoader(pairs, 1))
    pixels = torch.cat([image.flatten(1) for image in images], 1)
    torch.testing.assert_close(mean, pixels.mean(1))
    torch.testing.assert_close(std, pixels.std(1, correction=0))


def test_bright_images_in_float32_keep_their_std():
    x = 1000 + torch.rand(50, 1, 64, 64)
    mean, std = on([(x, None)])
    assert std.item() == pytest.approx(12**-0.5, rel=0.02)
    assert mean.dtype == torch.float64
    rough = (x.square().mean() - x.mean().square()).item()
    assert abs(rough - 1 / 12) > 0.01  # the same formula without float64


def test_normalized_images_have_mean_0_and_std_1():
    shape = (1, 3, 1, 1)
    x = (snippet.images - snippet.mean.view(shape)) / snippet.std.view(shape)
    mean, std = on([(x, None)])
    torch.testing.assert_close(mean, torch.zeros(3, dtype=torch.float64))
    torch.testing.assert_close(std, torch.ones(3, dtype=torch.float64))
