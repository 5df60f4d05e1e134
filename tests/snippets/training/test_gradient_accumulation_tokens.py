"""gradient-accumulation, tokens: against large batches in float64 NumPy."""

import numpy as np
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet


def test_groups_of_8_sentences_as_large_batches():
    """The mean over the labels of a group that are not ignored; then a step."""
    end = load_snippet("training/gradient_accumulation_tokens.py")
    torch.manual_seed(0)
    x, y = torch.randn(24, 7, 8), torch.randint(5, (24, 7))
    y[torch.rand(24, 7) < 0.4] = -100
    start = nn.Linear(8, 5)
    w = start.weight.detach().double().numpy()
    b = start.bias.detach().double().numpy()
    groups = zip(np.split(x.double().numpy(), 3), np.split(y.numpy(), 3), strict=True)
    for a, t in groups:
        a, t = a[t != -100], t[t != -100]
        p = np.exp(a @ w.T + b)
        p /= p.sum(1, keepdims=True)
        p[np.arange(len(t)), t] -= 1
        w, b = w - 0.1 * p.T @ a / len(t), b - 0.1 * p.mean(0)
    np.testing.assert_allclose(end.model.weight.detach(), w, atol=1e-6)
    np.testing.assert_allclose(end.model.bias.detach(), b, atol=1e-6)
    assert end.count == len(t)
    assert end.model.weight.grad is None


def test_a_group_without_labels_gives_no_nan():
    source = (ROOT / "snippets/training/gradient_accumulation_tokens.py").read_text()
    names = {}
    exec(source.replace("y_all[torch.rand(24, 7) < 0.4]", "y_all[:]"), names)
    assert names["model"].weight.isfinite().all()
