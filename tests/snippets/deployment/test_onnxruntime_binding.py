"""onnxruntime-binding: both sides read and write one memory; the products by hand."""

import runpy

import numpy as np
import pytest
import torch

from tests.helpers import ROOT

FILE = ROOT / "snippets/deployment/onnxruntime_binding.py"
# What the exporter of older releases says about its own code.
pytestmark = pytest.mark.filterwarnings("ignore:.*isinstance.treespec:FutureWarning")


def test_the_session_reads_and_writes_the_tensors_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(FILE))
    x, output = names["x"], names["output"]
    place = output.data_ptr()
    x.copy_(torch.arange(6.0).view(2, 3))  # in place, after the binding
    names["session"].run_with_iobinding(names["binding"])
    weight, bias = (p.detach().double().numpy() for p in names["net"].parameters())
    by_hand = np.array([[0, 1, 2], [3, 4, 5]]) @ weight.T + bias
    np.testing.assert_allclose(output.numpy(), by_hand, rtol=1e-4, atol=1e-5)
    assert output.data_ptr() == place
