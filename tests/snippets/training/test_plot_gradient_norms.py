"""plot-gradient-norms: both curves, from the norms of the run."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_gradient_norms.py")


def test_the_second_curve_is_the_first_with_a_ceiling(drawn):
    before, after = (torch.tensor(line.get_ydata()) for line in drawn.ax.lines)
    assert before.tolist() == drawn.norms
    torch.testing.assert_close(after, before.clamp(max=5.0))
    assert drawn.ax.get_yscale() == "log"
    assert len(before) == 40


def test_the_broken_labels_give_the_peaks(drawn):
    norms = torch.tensor(drawn.norms)
    assert sorted(norms.topk(2).indices.tolist()) == [6, 20]
    assert norms.median() < 3
    total = nn_norm(drawn.model)
    assert total <= 5 + 1e-6  # the gradients of the last step are clipped


def nn_norm(model) -> float:
    return torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
