"""PPO: advantages by GAE, the clipped loss, several epochs."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


def gae(reward, value, ended, last_value, gamma=0.99, lam=0.95):
    """Advantages of T steps in N environments, (T, N); last_value (N,)."""
    advantage, total = torch.zeros_like(value), 0.0
    for t in reversed(range(len(reward))):
        goes_on = ended[t] == 0  # after an end nothing follows
        error = reward[t] + gamma * last_value * goes_on - value[t]
        total = error + gamma * lam * total * goes_on
        advantage[t], last_value = total, value[t]
    return advantage


def ppo_loss(log_prob, old_log_prob, advantage, clip=0.2):
    """The clipped loss, all (B,): Schulman et al., 2017, equation 7."""
    ratio = (log_prob - old_log_prob).exp()
    std = advantage.std(correction=0)  # no NaN in a batch of one
    advantage = (advantage - advantage.mean()) / (std + 1e-8)
    clipped = ratio.clamp(1 - clip, 1 + clip) * advantage
    return -torch.min(ratio * advantage, clipped).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    policy, critic = nn.Linear(7, 2), nn.Linear(7, 1)  # of 7 cells
    parameters = [*policy.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.05)
    cell, reward = torch.zeros(8, dtype=torch.long), torch.full((32, 8), -1.0)
    for _ in range(20):
        steps = []
        for _ in range(32):
            state = F.one_hot(cell, 7).float()
            choice = Categorical(logits=policy(state).detach())
            action = choice.sample()  # 0: left, 1: right
            cell = (cell + 2 * action - 1).clamp(min=0)
            ended = cell == 6  # the goal; a new episode begins
            cell = cell.where(~ended, 0)
            steps.append((state, action, choice.log_prob(action), ended))
        state, action, old, ended = map(torch.stack, zip(*steps, strict=True))
        with torch.no_grad():
            value = critic(state)[..., 0]
            last_value = critic(F.one_hot(cell, 7).float())[:, 0]
        advantage = gae(reward, value, ended, last_value)
        for _ in range(4):  # epochs over these steps
            choice = Categorical(logits=policy(state))
            gain = ppo_loss(choice.log_prob(action), old, advantage)
            error = F.mse_loss(critic(state)[..., 0], advantage + value)
            loss = gain + 0.5 * error - 0.01 * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
    print(f"{1 / ended.float().mean():.0f} steps to the goal, 6 cells away")
