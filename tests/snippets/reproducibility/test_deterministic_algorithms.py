"""deterministic-algorithms: the switches, and sums against NumPy."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented


@pytest.mark.usefixtures("switches")
def test_only_repeatable_operations_remain(monkeypatch):
    real, seen = torch.Tensor.index_add, []

    def spy(*args):
        seen.append(torch.backends.cudnn.benchmark)
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.is_deterministic_algorithms_warn_only_enabled()
        with raises_as_documented(
            "reproducibility/set-all-seeds", "RuntimeError: put_ does not"
        ):
            torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))
        return real(*args)

    monkeypatch.setattr(torch.Tensor, "index_add", spy)
    torch.backends.cudnn.benchmark = True
    snippet = load_snippet("reproducibility/deterministic_algorithms.py")
    assert seen == [False, False]
    sums = np.bincount(snippet.index.cpu(), snippet.values.cpu().double())
    np.testing.assert_allclose(snippet.first.cpu(), sums, atol=1e-2)
