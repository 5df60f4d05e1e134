"""gan-two-optimizers: the losses against BCE, who is trained, and what raises."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/gan-two-optimizers"
snippet = load_snippet("training/gan_two_optimizers.py")
Z = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def gan():
    torch.manual_seed(0)
    G, D = nn.Linear(4, 1), nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
    return G, D, torch.optim.SGD(D.parameters(), lr=0.1)


def test_it_learns_the_distribution():
    fake = snippet.G(torch.randn(5000, 4, generator=torch.Generator().manual_seed(1)))
    assert fake.mean().item() == pytest.approx(4, abs=0.4)
    assert 0.6 < fake.std() < 1.4


def test_each_optimizer_has_one_model():
    for model, optimizer in ((snippet.G, snippet.opt_g), (snippet.D, snippet.opt_d)):
        (group,) = optimizer.param_groups
        assert [*map(id, group["params"])] == [*map(id, model.parameters())]


def test_the_losses_are_binary_cross_entropy():
    loss, a = nn.BCEWithLogitsLoss(), Z[:, :1]
    torch.testing.assert_close(F.softplus(-a).mean(), loss(a, torch.ones(64, 1)))
    torch.testing.assert_close(F.softplus(a).mean(), loss(a, torch.zeros(64, 1)))
    guess = F.softplus(torch.zeros(1)).item()
    assert (round(2 * guess, 2), round(guess, 2)) == (1.39, 0.69)
    with torch.no_grad():  # after the training, D can only guess
        assert snippet.loss_d.item() == pytest.approx(1.39, abs=0.2)
        assert snippet.loss_g.item() == pytest.approx(0.69, abs=0.3)


def test_detach_keeps_the_first_gradient_out_of_g(gan):
    G, D, _ = gan
    F.softplus(D(G(Z).detach())).mean().backward()
    assert G.weight.grad is None
    F.softplus(-D(G(Z))).mean().backward()
    assert G.weight.grad.abs().sum() > 0


def answer_for(G, D, loader):
    names = {"G": G, "D": D, "Z": 7, "device": torch.device("cpu"), "loader": loader}
    names |= {
        f"opt_{k}": torch.optim.SGD(m.parameters(), 0.1)
        for k, m in zip("gd", (G, D), strict=True)
    }
    exec(recipes()["gan-two-optimizers"].answer.text, names)
    return names


def test_the_answer_takes_images_and_a_small_last_batch():
    """G runs once a step, so its BatchNorm counts once; sizes come from the batch."""
    G = nn.Sequential(nn.Linear(7, 12), nn.BatchNorm1d(12), nn.Unflatten(1, (3, 2, 2)))
    D = nn.Sequential(nn.Flatten(), nn.Linear(12, 1))
    names = answer_for(
        G, D, [(torch.rand(n, 3, 2, 2), torch.zeros(n)) for n in (8, 8, 2)]
    )
    assert G[1].num_batches_tracked == 3
    assert names["fake"].shape == (2, 3, 2, 2)


def test_a_generator_that_begins_with_a_transposed_convolution():
    G, D = nn.ConvTranspose2d(7, 3, 4), nn.Conv2d(3, 1, 4)
    images = [(torch.rand(5, 3, 4, 4) * 2 - 1, torch.zeros(5))]
    with pytest.raises(RuntimeError, match="conv_transpose2d"):
        answer_for(G, D, images)
    G = nn.Sequential(nn.Unflatten(1, (7, 1, 1)), G, nn.Tanh())
    assert answer_for(G, D, images)["fake"].shape == images[0][0].shape


def test_a_frozen_discriminator_passes_the_same_gradient(gan):
    G, D, _ = gan
    F.softplus(-D(G(Z))).mean().backward()
    expected, G.weight.grad = G.weight.grad, None
    D.zero_grad()
    D.requires_grad_(False)
    F.softplus(-D(G(Z))).mean().backward()
    assert torch.equal(G.weight.grad, expected)
    assert all(p.grad is None for p in D.parameters())
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        F.softplus(-D(G(Z).detach())).mean().backward()


def test_one_batch_for_both(gan):
    G, D, opt_d = gan
    fake = G(Z)
    F.softplus(D(fake.detach())).mean().backward()
    opt_d.step()
    F.softplus(-D(fake)).mean().backward()
    assert G.weight.grad is not None


def test_messages(gan):
    G, D, opt_d = gan
    fake = G(Z)
    F.softplus(D(fake)).mean().backward()
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward"):
        F.softplus(-D(fake)).mean().backward()
    fake = G(Z)
    loss_g = F.softplus(-D(fake)).mean()
    opt_d.step()
    with raises_as_documented(PAGE, "RuntimeError: one of the variables"):
        loss_g.backward()
    with raises_as_documented(PAGE, "ValueError: Target size"):
        nn.BCEWithLogitsLoss()(D(G(Z)), torch.ones(64))
    with raises_as_documented(PAGE, "RuntimeError: all elements of input"):
        nn.BCELoss()(D(G(Z)) - 10, torch.ones(64, 1))


def test_spectral_norm_keeps_the_shape(gan):
    _, D, _ = gan
    layer = nn.utils.parametrizations.spectral_norm(D[0])
    assert torch.linalg.matrix_norm(layer.weight, 2) < 1.5
