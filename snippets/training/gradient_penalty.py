"""Penalise the gradient of a critic with respect to its input (WGAN-GP)."""

import torch
from torch import nn


def gradient_penalty(critic, real, fake):
    """Return the mean (norm - 1)² between real and fake, each (N, ...)."""
    shape = [len(real)] + [1] * (real.dim() - 1)  # a share for each sample
    t = torch.rand(shape, dtype=real.dtype, device=real.device)
    x = (t * real + (1 - t) * fake).detach().requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (grad.flatten(1).norm(dim=1) - 1).square().mean()


if __name__ == "__main__":
    for factor in (0, 10):  # yours: 10
        torch.manual_seed(0)
        real, fake = torch.randn(64, 2) + 2, torch.randn(64, 2)
        critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
        for _ in range(60):
            penalty = gradient_penalty(critic, real, fake)
            distance = critic(real).mean() - critic(fake.detach()).mean()
            loss = factor * penalty - distance  # of the critic alone
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"factor {factor}: penalty {penalty.item():.1f}")
