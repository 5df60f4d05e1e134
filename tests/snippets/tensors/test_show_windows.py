"""show-windows: the rows, against NumPy's windows."""

import numpy as np
import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_windows.py")


def rows(drawn):
    return [(texts[0], colours[0]) for texts, colours in tables(drawn.ax)]


def test_the_windows_are_those_of_numpy(drawn):
    (x, _), *windows = rows(drawn)
    numbers = np.arange(10)
    assert x == [str(number) for number in numbers]
    expected = np.lib.stride_tricks.sliding_window_view(numbers, 5)[::2]
    assert [
        [int(text) for text in window] for window, _ in windows
    ] == expected.tolist()


def test_each_number_is_below_itself(drawn):
    for text in drawn.ax.texts:
        assert text.get_position()[0] == int(text.get_text()) + 0.5


def test_only_what_no_window_holds_has_no_colour(drawn):
    (x, colours), *windows = rows(drawn)
    held = {text for window, _ in windows for text in window}
    missing = [
        text for text, colour in zip(x, colours, strict=True) if colour == "none"
    ]
    assert missing == [text for text in x if text not in held] == ["9"]
    assert all(colour != "none" for _, row in windows for colour in row)


def test_the_names_are_beside_their_rows(drawn):
    labels = [label.get_text() for label in drawn.ax.get_yticklabels()]
    assert labels == ["x", "windows[0]", "windows[1]", "windows[2]"]
    heights = sorted({text.get_position()[1] for text in drawn.ax.texts})
    np.testing.assert_allclose(drawn.ax.get_yticks(), heights)
