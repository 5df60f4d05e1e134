"""mel-spectrogram: against NumPy's FFT, filters by hand, SciPy's DCT; bad input."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal
import torch
import torchaudio
import torchaudio.transforms as T
from torch import nn
from torchaudio.compliance import kaldi
from transformers import audio_utils

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "data/mel-spectrogram"
ANSWER = recipes()["mel-spectrogram"].answer
SIZES = {"n_fft": 400, "hop_length": 160, "n_mels": 80}
LIBROSA = {"n_fft": 2048, "hop_length": 512, "norm": "slaney", "mel_scale": "slaney"}
snippet = load_snippet("data/mel_spectrogram.py")


def answer(x, rate):
    names = {"x": x, "rate": rate}
    exec(ANSWER.text, names)
    return names


def noise(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def power(x, n_fft, hop, mode):
    """The power of every frame, (frequencies, frames), in float64."""
    padded = np.pad(x.double().numpy(), n_fft // 2, mode=mode)
    frames = np.lib.stride_tricks.sliding_window_view(padded, n_fft)[::hop]
    window = scipy.signal.get_window("hann", n_fft)
    return np.abs(np.fft.rfft(frames * window)).T ** 2


def triangles(rate, n_fft, n_mels):
    """The filters of HTK, (n_mels, frequencies): triangles on the mel scale."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    points = 700 * (10 ** (np.linspace(0, top, n_mels + 2) / 2595) - 1)
    return np.stack(
        [
            np.interp(np.fft.rfftfreq(n_fft, 1 / rate), points[i : i + 3], [0, 1, 0])
            for i in range(n_mels)
        ]
    )


def test_log_mel_is_that_of_numpy():
    x = noise(1, 48000) * torch.linspace(0, 1, 48000)  # quiet, then loud
    log_mel = answer(x, 16000)["log_mel"]
    mel = triangles(16000, 400, 80) @ power(x[0], 400, 160, "reflect")
    assert log_mel.shape == (1, 80, 301)
    np.testing.assert_allclose(log_mel[0], np.log(mel + 1e-6), atol=2e-3)


def test_mfcc_is_a_cosine_transform_of_decibels():
    x = noise(1, 8000)
    mfcc = T.MFCC(16000, n_mfcc=13, melkwargs=SIZES)(x)
    mel = triangles(16000, 400, 80) @ power(x[0], 400, 160, "reflect")
    expected = scipy.fft.dct(10 * np.log10(mel), axis=0, norm="ortho")[:13]
    np.testing.assert_allclose(mfcc[0], expected, atol=1e-2)


def test_librosas_settings():
    """Its filters are those of transformers; librosa 0.11 itself gave the same."""
    x = noise(1, 22050)
    mel = T.MelSpectrogram(22050, **LIBROSA, pad_mode="constant")(x)
    filters = audio_utils.mel_filter_bank(
        1025, 128, 0.0, 11025.0, 22050, norm="slaney", mel_scale="slaney"
    )
    expected = filters.T @ power(x[0], 2048, 512, "constant")
    np.testing.assert_allclose(mel[0], expected, rtol=1e-3)
    decibels = 10 * np.log10(expected)
    decibels = np.maximum(decibels, decibels.max() - 80)
    np.testing.assert_allclose(T.AmplitudeToDB(top_db=80)(mel)[0], decibels, atol=1e-2)
    other = T.MelSpectrogram(22050, n_fft=2048, hop_length=512)(x)
    assert (other / mel).median() > 50


@pytest.mark.parametrize("rate", [8000, 16000, 44100])
@pytest.mark.parametrize(("seconds", "channels"), [(0.005, 1), (3, 2), (4, 2)])
def test_any_clip_has_one_shape(rate, seconds, channels):
    x = noise(channels, int(rate * seconds))
    names = answer(x, rate)
    assert names["log_mel"].shape == (1, 80, 301)
    assert names["log_mel"].isfinite().all()
    assert names["log_mel"].min() >= -13.82  # log(1e-6)
    assert names["x"].shape == (1, 48000)


def test_resampling_is_that_of_scipy():
    t = torch.arange(44100) / 44100
    x = torch.sin(2 * torch.pi * 440 * t)[None]
    y = T.Resample(44100, 16000)(x)[0].numpy()
    expected = scipy.signal.resample_poly(x[0].numpy(), 160, 441)
    np.testing.assert_allclose(y[200:-200], expected[200:-200], atol=2e-3)


