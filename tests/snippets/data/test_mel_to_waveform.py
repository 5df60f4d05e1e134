"""mel-to-waveform: the bands and the level of what comes back; bands alike."""

import torch
import torchaudio.transforms as T

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/mel-spectrogram"
back = load_snippet("data/mel_to_waveform.py")


def test_the_power_explains_the_bands_and_the_level_is_kept():
    assert back.y.shape == back.x.shape == (1, 16000)
    again = T.MelScale(80, 16000, n_stft=201)(back.power)
    expected = back.log_mel.exp() - 1e-6
    assert (again - expected).abs().max() < 1e-3 * expected.max()
    level = back.y.std() / back.x.std()
    assert 0.9 < level < 1.1


def test_bands_that_coincide():
    x = torch.randn(1, 4000)
    mel = back.to_mel(x)
    with raises_as_documented(PAGE, "_LinAlgError: torch.linalg.lstsq"):
        T.InverseMelScale(201, 80, 16000)(mel)
    mel = T.MelSpectrogram(16000, n_fft=1024, n_mels=80)(x)
    assert T.InverseMelScale(513, 80, 16000)(mel).isfinite().all()
