"""Train a network to obey u_t = u_xx: its derivatives are in the loss."""

import torch
from torch import nn
from torch.autograd import grad


def residual(model, x, t):
    """Return u_t - u_xx at N points, (N, 1): 0 where the equation holds."""
    x, t = x.detach().requires_grad_(True), t.detach().requires_grad_(True)
    u = model(torch.cat([x, t], dim=1))  # (N, 1)
    u_x, u_t = grad(u.sum(), (x, t), create_graph=True)  # (N, 1) each
    (u_xx,) = grad(u_x.sum(), x, create_graph=True)  # (N, 1)
    return u_t - u_xx  # yours: another equation


if __name__ == "__main__":
    torch.manual_seed(0)
    hidden = nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh()
    model = nn.Sequential(*hidden, nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        x, t = torch.pi * torch.rand(100, 1), torch.rand(100, 1)
        zero = torch.zeros_like(t)
        start = model(torch.cat([x, zero], dim=1)) - x.sin()  # at t = 0
        left = model(torch.cat([zero, t], dim=1))  # 0 at both ends
        right = model(torch.cat([zero + torch.pi, t], dim=1))
        loss = residual(model, x, t).square().mean()  # the equation
        for term in (start, left, right):
            loss = loss + term.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    with torch.no_grad():
        u = model(torch.cat([x, t], dim=1))
    error = (u - x.sin() * (-t).exp()).abs().max()  # the true solution
    print("off by less than 0.1:", bool(error < 0.1))
