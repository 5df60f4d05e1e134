"""model-ensemble: means against NumPy, votes, and models that do not fit."""

import numpy as np
import torch
from scipy.special import softmax
from torch import nn
from torch.func import stack_module_state

from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/model-ensemble"
snippet = load_snippet("evaluation/model_ensemble.py")


def outputs(model, x):
    """The logits of a multilayer perceptron, in NumPy."""
    x = x.double().numpy()
    for layer in model:
        if isinstance(layer, nn.Linear):
            x = x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
        else:
            x = np.maximum(x, 0)
    return x


def test_the_mean_of_the_probabilities():
    each = [softmax(outputs(m, snippet.x), axis=1) for m in snippet.models]
    expected = sum(each) / 5
    np.testing.assert_allclose(snippet.probs.numpy(), expected, rtol=1e-3, atol=1e-5)
    assert not any(model.training for model in snippet.models)
    assert not snippet.probs.requires_grad
    assert snippet.together > max(snippet.each) - 0.01
    assert snippet.together > np.mean(snippet.each) + 0.01


def test_variants():
    x, models = snippet.x[:50].clone(), snippet.models[:3]
    with torch.no_grad():
        every = torch.stack([model(x).softmax(1) for model in models])
        votes = torch.stack([model(x).argmax(1) for model in models]).mode(0).values
    w = torch.tensor([0.5, 0.3, 0.2])
    expected = 0.5 * every[0] + 0.3 * every[1] + 0.2 * every[2]
    torch.testing.assert_close(torch.einsum("m,mnc->nc", w, every), expected)
    for n, vote in enumerate(votes.tolist()):
        each = [model(x)[n].argmax().item() for model in models]
        assert each.count(vote) == max(each.count(c) for c in each)


def test_one_logit_takes_a_sigmoid():
    models = [nn.Linear(4, 1) for _ in range(3)]
    x = torch.randn(6, 4)
    with torch.no_grad():
        logits = torch.stack([model(x) for model in models])
    assert logits.softmax(2).eq(1).all()
    each = 1 / (1 + np.exp(-logits.double().numpy()))
    np.testing.assert_allclose(logits.sigmoid().mean(0), each.mean(0), rtol=1e-5)


def test_messages():
    with raises_as_documented(PAGE, "RuntimeError: stack_module_state"):
        stack_module_state([nn.Linear(2, 2), nn.Linear(2, 2).eval()])
