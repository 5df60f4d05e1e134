"""lstm-outputs: every state against a float64 loop in NumPy; each pitfall."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import (
    TORCH_CUDA,
    assert_documented,
    cuda_build,
    lacking,
    load_snippet,
    quoted,
    raises_as_documented,
    recipes,
)

PAGE = "models/lstm-outputs"
snippet = load_snippet("models/lstm_outputs.py")


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def run_direction(lstm, x: np.ndarray, layer: int, reverse: bool):
    """One layer in one direction: (N, T, H) states, the last h and the last c."""
    suffix = f"_l{layer}" + ("_reverse" if reverse else "")
    w_x, w_h, b_x, b_h = (
        getattr(lstm, name + suffix).detach().double().numpy()
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = np.zeros((x.shape[0], lstm.hidden_size))
    states = np.zeros((*x.shape[:2], lstm.hidden_size))
    steps = range(x.shape[1])
    for t in reversed(steps) if reverse else steps:
        i, f, g, o = np.split(x[:, t] @ w_x.T + b_x + h @ w_h.T + b_h, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states[:, t] = h
    return states, h, c


def by_hand(lstm, x: torch.Tensor):
    """output, h_n and c_n of an LSTM of any depth, one direction or two."""
    x, hs, cs = x.double().numpy(), [], []
    for layer in range(lstm.num_layers):
        parts = []
        for reverse in [False, True][: 1 + lstm.bidirectional]:
            states, h, c = run_direction(lstm, x, layer, reverse)
            parts.append(states)
            hs.append(h)
            cs.append(c)
        x = np.concatenate(parts, axis=2)
    return [torch.from_numpy(part).float() for part in (x, np.stack(hs), np.stack(cs))]


def test_the_loop_gives_the_same():
    output, h_n, c_n = by_hand(snippet.lstm, snippet.x)
    torch.testing.assert_close(snippet.output, output)
    torch.testing.assert_close(snippet.h_n, h_n)
    torch.testing.assert_close(snippet.c_n, c_n)
    ends = torch.cat([output[:, -1, :5], output[:, 0, 5:]], dim=1)
    torch.testing.assert_close(snippet.last, ends)
    torch.testing.assert_close(snippet.forward, output[..., :5])
    torch.testing.assert_close(snippet.backward, output[..., 5:])


def test_the_shapes():
    assert snippet.output.shape == (4, 6, 10)
    assert snippet.h_n.shape == snippet.c_n.shape == (4, 4, 5)
    assert snippet.last.shape == (4, 10)
    assert (snippet.N, snippet.T, snippet.C, snippet.H) == (4, 6, 3, 5)


@pytest.mark.parametrize("layers", [1, 3])
def test_one_direction(layers):
    lstm, x = nn.LSTM(3, 5, num_layers=layers, batch_first=True), torch.randn(2, 7, 3)
    output, (h_n, _) = lstm(x)
    torch.testing.assert_close(output, by_hand(lstm, x)[0])
    assert torch.equal(output[:, -1], h_n[-1])


def test_the_last_step_saw_one_step_backward():
    """The backward half of output[:, -1] does not depend on the steps before."""
    lstm = nn.LSTM(3, 5, bidirectional=True, batch_first=True)
    x = torch.randn(2, 7, 3)
    only, _ = lstm(x[:, -1:])
    whole, (h_n, _) = lstm(x)
    torch.testing.assert_close(whole[:, -1, 5:], only[:, 0, 5:])
    assert not torch.allclose(whole[:, -1, 5:], h_n[-1], atol=1e-3)


def test_h_n_by_layer_and_direction():
    by_layer = snippet.h_n.view(2, 2, 4, 5)
    assert torch.equal(by_layer[1, 0], snippet.h_n[-2])
    assert torch.equal(by_layer[1, 1], snippet.h_n[-1])
    first, h, _ = run_direction(snippet.lstm, snippet.x.double().numpy(), 0, True)
    torch.testing.assert_close(by_layer[0, 1], torch.from_numpy(h).float())
    assert first.shape == (4, 6, 5)


def test_padding_is_read_like_data():
    lstm, x = nn.LSTM(3, 5, batch_first=True), torch.randn(1, 4, 3)
    padded = nn.functional.pad(x, (0, 0, 0, 3))
    assert not torch.allclose(lstm(x)[1][0], lstm(padded)[1][0], atol=1e-4)


def test_without_batch_first_the_axes_are_swapped():
    lstm, x = nn.LSTM(3, 5), torch.randn(2, 7, 3)
    output, (h_n, _) = lstm(x)
    assert output.shape == (2, 7, 5)
    assert h_n.shape == (1, 7, 5)
    expected = by_hand(lstm, x.transpose(0, 1))[0]
    torch.testing.assert_close(output.transpose(0, 1), expected)


def test_the_first_state_is_not_batch_first():
    wrong = torch.zeros(4, 6, 5)
    with raises_as_documented(PAGE, "RuntimeError: Expected hidden[0] size"):
        snippet.lstm(torch.randn(6, 7, 3), (wrong.transpose(0, 1), wrong))
    snippet.lstm(torch.randn(6, 7, 3), (wrong, wrong))


def test_the_first_state_of_a_smaller_last_batch():
    state = torch.zeros(4, 6, 5)
    with pytest.raises(RuntimeError, match=r"hidden\[0\] size \(4, 2, 5\), got \[4, 6"):
        snippet.lstm(torch.randn(2, 7, 3), (state, state))
    x = torch.randn(2, 7, 3)
    state = torch.zeros(4, x.size(0), 5)
    assert torch.equal(snippet.lstm(x, (state, state))[0], snippet.lstm(x)[0])


def test_the_answer_takes_one_sequence_without_a_batch():
    names = {"nn": nn, "x": snippet.x[0], "C": 3, "H": 5}
    exec(recipes()["lstm-outputs"].answer.text, names)
    output, *_ = by_hand(names["lstm"], snippet.x[:1])
    ends = torch.cat([output[0, -1, :5], output[0, 0, 5:]])
    torch.testing.assert_close(names["last"], ends)


def test_a_tuple_is_no_tensor():
    model = nn.Sequential(nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2))
    with raises_as_documented(PAGE, "TypeError: linear(): argument 'input'"):
        model(snippet.x)
    with raises_as_documented(PAGE, "AttributeError: 'tuple' object has no"):
        _ = model[0](snippet.x).shape


def test_the_features_do_not_fit():
    with raises_as_documented(PAGE, "RuntimeError: input.size(-1) must be equal"):
        snippet.lstm(torch.randn(4, 6, 4))


def test_one_state_instead_of_two():
    with raises_as_documented(PAGE, "RuntimeError: For batched 3-D input"):
        snippet.lstm(snippet.x, snippet.h_n)


def test_one_step_without_its_dimension():
    step, state = torch.randn(4, 3), torch.zeros(1, 4, 5)
    gru = nn.GRU(3, 5, batch_first=True)
    with raises_as_documented(PAGE, "RuntimeError: For unbatched 2-D input"):
        gru(step, state)
    assert gru(step[:, None], state)[0].shape == (4, 1, 5)
    with pytest.raises(RuntimeError, match="hx and cx should also be 2-D"):
        nn.LSTM(3, 5, batch_first=True)(step, (state, state))


def test_dropout_of_one_layer():
    with pytest.warns(UserWarning, match="dropout option adds") as caught:
        nn.LSTM(3, 4, dropout=0.5)
    text = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: dropout option adds", text)


@cuda_build
def test_cudnn_needs_the_training_mode():
    text = quoted(PAGE, "RuntimeError: cudnn RNN").removeprefix("RuntimeError: ")
    assert not lacking(TORCH_CUDA, text)


def test_gru_has_no_cell_state():
    output, h_n = nn.GRU(3, 5, batch_first=True)(snippet.x)
    assert torch.equal(output[:, -1], h_n[-1])


def test_going_on_from_a_state():
    lstm, x = nn.LSTM(3, 5, batch_first=True), torch.randn(2, 8, 3)
    whole, _ = lstm(x)
    _, state = lstm(x[:, :5])
    rest, _ = lstm(x[:, 5:], state)
    torch.testing.assert_close(rest, whole[:, 5:])


def test_a_cell_is_one_step_of_one_layer():
    lstm, cell = nn.LSTM(3, 5, batch_first=True), nn.LSTMCell(3, 5)
    cell.load_state_dict({name[:-3]: p for name, p in lstm.state_dict().items()})
    output, (_, c_n) = lstm(snippet.x)
    h = c = torch.zeros(4, 5)
    for t in range(6):
        h, c = cell(snippet.x[:, t], (h, c))
        torch.testing.assert_close(h, output[:, t])
    torch.testing.assert_close(c, c_n[0])
