"""truncated-bptt: what is passed on, what is not, the memory, and the messages."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/truncated-bptt"


class Kept:
    """What backward needs, counted while it lives."""

    now = most = 0

    def __init__(self, tensor):
        self.tensor = tensor
        Kept.now += tensor.numel()
        Kept.most = max(Kept.most, Kept.now)

    def __del__(self):
        Kept.now -= self.tensor.numel()


def pieces(x, k, detach=True, cell=nn.LSTM):
    """Run one long sequence in pieces, with a backward for each; yield the outputs."""
    torch.manual_seed(0)
    rnn, state = cell(3, 5, batch_first=True), None
    for part in x.split(k, dim=1):
        output, state = rnn(part, state)
        if detach and cell is nn.LSTM:
            state = tuple(s.detach() for s in state)
        elif detach:
            state = state.detach()
        output.square().sum().backward()
        yield rnn, output.detach()


@pytest.fixture
def x():
    return torch.randn(2, 80, 3)


def test_the_snippet(monkeypatch):
    cleared, zero_grad = [], torch.optim.Adam.zero_grad
    monkeypatch.setattr(
        torch.optim.Adam, "zero_grad", lambda self: cleared.append(zero_grad(self))
    )
    snippet = load_snippet("models/truncated_bptt.py")
    assert not any(s.requires_grad for s in snippet.state)
    assert snippet.x_k.shape == snippet.y_k.shape == (4, 20, 3)
    assert torch.equal(snippet.x_k, snippet.x[:, -20:])
    assert torch.equal(snippet.y[:, 1:], snippet.x[:, :-1])
    assert snippet.lstm.batch_first
    step = snippet.optimizer.state[snippet.head.weight]["step"]
    assert step == len(cleared) == 2 * 5


def test_text():
    output, y_k = torch.randn(4, 20, 8), torch.randint(1000, (4, 20))
    head, loss_fn = nn.Linear(8, 1000), nn.CrossEntropyLoss()
    with raises_as_documented(PAGE, "RuntimeError: Expected target size"):
        loss_fn(head(output), y_k)
    loss = loss_fn(head(output).flatten(0, 1), y_k.flatten())
    chosen = head(output).log_softmax(-1).gather(2, y_k[..., None])
    torch.testing.assert_close(loss, -chosen.mean())


def test_it_learns():
    torch.manual_seed(0)
    x = torch.randn(4, 100, 3)
    rnn, head = nn.RNN(3, 16, batch_first=True), nn.Linear(16, 3)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], 1e-2)
    y, losses = x.roll(1, dims=1), []
    for _ in range(8):
        state = None
        for x_k, y_k in zip(x.split(20, dim=1), y.split(20, dim=1), strict=True):
            output, state = rnn(x_k, state)
            state = state.detach()
            loss = nn.functional.mse_loss(head(output), y_k)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_the_values_are_those_of_the_whole(x, cell):
    runs = list(pieces(x, 20, cell=cell))
    whole, _ = runs[0][0](x)
    torch.testing.assert_close(torch.cat([out for _, out in runs], 1), whole)


def test_the_gradient_stops_at_the_piece():
    x = torch.randn(1, 40, 3, requires_grad=True)
    for n, _ in enumerate(pieces(x, 20)):
        reached = x.grad[0].abs().sum(1) > 0
        assert reached[20 * n : 20 * n + 20].all()
        assert not reached[20 * n + 20 :].any()
        if n:
            assert not reached[:20].any()
        x.grad = None


def test_memory_is_that_of_a_piece(x):
    most = {}
    for k in (10, 80):
        Kept.now = Kept.most = 0
        with torch.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor):
            for _ in pieces(x, k):
                pass
        most[k] = Kept.most
    assert most[80] > 4 * most[10]


def test_without_detach(x):
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward"):
        list(pieces(x, 20, detach=False))


def test_a_smaller_batch():
    lstm = nn.LSTM(3, 32, batch_first=True)
    _, state = lstm(torch.randn(16, 4, 3))
    small = torch.randn(3, 4, 3)
    with raises_as_documented(PAGE, "RuntimeError: Expected hidden[0]"):
        lstm(small, state)
    output, _ = lstm(small, tuple(s[:, :3] for s in state))
    assert output.shape == (3, 4, 32)
    for other in (nn.GRU, nn.RNN):
        rnn = other(3, 32, batch_first=True)
        with pytest.raises(RuntimeError, match="Expected hidden size"):
            rnn(small, state[0])


def test_messages():
    output, state = nn.LSTM(3, 5, batch_first=True)(torch.randn(2, 4, 3))
    with raises_as_documented(PAGE, "AttributeError: 'tuple' object"):
        state.detach()
    with raises_as_documented(PAGE, "RuntimeError: Can't detach views"):
        output[:, -1].detach_()


def test_rows_of_a_text_go_on_in_the_next_piece():
    tokens, N = torch.arange(103), 2
    first, second = tokens[: len(tokens) // N * N].view(N, -1).split(20, dim=1)[:2]
    assert torch.equal(first[:, -1] + 1, second[:, 0])


def test_some_rows_begin_anew():
    lstm, piece = nn.LSTM(3, 5, batch_first=True), torch.randn(2, 4, 3)
    _, state = lstm(piece)
    keep = torch.tensor([1.0, 0.0])
    output, _ = lstm(piece, tuple(s * keep[None, :, None] for s in state))
    torch.testing.assert_close(output[1], lstm(piece)[0][1])
    torch.testing.assert_close(output[0], lstm(piece, state)[0][0])
