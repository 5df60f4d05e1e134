"""ppo: advantages by their sum, the loss by hand, the gradient where it is clipped."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.helpers import load_snippet

snippet = load_snippet("training/ppo.py")
T, N, GAMMA, LAM = 6, 3, 0.9, 0.7


@pytest.fixture
def steps():
    ended = torch.zeros(T, N, dtype=torch.bool)
    ended[2, 0] = ended[5, 1] = ended[0, 2] = ended[1, 2] = True
    return torch.randn(T, N), torch.randn(T, N), ended, torch.randn(N)


def by_definition(reward, value, ended, last_value) -> np.ndarray:
    """The sum of (gamma lam)^k times the error k steps later, to the episode's end."""
    reward, value, ended, last = (x.numpy() for x in (reward, value, ended, last_value))
    following = np.concatenate([value[1:], last[None]])
    errors = reward + GAMMA * np.where(ended, 0, following) - value
    found = np.zeros((T, N))
    for n in range(N):
        for t in range(T):
            for k in range(T - t):
                found[t, n] += (GAMMA * LAM) ** k * errors[t + k, n]
                if ended[t + k, n]:
                    break
    return found


def test_advantages_by_their_definition(steps):
    found = snippet.gae(*steps, GAMMA, LAM)
    np.testing.assert_allclose(found, by_definition(*steps), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [torch.float32, torch.int64, torch.uint8])
def test_ended_may_be_numbers_and_rewards_whole(steps, kind):
    """Other code keeps 0.0 / 1.0, and many games give whole points."""
    _, value, ended, last = steps
    points = torch.arange(T * N).view(T, N) % 3
    found = snippet.gae(points, value, ended.to(kind), last, GAMMA, LAM)
    expected = by_definition(points, value, ended, last)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_with_lam_one_it_is_the_return_less_the_value(steps):
    reward, value = steps[:2]
    found = snippet.gae(*steps, 1.0, 1.0)
    column = reward[:3, 0].flip(0).cumsum(0).flip(0)  # to the end in step 2
    torch.testing.assert_close(found[:3, 0], column - value[:3, 0])


def test_a_limit_of_time_is_told_by_the_reward(steps):
    """As the page has it: the value of the state after it is added to the reward."""
    reward, value, ended, last = steps
    whole = snippet.gae(reward, value, torch.zeros_like(ended), last, GAMMA, 0.0)
    reward, cut = reward.clone(), torch.zeros_like(ended)
    cut[2] = True
    reward[2] += GAMMA * value[3]
    torch.testing.assert_close(snippet.gae(reward, value, cut, last, GAMMA, 0.0), whole)


def test_the_loss_by_hand():
    ratio = np.array([0.5, 0.9, 1.1, 1.5])
    advantage = np.array([1.0, -1.0, 1.0, -1.0])
    scaled = advantage / advantage.std()
    # Of ratio and clipped ratio the one that promises less.
    terms = [0.5 * scaled[0], 0.9 * scaled[1], 1.1 * scaled[2], 1.5 * scaled[3]]
    loss = snippet.ppo_loss(
        torch.tensor(np.log(ratio)), torch.zeros(4), torch.tensor(advantage)
    )
    assert loss.item() == pytest.approx(-np.mean(terms), rel=1e-6)


def test_a_last_minibatch_of_one_does_no_harm():
    log_prob = torch.zeros(1, requires_grad=True)
    snippet.ppo_loss(log_prob, torch.zeros(1), torch.ones(1)).backward()
    assert log_prob.grad.item() == 0


@pytest.mark.parametrize(
    ("ratio", "sign", "moves"),
    [
        (1.5, 1, False),
        (1.1, 1, True),
        (0.5, 1, True),
        (0.5, -1, False),
        (0.9, -1, True),
        (1.5, -1, True),
    ],
)
def test_what_has_moved_far_in_the_wanted_direction_is_left_alone(ratio, sign, moves):
    log_prob = torch.tensor([ratio, 1.0]).log().requires_grad_()
    advantage = torch.tensor([1.0, -1.0]) * sign
    snippet.ppo_loss(log_prob, torch.zeros(2), advantage).backward()
    assert bool(log_prob.grad[0]) == moves


def test_the_kl_estimate_is_positive_in_the_mean():
    """Samples of the old policy: the mean of old - new is KL(old || new)."""
    old = torch.tensor([0.5, 0.3, 0.2]).double()
    new = torch.tensor([0.4, 0.3, 0.3]).double()
    drawn = torch.multinomial(old, 200_000, replacement=True)
    estimate = (old.log()[drawn] - new.log()[drawn]).mean()
    exact = (old * (old / new).log()).sum()
    torch.testing.assert_close(estimate, exact, rtol=0.1, atol=0)


def test_a_critic_of_another_shape_warns():
    with pytest.warns(UserWarning, match="^Using a target size"):
        F.mse_loss(torch.zeros(4, 1), torch.zeros(4))
