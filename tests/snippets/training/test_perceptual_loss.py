"""perceptual-loss: layer by layer from the weights, the gradient, the traps."""

import inspect
import runpy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import VGG16_Weights

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "training/perceptual-loss"
SNIPPET = "training/perceptual_loss.py"
snippet = load_snippet(SNIPPET)
KINDS = "CRCRMCRCRMCRCRCRMCRCRCRM"  # of VGG16: Conv, ReLU, Max pooling


@pytest.fixture
def vgg(monkeypatch):
    """Return the layers of VGG16, with 8 channels instead of 64 to 256."""
    torch.manual_seed(0)
    layers, channels = [], 3
    for kind in KINDS:
        if kind == "C":
            layers.append(nn.Conv2d(channels, 8, 3, padding=1))
            channels = 8
        else:
            layers.append(nn.ReLU(inplace=True) if kind == "R" else nn.MaxPool2d(2))
    network = nn.Module()
    network.features = nn.Sequential(*layers)
    monkeypatch.setattr(snippet, "vgg16", lambda weights: network)
    return snippet.make_vgg(None)


@pytest.fixture
def images():
    return torch.rand(2, 2, 3, 16, 16, generator=torch.Generator().manual_seed(1))


def features(vgg, x):
    mean = torch.tensor(VGG16_Weights.DEFAULT.transforms().mean).view(3, 1, 1)
    std = torch.tensor(VGG16_Weights.DEFAULT.transforms().std).view(3, 1, 1)
    x = (x - mean) / std
    for kind, layer in zip(KINDS, vgg, strict=False):
        if kind == "C":
            x = F.conv2d(x, layer.weight, layer.bias, padding=1)
        else:
            x = x.clamp(min=0) if kind == "R" else F.max_pool2d(x, 2)
    return x


def test_the_loss_layer_by_layer(vgg, images):
    a, b = (features(vgg, x) for x in images)
    expected = np.square((a - b).numpy()).mean()
    loss = snippet.perceptual_loss(vgg, *images)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    assert snippet.perceptual_loss(vgg, images[0], images[0]) == 0
    assert a.shape == (2, 8, 4, 4)


def test_frozen_and_pretrained_by_default(vgg):
    assert len(vgg) == 16
    assert not vgg.training
    assert not any(p.requires_grad for p in vgg.parameters())
    assert (
        inspect.signature(snippet.make_vgg).parameters["weights"].default == "DEFAULT"
    )


def test_the_gradient_reaches_the_images(vgg, images):
    pred = images[0].clone().requires_grad_()
    snippet.perceptual_loss(vgg, pred, images[1]).backward()
    assert pred.grad.abs().sum() > 0
    assert all(p.grad is None for p in vgg.parameters())


def test_the_images_are_left_as_they_are(vgg, images):
    kept = images.clone()
    snippet.perceptual_loss(vgg, *images)
    assert torch.equal(images, kept)


def test_gram_in_numpy(images):
    f = images[0].numpy()
    expected = np.einsum("nchw,ndhw->ncd", f, f) / (3 * 16 * 16)
    np.testing.assert_allclose(snippet.gram(images[0]), expected, rtol=1e-5)
    mirrored = images[0].flip(-1)  # the style does not know where
    torch.testing.assert_close(snippet.gram(mirrored), snippet.gram(images[0]))


def test_the_demonstration_uses_vgg16(capsys):
    run = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out.endswith("(1, 256, 256)\n")
    kinds = "".join(type(layer).__name__[0] for layer in run["vgg"])
    assert kinds == KINDS[:16]


def test_several_layers(vgg, images):
    a, b = images
    loss = 0
    for block in (vgg[:4], vgg[4:9], vgg[9:16]):
        a, b = block(a), block(b)
        loss = loss + F.mse_loss(a, b)
    torch.testing.assert_close(b, vgg(images[1]))
    assert loss > F.mse_loss(a, b)


def test_messages(vgg, images):
    pred = images[0].clone().requires_grad_()
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        snippet.perceptual_loss(vgg, pred.detach(), images[1]).backward()
    with torch.no_grad():
        b = vgg(images[1])
    F.mse_loss(vgg(pred), b).backward()
    wide = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(inplace=True))
    x, loss = torch.rand(1, 3, 32, 32), 0
    y = torch.rand(1, 64, 32, 32)
    wide.append(nn.Conv2d(64, 64, 3, padding=1)).append(nn.ReLU(inplace=True))
    for layer in wide:
        x = layer(x)
        if isinstance(layer, nn.Conv2d):
            loss = loss + F.mse_loss(x, y)
    with raises_as_documented(PAGE, "RuntimeError: one of the variables"):
        loss.backward()

    kept = []
    wide[0].register_forward_hook(lambda *call: kept.append(call[2]))
    x = torch.rand(1, 3, 32, 32)
    wide(x)
    expected = F.conv2d(x, wide[0].weight, wide[0].bias, padding=1).relu()
    torch.testing.assert_close(kept[0], expected)  # not the convolution's
    kept[0].sum().backward()  # and no error


def test_greyscale(vgg):
    grey = torch.rand(1, 1, 16, 16).expand(-1, 3, -1, -1)
    assert snippet.perceptual_loss(vgg, grey, grey) == 0
