"""audio-loading: against wave of the standard library, NumPy's FFT, by hand."""

import io
import math
import types
import wave
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.signal
import torch
import torchaudio
from scipy.io import wavfile

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/audio-loading"
snippet = load_snippet("data/audio_loading.py")
load_wav = snippet.load_wav


def pcm(path, frames, width, channels=1, rate=8000):
    """Write integers with the standard library."""
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        unsigned = width == 1
        data = [
            value.to_bytes(width, "little", signed=not unsigned) for value in frames
        ]
        file.writeframes(b"".join(data))


@pytest.mark.parametrize(
    ("width", "frames"),
    [
        (1, [0, 64, 128, 192]),
        (2, [-(2**15), -(2**14), 0, 2**14]),
        (3, [-(2**23), -(2**22), 0, 2**22]),
        (4, [-(2**31), -(2**30), 0, 2**30]),
    ],
)
def test_integers_of_every_width(tmp_path, width, frames):
    pcm(tmp_path / "a.wav", frames, width)
    x, rate = load_wav(tmp_path / "a.wav")
    assert x.dtype == torch.float32
    assert x.tolist() == [[-1, -0.5, 0, 0.5]]
    assert rate == 8000


def test_the_largest_is_below_one(tmp_path):
    pcm(tmp_path / "a.wav", [32767, 1], 2)
    x, _ = load_wav(tmp_path / "a.wav")
    assert x.tolist() == [[32767 / 32768, 1 / 32768]]


def test_channels_come_first(tmp_path):
    pcm(tmp_path / "a.wav", [2**14, 0, -(2**14), 2**13, 0, 0], 2, channels=2)
    x, _ = load_wav(tmp_path / "a.wav")
    assert x.tolist() == [[0.5, -0.5, 0], [0, 0.25, 0]]
    assert x.mean(0, keepdim=True).tolist() == [[0.25, -0.125, 0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_stay(tmp_path, dtype):
    data = np.array([[0.25, -1.5], [1, 0]], dtype=dtype)
    wavfile.write(tmp_path / "a.wav", 44100, data)
    x, rate = load_wav(tmp_path / "a.wav")
    assert x.tolist() == data.T.tolist()
    assert x.dtype == torch.float32
    assert rate == 44100


def test_an_empty_file():
    file = io.BytesIO()
    wavfile.write(file, 8000, np.zeros((0,), np.int16))
    x, _ = load_wav(file)
    assert x.shape == (1, 0)


def test_save_and_load(tmp_path):
    x = torch.tensor([[0.5, -0.25, 1], [0, 1, 0]])
    wavfile.write(tmp_path / "a.wav", 8000, x.T.numpy())
    again, rate = load_wav(tmp_path / "a.wav")
    assert torch.equal(again, x)
    assert rate == 8000


def test_power_is_that_of_numpy():
    torch.manual_seed(0)
    x = torch.randn(2, 1600)
    window = torch.hann_window(400)
    z = torch.stft(x, 400, 160, window=window, return_complex=True)
    assert z.shape == (2, 201, 11)
    padded = np.pad(x.numpy(), ((0, 0), (200, 200)), mode="reflect")
    frames = np.stack([padded[:, i : i + 400] for i in range(0, 1601, 160)], axis=-1)
    expected = np.abs(np.fft.rfft(frames * window.numpy()[:, None], axis=1)) ** 2
    np.testing.assert_allclose(z.abs() ** 2, expected, rtol=1e-3, atol=1e-3)


def test_without_a_window_tones_leak():
    tone = torch.sin(2 * math.pi * 450 * torch.arange(16000) / 16000)[None]
    share = []
    for window in torch.hann_window(400), torch.ones(400):
        z = torch.stft(tone, 400, 160, window=window, return_complex=True)
        power = (z.abs() ** 2).mean(2)[0]
        share.append(power[40:].sum() / power.sum())
    assert share[1] > 100 * share[0]


def test_stft_of_old_code():
    with raises_as_documented(PAGE, "RuntimeError: stft requires"):
        torch.stft(torch.randn(1, 1000), 400)


def test_resampling_keeps_the_tone():
    x = torch.sin(2 * math.pi * 440 * torch.arange(44100) / 44100)[None]
    y = torch.from_numpy(scipy.signal.resample_poly(x.numpy(), 16000, 44100, axis=1))
    assert y.shape == (1, 16000)
    assert y.dtype == torch.float32
    assert torch.fft.rfft(y).abs().argmax() == 440


def test_tags_are_skipped_and_a_compressed_file_is_refused(tmp_path):
    path = tmp_path / "a.wav"
    pcm(path, [2**14, 0, -(2**14)], 2)
    whole = path.read_bytes()
    path.write_bytes(whole[:36] + b"bext\x04\x00\x00\x00tags" + whole[36:])
    with raises_as_documented(PAGE, "WavFileWarning: Chunk (non-data)"):
        load_wav(path)
    with pytest.warns(wavfile.WavFileWarning):
        assert load_wav(path)[0].tolist() == [[0.5, 0, -0.5]]
    path.write_bytes(whole[:20] + b"\x06\x00" + whole[22:])  # the number of A-law
    with raises_as_documented(PAGE, "ValueError: Unknown wave file format"):
        load_wav(path)


def test_not_a_wav_file():
    with raises_as_documented(PAGE, "ValueError: File format"):
        load_wav(io.BytesIO(b"ID3\x04" + bytes(100)))


def test_what_is_gone_from_torchaudio():
    torchaudio = types.ModuleType("torchaudio")  # a stand-in
    with raises_as_documented(PAGE, "AttributeError: module"):
        _ = torchaudio.list_audio_backends


@pytest.mark.parametrize("length", [3, 5, 8])
def test_a_negative_padding_cuts(length):
    x = torch.arange(1.0, length + 1)[None]
    fixed = torch.nn.functional.pad(x, (0, 5 - x.shape[1]))[0].tolist()
    assert fixed == [*range(1, min(length, 5) + 1), *[0] * (5 - min(length, 5))]


@pytest.mark.skipif(bool(find_spec("torchcodec")), reason="torchcodec is there")
def test_torchaudio_hands_on_to_torchcodec(tmp_path):
    with raises_as_documented(PAGE, "ImportError: TorchCodec is required"):
        torchaudio.load(tmp_path / "a.wav")
