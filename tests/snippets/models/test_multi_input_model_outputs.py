"""multi-input-model: both heads by NumPy, and one gradient through what they share."""

import numpy as np
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet

snippet = load_snippet("models/multi_input_model_outputs.py")


def test_both_outputs_equal_numpy():
    model, x = snippet.ClassAndAge(columns=3, classes=2), torch.randn(5, 3)
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    h = x.numpy() @ weights["shared.0.weight"].T + weights["shared.0.bias"]
    h = h.clip(min=0)
    out = model(x)
    assert out["label"].shape == (5, 2)
    assert out["age"].shape == (5,), "as the target, or the loss broadcasts"
    for name, head in {"label": "classify", "age": "regress"}.items():
        expected = h @ weights[f"{head}.weight"].T + weights[f"{head}.bias"]
        got = out[name].detach().numpy().reshape(5, -1)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_the_gradient_of_a_sum_is_the_sum_of_the_gradients():
    model, x = snippet.ClassAndAge(columns=3, classes=2), torch.randn(5, 3)
    out = model(x)
    one = F.cross_entropy(out["label"], torch.zeros(5, dtype=torch.int64))
    two = F.mse_loss(out["age"], torch.ones(5))
    weight = model.shared[0].weight
    parts = [
        torch.autograd.grad(loss, weight, retain_graph=True)[0] for loss in (one, two)
    ]
    (one + 0.1 * two).backward()
    torch.testing.assert_close(weight.grad, parts[0] + 0.1 * parts[1])
    assert all(part.abs().sum() > 0 for part in parts)
