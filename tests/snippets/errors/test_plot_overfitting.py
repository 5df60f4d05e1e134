"""plot-overfitting: its losses by the formula, its mark at the lowest."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("errors/plot_overfitting.py")


def curves(drawn):
    return {line.get_label(): line.get_ydata() for line in drawn.ax.lines[:2]}


def test_the_first_and_the_last_point_by_the_formula(drawn):
    x, y = drawn.x.double(), drawn.y.double()
    torch.manual_seed(0)
    torch.rand(220, 8), torch.randn(220, 1)
    first = torch.nn.Linear(8, 64), torch.nn.Linear(64, 1)
    for epoch, (hidden, out) in ((0, first), (-1, (drawn.model[0], drawn.model[2]))):
        h = (x @ hidden.weight.double().T + hidden.bias.double()).tanh()
        error = (h @ out.weight.double().T + out.bias.double() - y) ** 2
        train, val = error[:20].mean().item(), error[20:].mean().item()
        # The model has taken one step since the last point.
        assert curves(drawn)["training"][epoch] == pytest.approx(train, rel=0.02)
        assert curves(drawn)["validation"][epoch] == pytest.approx(val, rel=0.02)


def test_the_line_stands_at_the_lowest_validation_loss(drawn):
    train, val = curves(drawn).values()
    (best,) = set(drawn.ax.lines[2].get_xdata())
    assert val[best] == min(val)
    assert best in drawn.ax.get_xticks()
    assert train[-1] < train[best] / 2
    assert val[-1] > 1.5 * val[best]
