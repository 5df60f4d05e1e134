"""detach-or-no-grad: which weights move by a step, in each of the ways."""

import copy

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "autograd/detach-or-no-grad"
ANSWER = recipes()["detach-or-no-grad"].answer


@pytest.fixture
def parts():
    return nn.Linear(4, 8), nn.Linear(8, 2), torch.randn(3, 4)


def moved(part: nn.Module, before: dict) -> bool:
    return any(not torch.equal(v, before[k]) for k, v in part.state_dict().items())


def test_by_the_answer_only_the_head_moves(parts):
    encoder, head, x = parts
    before = [copy.deepcopy(part.state_dict()) for part in (encoder, head)]
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
    names = {"encoder": encoder, "head": head, "x": x, "y": torch.tensor([0, 1, 1])}
    names["loss_fn"] = nn.CrossEntropyLoss()
    exec(ANSWER.text.replace("encoder.requires_grad_(False)", ""), names)
    names["loss"].backward()
    optimizer.step()
    assert [moved(*each) for each in zip((encoder, head), before, strict=True)] == [
        False,
        True,
    ]
    assert not names["scores"].requires_grad
    hidden = x @ before[0]["weight"].T + before[0]["bias"]
    torch.testing.assert_close(
        names["scores"], hidden @ before[1]["weight"].T + before[1]["bias"]
    )


def test_gradients_pass_through_frozen_weights():
    found = load_snippet("autograd/detach_or_no_grad.py")
    scores = found.head(found.encoder(found.x))
    slope = (scores.softmax(1) - torch.eye(2)[found.y]) / 3  # of the mean loss
    expected = slope @ found.head.weight @ found.encoder.weight
    torch.testing.assert_close(found.x.grad, expected)
    assert found.encoder.weight.grad is None


def test_no_grad_cuts_the_way_to_the_generator(parts):
    generator, critic, z = parts
    with torch.no_grad():
        score = critic(generator(z))
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors"):
        score.mean().backward()
    critic.requires_grad_(False)
    critic(generator(z)).mean().backward()
    assert generator.weight.grad.abs().sum() > 0
    assert critic.weight.grad is None


def test_detach_builds_the_graph_first(parts):
    encoder, _, x = parts
    saved = []
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda t: saved.append(t), lambda t: t
    )
    with hooks:
        encoder(x).detach()
        assert saved
        saved.clear()
        with torch.no_grad():
            encoder(x)
    assert not saved


def test_no_grad_leaves_dropout_on():
    x = torch.ones(1000)
    with torch.no_grad():
        assert nn.Dropout(0.5)(x).eq(0).any()


def test_weights_changed_by_hand():
    w = torch.ones(2, requires_grad=True)
    (w * torch.tensor([1.0, 2.0])).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    assert w.tolist() == pytest.approx([0.9, 0.8])
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        w.numpy()
    assert w.detach().numpy().tolist() == pytest.approx([0.9, 0.8])
