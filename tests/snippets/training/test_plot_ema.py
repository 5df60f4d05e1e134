"""plot-ema: the average as a sum of the model's weights."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_ema.py")


def test_the_average_is_the_sum_by_hand(drawn):
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    optimizer, weights, average = torch.optim.SGD(model.parameters(), 0.1), [], None
    model_off, average_off = (line.get_ydata() for line in drawn.ax.lines)
    for step, x in enumerate(torch.randn(300, 16, 8)):
        y = x.sum(1, keepdim=True) + torch.randn(16, 1)
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        weights.append(model.weight.detach().double().numpy().copy())
        if average is None:
            average = weights[0]
        average = 0.98 * average + 0.02 * weights[-1]
        off = np.sqrt(((weights[-1] - 1) ** 2).sum())
        assert model_off[step] == pytest.approx(off, abs=1e-3)
        off = np.sqrt(((average - 1) ** 2).sum())
        assert average_off[step] == pytest.approx(off, abs=1e-3)


def test_it_is_nearer_and_steadier_in_the_end(drawn):
    model, average = (line.get_ydata()[200:] for line in drawn.ax.lines)
    assert average.mean() < model.mean() / 2
    assert np.abs(np.diff(average)).mean() < np.abs(np.diff(model)).mean() / 5
    assert [line.get_label() for line in drawn.ax.lines] == ["model", "average"]
