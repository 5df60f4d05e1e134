"""quantize-cnn, PT2E: the int8 weights against NumPy."""

import numpy as np
import torch

from tests.helpers import load_snippet


def test_pt2e_has_the_weights_of_the_merged_layer_in_int8(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda model: model)
    pt2e = load_snippet("deployment/quantize_cnn_pt2e.py")
    assert 0 < pt2e.error < 0.05
    conv, norm = pt2e.model[0], pt2e.model[1]
    with torch.no_grad():
        factor = norm.weight / (norm.running_var + norm.eps).sqrt()
        merged = (conv.weight * factor[:, None, None, None]).numpy()
    (whole,) = (w for w in pt2e.int8.buffers() if w.shape == merged.shape)
    assert whole.dtype == torch.int8
    scale = np.abs(merged).max((1, 2, 3), keepdims=True) / 127.5
    assert np.abs(whole.numpy() * scale - merged).max() < 0.6 * scale.max()
