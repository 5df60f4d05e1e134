"""port-keras-lstm: what a Keras LSTM computes, written in NumPy."""

import numpy as np
import torch

from tests.helpers import load_snippet

snippet = load_snippet("models/port_keras_lstm.py")


def test_lstm():
    """Keras: the gates i, f, c, o, one after the other, with one bias."""
    x = torch.rand(2, 4, 5)
    given = snippet.kernel, snippet.recurrent, snippet.bias
    k, r, b = (tensor.double().numpy() for tensor in given)
    h, c, expected = np.zeros((2, 6)), np.zeros((2, 6)), []
    for step in x.double().numpy().transpose(1, 0, 2):
        i, f, g, o = np.split(step @ k + h @ r + b, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        expected.append(h)
    y, _ = snippet.lstm(x)
    np.testing.assert_allclose(y.detach(), np.stack(expected, 1), rtol=1e-4)
