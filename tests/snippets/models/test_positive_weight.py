"""positive-weight: softplus and back against NumPy; weights of other dtypes."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from tests.helpers import load_snippet

Positive = load_snippet("models/positive_weight.py").Positive


def test_softplus_and_back():
    raw = torch.linspace(-8, 8, 33, dtype=torch.float64)
    weight = Positive()(raw)
    np.testing.assert_allclose(weight, np.log1p(np.exp(raw.numpy())))
    torch.testing.assert_close(Positive().right_inverse(weight), raw)
    large = torch.tensor([100.0, 1e4])
    assert torch.equal(Positive().right_inverse(large), large)


def test_any_weight_can_be_registered():
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[-0.5, 0.0, 0.5], [1.0, -2.0, 3.0]])
    parametrize.register_parametrization(layer, "weight", Positive())
    expected = torch.tensor([[0.5, 1e-6, 0.5], [1.0, 2.0, 3.0]])
    torch.testing.assert_close(layer.weight.detach(), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_another_dtype_and_the_meta_device(dtype):
    layer = nn.Linear(3, 2, dtype=dtype)
    parametrize.register_parametrization(layer, "weight", Positive())
    assert layer.weight.dtype == dtype
    assert (layer.weight > 0).all()
    meta = nn.Linear(3, 2, device="meta")
    parametrize.register_parametrization(meta, "weight", Positive())
    assert meta.weight.is_meta
