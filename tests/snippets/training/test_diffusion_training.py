"""diffusion-training: with the exact noise of a Gaussian, samples are that Gaussian."""

import contextlib
import math
from tempfile import TemporaryDirectory

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/diffusion-training"
ANSWER = recipes()["diffusion-training"].answer
with TemporaryDirectory() as folder, contextlib.chdir(folder):  # for its picture
    snippet = load_snippet("training/diffusion_training.py")
MEAN, STD = 0.5, 0.2


class Exact(nn.Module):
    """E[noise | xt] where the data are normal, by the formula for two Gaussians."""

    def forward(self, x, t):
        a = snippet.alphas_bar[t][:, None]
        return (1 - a).sqrt() * (x - a.sqrt() * MEAN) / (a * STD**2 + 1 - a)


def test_the_schedule():
    share = 1.0
    for i in range(1000):
        share *= 1 - (1e-4 + (0.02 - 1e-4) * i / 999)
    assert snippet.alphas_bar[-1].item() == pytest.approx(share, rel=1e-3)
    assert f"{snippet.alphas_bar[0]:.4f} {share:.5f}" == "0.9999 0.00004"
    short = (1 - torch.linspace(1e-4, 0.02, 200)).cumprod(0)[-1]
    assert f"{short:.2f}" == "0.13"


def test_samples_with_the_exact_noise_have_the_distribution():
    torch.manual_seed(0)
    x = snippet.sample(Exact(), torch.randn(4000, 1))
    assert x.mean().item() == pytest.approx(MEAN, abs=0.02)
    assert x.std().item() == pytest.approx(STD, abs=0.015)


def test_no_noise_comes_last(monkeypatch):
    calls = []
    monkeypatch.setattr(torch, "randn_like", lambda x: calls.append(1) or 0 * x)
    snippet.sample(Exact(), torch.randn(2, 1))
    assert len(calls) == 999


def test_its_samples_are_nearer_to_digits_than_noise():
    data = snippet.images.flatten(1)
    near = torch.cdist(snippet.x.flatten(1), data).amin(1).mean()
    noise = torch.cdist(torch.randn(999, 64), data).amin(1).mean()
    assert f"{noise:.0f}" == "9"  # as the file prints
    assert near < 0.6 * noise


def test_a_step_on_another_device():
    """All that the answer makes lies where `x0` is; `meta` refuses the rest."""
    loader = [(torch.rand(5, 3, 8, 8), torch.zeros(5))]  # a small batch, in colour
    model = snippet.Denoiser(192).to("meta")
    optimizer = torch.optim.Adam(model.parameters())
    names = {"device": torch.device("meta"), "loader": loader, "model": model}
    exec(ANSWER.text, names | {"optimizer": optimizer})


def test_flow_matching_reaches_the_mean():
    """With the exact velocity, 50 steps of the variant end in the data's normal."""
    torch.manual_seed(0)
    x = torch.randn(4000, 1)
    for i in range(50):
        t = 1 - i / 50
        variance = ((1 - t) * STD) ** 2 + t**2
        gain = (t - (1 - t) * STD**2) / variance  # cov(noise - x0, xt) / var(xt)
        x = x - (gain * (x - (1 - t) * MEAN) - MEAN) / 50
    assert x.mean().item() == pytest.approx(MEAN, abs=0.02)
    assert x.std().item() == pytest.approx(STD, abs=0.05)


def test_one_jump_is_many_steps():
    betas, a = snippet.betas[:300].double(), snippet.alphas_bar[299].item()
    mean, variance = 1.0, 0.0  # of x0 = 1
    for beta in betas.tolist():
        mean, variance = mean * math.sqrt(1 - beta), variance * (1 - beta) + beta
    assert mean == pytest.approx(math.sqrt(a), rel=1e-4)
    assert variance == pytest.approx(1 - a, rel=1e-4)


def test_fifty_steps_of_ddim():
    torch.manual_seed(0)
    x, model = torch.randn(4000, 1), Exact()
    steps = [*range(999, -1, -20)]
    for t, following in zip(steps, [*steps[1:], None], strict=True):
        a = snippet.alphas_bar[t]
        b = torch.ones(()) if following is None else snippet.alphas_bar[following]
        noise = model(x, torch.full((len(x),), t))
        x0 = (x - (1 - a).sqrt() * noise) / a.sqrt()
        x = b.sqrt() * x0 + (1 - b).sqrt() * noise
    assert len(steps) == 50
    assert x.mean().item() == pytest.approx(MEAN, abs=0.03)
    assert x.std().item() == pytest.approx(STD, abs=0.04)


def test_the_denoiser_sees_the_step_and_can_be_trained():
    torch.manual_seed(0)
    model, x = snippet.Denoiser(3), torch.randn(4, 3)
    early, late = (model(x, torch.full((4,), t)) for t in (0, 999))
    assert early.shape == (4, 3)
    assert not torch.allclose(early, late)
    late.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert model(torch.randn(2, 1, 1, 3), torch.zeros(2)).shape == (2, 1, 1, 3)


def test_guidance_drops_labels():
    torch.manual_seed(0)
    y = torch.randint(10, (10000,))
    none = torch.full_like(y, 10)
    y = torch.where(torch.rand(len(y)) < 0.1, none, y)
    assert (y == 10).float().mean().item() == pytest.approx(0.1, abs=0.01)


def test_images_need_four_dimensions():
    t, x0 = torch.randint(1000, (32,)), torch.rand(32, 1, 8, 8)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        snippet.alphas_bar[t].sqrt() * x0  # as in the answer, without `view`
    a = snippet.alphas_bar[t][:, None, None, None]
    assert torch.equal((a * x0)[5], snippet.alphas_bar[t[5]] * x0[5])
