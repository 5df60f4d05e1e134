"""test-time-augmentation: against NumPy; a mirror image gets the same prediction."""

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.transforms import v2

from tests.helpers import load_snippet


@pytest.fixture(scope="module")
def snippet():
    return load_snippet("evaluation/test_time_augmentation.py")


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def outputs(model, x):
    with torch.no_grad():
        return model(x.clone()).double().numpy()


def test_the_mean_of_the_probabilities(snippet):
    x = snippet.x
    mirrored = torch.from_numpy(x.numpy()[:, :, :, ::-1].copy())
    logits = [outputs(snippet.model, v) for v in (x, mirrored)]
    expected = sum(softmax(one, 1) for one in logits) / 2
    np.testing.assert_allclose(snippet.probs.numpy(), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(snippet.predicted.numpy(), expected.argmax(1))
    assert not np.allclose(softmax(logits[0], 1), expected, atol=1e-4)
    assert not snippet.model.training
    assert not snippet.probs.requires_grad


def test_one_larger_batch(snippet):
    views = [snippet.x.clone(), snippet.x.flip(-1)]
    with torch.no_grad():
        probs = snippet.model(torch.cat(views)).softmax(1)
    mean = probs.unflatten(0, (len(views), -1)).mean(0)
    torch.testing.assert_close(mean, snippet.probs.clone())


def test_ten_crops():
    x = torch.rand(2, 3, 8, 8)
    crops = v2.functional.ten_crop(x, 6)
    assert [tuple(crop.shape) for crop in crops] == 10 * [(2, 3, 6, 6)]
    assert torch.equal(crops[0], x[..., :6, :6])
    assert torch.equal(crops[4], x[..., 1:7, 1:7])
    assert all(torch.equal(crops[5 + i], x.flip(-1)[..., *at]) for i, at in CORNERS)


CORNERS = [
    (0, (slice(0, 6), slice(0, 6))),
    (1, (slice(0, 6), slice(2, 8))),
    (2, (slice(2, 8), slice(0, 6))),
    (3, (slice(2, 8), slice(2, 8))),
    (4, (slice(1, 7), slice(1, 7))),
]


def test_boxes_of_a_mirror_image():
    W = 10
    image = torch.zeros(6, W)
    image[2:4, 1:5] = 1
    rows, columns = image.flip(-1).nonzero().unbind(1)
    corners = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    boxes = torch.stack(corners)[None]
    boxes[:, [0, 2]] = W - boxes[:, [2, 0]]
    assert boxes.tolist() == [[1, 2, 5, 4]]


def test_logits_and_probabilities_may_choose_another_class():
    logits = torch.tensor([[4.0, 0.0, 3.0], [-9.0, 0.0, -0.5]])
    assert logits.softmax(1).mean(0).argmax() != logits.mean(0).argmax()


def test_one_logit_needs_a_sigmoid():
    logits = torch.tensor([[-3.0], [3.0]])
    assert logits.softmax(1).tolist() == [[1], [1]]
    assert (logits.sigmoid() > 0.5).tolist() == [[False], [True]]


def test_the_printed_gain(snippet):
    with torch.no_grad():
        plain = (snippet.model(snippet.x).argmax(1) == snippet.y).float().mean()
    assert (snippet.predicted == snippet.y).float().mean() > plain + 0.05


def test_batchnorm_is_not_moved():
    model = nn.Sequential(nn.BatchNorm2d(3)).eval()
    model(torch.rand(2, 3, 4, 4).flip(-1))
    assert model[0].num_batches_tracked == 0
