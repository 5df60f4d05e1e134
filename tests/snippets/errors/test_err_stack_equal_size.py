"""err-stack-equal-size: hand-worked padding, sizes, and each message raised."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, default_collate
from torchvision import tv_tensors
from torchvision.transforms import v2

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "errors/err-stack-equal-size"
snippet = load_snippet("errors/err_stack_equal_size.py")


def test_sequences_are_padded_with_zeros_and_counted():
    batch = [(torch.tensor([5, 3]), 4), (torch.tensor([7, 2, 9]), 1)]
    padded, lengths, labels = snippet.pad_collate(batch)
    assert padded.tolist() == [[5, 3, 0], [7, 2, 9]]
    assert lengths.tolist() == [2, 3]
    assert labels.tolist() == [4, 1]


def test_sequences_of_features_keep_them():
    frames = [(torch.ones(4, 2), 0), (torch.ones(1, 2), 1)]  # (T, C)
    padded, lengths, _ = snippet.pad_collate(frames)
    assert padded.shape == (2, 4, 2)
    assert padded[1].sum(1).tolist() == [2, 0, 0, 0]
    assert lengths.tolist() == [4, 1]


def test_lists_and_arrays_are_padded_like_tensors():
    for kind in (list, np.array, torch.tensor):
        batch = [(kind([5, 3]), np.int64(4)), (kind([7, 2, 9]), torch.tensor(1))]
        padded, _, labels = snippet.pad_collate(batch)
        assert padded.tolist() == [[5, 3, 0], [7, 2, 9]]
        assert labels.tolist() == [4, 1]


def test_a_label_may_be_a_vector():
    for kind in (list, np.array, torch.tensor):
        batch = [([5, 3], kind([1.0, 0.0])), ([7], kind([0.0, 1.0]))]
        assert snippet.pad_collate(batch)[2].tolist() == [[1, 0], [0, 1]]


def test_audio_is_padded_once_its_time_comes_first():
    batch = [(torch.ones(2, t), 0) for t in (3, 5)]  # (C, T)
    with pytest.raises(RuntimeError, match="stack expects"):
        default_collate(batch)
    padded, lengths, _ = snippet.pad_collate([(x.T, label) for x, label in batch])
    assert padded.sum(2).tolist() == [[2, 2, 2, 0, 0], [2] * 5]
    assert lengths.tolist() == [3, 5]


def test_a_worker_pads_too():
    batch = [(torch.tensor([1]), 0), (torch.tensor([2, 3]), 1)]
    loader = DataLoader(batch, 2, collate_fn=snippet.pad_collate, num_workers=1)
    (padded, _, _), *rest = loader
    assert padded.tolist() == [[1, 0], [2, 3]]
    assert not rest


@pytest.mark.parametrize("size", [(300, 400), (400, 300), (100, 224), (224, 224)])
def test_resize_sets_both_sides(size):
    assert snippet.resize(torch.rand(3, *size)).shape == (3, 224, 224)


def test_one_number_sets_the_shorter_side_and_a_crop_mends_it():
    shapes = [v2.Resize(8)(torch.rand(3, 16, w)).shape[1:] for w in (16, 32)]
    assert shapes == [(8, 8), (8, 16)]
    both = v2.Compose([v2.Resize(8), v2.CenterCrop(8)])
    assert both(torch.rand(3, 16, 32)).shape == (3, 8, 8)


def test_a_mask_keeps_its_classes():
    mask = torch.tensor([[0, 9], [9, 0]]).repeat(150, 150)[None].to(torch.uint8)
    _, resized = snippet.resize(torch.rand(3, 300, 300), tv_tensors.Mask(mask))
    assert resized.shape == (1, 224, 224)
    assert set(resized.unique().tolist()) <= {0, 9}
    blurred = snippet.resize(mask)
    assert set(blurred.unique().tolist()) - {0, 9}


def test_unequal_images_raise():
    images = [torch.rand(3, 240, 320), torch.rand(3, 240, 300)]
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        default_collate(images)


def test_grey_among_colour_raises_and_rgb_mends_it():
    images = [torch.zeros(1, 4, 4), torch.zeros(3, 4, 4)]
    with pytest.raises(RuntimeError, match="stack expects"):
        default_collate(images)
    assert default_collate([v2.RGB()(i) for i in images]).shape == (2, 3, 4, 4)


def test_in_a_worker_a_smaller_second_sample_has_another_message():
    loader = DataLoader([torch.zeros(5), torch.zeros(3)], 2, num_workers=1)
    with pytest.raises(RuntimeError, match="Caught RuntimeError") as caught:
        next(iter(loader))
    last = str(caught.value).rstrip().splitlines()[-1]
    assert_documented(PAGE, "RuntimeError: Trying to resize", last)


def test_lists_of_unequal_lengths_raise():
    with raises_as_documented(PAGE, "RuntimeError: each element in list"):
        default_collate([[1, 2], [1]])


def test_detection_keeps_lists():
    samples = [(torch.zeros(3, 4, 4), torch.zeros(n, 4)) for n in (2, 5)]
    loader = DataLoader(samples, 2, collate_fn=lambda b: tuple(zip(*b, strict=True)))
    images, boxes = next(iter(loader))
    assert [len(b) for b in boxes] == [2, 5]
    assert len(images) == 2
