"""variational-autoencoder: the KL against an integral, the loss against NumPy."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

from tests.helpers import load_snippet, recipes

snippet = load_snippet("training/variational_autoencoder.py")


def test_the_kl_is_the_integral():
    mu, logvar = snippet.mu[0, 0].item(), snippet.logvar[0, 0].item()
    q, p = norm(mu, np.exp(logvar / 2)), norm(0, 1)
    expected, _ = quad(lambda z: q.pdf(z) * (q.logpdf(z) - p.logpdf(z)), -12, 12)
    assert snippet.kl[0, 0].item() == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_the_kl_of_the_library():
    q = Normal(snippet.mu, (0.5 * snippet.logvar).exp())
    expected = kl_divergence(q, Normal(0.0, 1.0))
    torch.testing.assert_close(snippet.kl, expected, rtol=1e-3, atol=1e-5)


def test_the_loss_sums_pixels_and_dimensions_and_averages_the_batch():
    logits = snippet.logits.detach().double().numpy()
    x, kl = snippet.x.double().numpy(), snippet.kl.detach().double().numpy()
    p = 1 / (1 + np.exp(-logits))
    rec = -(x * np.log(p) + (1 - x) * np.log(1 - p))
    expected = np.mean([r.sum() + k.sum() for r, k in zip(rec, kl, strict=True)])
    assert snippet.loss.item() == pytest.approx(expected, rel=1e-4)
    encoder = nn.Conv2d(1, 4, 2, stride=2)  # a code that is an image, too
    decoder = nn.ConvTranspose2d(2, 1, 2, stride=2)
    names = {"encoder": encoder, "decoder": decoder}
    names["x"] = snippet.x.unflatten(1, (1, 8, 8))
    exec(recipes()["variational-autoencoder"].answer.text, names)
    each = names["rec"].flatten(1).sum(1) + names["kl"].flatten(1).sum(1)
    torch.testing.assert_close(names["loss"], each.mean())


def test_z_has_the_mean_and_the_deviation_and_passes_gradients():
    mu = torch.full((20000, 1), 3.0, requires_grad=True)
    logvar = torch.full((20000, 1), np.log(0.25).item(), requires_grad=True)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(mu.shape, generator=generator)
    z = mu + noise * (0.5 * logvar).exp()
    assert z.mean().item() == pytest.approx(3, abs=0.02)
    assert z.std().item() == pytest.approx(0.5, abs=0.02)
    z.sum().backward()
    assert mu.grad.eq(1).all()
    torch.testing.assert_close(logvar.grad, noise * 0.25)
    scaled = (snippet.z - snippet.mu) / (0.5 * snippet.logvar).exp()
    assert scaled.std().item() == pytest.approx(1, abs=0.4)  # of few rows
    assert scaled.mean().item() == pytest.approx(0, abs=0.5)


def test_it_has_learned():
    with torch.no_grad():
        mu = snippet.encoder(snippet.data).chunk(2, dim=1)[0]
        out = snippet.decoder(mu).sigmoid()
    error = (out - snippet.data).square().mean()
    assert error < 0.7 * snippet.data.var(0).mean()
    assert snippet.new.shape == (16, 64)
    assert snippet.new.std(0).mean() > 0.05  # not one image


@pytest.mark.parametrize(("kind", "low", "high"), [("mean", 0, 0.1), ("noise", 1, 99)])
def test_a_mean_over_the_pixels_lets_the_kl_collapse(kind, low, high):
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(64, 4), nn.Linear(2, 64)
    both = nn.ModuleList([encoder, decoder])
    optimizer = torch.optim.Adam(both.parameters(), lr=1e-2)
    for _ in range(250):
        x = snippet.data[torch.randint(len(snippet.data), (64,))]
        mu, logvar = encoder(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(1).mean()
        rec = (decoder(z) - x).square() / (2 * 0.1**2)
        rec = F.mse_loss(decoder(z), x) if kind == "mean" else rec.sum(1).mean()
        optimizer.zero_grad()
        (rec + kl).backward()
        optimizer.step()
    assert low <= kl.item() < high


def test_pixels_out_of_range_give_a_negative_loss():
    x, logits = torch.full((1, 4), 2.0), torch.full((1, 4), 5.0)
    assert F.binary_cross_entropy_with_logits(logits, x) < 0
    x = torch.tensor([[0, 255, 128, 7]], dtype=torch.uint8)
    assert F.binary_cross_entropy_with_logits(logits, x.float()) < 0
    assert F.binary_cross_entropy_with_logits(logits, x / 255) > 0


def test_images_are_flattened_for_linear_layers():
    names = {"encoder": nn.Linear(48, 8), "decoder": nn.Linear(4, 48)}
    names["x"] = torch.rand(5, 3, 4, 4).flatten(1)
    exec(recipes()["variational-autoencoder"].answer.text, names)
    assert names["loss"] > 0
