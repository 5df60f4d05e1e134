"""DQN on a corridor: replay buffer, target network, terminated states."""

from copy import deepcopy

import torch
from torch import nn
from torch.nn import functional as F


class ReplayBuffer:
    """The last `size` transitions, in tensors made once."""

    def __init__(self, size, obs_dim, device="cpu"):
        self.obs = torch.zeros(size, obs_dim, device=device)
        self.next_obs = self.obs.clone()
        self.reward, self.done = self.obs.new_zeros(2, size)  # 1: terminated
        self.action, self.size, self.count = self.reward.long(), size, 0

    def add(self, obs, action, reward, next_obs, done):
        i = self.count % self.size  # the oldest makes room
        self.obs[i], self.next_obs[i] = map(torch.as_tensor, (obs, next_obs))
        self.action[i], self.reward[i], self.done[i] = action, reward, done
        self.count += 1

    def sample(self, n):
        i = torch.randint(min(self.count, self.size), (n,))
        rows = self.obs, self.action, self.reward, self.next_obs, self.done
        return [row[i] for row in rows]


def dqn_loss(q_net, target_net, batch, gamma=0.99):
    """Mean loss of a batch; `done` is 1 where the episode terminated."""
    obs, action, reward, next_obs, done = batch
    q = q_net(obs).gather(1, action[:, None]).squeeze(1)  # (B,)
    with torch.no_grad():
        target = reward + gamma * (1 - done) * target_net(next_obs).amax(1)
    return F.smooth_l1_loss(q, target)


if __name__ == "__main__":
    torch.manual_seed(0)
    states, buffer, cell = torch.eye(4), ReplayBuffer(500, 4), 0
    q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    target_net = deepcopy(q_net)
    optimizer = torch.optim.Adam(q_net.parameters(), lr=0.01)
    for step in range(600):  # a reward in cell 3
        action = int(torch.randint(2, ()))
        if torch.rand(()) < step / 600:  # explore less and less
            action = int(q_net(states[cell]).argmax())
        new = max(cell + 2 * action - 1, 0)  # 0: left, 1: right
        goal = new == 3
        buffer.add(states[cell], action, float(goal), states[new], goal)
        cell = 0 if goal else new
        loss = dqn_loss(q_net, target_net, buffer.sample(32), gamma=0.9)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:  # every 1000 steps or so in a real game
            target_net.load_state_dict(q_net.state_dict())
    print([round(value, 1) for value in q_net(states[:3]).amax(1).tolist()])
