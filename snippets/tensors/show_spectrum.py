"""See two sines in a noisy signal, and in its spectrum."""

import math

import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
rate, T = 125, 125  # samples per second, samples
t = torch.arange(T) / rate
x = torch.sin(2 * math.pi * 5 * t) + 0.5 * torch.sin(2 * math.pi * 20 * t)
x += 0.3 * torch.randn(T)

amplitude = 2 * torch.fft.rfft(x).abs() / T
freq = torch.fft.rfftfreq(T, d=1 / rate)  # in Hz

fig, (left, right) = plt.subplots(1, 2, figsize=(4.8, 1.9))
left.plot(t, x, linewidth=1)
left.set(xlabel="seconds", xticks=[0, 1], yticks=[-1, 0, 1])
right.plot(freq, amplitude)
right.set(xlabel="Hz", xticks=[0, 5, 20, 60], yticks=[0, 0.5, 1], ylim=0)
fig.savefig("show_spectrum.svg")
assert sorted(amplitude.topk(2).indices.tolist()) == [5, 20]
