"""model-ensemble: vmap gives the logits of each model."""

import numpy as np

from tests.helpers import load_snippet


def test_vmap_runs_each_model():
    snippet = load_snippet("evaluation/model_ensemble_vmap.py")
    x = snippet.x.double().numpy()
    for model, logits in zip(snippet.models, snippet.logits, strict=True):
        weight, bias = (p.detach().double().numpy() for p in model.parameters())
        np.testing.assert_allclose(logits, x @ weight.T + bias, rtol=1e-4, atol=1e-5)
    assert all(p.is_meta for p in snippet.base.parameters())