@pytest.mark.parametrize(("n_fft", "hop"), [(400, 160), (512, 512)])
@pytest.mark.parametrize("samples", [1023, 1024, 1025])
def test_number_of_frames(n_fft, hop, samples):
    mel = T.MelSpectrogram(16000, n_fft=n_fft, hop_length=hop, n_mels=20)
    assert mel(noise(1, samples)).shape == (1, 20, samples // hop + 1)


def test_the_demonstration():
    assert snippet.log_mel.shape == (1, 80, 301)
    assert snippet.mfcc.shape == (1, 13, 301)
    assert snippet.centre == 440
    centred = snippet.log_mel - snippet.log_mel.mean()
    changed = snippet.augmented != centred
    assert not snippet.augmented[changed].any()
    assert changed[0].all(1).sum() < 15
    assert changed[0].all(0).sum() < 35


def test_empty_filters():
    with raises_as_documented(PAGE, "UserWarning: At least one mel filterbank"):
        T.MelSpectrogram()
    assert (triangles(16000, 400, 128).max(1) == 0).any()
    assert (triangles(16000, 400, 80).max(1) > 0).all()
    mel = T.MelSpectrogram(16000, n_fft=1024, win_length=400, hop_length=160)
    assert mel(noise(1, 16000)).shape == (1, 128, 101)


def test_silence():
    mel = T.MelSpectrogram(16000, **SIZES)(torch.zeros(1, 16000))
    assert mel.log().isneginf().all()
    assert (mel + 1e-6).log().isfinite().all()


def test_a_floor_for_the_whole_batch():
    x = torch.stack([noise(16000) * 1e-5, noise(16000)])
    mel, decibels = T.MelSpectrogram(16000, **SIZES)(x), T.AmplitudeToDB(top_db=80)
    alone = decibels(mel[:1])[0]
    assert (decibels(mel)[0] - alone).abs().max() > 10
    assert torch.equal(decibels(mel[:, None])[0, 0], alone)


@pytest.mark.parametrize("iid_masks", [False, True])
def test_masks_of_a_batch(iid_masks):
    masked = T.TimeMasking(35, iid_masks=iid_masks)
    torch.manual_seed(0)
    x = torch.ones(8, 80, 301)
    differ = any((masked(x) != masked(x)[:1]).any() for _ in range(5))
    hidden = [masked(x)[:, 0] == 0 for _ in range(5)]
    assert differ
    assert any((h != h[:1]).any() for h in hidden) == iid_masks


def test_shapes_for_layers():
    log_mel = snippet.log_mel
    batch = torch.stack([log_mel] * 4)
    assert nn.Conv2d(1, 8, 3)(batch).shape == (4, 8, 78, 299)
    assert log_mel.expand(3, -1, -1).shape == (3, 80, 301)
    assert log_mel[0].mT.shape == (301, 80)
    fbank = kaldi.fbank(snippet.x * 32768, num_mel_bins=80)
    assert fbank.shape == (298, 80)
    # The two agree where there is sound, up to the level and the emphasis of highs.
    loudest = fbank[50].argmax()
    assert abs(loudest - log_mel[0, :, 50].argmax()) < 3


def test_input_that_does_not_fit():
    mel = T.MelSpectrogram(16000, **SIZES)
    start = "RuntimeError: Argument #4: Padding size"
    for x in noise(1, 200), noise(16000, 1):
        with raises_as_documented(PAGE, start):
            mel(x)
    assert mel(noise(1, 201)).shape == (1, 80, 2)
    with raises_as_documented(PAGE, "RuntimeError: stft input and window"):
        mel(torch.zeros(1, 16000, device="meta"))
    assert mel.to("meta")(torch.zeros(1, 16000, device="meta")).shape == (1, 80, 101)
    mel = T.MelSpectrogram(16000, **SIZES)
    with raises_as_documented(PAGE, "RuntimeError: expected m1 and m2"):
        mel(noise(1, 16000).double())
    with raises_as_documented(PAGE, "NotImplementedError: stft(torch.ShortTensor"):
        mel(noise(1, 16000).short())
    with raises_as_documented(PAGE, "TypeError: MelSpectrogram.__init__()"):
        T.MelSpectrogram(sr=16000)
    with raises_as_documented(PAGE, "ValueError: Cannot select more MFCC"):
        T.MFCC(16000, n_mfcc=81, melkwargs=SIZES)


def test_what_is_gone():
    with raises_as_documented(PAGE, "AttributeError: module 'torchaudio' has"):
        _ = torchaudio.info
    assert not hasattr(torchaudio, "io")
    assert not hasattr(torchaudio, "sox_effects")
    with raises_as_documented(PAGE, "AttributeError: module 'torchaudio.functional'"):
        _ = torchaudio.functional.create_fb_matrix
    assert torchaudio.functional.melscale_fbanks(201, 0, 8000, 80, 16000).any()
