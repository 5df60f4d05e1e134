"""cumsum-moving-average: against pandas and NumPy, padding, precision, bad input."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/cumsum-moving-average"


@pytest.fixture(scope="module")
def snippet():
    """The snippet; how tensors print is set back."""
    try:
        return load_snippet("tensors/cumsum_moving_average.py")
    finally:
        torch.set_printoptions(profile="default")


def test_against_pandas(snippet):
    series = pd.Series(snippet.x.tolist())
    close = np.testing.assert_allclose
    assert snippet.x.tolist() == [2, 4, 9, 1, 5, 3]
    close(snippet.total, series.cumsum())
    close(snippet.peak, series.cummax())
    close(snippet.change, series.diff()[1:])
    close(snippet.mean, series.rolling(3).mean()[2:], rtol=1e-6)
    centred = series.rolling(3, center=True, min_periods=1).mean()
    close(snippet.smooth, centred, rtol=1e-6)
    close(torch.stack(snippet.ema), series.ewm(alpha=0.5, adjust=False).mean())
    repeated = pd.concat([series[:1], series[:1], series])
    close(snippet.causal, repeated.rolling(3).mean()[2:], rtol=1e-6)


def test_the_future_is_not_used(snippet):
    def causal(x, k):
        return F.avg_pool1d(F.pad(x[None], (k - 1, 0), mode="replicate"), k, 1)[0]

    x = torch.rand(20)
    later = torch.cat([x[:10], torch.rand(10)])
    assert torch.equal(causal(x, 4)[:10], causal(later, 4)[:10])
    assert torch.equal(causal(snippet.x, 3), snippet.causal)
    assert causal(x, 4).shape == x.shape


@pytest.mark.parametrize("k", [1, 2, 7])
def test_the_answer_for_integers_for_even_k_and_for_few_values(k):
    names = {"x": torch.tensor([1, 2, 4, 4]), "k": k}
    exec(answer("cumsum-moving-average"), names)
    series = pd.Series([1] * (k - 1) + [1, 2, 4, 4])
    expected = series.rolling(k).mean()[k - 1 :]
    np.testing.assert_allclose(names["causal"], expected, rtol=1e-6)
    assert names["total"].tolist() == [1, 3, 7, 11]


def test_the_answer_for_several_series():
    names = {"x": torch.rand(2, 6), "k": 3}  # (B, T)
    exec(answer("cumsum-moving-average"), names)
    np.testing.assert_allclose(names["total"], names["x"].numpy().cumsum(1), 1e-6)
    for row, mean in zip(names["x"], names["causal"], strict=True):
        series = pd.Series([row[0].item()] * 2 + row.tolist())
        np.testing.assert_allclose(mean, series.rolling(3).mean()[2:], rtol=1e-5)


def test_dimensions():
    x = torch.rand(2, 10, 3)  # (B, T, F)
    mean = F.avg_pool1d(x.mT, 4, stride=1).mT
    expected = pd.DataFrame(x[1].numpy()).rolling(4).mean()[3:]
    np.testing.assert_allclose(mean[1], expected, rtol=1e-5)
    assert F.avg_pool1d(x, 3, stride=1).shape == (2, 10, 1)
    with raises_as_documented(PAGE, "RuntimeError: Expected 2 to 3"):
        F.avg_pool1d(x[0, :, 0], 3, stride=1)


def test_zeros_count_unless_told():
    x = torch.ones(1, 5)
    zeros = F.avg_pool1d(x, 3, 1, padding=1)
    assert zeros[0].tolist() == pytest.approx([2 / 3, 1, 1, 1, 2 / 3])
    fewer = F.avg_pool1d(x, 3, 1, padding=1, count_include_pad=False)
    assert torch.equal(fewer, x)


def test_integers_lose_their_decimals():
    x = torch.tensor([[1, 2, 2, 3]])
    assert F.avg_pool1d(x, 3, 1).tolist() == [[1, 2]]
    mean = F.avg_pool1d(x.float(), 3, 1)
    assert mean[0].tolist() == pytest.approx([5 / 3, 7 / 3])


def test_differences_of_large_sums():
    x = torch.rand(1_000_000, generator=torch.Generator().manual_seed(0))
    exact = x.double().unfold(0, 3, 1).sum(-1)[1:]
    total = x.cumsum(0)
    assert torch.nextafter(total[-1], total[-1] + 1) - total[-1] == 0.03125
    assert (total[3:] - total[:-3] - exact).abs().max() > 0.02
    total = x.cumsum(0, dtype=torch.float64)
    assert (total[3:] - total[:-3] - exact).abs().max() < 1e-8
    assert (F.avg_pool1d(x[None], 3, 1)[0, 1:] * 3 - exact).abs().max() < 1e-6


def test_what_is_refused():
    x = torch.rand(5)
    with raises_as_documented(PAGE, "RuntimeError: pad should be at most"):
        F.avg_pool1d(x[None], 3, 1, padding=2)
    with raises_as_documented(PAGE, "NotImplementedError: Padding size 2"):
        F.pad(x, (2, 0), mode="replicate")
    with raises_as_documented(PAGE, "RuntimeError: Given input size: (1x1x5)"):
        F.avg_pool1d(x[None], 7, 1)
    if torch.__version__ >= "2.13":
        with raises_as_documented(PAGE, "TypeError: cumsum() missing"):
            x.cumsum()
    else:
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            x.cumsum()


def test_variants(snippet):
    x, a, n = snippet.x, 0.5, 40
    series = pd.Series(x.tolist())
    median = x.unfold(0, 3, 1).median(-1).values
    np.testing.assert_allclose(median, series.rolling(3).median()[2:])
    deviation = x.unfold(0, 3, 1).std(-1)
    np.testing.assert_allclose(deviation, series.rolling(3).std()[2:], rtol=1e-5)
    back = x.flip(0).cumsum(0).flip(0)
    np.testing.assert_allclose(back, np.cumsum(x.numpy()[::-1])[::-1])
    assert (snippet.total - x).tolist() == [0, 2, 6, 15, 16, 21]
    growth = (1 + torch.tensor([0.5, -0.5])).cumprod(0)
    assert growth.tolist() == [1.5, 0.75]
    w = a * (1 - a) ** torch.arange(n).flip(0)
    padded = F.pad(x[None, None], (n - 1, 0), mode="replicate")
    torch.testing.assert_close(
        F.conv1d(padded, w[None, None])[0, 0], torch.stack(snippet.ema)
    )
