"""Penalise the slope of a critic with respect to its input (WGAN-GP)."""

import torch
from torch import nn


def gradient_penalty(critic, real, fake):
    """Return the mean (slope - 1)² between real and fake, each (N, ...)."""
    t = torch.rand(len(real), *[1] * (real.dim() - 1), device=real.device)
    x = (t * real + (1 - t) * fake).detach().requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (grad.flatten(1).norm(dim=1) - 1).square().mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    real, fake = torch.randn(64, 2) + 2, torch.randn(64, 2)
    for step in range(61):
        penalty = gradient_penalty(critic, real, fake)
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 60 == 0:
            print(f"step {step}: penalty {penalty.item():.1f}")
