"""Turn a waveform into a log-mel spectrogram, the input of an audio model."""

import torch
import torchaudio.transforms as T
from torch import nn

rate = 44100  # yours: of your file, in Hz
t = torch.arange(2 * rate) / rate  # two seconds
x = 0.5 * torch.sin(2 * torch.pi * 440 * t).repeat(2, 1)  # (channels, samples)

x = T.Resample(rate, 16000)(x.mean(0, keepdim=True))  # mono, the model's rate
x = nn.functional.pad(x, (0, 3 * 16000 - x.size(1)))  # 3 s: add zeros, or cut
to_mel = T.MelSpectrogram(16000, n_fft=400, hop_length=160, n_mels=80)
log_mel = (to_mel(x) + 1e-6).log()  # (1, n_mels, frames)
print("log-mel", tuple(log_mel.shape))

sizes = {"n_fft": 400, "hop_length": 160, "n_mels": 80}
mfcc = T.MFCC(16000, n_mfcc=13, melkwargs=sizes)(x)
print("MFCC", tuple(mfcc.shape))  # (1, n_mfcc, frames)

augment = nn.Sequential(T.FrequencyMasking(15), T.TimeMasking(35))
augmented = augment(log_mel - log_mel.mean())  # SpecAugment, training only
row = log_mel.mean(2).argmax()  # the loudest
centre = to_mel.mel_scale.fb[:, row].argmax() * 16000 / 400
print(f"loudest at {centre:.0f} Hz")
