"""batch-dimension: a sample alone and in a batch; each shape of the table."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/batch-dimension"
ANSWER = recipes()["batch-dimension"].answer


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 5, 9)])
def test_a_sample_has_the_same_scores_alone_and_in_a_batch(shape):
    image = torch.rand(shape)
    model = nn.Sequential(nn.Conv2d(shape[0], 4, 3), nn.Flatten(), nn.LazyLinear(10))
    names = {"model": model, "image": image, "images": [image, image.flip(-1)]}
    exec(ANSWER.text, names)
    assert names["batch"].shape == (1, *shape)
    assert names["scores"].shape == (10,)
    np.testing.assert_array_equal(names["several"][1], image.numpy()[..., ::-1])
    torch.testing.assert_close(model(names["several"])[0], names["scores"])


def test_the_demonstration():
    found = load_snippet("tensors/batch_dimension.py")
    assert found.photo.shape == (1, 3, 32, 32)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Linear(7, 1), (4, 7)),
        (nn.LSTM(7, 2, batch_first=True), (4, 5, 7)),
        (nn.Conv1d(2, 1, 3), (4, 2, 100)),
        (nn.Conv3d(3, 1, 3), (4, 3, 5, 8, 8)),
    ],
)
def test_the_shapes_of_the_table(layer, shape):
    x = torch.rand(shape)
    result = layer(x)
    result = result[0] if isinstance(result, tuple) else result
    one = layer(x[1:2])
    one = one[0] if isinstance(one, tuple) else one
    torch.testing.assert_close(result[1:2], one)


def test_the_pitfalls():
    assert nn.Flatten()(torch.rand(3, 8, 8)).shape == (3, 64)
    assert torch.rand(1, 1, 4, 4).squeeze().shape == (4, 4)
    assert torch.rand(1, 1, 4, 4).squeeze(0).shape == (1, 4, 4)
    assert [len(part) for part in torch.arange(120).split(32)][-1] == 24


def test_batch_norm_alone_looks_at_the_whole_batch():
    x, norm = torch.rand(4, 3, 5, 5), nn.BatchNorm2d(3)
    assert not torch.allclose(norm(x)[:1], norm(x[:1]))
    norm.eval()
    torch.testing.assert_close(norm(x)[:1], norm(x[:1]))


def test_the_messages():
    with raises_as_documented(PAGE, "RuntimeError: Expected 3D (unbatched) or 4D"):
        nn.Conv2d(3, 8, 3)(torch.rand(32, 32))
    with raises_as_documented(PAGE, "ValueError: expected 4D input"):
        nn.BatchNorm2d(3)(torch.rand(3, 4, 4))
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        nn.Conv2d(3, 8, 3)(torch.rand(1, 32, 32, 3))
