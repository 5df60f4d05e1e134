"""functional-dropout: against nn.Dropout with the same random numbers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

Classifier = load_snippet("models/functional_dropout.py").Classifier
PAGE = "models/functional-dropout"


def with_modules(model, p):
    return nn.Sequential(model.hidden, nn.ReLU(), nn.Dropout(p), model.out)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.9, 1.0])
def test_it_is_nn_dropout_in_both_modes(p, training):
    torch.manual_seed(0)
    model, x = Classifier(8, 3, p), torch.randn(7, 8)
    reference = with_modules(model, p).train(training)
    model.train(training)
    torch.manual_seed(1)
    expected = reference(x)
    torch.manual_seed(1)
    assert torch.equal(model(x), expected)
    assert expected.shape == (7, 3)


@pytest.mark.parametrize("shape", [(8,), (5, 8), (2, 5, 8)])
def test_tokens_one_sample_and_bfloat16(shape):
    model = Classifier(8, 3).bfloat16()
    y = model(torch.randn(shape).bfloat16())
    assert y.shape == (*shape[:-1], 3)
    assert y.dtype == torch.bfloat16


def test_half_is_dropped_by_default():
    torch.manual_seed(0)
    model, x = Classifier(8, 3), torch.randn(7, 8)
    reference = with_modules(model, 0.5)
    torch.manual_seed(1)
    expected = reference(x)
    torch.manual_seed(1)
    assert torch.equal(model(x), expected)


def test_eval_is_the_formula_in_float64():
    torch.manual_seed(0)
    model, x = Classifier(8, 3).double().eval(), torch.randn(7, 8).double()
    assert [tuple(p.shape) for p in model.parameters()] == [
        (64, 8),
        (64,),
        (3, 64),
        (3,),
    ]
    w1, b1, w2, b2 = (p.detach().numpy() for p in model.parameters())
    h = (x.numpy() @ w1.T + b1).clip(min=0)
    torch.testing.assert_close(model(x).detach().numpy(), h @ w2.T + b2)


def test_survivors_are_scaled_so_that_the_mean_stays():
    torch.manual_seed(0)
    h = F.dropout(torch.ones(100_000), p=0.2)
    assert h.unique().tolist() == [0.0, 1.25]
    assert h.mean().item() == pytest.approx(1, abs=0.01)


def test_gradients_pass_where_values_do():
    torch.manual_seed(0)
    x = torch.ones(100, requires_grad=True)
    y = F.dropout(x, 0.5)
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_a_function_does_not_know_the_mode():
    class Forgot(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.5)

    ones = torch.ones(100)
    assert F.dropout(ones).eq(0).any()
    assert Forgot().eval()(ones).eq(0).any()


def test_the_flag_in_place_of_p():
    ones = torch.ones(100)
    assert torch.equal(F.dropout(ones, True), torch.zeros(100))  # p = 1
    assert torch.equal(F.dropout(ones, False), ones)  # p = 0


def test_no_grad_does_not_turn_it_off():
    model, x = Classifier(8, 3), torch.randn(4, 8)
    with torch.no_grad():
        assert not torch.equal(model(x), model(x))


def test_alpha_dropout_has_the_other_default():
    ones = torch.ones(100)
    assert torch.equal(F.alpha_dropout(ones, 0.5), ones)
    rows = ones.reshape(4, 25)
    assert torch.equal(F.feature_alpha_dropout(rows, 0.5), rows)
    assert not torch.equal(F.alpha_dropout(ones, 0.5, training=True), ones)


def test_attention_always_drops():
    torch.manual_seed(0)
    q = torch.randn(1, 2, 8, 4)
    first, second = (
        F.scaled_dot_product_attention(q, q, q, dropout_p=0.5) for _ in range(2)
    )
    assert not torch.equal(first, second)
    plain = F.scaled_dot_product_attention(q, q, q, dropout_p=0.0)
    again = F.scaled_dot_product_attention(q, q, q)
    torch.testing.assert_close(plain, again)


def test_dropout2d_drops_whole_channels():
    torch.manual_seed(0)
    maps = F.dropout2d(torch.ones(4, 16, 3, 3), 0.5)  # (N, C, H, W)
    per_channel = maps.flatten(2)
    assert torch.equal(per_channel.amin(2), per_channel.amax(2))
    assert set(maps.unique().tolist()) == {0.0, 2.0}


def test_the_monte_carlo_variant_moves_dropout_but_not_batchnorm():
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(5), nn.Dropout(0.5)).eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    x = torch.randn(40, 5)
    assert not torch.equal(model(x), model(x))
    assert model[0].num_batches_tracked == 0


def test_the_documented_errors():
    model = Classifier(8, 3, p=50)  # only forward looks at p
    with raises_as_documented(PAGE, "ValueError: dropout probability has"):
        model(torch.ones(1, 8))
    with raises_as_documented(PAGE, "ValueError: dropout probability has"):
        nn.Dropout(50)
    x = torch.ones(4, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: one of the"):
        F.dropout(x.relu(), 0.5, inplace=True).sum().backward()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = Classifier(8, 3).to(device, torch.bfloat16)
    y = model(torch.ones(4, 8, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)


def test_noise_in_training_only():
    class Noise(torch.nn.Module):
        sigma = 0.5

        def forward(self, x):
            x = x + self.sigma * torch.randn_like(x) if self.training else x
            return x  # noqa: RET504, as on the page

    torch.manual_seed(0)
    noise, x = Noise(), torch.ones(10_000)
    assert noise(x).std().item() == pytest.approx(0.5, abs=0.05)
    assert torch.equal(noise.eval()(x), x)
