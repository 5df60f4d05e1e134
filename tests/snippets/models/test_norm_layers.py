"""norm-layers: each layer against NumPy, over the axes of the table."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.models.convnext import LayerNorm2d

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/norm-layers"
snippet = load_snippet("models/norm_layers.py")
images = torch.randn(4, 8, 5, 6) * 2 + 3


def normalised(x, axes):
    x = x.double().numpy()
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5)


def close(y, wanted):
    np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=1e-4, atol=1e-4)


def test_batchnorm():
    close(nn.BatchNorm2d(8)(images), normalised(images, (0, 2, 3)))
    x = snippet.images
    close(snippet.bn.train()(x), normalised(x, (0, 2, 3)))


def test_update_bn_computes_the_averages_anew():
    model = nn.Sequential(nn.BatchNorm2d(8))
    torch.optim.swa_utils.update_bn([images[:2], images[2:]], model)
    mean = model[0].running_mean.numpy()
    np.testing.assert_allclose(mean, images.numpy().mean((0, 2, 3)), rtol=1e-4)
    batch = Mock()
    batch.to.return_value = images
    torch.optim.swa_utils.update_bn([[batch, "labels"]], model, "cuda")
    batch.to.assert_called_once_with("cuda")  # where the model is


def test_groupnorm():
    x = snippet.images
    wanted = normalised(x.view(8, 8, 4, 14, 14), (2, 3, 4)).reshape(x.shape)
    close(snippet.gn(x), wanted)


def test_instancenorm_has_no_weights():
    layer = nn.InstanceNorm2d(8)
    close(layer(images), normalised(images, (2, 3)))
    assert list(layer.parameters()) == []
    assert len(list(nn.InstanceNorm2d(8, affine=True).parameters())) == 2


def test_layernorm():
    close(snippet.ln(snippet.tokens), normalised(snippet.tokens, (2,)))


def test_layernorm_of_images():
    ln = nn.LayerNorm(8)
    y = ln(images.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    close(y, normalised(images, (1,)))
    close(LayerNorm2d(8)(images), normalised(images, (1,)))
    close(nn.GroupNorm(1, 8)(images), normalised(images, (1, 2, 3)))
    close(snippet.inorm(snippet.images), normalised(snippet.images, (2, 3)))


def test_the_eps_of_rmsnorm_matters_for_small_numbers():
    x = torch.full((1, 4), 1e-3)
    default = 1e-3 / np.sqrt(1e-6 + 1.1920929e-7)
    close(nn.RMSNorm(4)(x), np.full((1, 4), default))
    close(nn.RMSNorm(4, eps=1e-6)(x), np.full((1, 4), 2**-0.5))


def test_rmsnorm():
    x = snippet.tokens.double().numpy()
    close(snippet.rms(snippet.tokens), x / np.sqrt((x**2).mean(2, keepdims=True)))
    assert [k for k, _ in snippet.rms.named_parameters()] == ["weight"]


@pytest.mark.parametrize(
    "layer",
    [nn.GroupNorm(2, 8), nn.InstanceNorm2d(8), nn.LayerNorm(6), nn.RMSNorm(6)],
    ids=str,
)
def test_only_batchnorm_depends_on_eval_and_on_the_batch(layer):
    y = layer.train()(images)
    torch.testing.assert_close(layer.eval()(images), y)
    torch.testing.assert_close(layer.train()(images[:1]), y[:1])
    norm = nn.BatchNorm2d(8)
    assert not torch.allclose(norm(images)[:1], norm(images[:1]))
    assert not torch.allclose(norm(images), norm.eval()(images))


def test_one_value_per_channel():
    one = torch.randn(1, 8)
    assert nn.LayerNorm(8)(one).shape == nn.GroupNorm(4, 8)(one).shape == one.shape
    for layer in (nn.BatchNorm1d(8), nn.GroupNorm(8, 8)):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
            layer(one)


def test_momentum_is_the_weight_of_the_new_batch():
    norm = nn.BatchNorm2d(8)
    norm(images)
    torch.testing.assert_close(norm.running_mean, 0.1 * images.mean((0, 2, 3)))


def test_a_bias_before_batchnorm_has_no_effect():
    norm = nn.BatchNorm2d(8)
    torch.testing.assert_close(norm(images + 5), norm(images), rtol=1e-3, atol=1e-4)


def test_what_is_printed(capsys):
    load_snippet("models/norm_layers.py")
    shapes = [line.split("(")[1] for line in capsys.readouterr().out.splitlines()]
    assert shapes == [
        "32,) statistics",
        "8, 8) statistics",
        "8, 32) statistics",
        "8, 20) statistics",
        "8, 20) statistics",
    ]


def test_layernorm_refuses_images():
    with raises_as_documented(PAGE, "RuntimeError: Given normalized_shape"):
        nn.LayerNorm(64)(torch.randn(2, 64, 8, 8))


def test_channels_last():
    with raises_as_documented(PAGE, "RuntimeError: running_mean should"):
        nn.BatchNorm1d(64)(snippet.tokens)


def test_groups_that_do_not_divide():
    with raises_as_documented(PAGE, "ValueError: num_channels (48)"):
        nn.GroupNorm(32, 48)


def test_batchnorm2d_of_vectors():
    with raises_as_documented(PAGE, "ValueError: expected 4D input"):
        nn.BatchNorm2d(4)(torch.randn(2, 4))


def test_batchnorm1d_of_images():
    with raises_as_documented(PAGE, "ValueError: expected 2D or 3D input"):
        nn.BatchNorm1d(8)(images)


def test_one_bad_batch_stays_in_the_running_averages():
    torch.manual_seed(0)
    model = nn.BatchNorm1d(2)
    good = [torch.randn(8, 2) for _ in range(20)]
    model(torch.full((8, 2), torch.inf))
    for x in good:
        assert model(x).isfinite().all()
    assert model.eval()(good[0]).isnan().all()
    torch.optim.swa_utils.update_bn(good, model.train())
    assert model.eval()(good[0]).isfinite().all()
