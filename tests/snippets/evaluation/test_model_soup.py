"""model_soup: the mean of the checkpoints, BatchNorm measured again, other starts."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.swa_utils import update_bn

from tests.helpers import load_snippet


@pytest.fixture
def soup(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load_snippet("evaluation/model_soup.py")


def test_the_soup_is_the_mean_of_the_checkpoints(soup):
    for key, value in soup.soup.items():
        expected = np.mean([state[key].numpy() for state in soup.states], axis=0)
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-6)
    biases = [state["0.bias"] for state in soup.states]
    assert not torch.equal(biases[0], biases[1])
    assert torch.equal(soup.model[0].bias.detach(), soup.soup["0.bias"])
    assert soup.model[1].num_batches_tracked.dtype == torch.int64
    assert not soup.model.training


def test_batch_norm_is_measured_again(soup):
    linear, norm = soup.model
    with torch.no_grad():
        y = linear(soup.train_loader)  # (10, 32, 8)
    torch.testing.assert_close(norm.running_mean, y.mean((0, 1)))
    torch.testing.assert_close(norm.running_var, y.var(1).mean(0))


def test_update_bn_takes_pairs(soup):
    expected = soup.model[1].running_mean.clone()
    update_bn([(x, torch.zeros(32)) for x in soup.train_loader], soup.model)
    torch.testing.assert_close(soup.model[1].running_mean, expected)


def test_other_starting_points_cannot_be_averaged():
    first = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1, bias=False))
    second = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1, bias=False))
    order = [1, 2, 3, 0]  # the same function, its hidden units in another order
    with torch.no_grad():
        second[0].weight.copy_(first[0].weight[order])
        second[0].bias.copy_(first[0].bias[order])
        second[2].weight.copy_(first[2].weight[:, order])
        x = torch.randn(20, 3)
        torch.testing.assert_close(first(x), second(x))
        mean = {
            k: (v + second.state_dict()[k]) / 2 for k, v in first.state_dict().items()
        }
        expected = first(x)
        first.load_state_dict(mean)
        assert not torch.allclose(first(x), expected, atol=0.01)


def test_integers_have_no_mean():
    with pytest.raises((RuntimeError, NotImplementedError), match="could not infer"):
        torch.stack([torch.tensor(1), torch.tensor(2)]).mean(0)
