"""Train a diffusion model (DDPM) to predict noise, then sample from it."""

import torch
from torch import nn
from torch.nn import functional as F

betas = torch.linspace(1e-4, 0.02, 1000)  # the noise schedule
alphas_bar = (1 - betas).cumprod(0)  # share of x0 left: 0.9999 … 0.00004


class Denoiser(nn.Module):
    """Predict the noise in xt (B, D) at step t (B,); for images, a U-Net."""

    def __init__(self, dim, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim + 1, hidden),
            nn.SiLU(),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, dim),
        )

    def forward(self, xt, t):
        time = t[:, None] / len(betas)  # (B, 1), in [0, 1)
        return self.net(torch.cat([xt, time], dim=1))


@torch.no_grad()
def sample(model, shape):
    """Start from noise, and remove a little of it at each step."""
    x = torch.randn(shape)
    for t in reversed(range(len(betas))):
        noise = model(x, torch.full((len(x),), t))
        x = x - betas[t] / (1 - alphas_bar[t]).sqrt() * noise
        x = x / (1 - betas[t]).sqrt()
        if t > 0:  # no noise after the last step
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Denoiser(2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(150):
        u = 2 * torch.rand(64, 1) - 1
        x0 = torch.cat([u, u], 1)  # a batch: points of a line, in [-1, 1]
        t = torch.randint(len(betas), (len(x0),))
        noise = torch.randn_like(x0)
        a = alphas_bar[t][:, None]  # (B, 1); images: (B, 1, 1, 1)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        loss = F.mse_loss(model(xt, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    new = sample(model, (100, 2))  # noise has 1.1 here; on the line, 0
    assert (new[:, 0] - new[:, 1]).abs().mean() < 0.5
