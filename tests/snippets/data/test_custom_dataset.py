"""custom-dataset: samples against Pillow and NumPy; the messages of a wrong class."""

from itertools import islice

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torchvision import tv_tensors
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/custom_dataset.py")
PAGE = "data/custom-dataset"


@pytest.fixture
def samples(tmp_path):
    values = np.random.default_rng(0).integers(256, size=(5, 6, 8, 3), dtype=np.uint8)
    for i, pixels in enumerate(values):
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
    return values, [(tmp_path / f"{i}.png", i % 2) for i in range(5)]


def test_samples_are_the_files(samples):
    pixels, pairs = samples
    dataset = snippet.ImageDataset(pairs, v2.ToImage())
    assert isinstance(dataset, Dataset)
    assert len(dataset) == 5
    for i, (path, label) in enumerate(pairs):
        image, given = dataset[i]
        np.testing.assert_array_equal(image.permute(1, 2, 0).numpy(), pixels[i])
        assert (path, given) == (pairs[i][0], label)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_sees_every_sample_once(samples, num_workers):
    pixels, pairs = samples
    dataset = snippet.ImageDataset(pairs, v2.ToImage())
    loader = DataLoader(dataset, 2, shuffle=True, num_workers=num_workers)
    batches = list(loader)
    assert [len(labels) for _, labels in batches] == [2, 2, 1]
    means = torch.cat([images.double().mean((1, 2, 3)) for images, _ in batches])
    expected = pixels.mean((1, 2, 3))
    np.testing.assert_allclose(sorted(means.tolist()), sorted(expected))
    assert sum(labels.sum().item() for _, labels in batches) == 2


def test_no_file_is_read_before_it_is_asked_for():
    dataset = snippet.ImageDataset([("nowhere.png", 0)], v2.ToImage())
    assert len(dataset) == 1
    with pytest.raises(FileNotFoundError):
        dataset[0]


def test_an_empty_list(samples):
    empty = snippet.ImageDataset([], v2.ToImage())
    with raises_as_documented(PAGE, "ValueError: num_samples"):
        DataLoader(empty, shuffle=True)
    assert list(DataLoader(empty)) == []


def test_missing_methods():
    methods = {"__getitem__": lambda self, index: index}
    without_len = type("ImageDataset", (Dataset,), methods)()
    with raises_as_documented(PAGE, "TypeError: object of type"):
        DataLoader(without_len, shuffle=True)
    assert len(list(islice(without_len, 1000))) == 1000  # a loop over it never ends
    with raises_as_documented(PAGE, "NotImplementedError: Subclasses"):
        Dataset()[0]


def test_a_list_ends_the_loop_over_a_dataset(samples):
    assert len(list(snippet.ImageDataset(samples[1], v2.ToImage()))) == 5


def test_the_other_messages(samples):
    pairs = samples[1]
    misspelt = {"_init_": snippet.ImageDataset.__init__}
    with raises_as_documented(PAGE, "TypeError: ImageDataset() takes no"):
        type("ImageDataset", (Dataset,), misspelt)(pairs)
    too_long = snippet.ImageDataset(pairs, v2.ToImage())
    type(too_long).__len__, kept = lambda self: 9, type(too_long).__len__
    try:
        with raises_as_documented(PAGE, "IndexError: list index"):
            list(DataLoader(too_long))
    finally:
        type(too_long).__len__ = kept
    with raises_as_documented(PAGE, "TypeError: default_collate"):
        list(DataLoader([Image.new("RGB", (2, 2))]))
    sizes = [torch.zeros(3, 4, 5), torch.zeros(3, 4, 6)]
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        list(DataLoader(sizes, 2))


def test_image_and_mask_are_cropped_alike():
    image = torch.arange(64, dtype=torch.uint8).view(1, 8, 8)
    crop = v2.RandomCrop(3)
    cut, mask = crop(tv_tensors.Image(image), tv_tensors.Mask(image[0]))
    assert torch.equal(cut[0].as_subclass(torch.Tensor), mask.as_subclass(torch.Tensor))


def test_inputs_and_labels_of_different_length():
    with raises_as_documented(PAGE, "AssertionError: Size mismatch"):
        TensorDataset(torch.zeros(4, 2), torch.zeros(3))
