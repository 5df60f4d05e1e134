"""psnr-ssim: NumPy and SciPy window by window, pooling, range, bad input."""

import inspect
import re

import numpy as np
import pytest
import torch
from scipy.signal import correlate2d
from torchmetrics.functional import image as metrics
from torchmetrics.image import (
    LearnedPerceptualImagePatchSimilarity as LPIPS,
)
from torchmetrics.image import (
    PeakSignalNoiseRatio,
    StructuralSimilarityIndexMeasure,
)

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "evaluation/psnr-ssim"
ANSWER = recipes()["psnr-ssim"].answer
SSIM = metrics.structural_similarity_index_measure


@pytest.fixture
def snippet():
    return load_snippet("evaluation/psnr_ssim.py")


def ssim_by_hand(x, y, data_range):
    """Wang et al. 2004, one image, mean over channels and whole windows."""
    at = np.arange(-5, 6)
    gauss = np.exp(-(at**2) / (2 * 1.5**2))
    window = np.outer(gauss, gauss) / gauss.sum() ** 2
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2

    def blur(a):
        return correlate2d(a, window, mode="valid")

    scores = []
    for a, b in zip(x.double().numpy(), y.double().numpy(), strict=True):
        mean_a, mean_b = blur(a), blur(b)
        var_a, var_b = blur(a * a) - mean_a**2, blur(b * b) - mean_b**2
        both = blur(a * b) - mean_a * mean_b
        top = (2 * mean_a * mean_b + c1) * (2 * both + c2)
        scores.append(top / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)))
    return np.mean(scores)


def test_ssim_window_by_window(snippet):
    for n in range(2):
        expected = ssim_by_hand(snippet.pred[n], snippet.target[n], 1.0)
        assert snippet.ssim[n].item() == pytest.approx(expected, rel=1e-3)
    x, y = snippet.pred, snippet.target
    expected = np.mean([ssim_by_hand(a, b, 255.0) for a, b in zip(x, y, strict=True)])
    assert snippet.wrong.item() == pytest.approx(expected, rel=1e-4)
    assert snippet.wrong > 0.999 > snippet.ssim.mean()


def test_psnr_by_hand_and_by_torchmetrics(snippet):
    x, y = snippet.pred.double().numpy(), snippet.target.double().numpy()
    expected = [
        20 * np.log10(1 / np.sqrt(((a - b) ** 2).mean()))
        for a, b in zip(x, y, strict=True)
    ]
    np.testing.assert_allclose(snippet.psnr, expected, rtol=1e-5)
    whole = 20 * np.log10(1 / np.sqrt(((x - y) ** 2).mean()))
    assert snippet.pooled.item() == pytest.approx(whole, rel=1e-5)
    metric = PeakSignalNoiseRatio(data_range=1.0, dim=(1, 2, 3))
    for a, b in zip(snippet.pred.split(1), snippet.target.split(1), strict=True):
        metric.update(a, b)
    torch.testing.assert_close(metric.compute(), snippet.psnr.mean())
    assert snippet.pooled < snippet.psnr.mean() - 5


def test_values_are_clamped(snippet):
    assert snippet.pred.min() >= 0
    assert snippet.pred.max() <= 1
    assert snippet.psnr[0] == pytest.approx(40, abs=0.3)  # noise of 0.01


def test_ssim_of_a_whole_set(snippet):
    metric = StructuralSimilarityIndexMeasure(data_range=1.0)
    for a, b in zip(snippet.pred.split(1), snippet.target.split(1), strict=True):
        metric.update(a, b)
    torch.testing.assert_close(metric.compute(), snippet.ssim.mean())


def test_without_a_range_the_batch_decides(snippet):
    dark = 0.3 * snippet.target
    x = (dark + 0.05 * torch.randn_like(dark)).clamp(0, 1)
    unset, right = SSIM(x, dark), SSIM(x, dark, data_range=1.0)
    assert unset < right - 0.003
    scaled, shifted = (
        (2 * v - 1 for v in (x, dark)),
        SSIM(2 * x - 1, 2 * dark - 1, data_range=2.0),
    )
    assert abs(shifted - right) > 1e-3
    back = [v * 0.5 + 0.5 for v in scaled]
    torch.testing.assert_close(SSIM(*back, data_range=1.0), right, atol=1e-4, rtol=0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_y_as_rgb2ycbcr_of_matlab(language):
    """White is 235, black 16, and red, green and blue as BT.601 has them."""
    page = (ROOT / f"docs/{language}/evaluation/psnr-ssim.md").read_text("utf-8")
    (formula,) = re.findall("`(x.mul.*?)`", page)
    colours = [(1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    x = torch.tensor(colours, dtype=torch.float32).view(5, 3, 1, 1).expand(-1, -1, 2, 4)
    y = eval(formula, {"torch": torch, "x": x})
    assert y.shape == (5, 1, 2, 4)
    assert (y[:, 0, 1, 2] * 255).round().tolist() == [235, 16, 81, 145, 41]


def test_lpips_takes_images_from_minus_one_to_one():
    assert not inspect.signature(LPIPS).parameters["normalize"].default
    assert "[-1,1]" in LPIPS.__doc__


def test_identical_images(snippet):
    y = snippet.target
    assert metrics.peak_signal_noise_ratio(y, y, data_range=1.0).isinf()
    assert SSIM(y, y, data_range=1.0).item() == pytest.approx(1)


def test_a_loss(snippet):
    x = snippet.pred.clone().requires_grad_()
    (1 - SSIM(x, snippet.target, data_range=1.0, reduction="none").mean()).backward()
    assert x.grad.isfinite().all()
    assert x.grad.abs().sum() > 0


def test_messages(snippet):
    x, y = snippet.pred, snippet.target
    with raises_as_documented(PAGE, "ValueError: Expected `preds`"):
        SSIM(x[0], y[0], data_range=1.0)
    assert SSIM(x[0][None], y[0][None], data_range=1.0) == pytest.approx(
        snippet.ssim[0]
    )
    for pred, target, message in (
        (x[0], y[0], "IndexError: Dimension out of"),
        ((255 * x).byte(), (255 * y).byte(), "NotImplementedError: mean()"),
    ):
        with raises_as_documented(PAGE, message):
            exec(ANSWER.text, {"pred": pred, "target": target})
    with raises_as_documented(PAGE, "TypeError: peak_signal"):
        metrics.peak_signal_noise_ratio(x, y)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar"):
        SSIM((255 * x).byte(), (255 * y).byte(), data_range=255)
    with raises_as_documented(PAGE, "RuntimeError: Predictions and"):
        SSIM(x[:, :1], y, data_range=1.0)
    assert (x[:, :1] - y).shape == y.shape
