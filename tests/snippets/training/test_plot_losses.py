"""plot-losses: its curves, by the formula; the messages of matplotlib."""

import matplotlib.pyplot as plt
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/plot-losses"


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    yield load_snippet("training/plot_losses.py")
    plt.close("all")


def curves(drawn):
    return {line.get_label(): line.get_data() for line in drawn.ax.lines}


def test_the_first_losses_by_the_formula(drawn):
    torch.manual_seed(0)
    x = torch.rand(220, 8)
    y = x[:, :1] + 0.5 * torch.randn(220, 1)
    layers = torch.nn.Linear(8, 64), torch.nn.Linear(64, 1)
    optimizer = torch.optim.Adam([p for a in layers for p in a.parameters()], 0.01)
    (hidden, out), losses = layers, []
    for part in (slice(20), slice(20, None)):
        h = (x[part] @ hidden.weight.T + hidden.bias).tanh()
        loss = ((h @ out.weight.T + out.bias - y[part]) ** 2).mean()
        losses.append(loss.item())
        if part.stop:
            loss.backward()
            optimizer.step()
    for name, loss in zip(("training", "validation"), losses, strict=True):
        epochs, drawn_losses = curves(drawn)[name]
        assert list(epochs) == list(range(1, 151))
        assert drawn_losses[0] == pytest.approx(loss, rel=1e-3)


def test_a_list_of_tensors(drawn):
    losses = [drawn.model(drawn.x).mean()]
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        drawn.ax.plot(losses)
    drawn.ax.plot([loss.item() for loss in losses])


def test_lists_of_unequal_length(drawn):
    with raises_as_documented(PAGE, "ValueError: x and y must have same first dim"):
        drawn.ax.plot(range(3), [0.5, 0.4])
    drawn.ax.plot([1, 3], [0.5, 0.4])  # validated every second epoch


def test_the_mean_of_50_batches():
    losses = torch.arange(60.0).tolist()
    smooth = torch.tensor(losses).unfold(0, 50, 1).mean(1)
    assert smooth.tolist() == [24.5 + i for i in range(11)]
