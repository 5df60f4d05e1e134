"""Train a variational autoencoder on small images, then draw new ones."""

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = torch.tensor(load_digits().data / 16, dtype=torch.float32)  # in [0, 1]
D, H, Z = 64, 256, 8  # pixels, hidden units, latent dimensions
encoder = nn.Sequential(nn.Linear(D, H), nn.ReLU(), nn.Linear(H, 2 * Z))
decoder = nn.Sequential(nn.Linear(Z, H), nn.ReLU(), nn.Linear(H, D))
both = nn.ModuleList([encoder, decoder])
optimizer = torch.optim.Adam(both.parameters(), lr=3e-3)
for _ in range(10):
    for x in data[torch.randperm(len(data))].split(60):  # (B, D), in [0, 1]
        mu, logvar = encoder(x).chunk(2, dim=1)  # (B, Z) each
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        logits = decoder(z)  # (B, D), without a sigmoid
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        kl = -0.5 * (1 + logvar - mu.square() - logvar.exp())
        loss = (rec.sum() + kl.sum()) / len(x)  # sums, then mean over B
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    out = decoder(encoder(data)[:, :Z]).sigmoid()  # from mu alone
    new = decoder(torch.randn(16, Z)).sigmoid()  # 16 new images
error = (out - data).square().mean()
print(f"rebuilt: error {error:.2f}; the mean image: {data.var(0).mean():.2f}")
print(f"KL {kl.sum(1).mean():.0f}: the code is used")

if __name__ == "__main__":
    fig, axes = plt.subplots(2, 8, figsize=(4.8, 1.3))
    for ax, image in zip(axes.flat, new.view(16, 8, 8), strict=True):
        ax.imshow(image.numpy(), cmap="gray")
        ax.axis("off")
    fig.savefig("variational_autoencoder.svg")
