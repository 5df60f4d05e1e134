"""Train a small student on the softened outputs of a trained teacher."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.data / 16, dtype=torch.float32)  # (N, 64)
labels, device = torch.tensor(digits.target), torch.device("cpu")


def mlp(hidden):
    """Return a new network for the digits."""
    return nn.Sequential(
        nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10)
    )


def fit(model, x, y):
    """Train on labels alone."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


teacher = fit(mlp(256), images[:1200], labels[:1200])  # yours: trained
y = labels[:1200].clone()
y[100:] = -100  # the student has 100 labels; the loss skips -100
loader = [(images[:1200], y)] * 200  # yours: a DataLoader
student = mlp(16)
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)

T, alpha = 4.0, 0.7  # temperature, share of the teacher
teacher.eval()  # or its dropout makes the targets noisy
for x, y in loader:
    x, y = x.to(device), y.to(device)
    with torch.no_grad():
        p = F.softmax(teacher(x) / T, dim=1)
    logits = student(x)
    log_q = F.log_softmax(logits / T, dim=1)
    soft = F.kl_div(log_q, p, reduction="batchmean") * T**2
    loss = alpha * soft + (1 - alpha) * F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

alone = fit(mlp(16), images[:100], labels[:100])
for name, model in ("100 labels", alone), ("and a teacher", student):
    right = model(images[1200:]).argmax(1) == labels[1200:]
    print(f"{name}: accuracy {right.float().mean():.2f}")
