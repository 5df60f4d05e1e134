"""err-backward-twice: hand-worked gradients, and chunks with a recomputed state."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/err-backward-twice"
SECOND_TIME = "backward through the graph a second time"
snippet = load_snippet("autograd/err_backward_twice.py")


def test_shared_work_by_hand():
    weight = torch.tensor(3.0, requires_grad=True)
    shared = weight * weight
    snippet.backward_together(2 * shared, 5 * shared)
    assert weight.grad.item() == 2 * 7 * 3
    with raises_as_documented(PAGE):  # the graph was not kept
        snippet.backward_together(shared)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_sum_has_the_gradients_of_separate_passes(count):
    torch.manual_seed(0)
    trunk = nn.Linear(3, 5).double()
    heads = [nn.Linear(5, 1).double() for _ in range(count)]
    x = torch.randn(7, 3, dtype=torch.float64)

    def losses():
        features = trunk(x).tanh()
        return [head(features).square().mean() for head in heads]

    snippet.backward_together(*losses())
    together = [p.grad.clone() for p in trunk.parameters()]
    trunk.zero_grad()
    for index in range(count):
        losses()[index].backward()  # a fresh graph each time
    separate = [p.grad for p in trunk.parameters()]
    torch.testing.assert_close(together, separate)


def chunk_gradients(rnn, x, steps):
    """Add up each chunk's gradient, its first state computed without a graph."""
    total = [torch.zeros_like(p) for p in rnn.parameters()]
    for start in range(0, x.shape[1], steps):
        state = None
        if start:
            with torch.no_grad():
                state = rnn(x[:, :start])[1]
        out, _ = rnn(x[:, start : start + steps], state)
        loss = out.square().mean()
        for sum_, grad in zip(
            total, torch.autograd.grad(loss, rnn.parameters()), strict=True
        ):
            sum_ += grad
    return total


@pytest.mark.parametrize("steps", [1, 3, 4, 9, 20])  # 4: the last chunk is short
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU])
def test_chunks_match_a_state_without_history(kind, steps):
    torch.manual_seed(0)
    rnn = kind(4, 5, batch_first=True).double()
    x = torch.randn(2, 9, 4, dtype=torch.float64)
    snippet.backward_in_chunks(rnn, x, steps)
    expected = chunk_gradients(rnn, x, steps)
    torch.testing.assert_close([p.grad for p in rnn.parameters()], expected)


def carry(rnn, detach, **backward):
    """Train two steps on one sequence, with or without cutting the state."""
    optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
    state = None
    for chunk in torch.randn(2, 6, 4).split(3, dim=1):
        out, state = rnn(chunk, state)
        optimizer.zero_grad()
        out.square().mean().backward(**backward)
        optimizer.step()
        state = detach(state)


def test_a_carried_state_fails_retained_or_not_and_works_detached():
    rnn = nn.RNN(4, 8, batch_first=True)
    with raises_as_documented(PAGE) as caught:
        carry(rnn, lambda state: state)
    assert SECOND_TIME in str(caught.value)
    with raises_as_documented(PAGE) as caught:
        carry(nn.RNN(4, 8, batch_first=True), lambda s: s, retain_graph=True)
    assert "inplace operation" in str(caught.value)
    carry(rnn, torch.detach)
    lstm = nn.LSTM(4, 8, batch_first=True)
    carry(lstm, lambda state: tuple(s.detach() for s in state))


def test_two_backward_calls_on_shared_work_raise():
    weight = torch.ones(2, requires_grad=True)
    shared = weight * weight
    shared.sum().backward()
    with raises_as_documented(PAGE):
        snippet.backward_together(shared.mean())


def test_work_before_the_loop_raises():
    weight, x = torch.ones(3, requires_grad=True), torch.randn(3)
    unit = F.normalize(weight, dim=0)
    (unit @ x).backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        (unit @ x).backward()
    for _ in range(2):
        (F.normalize(weight, dim=0) @ x).backward()


def test_a_running_total_raises():
    weight = torch.ones(2, requires_grad=True)
    total = (weight * weight).sum()
    total.backward()
    total = total + (weight * weight).sum()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        total.backward()


def test_a_gan_needs_a_detached_fake():
    generator, discriminator = nn.Linear(2, 4), nn.Linear(4, 1)

    def both_losses(fake, seen):
        discriminator(seen).square().mean().backward()
        discriminator(fake).square().mean().backward()

    fake = generator(torch.randn(3, 2)).tanh()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        both_losses(fake, fake)
    fake = generator(torch.randn(3, 2)).tanh()
    both_losses(fake, fake.detach())


def test_without_saved_values_it_counts_twice_in_silence():
    weight = torch.ones(2, requires_grad=True)
    loss = (weight + 1).sum()
    loss.backward()
    loss.backward()
    assert weight.grad.tolist() == [2, 2]


def test_create_graph_keeps_the_graph():
    x = torch.tensor(2.0, requires_grad=True)
    loss = x**3
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    loss.backward(retain_graph=True)
    slope.backward()
    assert x.grad.item() == 3 * 2**2 + 6 * 2
