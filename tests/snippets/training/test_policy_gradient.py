"""policy-gradient: the estimate against the exact gradient of a small problem."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

from tests.helpers import load_snippet

snippet = load_snippet("training/policy_gradient.py")


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.0])
def test_returns_by_their_definition(gamma):
    rewards = [1.0, 0.0, -2.0, 5.0]
    expected = [
        sum(gamma**k * reward for k, reward in enumerate(rewards[t:]))
        for t in range(len(rewards))
    ]
    assert snippet.discounted(rewards, gamma).tolist() == pytest.approx(expected)


def test_the_loss_by_hand():
    log_probs = [torch.tensor(v, requires_grad=True) for v in (-1.0, -2.0, -0.5)]
    loss = snippet.policy_loss(log_probs, [1.0, 2.0, 3.0], gamma=1.0)
    returns = [6, 5, 3]
    expected = -sum(
        v * (g - 14 / 3) for v, g in zip((-1.0, -2.0, -0.5), returns, strict=True)
    )
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    loss.backward()
    assert log_probs[0].grad.item() == pytest.approx(14 / 3 - 6, rel=1e-5)


def test_the_mean_of_the_estimates_is_the_exact_gradient():
    """A bandit of three arms, each pulled twice: the baseline changes no mean."""
    theta = torch.tensor([0.2, -0.3, 0.5], dtype=torch.float64, requires_grad=True)
    pays = torch.tensor([1.0, 5.0, 2.0], dtype=torch.float64)
    exact = torch.autograd.grad((theta.softmax(0) * pays).sum(), theta)[0]
    probs = theta.detach().softmax(0)
    estimate = torch.zeros(3, dtype=torch.float64)
    for arm in range(3):
        log_prob = Categorical(logits=theta).log_prob(torch.tensor(arm))
        (grad,) = torch.autograd.grad(log_prob, theta)
        estimate += probs[arm] * (pays[arm] - pays.mean()) * grad
    torch.testing.assert_close(estimate, exact)


def test_a_policy_learns_the_way():
    torch.manual_seed(1)
    policy = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    for _ in range(100):  # the action has to be the state
        log_probs, rewards = [], []
        for state in torch.randint(2, (8,)).tolist():
            choice = Categorical(logits=policy(torch.eye(2)[state]))
            action = choice.sample()
            log_probs.append(choice.log_prob(action))
            rewards.append(float(action == state))
        loss = snippet.policy_loss(log_probs, rewards, gamma=0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert policy(torch.eye(2)).argmax(1).tolist() == [0, 1]


def test_log_probs_of_a_batch_of_one_do_not_broadcast():
    values = torch.tensor([-1.0, -2.0, -0.5])
    plain, batched = [*values], [*values[:, None]]
    rewards = [1.0, 2.0, 4.0]
    expected = snippet.policy_loss(plain, rewards)
    torch.testing.assert_close(snippet.policy_loss(batched, rewards), expected)


def test_observations_and_rewards_as_an_environment_gives_them():
    policy, obs = nn.Linear(3, 2), np.ones(3)  # float64
    choice = Categorical(logits=policy(torch.as_tensor(obs, dtype=torch.float32)))
    log_probs = [choice.log_prob(choice.sample()) for _ in range(3)]
    rewards = [1.0, 2.0, 4.0]
    expected = snippet.policy_loss(log_probs, rewards).item()
    for kind in (int, np.float32, np.float64):
        loss = snippet.policy_loss(log_probs, [kind(r) for r in rewards])
        assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_an_old_episode_in_the_list():
    policy, log_probs = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), []
    for episode in range(2):
        choice = Categorical(logits=policy(torch.ones(2)))
        log_probs.append(choice.log_prob(choice.sample()))
        loss = -torch.stack(log_probs).sum()
        if episode == 0:
            loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_one_step_has_no_advantage():
    log_prob = torch.tensor(-1.0, requires_grad=True)
    assert snippet.policy_loss([log_prob], [3.0]) == 0


def test_log_prob_is_a_gather():
    logits, action = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
    expected = F.log_softmax(logits, 1).gather(1, action[:, None]).squeeze(1)
    torch.testing.assert_close(Categorical(logits=logits).log_prob(action), expected)
