"""fft: against NumPy and SciPy, lengths, leakage, bad input."""

import numpy as np
import pytest
import scipy.signal
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import (
    TORCH_CUDA,
    cuda_build,
    lacking,
    load_snippet,
    quoted,
    raises_as_documented,
)

PAGE = "tensors/fft"
snippet = load_snippet("tensors/fft.py")
x = snippet.x


def close(result, expected):
    """Equal up to the rounding of float32."""
    np.testing.assert_allclose(result, expected, atol=2e-4)


def test_against_numpy():
    close(snippet.spectrum, np.fft.rfft(x.double().numpy()))
    np.testing.assert_allclose(snippet.freq, np.fft.rfftfreq(125, 1 / 125))
    spectrum = np.fft.fft2(snippet.image.double().numpy())
    close(snippet.shown, np.abs(np.fft.fftshift(spectrum, (-2, -1))))
    close(snippet.shown[:, 16, 16], snippet.image.sum((-2, -1)))


def test_the_two_sines():
    expected = np.zeros(63)
    expected[5], expected[20] = 1, 0.5
    close(snippet.amplitude, expected)
    t = np.arange(125) / 125
    close(snippet.low, np.sin(2 * np.pi * 5 * t))


@pytest.mark.parametrize("T", [1, 64, 99])
def test_the_answer_for_a_batch_at_another_rate(T):
    names = {"x": torch.rand(2, 3, T, dtype=torch.float64), "rate": 8000}
    exec(answer("fft"), names)
    close(names["amplitude"], 2 / T * np.abs(np.fft.rfft(names["x"].numpy())))
    close(names["freq"], np.fft.rfftfreq(T, 1 / 8000))


def test_the_mean_and_the_last_value_are_doubled():
    signal = 3 + 0.5 * torch.cos(torch.pi * torch.arange(8.0))  # T is even
    names = {"x": signal, "rate": 8}
    exec(answer("fft"), names)
    close(names["amplitude"], [2 * 3, 0, 0, 0, 2 * 0.5])


def test_convolution():
    expected = scipy.signal.fftconvolve(x, snippet.h)
    close(snippet.conv, expected)
    m = len(snippet.h)
    middle = snippet.conv[..., m // 2 :][..., : len(x)]
    close(middle, np.convolve(x, snippet.h, mode="same"))
    short = torch.fft.rfft(x) * torch.fft.rfft(snippet.h, 125)
    circular = torch.fft.irfft(short, 125)
    assert (circular[:8] - snippet.conv[:8]).abs().max() > 0.1
    close(circular[8:], snippet.conv[8:125])


@pytest.mark.parametrize("length", [124, 125])
def test_the_length_comes_back(length):
    z = torch.fft.rfft(x[:length])
    assert torch.fft.irfft(z).shape == (124,)
    close(torch.fft.irfft(z, n=length), x[:length])
    image = torch.rand(6, length)
    z = torch.fft.rfft2(image)
    close(torch.fft.irfft2(z, s=image.shape[-2:]), image)


def test_the_frequencies_without_d():
    freq = torch.fft.rfftfreq(124)
    assert freq[0] == 0
    assert freq[-1] == 0.5


def test_the_mean_and_leakage():
    t = torch.arange(100) / 100
    sine = torch.sin(2 * torch.pi * 5.5 * t)
    assert torch.fft.rfft(3 + sine)[0].abs() / 100 > 2.9
    window = torch.hann_window(100)
    amplitude = 2 * torch.fft.rfft(sine).abs() / 100
    windowed = 2 * torch.fft.rfft(sine * window).abs() / 100 / window.mean()
    assert windowed[10] < 0.02 < amplitude[10]
    exact = torch.sin(2 * torch.pi * 6 * t)
    height = 2 * torch.fft.rfft(exact * window).abs() / 100 / window.mean()
    assert height[6].item() == pytest.approx(1, abs=1e-4)


def test_what_is_refused():
    with raises_as_documented(PAGE, "AttributeError: module 'torch'"):
        torch.rfft(x, 1)
    z = torch.fft.rfft(x.clone().requires_grad_())
    if torch.__version__ >= "2.14":
        with raises_as_documented(PAGE, "NotImplementedError: Unsupported dtype"):
            torch.fft.rfft(x.half())
        with raises_as_documented(PAGE, "TypeError: rfft expects"):
            torch.fft.rfft(z)
    else:
        with pytest.raises(RuntimeError, match="Unsupported dtype Half"):
            torch.fft.rfft(x.half())
        with pytest.raises(RuntimeError, match="expects a real input"):
            torch.fft.rfft(z)
    with raises_as_documented(PAGE, "RuntimeError: grad can be"):
        z.sum().backward()
    z.abs().sum().backward()
    with raises_as_documented(PAGE, 'NotImplementedError: "mse_cpu"'):
        F.mse_loss(snippet.spectrum, snippet.spectrum)


@cuda_build
def test_what_precedes_the_status_of_cufft():
    quoted(PAGE, "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR")
    assert not lacking(TORCH_CUDA, "cuFFT error: ", "CUFFT_INTERNAL_ERROR")


def test_variants():
    z = snippet.spectrum
    close((z - 1).abs().square().mean(), np.mean(np.abs(z.numpy() - 1) ** 2))
    whole = torch.fft.fft(x, norm="ortho")
    torch.testing.assert_close(whole.abs().square().sum(), x.square().sum())
    close(torch.fft.rfft(x, norm="forward"), z / 125)
    stacked = torch.stack([x, 2 * x], dim=1)
    close(torch.fft.rfft(stacked, dim=0)[:, 1], 2 * z)
    close(torch.polar(z.abs(), z.angle()), z)
    frames = torch.stft(x, 64, window=torch.hann_window(64), return_complex=True)
    assert frames.shape[0] == 33
