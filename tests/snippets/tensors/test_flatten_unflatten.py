"""flatten-unflatten: against NumPy and frames one by one; what is refused."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/flatten-unflatten"
snippet = load_snippet("tensors/flatten_unflatten.py")


def test_the_order_is_that_of_numpy():
    images = snippet.images.numpy()
    assert images.shape == (4, 3, 8, 8)
    vectors = [image.ravel() for image in images]
    np.testing.assert_array_equal(snippet.vectors, vectors)
    rows = [[channel.ravel() for channel in image] for image in images]
    np.testing.assert_array_equal(snippet.pixels, rows)
    np.testing.assert_array_equal(snippet.back, images)


def test_the_layer_keeps_the_batch_and_the_function_does_not():
    x = snippet.images
    linear = snippet.model[1]
    torch.testing.assert_close(snippet.model(x), linear(x.reshape(4, -1)))
    assert nn.Flatten()(x).shape == (4, 192)
    assert torch.flatten(x).shape == x.flatten().shape == (768,)
    with pytest.raises(RuntimeError, match=r"\(1x768 and 192x10\)"):
        linear(torch.flatten(x))
    assert x.flatten(1, 2).shape == (4, 24, 8)


def test_every_frame_goes_through_the_layer():
    assert snippet.video.shape == (2, 5, 3, 8, 8)
    for b, t in np.ndindex(2, 5):
        alone = snippet.conv(snippet.video[b, t][None])[0]
        torch.testing.assert_close(snippet.features[b, t], alone)


@pytest.mark.parametrize("shape", [(1, 3, 8, 8), (2, 5), (4, 1, 7), (0, 3, 2)])
def test_the_answer_for_other_shapes(shape):
    names = {"images": torch.rand(shape)}
    exec(answer("flatten-unflatten"), names)
    assert names["vectors"].shape == (shape[0], math.prod(shape[1:]))
    assert torch.equal(names["back"], names["images"])


def test_one_image_needs_a_batch():
    image = snippet.images[0]
    assert nn.Flatten()(image).shape == (3, 64)
    with pytest.raises(RuntimeError, match=r"\(3x64 and 192x10\)"):
        snippet.model(image)
    scores = snippet.model(image[None])
    torch.testing.assert_close(scores, snippet.model(snippet.images)[:1])


def test_the_order_of_keras():
    x = snippet.images
    keras = np.stack([image.transpose(1, 2, 0).ravel() for image in x.numpy()])
    np.testing.assert_array_equal(x.permute(0, 2, 3, 1).flatten(1), keras)


def test_sizes_that_do_not_fit_and_those_that_do():
    vectors, images = snippet.vectors, snippet.images
    with raises_as_documented(PAGE, "RuntimeError: unflatten: Provided"):
        vectors.unflatten(1, (3, 8, 7))
    assert torch.equal(vectors.unflatten(1, images.shape[1:]), images)
    assert torch.equal(vectors.unflatten(1, (3, -1, 8)), images)
    assert torch.equal(nn.Unflatten(1, (3, 8, 8))(vectors), images)


def test_what_is_refused():
    x = snippet.images
    with raises_as_documented(PAGE, "AttributeError: 'Flatten' object"):
        nn.Flatten(x).shape  # noqa: B018
    with raises_as_documented(PAGE, "TypeError: torch._VariableFunctionsClass"):
        nn.Sequential(torch.flatten)
    with raises_as_documented(PAGE, "TypeError: torch.nn.modules.flatten"):
        nn.Sequential(nn.Flatten)
    with raises_as_documented(PAGE, "TypeError: flatten()"):
        torch.flatten([x, x])
    with raises_as_documented(PAGE, "IndexError: Dimension out"):
        torch.zeros(4).flatten(1)


def test_variants():
    layer = nn.Sequential(nn.Flatten(), nn.LazyLinear(10))
    assert layer(snippet.images).shape == (4, 10)
    assert layer[1].in_features == 192
    assert nn.Linear(5, 7)(torch.zeros(2, 3, 5)).shape == (2, 3, 7)
    tensors = [torch.ones(2, 2), torch.zeros(3)]
    assert torch.cat([t.flatten() for t in tensors]).tolist() == [1] * 4 + [0] * 3
    linear = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(linear.parameters())
    assert vector.tolist() == [*linear.weight[0].tolist(), linear.bias.item()]
    nn.utils.vector_to_parameters(torch.arange(3.0), linear.parameters())
    assert linear.weight.tolist() == [[0, 1]]
    assert linear.bias.item() == 2
