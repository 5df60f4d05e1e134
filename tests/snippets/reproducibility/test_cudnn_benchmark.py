"""cudnn-benchmark: under which flags it convolves, and what comes out."""

import pytest
import torch
from torch import nn
from torch.backends import cudnn

from tests.helpers import load_snippet


@pytest.fixture(autouse=True)
def restored():
    before = cudnn.benchmark, cudnn.deterministic
    yield
    cudnn.benchmark, cudnn.deterministic = before


@pytest.mark.usefixtures("switches")
@pytest.mark.parametrize("start", [False, True])
def test_the_search_is_on_and_free(start, monkeypatch):
    """An earlier ``deterministic = True`` does not stay in force."""
    real, seen = nn.Conv2d.forward, []

    def spy(self, x):
        seen.append((torch._C._get_cudnn_benchmark(), cudnn.deterministic))
        return real(self, x)

    monkeypatch.setattr(nn.Conv2d, "forward", spy)
    cudnn.benchmark, cudnn.deterministic = False, start
    snippet = load_snippet("reproducibility/cudnn_benchmark.py")
    assert seen == [(True, False)] * 2
    patches = nn.functional.unfold(snippet.x.cpu().double(), 3)  # (N, 27, L)
    conv = snippet.conv.cpu().double()
    expected = conv.weight.reshape(16, 27) @ patches + conv.bias[:, None]
    y = snippet.y.cpu().double().flatten(2)
    torch.testing.assert_close(y, expected, rtol=1e-2, atol=1e-2)
