"""REINFORCE on a corridor: log-probabilities, weighted by what followed."""

import torch
from torch import nn
from torch.distributions import Categorical


def discounted(rewards, gamma=0.99):
    """Return for each step the reward from there to the end, (T,)."""
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.append(total)
    return torch.tensor(returns[::-1])


def policy_loss(log_probs, rewards, gamma=0.99):
    """Loss of an episode: list of T log-probabilities, list of T rewards."""
    returns = discounted(rewards, gamma).to(log_probs[0].device)
    advantage = returns - returns.mean()  # a baseline: less variance
    return -(torch.stack(log_probs).flatten() * advantage).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    states, lengths = torch.eye(7), []
    for _ in range(200):
        cell, log_probs, rewards = 0, [], []
        while cell < 6:  # the goal; every step costs 1
            choice = Categorical(logits=policy(states[cell]))
            action = choice.sample()  # 0: left, 1: right
            log_probs.append(choice.log_prob(action))
            rewards.append(-1.0)
            cell = max(cell + 2 * action.item() - 1, 0)
        loss = policy_loss(log_probs, rewards)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lengths.append(len(rewards))
    for part in (lengths[:20], lengths[-20:]):
        print(f"{sum(part) / 20:.0f} steps to the goal")
