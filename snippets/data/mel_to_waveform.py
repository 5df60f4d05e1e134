"""Estimate a waveform from a mel spectrogram: the phase is lost."""

import torch
import torchaudio.transforms as T

t = torch.arange(16000) / 16000
x = 0.5 * torch.sin(2 * torch.pi * 440 * t)[None]  # (1, samples)
to_mel = T.MelSpectrogram(16000, n_fft=400, hop_length=160, n_mels=80)
log_mel = (to_mel(x) + 1e-6).log()


to_linear = T.InverseMelScale(201, 80, 16000, driver="gelsd")  # n_fft // 2 + 1
power = to_linear(log_mel.exp() - 1e-6)  # (1, n_fft // 2 + 1, frames)
y = T.GriffinLim(n_fft=400, hop_length=160)(power)  # (1, samples)

peak = torch.fft.rfft(y[0]).abs().argmax() * 16000 / y.size(1)
assert abs(peak - 440) < 10  # it sounds alike,
assert not torch.allclose(y, x, atol=0.1)  # and is another waveform
