"""conv3d-patches: whole against patches, and the weights by hand."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

patches = load_snippet("models/conv3d_patches.py")


@pytest.mark.parametrize("size", [(3, 4, 2), (5, 6, 7), (9, 2, 9)])
@pytest.mark.parametrize("step", [(1, 2, 3), (3, 2, 2)])
def test_a_model_without_neighbours_gives_the_whole(size, step):
    model, volume = nn.Conv3d(2, 3, 1), torch.rand(1, 2, 5, 6, 7)
    step = tuple(min(s, k) for s, k in zip(step, size, strict=True))
    found = patches.predict_in_patches(model, volume, 3, size, step)
    torch.testing.assert_close(found, model(volume).detach())
    assert not found.requires_grad


def test_each_voxel_is_the_weighted_mean_of_its_patches():
    class Number(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.calls = nn.Parameter(torch.zeros(())), 0

        def forward(self, x):
            self.calls += 1
            return torch.full_like(x, float(self.calls))

    volume = torch.zeros(1, 1, 5, 1, 1)
    found = patches.predict_in_patches(Number(), volume, 1, (3, 1, 1), (1, 1, 1))
    # The weights are sin^2 of 45, 90 and 135 degrees: 1/2, 1, 1/2.
    expected = [1, (1 + 2 / 2) / 1.5, (1 / 2 + 2 + 3 / 2) / 2, (3 + 2 / 2) / 1.5, 3]
    torch.testing.assert_close(found.flatten(), torch.tensor(expected))


def test_the_statistics_of_batch_norm_stay():
    norm = nn.BatchNorm3d(1)
    model = nn.Sequential(norm, nn.Conv3d(1, 1, 1)).train()
    volume = torch.rand(1, 1, 5, 6, 7)
    found = patches.predict_in_patches(model, volume, 1, (3, 4, 5), (1, 2, 2))
    assert norm.running_mean.item() == 0
    torch.testing.assert_close(found, model.eval()(volume).detach())


def test_seams_need_weights(monkeypatch):
    torch.manual_seed(0)
    convs = [nn.Conv3d(4, 4, 3, padding=1) for _ in range(2)]
    model, volume = nn.Sequential(*convs), torch.rand(1, 4, 16, 16, 16)
    whole = model(volume).detach()

    def error(step):
        found = patches.predict_in_patches(model, volume, 4, (8, 8, 8), (step,) * 3)
        return (found - whole).abs().mean()

    apart, weighted = error(8), error(4)
    monkeypatch.setattr(torch, "hann_window", lambda n, periodic: torch.ones(n))
    assert apart * 0.75 < error(4) < apart
    assert weighted < apart / 2


def test_the_patch_of_the_mask_is_that_of_the_volume():
    mask = torch.arange(4 * 5 * 6).view(1, 4, 5, 6)
    volume, seen = mask[None].float(), set()
    for _ in range(200):
        x, y = patches.random_patch(volume, mask, (3, 5, 9))
        assert x.shape == (1, 1, 3, 5, 6)
        assert torch.equal(x[0].long(), y)
        seen.add(y[0, 0, 0, 0].item())
    assert seen == {0, 30}
