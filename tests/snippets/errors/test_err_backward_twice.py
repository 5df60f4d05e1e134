"""err-backward-twice: hand-worked gradients, and chunks with a recomputed state."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-backward-twice"
SECOND_TIME = "backward through the graph a second time"
snippet = load_snippet("errors/err_backward_twice.py")


def test_the_sum_has_the_gradients_of_separate_passes():
    """Of the snippet's own model, whose gradients are those of both losses."""
    model = snippet.model
    together = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    targets = snippet.y_a, snippet.y_a, snippet.y_b  # the first had its own pass, too
    for loss, y in zip((torch.square, torch.square, torch.abs), targets, strict=True):
        loss(model(snippet.x) - y).mean().backward()
    torch.testing.assert_close(together, [p.grad for p in model.parameters()])


def test_the_state_keeps_its_values_and_loses_its_graph():
    assert snippet.state.grad_fn is None
    assert snippet.state.shape == (1, 2, 8)
    torch.testing.assert_close(snippet.state[0], snippet.out[:, -1].detach())
    assert all(p.grad is not None for p in snippet.rnn.parameters())


def test_the_snippet_raises_what_the_page_quotes(capsys):
    load_snippet("errors/err_backward_twice.py")
    printed = capsys.readouterr().out
    assert "error: Trying to backward through the graph a second time" in printed


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
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward") as caught:
        carry(rnn, lambda state: state)
    assert SECOND_TIME in str(caught.value)
    with raises_as_documented(PAGE, "RuntimeError: one of the") as caught:
        carry(nn.RNN(4, 8, batch_first=True), lambda s: s, retain_graph=True)
    assert "inplace operation" in str(caught.value)
    carry(rnn, torch.detach)
    lstm = nn.LSTM(4, 8, batch_first=True)
    carry(lstm, lambda state: tuple(s.detach() for s in state))


def test_two_backward_calls_on_shared_work_raise():
    weight = torch.ones(2, requires_grad=True)
    shared = weight * weight
    shared.sum().backward()
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward"):
        shared.mean().backward()


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
