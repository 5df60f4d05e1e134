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
    linear, norm = model
    y = x.numpy() @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
    return y / np.sqrt(1 + norm.eps)  # the statistics of a new BatchNorm


def test_the_mean_of_the_probabilities():
    each = [softmax(outputs(m, snippet.x.clone()), axis=1) for m in snippet.models]
    expected = sum(each) / 3
    np.testing.assert_allclose(snippet.probs.numpy(), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(snippet.predicted.numpy(), expected.argmax(1))
    np.testing.assert_allclose(
        snippet.logits.softmax(2).numpy(), np.stack(each), rtol=1e-4, atol=1e-6
    )


def test_all_are_in_eval_mode():
    assert not any(model.training for model in snippet.models)
    assert all(model[1].num_batches_tracked == 0 for model in snippet.models)
    assert not snippet.probs.requires_grad


def test_the_base_holds_no_weights():
    assert all(p.is_meta for p in snippet.base.parameters())


def test_variants():
    x, models = snippet.x.clone(), snippet.models
    with torch.no_grad():
        every = torch.stack([model(x).softmax(1) for model in models])
        votes = torch.stack([model(x).argmax(1) for model in models]).mode(0).values
    w = torch.tensor([0.5, 0.3, 0.2])
    expected = 0.5 * every[0] + 0.3 * every[1] + 0.2 * every[2]
    torch.testing.assert_close(torch.einsum("m,mnc->nc", w, every), expected)
    for n, vote in enumerate(votes.tolist()):
        each = [model(x)[n].argmax().item() for model in models]
        assert each.count(vote) == max(each.count(c) for c in each)


def test_messages():
    with raises_as_documented(PAGE, "RuntimeError: stack_module_state"):
        stack_module_state([nn.Linear(2, 2), nn.Linear(2, 2).eval()])
