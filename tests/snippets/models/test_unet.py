"""unet: written out step by step, any size, what the loss takes and refuses."""

import runpy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.ops import Conv3dNormActivation

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "models/unet"
SNIPPET = "models/unet.py"
ANSWER = recipes()["unet"].answer
snippet = load_snippet(SNIPPET)
WIDTHS = (4, 6, 8)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return snippet.UNet(3, 5, WIDTHS)


def conv_bn_relu(x, layer):
    """Convolution, BatchNorm of the batch and ReLU, from the weights alone."""
    conv, norm, _ = layer
    assert conv.bias is None
    y = F.conv2d(x, conv.weight, padding=1)
    mean = y.mean((0, 2, 3), keepdim=True)
    var = y.var((0, 2, 3), keepdim=True, correction=0)
    y = (y - mean) / (var + norm.eps).sqrt()
    return (y * norm.weight.view(-1, 1, 1) + norm.bias.view(-1, 1, 1)).clamp(min=0)


def twice(x, layers):
    for layer in layers:
        x = conv_bn_relu(x, layer)
    return x


def test_it_is_the_network_step_by_step(model):
    x = torch.randn(2, 3, 8, 12)
    for norm in model.modules():
        if isinstance(norm, nn.BatchNorm2d):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
    a = twice(x, model.stem)
    b = twice(F.max_pool2d(a, 2), model.downs[0])
    c = twice(F.max_pool2d(b, 2), model.downs[1])
    up = F.conv_transpose2d(c, model.ups[1].weight, model.ups[1].bias, stride=2)
    b = twice(torch.cat((b, up), 1), model.convs[1])
    up = F.conv_transpose2d(b, model.ups[0].weight, model.ups[0].bias, stride=2)
    a = twice(torch.cat((a, up), 1), model.convs[0])
    expected = F.conv2d(a, model.head.weight, model.head.bias)
    torch.testing.assert_close(model(x), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("size", [(8, 8), (7, 9), (13, 30), (4, 5), (31, 17)])
def test_any_size(model, size):
    assert model.eval()(torch.rand(1, 3, *size)).shape == (1, 5, *size)


def test_widths_and_channels():
    model = snippet.UNet(1, 2)
    assert [up.in_channels for up in model.ups] == [64, 128, 256]
    assert [up.out_channels for up in model.ups] == [32, 64, 128]
    assert model.stem[0][0].weight.shape == (32, 1, 3, 3)


def test_every_weight_learns(model):
    x, masks = torch.rand(2, 3, 9, 9), torch.randint(5, (2, 9, 9))
    F.cross_entropy(model(x), masks).backward()
    assert all(p.grad.abs().sum() > 0 for p in model.head.parameters())
    for name, p in model.named_parameters():
        assert p.grad is not None, name


def test_the_demonstration(capsys):
    run = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out == "(2, 2, 50, 75) (2, 50, 75)\n"
    by_hand = run["logits"].log_softmax(1).gather(1, run["masks"][:, None])
    torch.testing.assert_close(run["loss"], -by_hand.mean())
    share = run["masks"].double().mean().item()
    assert 0.3 < share < 0.7
    assert run["masks"].dtype == torch.int64
    assert run["predicted"].dtype == torch.int64
    assert run["model"].head.weight.grad is not None


def test_the_answer_on_photos_of_an_odd_size():
    images, masks = torch.rand(1, 3, 37, 51), torch.randint(2, (1, 37, 51))
    names = {"UNet": snippet.UNet, "images": images, "masks": masks}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    assert names["predicted"].shape == masks.shape
    wrong = names["logits"].softmax(1).gather(1, masks[:, None]).log().mean()
    torch.testing.assert_close(names["loss"], -wrong)
    names["loss"].backward()


def test_another_dtype_and_device():
    model = snippet.UNet(3, 2, WIDTHS).bfloat16()
    assert model(torch.rand(2, 3, 9, 9).bfloat16()).dtype == torch.bfloat16
    model = snippet.UNet(3, 2, WIDTHS).to("meta")
    assert model(torch.rand(2, 3, 9, 9, device="meta")).is_meta


def test_messages(model):
    logits, skip = torch.rand(2, 3, 8, 8), torch.rand(1, 4, 7, 7)
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors"):
        torch.cat((skip, torch.rand(1, 4, 6, 6)), 1)
    masks = torch.zeros(2, 1, 8, 8)
    with raises_as_documented(PAGE, "RuntimeError: only batches"):
        F.cross_entropy(logits, masks.long())
    with raises_as_documented(PAGE, "IndexError: Target 255"):
        F.cross_entropy(logits, torch.full((2, 8, 8), 255))
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        F.cross_entropy(logits, masks[:, 0])
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Long"):
        F.cross_entropy(logits, masks[:, 0].byte())
    with raises_as_documented(PAGE, "RuntimeError: Given input size"):
        snippet.UNet(3, 2).eval()(torch.rand(1, 3, 7, 7))
    assert F.cross_entropy(logits, masks.squeeze(1).long()) > 0
    ignored = torch.full((2, 8, 8), 255)
    ignored[:, 0] = 1
    loss = F.cross_entropy(logits, ignored, ignore_index=255)
    expected = F.cross_entropy(logits[:, :, :1], ignored[:, :1])
    torch.testing.assert_close(loss, expected)


def test_one_channel():
    logits, masks = torch.randn(2, 1, 8, 8), torch.randint(2, (2, 8, 8))
    assert F.cross_entropy(logits, masks * 0) == 0
    binary = F.binary_cross_entropy_with_logits(logits.squeeze(1), masks.float())
    two = torch.cat((torch.zeros_like(logits), logits), 1)
    torch.testing.assert_close(binary, F.cross_entropy(two, masks))
    assert torch.equal((logits > 0)[:, 0], two.argmax(1).bool())


def test_other_layers_are_resized():
    x, skip = torch.rand(1, 4, 6, 6), torch.rand(1, 4, 7, 7)
    assert F.interpolate(x, size=skip.shape[2:]).shape == skip.shape
    assert Conv3dNormActivation(1, 2)(torch.rand(2, 1, 4, 4, 4)).shape[1] == 2
