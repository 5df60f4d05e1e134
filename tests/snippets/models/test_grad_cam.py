"""grad-cam: against class activation maps in NumPy; each pitfall."""

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.models import VisionTransformer

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/grad-cam"
grad_cam = load_snippet("models/grad_cam.py").grad_cam


def network(classes: int = 3) -> nn.Sequential:
    """Convolution, mean over the positions, linear: where CAM needs no gradient."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU()),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, classes),
    ).eval()


def by_hand(model, image: torch.Tensor, wanted: int) -> np.ndarray:
    """The maps weighted by the linear layer, which is what the gradient gives."""
    with torch.no_grad():
        maps = model[0](image[None])[0].double().numpy()
    weights = model[3].weight[wanted].detach().double().numpy()
    cam = np.maximum(sum(w * m for w, m in zip(weights, maps, strict=True)), 0)
    return cam / cam.max() if cam.max() > 0 else cam


@pytest.mark.parametrize("classes", [[0, 1], [2, 2]])
def test_it_is_cam_where_cam_is_defined(classes):
    model, images = network(), torch.randn(2, 1, 6, 5)
    cam = grad_cam(model, model[0], images, torch.tensor(classes))
    assert cam.shape == (2, 6, 5)
    for found, image, wanted in zip(cam, images, classes, strict=True):
        np.testing.assert_allclose(found, by_hand(model, image, wanted), atol=1e-5)


def test_without_classes_those_predicted():
    model, images = network(), torch.randn(4, 1, 6, 6)
    predicted = model(images).argmax(1)
    expected = grad_cam(model, model[0], images, predicted)
    torch.testing.assert_close(grad_cam(model, model[0], images), expected)


def test_small_maps_are_enlarged():
    model, images = network(), torch.randn(1, 1, 8, 8)
    model[0].append(nn.AvgPool2d(4))
    small = by_hand(model, images[0], 1)
    assert small.shape == (2, 2)
    cam = grad_cam(model, model[0], images, torch.tensor([1]))[0].numpy()
    # Bilinear, with pixels as areas: the corners keep the values.
    corners = cam[[0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_allclose(corners * small.max(), small.ravel(), atol=1e-5)
    assert cam.shape == (8, 8)


def test_frozen_or_without_gradients_it_still_works():
    model, images = network(), torch.randn(1, 1, 6, 6)
    expected = grad_cam(model, model[0], images)
    model.requires_grad_(False)
    with torch.no_grad():
        torch.testing.assert_close(grad_cam(model, model[0], images), expected)


def test_frozen_batchnorm_and_a_layer_that_overwrites_its_input():
    """As in DenseNet, a ReLU in place follows the layer that is looked at."""
    torch.manual_seed(0)
    block = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4))
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
    model, images = (
        nn.Sequential(block, nn.ReLU(inplace=True), *head),
        torch.randn(2, 1, 6, 6),
    )
    classes = torch.tensor([0, 1])
    found = grad_cam(model.eval(), model[0], images, classes)
    expected = grad_cam(model, model[1], images, classes)
    torch.testing.assert_close(found, expected)


def test_bfloat16():
    model, images = network(), torch.randn(2, 1, 6, 6)
    classes = torch.tensor([0, 1])
    expected = grad_cam(model, model[0], images, classes)
    found = grad_cam(model.bfloat16(), model[0], images.bfloat16(), classes)
    assert found.dtype == torch.float32  # NumPy has no bfloat16
    torch.testing.assert_close(found, expected, rtol=0.1, atol=0.1)


def test_one_image_does_not_change_the_map_of_another():
    model, images = network(), torch.randn(3, 1, 6, 6)
    together = grad_cam(model, model[0], images)
    torch.testing.assert_close(grad_cam(model, model[0], images[:1]), together[:1])


def test_nothing_is_left_behind():
    model, images = network(), torch.randn(1, 1, 6, 6)
    cam = grad_cam(model, model[0], images)
    assert not cam.requires_grad
    assert not images.requires_grad
    assert not model[0]._forward_hooks
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_nothing_speaks_for_the_class(dtype):
    """In float16, the smallest divisor would be 0, and the map NaN."""
    model = network().to(dtype)
    with torch.no_grad():
        model[3].weight.fill_(-1)
    images = torch.randn(1, 1, 6, 6, dtype=dtype)
    assert not grad_cam(model, model[0], images).any()


def test_a_layer_without_positions():
    model = network()
    with raises_as_documented(PAGE, "IndexError: Dimension out of range"):
        grad_cam(model, model[3], torch.randn(1, 1, 6, 6))


def test_a_layer_that_is_not_called():
    with raises_as_documented(PAGE, "KeyError: 'maps'"):
        grad_cam(network(), nn.Conv2d(1, 4, 3), torch.randn(1, 1, 6, 6))


def test_softmax_flattens_the_gradient():
    """Of a class that is certain, the probability hardly moves."""
    scores = torch.tensor([[40.0, 0.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(scores.softmax(1)[0, 0], scores)
    assert gradient.abs().max() < 1e-6


def test_the_layer_of_a_vision_transformer():
    """After the last block only the class token counts; before it, all patches do."""
    model = VisionTransformer(16, 8, 1, 2, 8, 16, num_classes=3).eval()
    nn.init.normal_(model.heads.head.weight)
    block, kept = model.encoder.layers[-1], {}
    block.register_forward_hook(lambda m, a, output: kept.update(after=output))
    block.ln_1.register_forward_hook(lambda m, a, output: kept.update(before=output))
    score = model(torch.randn(2, 3, 16, 16))[:, 0].sum()
    after, before = torch.autograd.grad(score, [kept["after"], kept["before"]])
    assert not after[:, 1:].any()
    assert before[:, 1:].any()
    maps = before[:, 1:].transpose(1, 2).unflatten(2, (2, 2))
    assert torch.equal(maps[1, :, 1, 0], before[1, 1 + 2])
