"""The spectrum of a signal, a filter in it, and convolution by FFT."""

import math

import torch

t = torch.arange(125) / 125  # one second, 125 samples
five, twenty = torch.sin(2 * math.pi * 5 * t), torch.sin(2 * math.pi * 20 * t)
x = five + 0.5 * twenty  # (..., T)
rate = 125  # yours: samples per second

T = x.shape[-1]
spectrum = torch.fft.rfft(x)  # (..., T // 2 + 1), complex
freq = torch.fft.rfftfreq(T, d=1 / rate, device=x.device)  # in Hz
amplitude = 2 * spectrum.abs() / T  # 1.0 for a sine of height 1

low = torch.fft.irfft(spectrum * (freq < 10), n=T)  # below 10 Hz only
h = torch.ones(9) / 9  # (M,): a moving average
n = T + h.shape[-1] - 1  # pad to this, or the end is added to the start
conv = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(h, n), n)
image = torch.rand(3, 32, 32)
shown = torch.fft.fftshift(torch.fft.fft2(image), dim=(-2, -1)).abs()

for i in amplitude.topk(2).indices:
    print(f"{freq[i]:.1f} Hz, height {amplitude[i]:.2f}")
