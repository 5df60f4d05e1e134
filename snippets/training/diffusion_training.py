"""Train a diffusion model (DDPM) to predict noise, then sample from it."""

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader


class Denoiser(nn.Module):
    """Predict the noise in xt at step t (B,); yours: a U-Net."""

    def __init__(self, dim, hidden=1024):
        super().__init__()
        self.first = nn.Linear(dim + 1, hidden)
        self.last = nn.Linear(hidden, dim)

    def forward(self, xt, t):
        x = torch.cat([xt.flatten(1), t[:, None] / 500 - 1], 1)
        return self.last(nn.functional.silu(self.first(x))).view_as(xt)


@torch.no_grad()
def sample(model, x):
    """Turn noise x into data: remove a little of the noise at each step."""
    for t in reversed(range(len(betas))):
        noise = model(x, torch.full((len(x),), t, device=x.device))
        x = x - betas[t] / (1 - alphas_bar[t]).sqrt() * noise
        x = x / (1 - betas[t]).sqrt()
        if t > 0:  # no noise after the last step
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(0)
device = torch.device("cpu")  # yours: "cuda"
images = torch.tensor(load_digits().images / 8 - 1)[:, None].float()
loader = DataLoader([(x0, 0) for x0 in images], 64, shuffle=True)
model = Denoiser(64).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

betas = torch.linspace(1e-4, 0.02, 1000, device=device)  # noise schedule
alphas_bar = (1 - betas).cumprod(0)  # share of x0 left: 0.9999 … 0.00004
for _ in range(30):  # epochs
    for x0, _ in loader:  # images (B, C, H, W) in [-1, 1]; no labels
        x0 = x0.to(device)
        t = torch.randint(len(betas), (len(x0),), device=device)
        noise = torch.randn_like(x0)
        a = alphas_bar[t].view(-1, 1, 1, 1)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        loss = nn.functional.mse_loss(model(xt, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

x = sample(model, torch.randn(16, 1, 8, 8, device=device)).cpu()
near = torch.cdist(x.flatten(1), images.flatten(1)).amin(1).mean()
print(f"distance to the nearest digit: {near:.0f}; of noise: 9")
row = torch.cat([*x[:8, 0]], 1).clamp(-1, 1).numpy()  # side by side
plt.imsave("diffusion_training.svg", row, cmap="gray", dpi=10)
