"""show-spectrum: the amplitudes, by sums of sines and cosines."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_spectrum.py")


def test_the_amplitude_is_the_fit_of_a_sine(drawn):
    seconds, signal = drawn.left.lines[0].get_xydata().T
    np.testing.assert_allclose(seconds, np.arange(125) / 125, rtol=1e-6)
    hertz, amplitude = drawn.right.lines[0].get_xydata().T
    np.testing.assert_allclose(hertz, np.arange(63))
    for f, found in zip(hertz, amplitude, strict=True):
        waves = np.exp(2j * np.pi * f * seconds)
        expected = 2 * abs((signal * waves).mean())
        assert found == pytest.approx(expected, abs=1e-4)


def test_two_peaks_of_the_right_height(drawn):
    amplitude = drawn.right.lines[0].get_ydata()
    assert amplitude[5] == pytest.approx(1, abs=0.15)
    assert amplitude[20] == pytest.approx(0.5, abs=0.15)
    others = np.delete(amplitude, [5, 20])
    assert others.max() < 0.2


def test_the_axes(drawn):
    assert drawn.left.get_xlabel() == "seconds"
    assert drawn.right.get_xlabel() == "Hz"
    assert {5, 20} <= set(drawn.right.get_xticks())
