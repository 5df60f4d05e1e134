"""Read a WAV file as a float tensor without torchaudio; its spectrogram."""

import math
import tempfile

import numpy as np
import torch
from scipy.io import wavfile


def load_wav(path):
    """Return the samples, (channels, n) in [-1, 1], and the rate in Hz."""
    rate, data = wavfile.read(path)  # (n,) or (n, channels)
    x = torch.tensor(np.atleast_2d(data.T)).float()
    if data.dtype.kind == "u":  # 8 bits: silence is 128
        x = x - 128
    if data.dtype.kind != "f":  # integers: divide by the largest
        x = x / 2 ** (8 * data.itemsize - 1)
    return x, rate


if __name__ == "__main__":
    path = tempfile.mkdtemp() + "/a.wav"
    t = torch.arange(16000) / 16000  # one second
    tone = 16384 * torch.sin(2 * math.pi * 440 * t)
    for samples in (tone / 256 + 128).byte(), tone.short():  # 8 bits, 16
        wavfile.write(path, 16000, samples.numpy())
        x, rate = load_wav(path)
        print(tuple(x.shape), f"at {rate} Hz, loudest {x.abs().max():.2f}")

    window = torch.hann_window(400)
    z = torch.stft(x, 400, 160, window=window, return_complex=True)
    power = z.abs() ** 2  # (channels, 400 // 2 + 1, frames)
    peak = power.mean(2).argmax().item()
    print(tuple(power.shape), f"peak at {peak * rate / 400:.0f} Hz")
