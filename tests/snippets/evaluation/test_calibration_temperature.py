"""calibration-temperature: ECE against torchmetrics and a loop, T against SciPy."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from torch.nn import functional as F
from torchmetrics.functional.classification import multiclass_calibration_error

from tests.helpers import load_snippet

snippet = load_snippet("evaluation/calibration_temperature.py")


@pytest.fixture
def data():
    torch.manual_seed(0)
    true = torch.randn(3000, 5)
    return 3 * true, torch.multinomial(true.softmax(1), 1).squeeze(1)


def error(probs, y, bins=15):
    """The ECE by a loop over the bins."""
    confidence, predicted = probs.double().max(1)
    index, gap = (confidence * bins).long().clamp(max=bins - 1), 0
    for i in range(bins):
        if (here := index == i).any():
            right = (predicted == y)[here].double().mean()
            gap += here.sum() * (right - confidence[here].mean()).abs()
    return (gap / len(y)).item()


@pytest.mark.parametrize("bins", [5, 15])
def test_ece_of_torchmetrics(data, bins):
    probs, y = data[0].softmax(1), data[1]
    found = multiclass_calibration_error(probs, y, num_classes=5, n_bins=bins)
    assert found.item() == pytest.approx(error(probs, y, bins), rel=1e-3)


def test_ece_by_hand():
    probs = torch.tensor([[1.0, 0], [0.9, 0.1], [0.45, 0.55], [0.6, 0.4]])
    y = torch.tensor([0, 1, 1, 0])
    # Bins of a half: all four are in the second; 3 of 4 right.
    found = multiclass_calibration_error(probs, y, num_classes=2, n_bins=2).item()
    assert found == pytest.approx(abs(0.75 - (1 + 0.9 + 0.55 + 0.6) / 4), rel=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_logits_of_another_dtype_that_carry_a_graph(data, dtype):
    logits, y = data
    T = snippet.fit_temperature(logits.to(dtype).requires_grad_(), y)
    assert pytest.approx(snippet.fit_temperature(logits, y), rel=0.02) == T


@pytest.mark.parametrize("factor", [0.2, 1, 30])
def test_t_is_the_minimum_of_scipy(data, factor):
    logits, y = data[0] * factor, data[1]
    array, rows = logits.double().numpy(), np.arange(len(y))

    def loss(t):
        return -log_softmax(array / np.exp(t), axis=1)[rows, y].mean()

    expected = np.exp(minimize_scalar(loss, bounds=(-8, 8), method="bounded").x)
    assert snippet.fit_temperature(logits, y) == pytest.approx(expected, rel=0.01)


def test_accuracy_stays_and_the_error_falls(data):
    logits, y = data
    T = snippet.fit_temperature(logits, y)
    assert torch.equal((logits / T).argmax(1), logits.argmax(1))
    before = error(logits.softmax(1), y)
    assert error((logits / T).softmax(1), y) < before / 3


def test_labels_that_do_not_fit(data):
    logits, y = data
    assert snippet.fit_temperature(logits, y.flip(0)) > 20
    for wrong in ((y + 1) % 5, logits.argmin(1)):
        T = snippet.fit_temperature(logits, wrong)
        assert pytest.approx(1000) == T
        # The cross entropy is convex in 1 / T: the bound is the best T > 0.
        losses = [F.cross_entropy(logits / t, wrong).item() for t in (T, 500, 10, 1)]
        assert losses == sorted(losses)


def test_predictions_that_are_all_right(data):
    T = snippet.fit_temperature(data[0], data[0].argmax(1))
    assert 0 < T < 0.05
    assert (data[0] / T).softmax(1).isfinite().all()


def test_segmentation_and_one_logit(data):
    logits, y = data
    pixels = logits.view(3, 100, 10, 5).permute(0, 3, 1, 2)
    T = snippet.fit_temperature(pixels, y.view(3, 100, 10))
    assert pytest.approx(snippet.fit_temperature(logits, y), rel=1e-3) == T
    one, yes = torch.randn(10), torch.randint(2, (10,))
    two = torch.stack([torch.zeros(10), one], 1)
    binary = F.binary_cross_entropy_with_logits(one, yes.float())
    torch.testing.assert_close(binary, F.cross_entropy(two, yes))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_labels_of_another_dtype(data, dtype):
    T = snippet.fit_temperature(*data)
    assert snippet.fit_temperature(data[0], data[1].to(dtype)) == T


def test_ignored_pixels_do_not_count(data):
    logits, y = data[0].clone(), data[1].clone()
    expected = snippet.fit_temperature(logits[1000:], y[1000:])
    y[:1000] = 255
    with pytest.raises(IndexError, match="Target 255"):
        snippet.fit_temperature(logits, y)
    y[y == 255] = -100
    assert snippet.fit_temperature(logits, y) == pytest.approx(expected, rel=1e-3)


def test_logits_collected_in_inference_mode(data):
    with torch.inference_mode():
        logits, y = data[0] * 1, data[1] * 1
    T = snippet.fit_temperature(logits, y)
    assert pytest.approx(snippet.fit_temperature(*data)) == T
