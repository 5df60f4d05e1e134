"""dqn-replay-buffer: the loss in a loop, the ring buffer, variants, bad input."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/dqn-replay-buffer"
snippet = load_snippet("training/dqn_replay_buffer.py")


@pytest.fixture
def nets():
    torch.manual_seed(0)
    return nn.Linear(3, 4), nn.Linear(3, 4)


@pytest.fixture
def batch():
    torch.manual_seed(1)
    action, done = torch.randint(4, (32,)), (torch.rand(32) < 0.4).float()
    return (
        torch.randn(32, 3),
        action,
        3 * torch.randn(32),
        torch.randn(32, 3),
        done,
    )


@pytest.mark.parametrize("options", [{}, {"gamma": 0.5}])
def test_the_loss_in_a_loop(nets, batch, options):
    q_net, target_net = nets
    gamma = options.get("gamma", 0.99)
    total = 0.0
    for obs, action, reward, new, done in zip(*batch, strict=True):
        q = (q_net.weight.double() @ obs.double() + q_net.bias)[action].item()
        best = (target_net.weight.double() @ new.double() + target_net.bias).max()
        target = reward.item() + (0 if done else gamma * best.item())
        gap = abs(q - target)
        total += gap * gap / 2 if gap < 1 else gap - 0.5
    loss = snippet.dqn_loss(q_net, target_net, batch, **options)
    assert loss.item() == pytest.approx(total / 32, rel=1e-5)


def test_only_the_network_that_is_trained_has_gradients(nets, batch):
    snippet.dqn_loss(*nets, batch).backward()
    assert nets[0].weight.grad.any()
    assert nets[1].weight.grad is None


def test_the_buffer_keeps_the_newest():
    buffer = snippet.ReplayBuffer(3, 2)
    for i in range(5):
        buffer.add(torch.full((2,), i), i, -i, torch.full((2,), i + 1), i == 4)
    assert buffer.count == 5
    torch.manual_seed(0)
    obs, action, reward, new, done = buffer.sample(200)
    assert set(action.tolist()) == {2, 3, 4}
    assert torch.equal(obs, action[:, None].expand(-1, 2).float())
    assert torch.equal(new, obs + 1)
    assert torch.equal(reward, -action.float())
    assert torch.equal(done, (action == 4).float())
    assert action.dtype == torch.int64
    assert done.dtype == reward.dtype == torch.float32


def test_a_buffer_on_another_device_takes_numpy_and_a_loss_reaches_it():
    rows = vars(snippet.ReplayBuffer(4, 3, device="meta")).values()
    assert {row.device.type for row in rows if torch.is_tensor(row)} == {"meta"}
    buffer = snippet.ReplayBuffer(4, 3)
    obs = np.ones(3, dtype=np.float64)  # as gymnasium gives it
    buffer.add(obs, np.int64(1), np.float64(0.5), 2 * obs, done=True)
    batch = buffer.sample(2)
    assert [row.tolist()[0] for row in batch] == [[1] * 3, 1, 0.5, [2] * 3, 1]
    q_net, device = nn.Linear(3, 2), "cpu"
    snippet.dqn_loss(q_net, nn.Linear(3, 2), batch).backward()
    x = torch.as_tensor(obs, dtype=torch.float32, device=device)
    assert int(q_net(x).argmax()) in (0, 1)


def test_a_buffer_that_is_not_full():
    buffer = snippet.ReplayBuffer(100, 2)
    buffer.add(torch.ones(2), 1, 7.0, torch.ones(2), done=False)
    assert buffer.sample(5)[2].tolist() == [7.0] * 5
    buffer.add(torch.ones(2), 1, 8.0, torch.ones(2), done=False)
    torch.manual_seed(0)
    assert set(buffer.sample(50)[2].tolist()) == {7.0, 8.0}


def test_shapes_that_broadcast(nets, batch):
    obs, action, reward, _, _ = batch
    q = nets[0](obs).gather(1, action[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises_as_documented(PAGE, "UserWarning: Using a target size"):
            F.smooth_l1_loss(q, reward)
    with raises_as_documented(PAGE, "RuntimeError: Index tensor must"):
        nets[0](obs).gather(1, action)
    with raises_as_documented(PAGE, "RuntimeError: gather(): Expected dtype"):
        nets[0](obs).gather(1, action.float()[:, None])


def test_flags_that_are_bool(nets, batch):
    *others, done = batch
    with raises_as_documented(PAGE, "NotImplementedError: Subtraction"):
        snippet.dqn_loss(*nets, [*others, done.bool()])
    again = snippet.dqn_loss(*nets, [*others, done.bool().float()])
    assert again == snippet.dqn_loss(*nets, batch)


def test_variants(nets, batch):
    q_net, target_net = nets
    new = batch[3]
    double = target_net(new).gather(1, q_net(new).argmax(1)[:, None]).squeeze(1)
    for value, row in zip(double, new, strict=True):
        torch.testing.assert_close(value, target_net(row)[q_net(row).argmax()])
    before = deepcopy(target_net.weight)
    for p, q in zip(target_net.parameters(), q_net.parameters(), strict=True):
        p.data.lerp_(q.data, 0.005)
    expected = 0.995 * before + 0.005 * q_net.weight
    torch.testing.assert_close(target_net.weight, expected)


def test_code_for_the_old_gym():
    step = (np.zeros(4), 1.0, False, False, {})  # of env.step
    with raises_as_documented(PAGE, "ValueError: too many values to unpack"):
        _obs, _reward, _done, _info = step
    reset = (np.zeros(4), {})  # of env.reset
    with raises_as_documented(PAGE, "ValueError: expected sequence of length 4"):
        torch.as_tensor(reset, dtype=torch.float32)
